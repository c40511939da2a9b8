"""Keeping what a generator made."""

from __future__ import annotations

from typing import Final

import structlog

from pressroom.errors import BackendError, CallError, InternalError, Overloaded, Unavailable
from pressroom.pipeline.exchange import Exchange, Made
from pressroom.pipeline.services import Services
from pressroom.sdk import EXTENSIONS, Artifact, CacheEntry

log = structlog.get_logger()


OUTAGE_SECONDS: Final = 5
"""When it is worth to try again what met an outage."""


def storage_failure(message: str, error: BackendError) -> CallError:
    """Return what a client is told of a store that failed: when to come again, if it is only away."""
    if isinstance(error, Unavailable):
        return Overloaded(message, retry_after=OUTAGE_SECONDS)
    return InternalError(message)


class Store:
    """Writes the file, then the index: an entry never points at a file that was not written whole."""

    name = "store"

    def __init__(self, services: Services) -> None:
        self._files = services.files
        self._index = services.cache
        self._metrics = services.metrics

    async def __call__(self, exchange: Exchange, artifact: Artifact) -> Made:
        """Return the stored file. Raises a `CallError` where it cannot be stored; nothing is left behind then."""
        plan_tool = exchange.known_tool
        tool = plan_tool.tool
        preview = artifact.preview
        entry = CacheEntry(
            key=f"{tool.name}/{exchange.content_id}.{EXTENSIONS[artifact.media_type]}",
            media_type=artifact.media_type,
            size=len(artifact.content),
            details=artifact.details.model_dump_json().encode() if artifact.details is not None else b"{}",
            warnings=artifact.warnings,
            preview=f"{tool.name}/{exchange.content_id}-preview.{EXTENSIONS[preview[0]]}" if preview else "",
        )
        try:
            if preview is not None:
                await self._files.write(entry.preview, preview[1], media_type=preview[0])
            await self._files.write(entry.key, artifact.content, media_type=entry.media_type)
        except BackendError as error:
            self._metrics.backend_failure("files")
            log.warning("a file could not be stored", tool=tool.name, key=entry.key, error=error.message)
            raise storage_failure("the file could not be stored; try again in a moment", error) from error
        if plan_tool.cache.seconds:
            try:
                await self._index.put(exchange.content_id, entry, seconds=plan_tool.cache.seconds)
            except BackendError:
                self._metrics.backend_failure("cache")
        return Made(entry, artifact.content)
