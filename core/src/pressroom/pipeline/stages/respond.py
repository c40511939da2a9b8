"""Deliver a call's file as bytes or as a signed URL."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

import orjson
import structlog

from pressroom.catalog.tool import PlanTool
from pressroom.errors import BackendError
from pressroom.pipeline.context import Interface, RenderedFile, Services, ValidatedCall
from pressroom.pipeline.stages.base import CallStage
from pressroom.pipeline.stages.run import storage_failure


def file_data(call: ValidatedCall, file: RenderedFile) -> dict[str, Any]:
    """Return the `data` object of a call's file (interface contract, section 2.8), with the generator's own fields."""
    data: dict[str, Any] = {
        "id": call.content_id,
        "url": call.url,
        "expiresAt": iso_time(call.expires_at),
        "cached": call.cached,
        **_members(file.entry.details),
    }
    if file.entry.warnings:
        data["warnings"] = list(file.entry.warnings)
    return data


def iso_time(timestamp: float) -> str:
    """Return a Unix time as ISO 8601 in UTC: whole seconds without a fraction, others with milliseconds."""
    seconds = int(timestamp)
    text = _iso_second(seconds)
    if seconds == timestamp:
        return f"{text}Z"
    return f"{text}.{int((timestamp - seconds) * 1000):03d}Z"


@lru_cache(maxsize=64)
def _iso_second(timestamp: int) -> str:
    return datetime.fromtimestamp(timestamp, UTC).strftime("%Y-%m-%dT%H:%M:%S")


@lru_cache(maxsize=1024)
def _members(details: bytes) -> dict[str, Any]:
    members: dict[str, Any] = orjson.loads(details)
    return members


SIGNED_URL_SECONDS: Final = 3 * 3600
"""How long a signed URL is valid, in seconds (interface contract, section 8)."""

log = structlog.get_logger()


class Respond(CallStage[ValidatedCall, ValidatedCall]):
    """Signs the file's URL, or loads its bytes."""

    name = "respond"
    internal = True

    def __init__(self, services: Services) -> None:
        self._files = services.files
        self._metrics = services.metrics

    def applies(self, plan_tool: PlanTool, interface: Interface) -> bool:
        """Return whether the tool makes files."""
        del interface
        return plan_tool.tool.info.kind == "generator"

    async def enter(self, call: ValidatedCall) -> ValidatedCall:
        """Set `content`, or `url`, `expires_at` and `preview_url`. Raises a `CallError` if the store fails."""
        file = call.file
        if file is None:
            return call
        try:
            if call.request.delivery == "binary":
                call.content = await self._files.read(file.entry.key) if file.content is None else file.content
            else:
                call.expires_at = int(time.time()) + SIGNED_URL_SECONDS
                expires = datetime.fromtimestamp(call.expires_at, UTC)
                call.url = await self._files.url(file.entry.key, expires=expires)
                if file.entry.preview:
                    call.preview_url = await self._files.url(file.entry.preview, expires=expires)
        except BackendError as error:
            self._metrics.backend_failure("files")
            log.warning("a file could not be delivered", key=file.entry.key, error=error.message)
            raise storage_failure("the file could not be delivered; try again in a moment", error) from error
        return call
