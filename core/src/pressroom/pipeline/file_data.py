"""What is said of a file that a call made, whatever the interface."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import orjson

from pressroom.pipeline.context import RenderedFile, ValidatedCall


def file_data(call: ValidatedCall, file: RenderedFile) -> dict[str, Any]:
    """Return the `data` of a call's file (interface contract, section 2.8), with the generator's own members."""
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
    """Return a Unix time as ISO 8601 in UTC: whole seconds as such, others to the millisecond."""
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
