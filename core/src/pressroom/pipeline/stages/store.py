"""Keeping what a generator made."""

from __future__ import annotations

import structlog

from pressroom.errors import BackendError, InternalError
from pressroom.pipeline.exchange import Exchange, Made
from pressroom.pipeline.services import Services
from pressroom.sdk import EXTENSIONS, Artifact, CacheEntry

log = structlog.get_logger()


class Store:
    """Writes the file, then the index: an entry never points at a file that was not written whole."""

    name = "store"

    def __init__(self, services: Services) -> None:
        self._files = services.files
        self._index = services.cache
        self._metrics = services.metrics

    async def __call__(self, exchange: Exchange, artifact: Artifact) -> Made:
        """Return the stored file. Raises `InternalError` where it cannot be stored; nothing is left behind then."""
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
            raise InternalError("the file could not be stored; try again in a moment") from error
        if plan_tool.cache.seconds:
            try:
                await self._index.put(exchange.content_id, entry, seconds=plan_tool.cache.seconds)
            except BackendError:
                self._metrics.backend_failure("cache")
        return Made(entry, artifact.content)
