"""What is said of a file that a call made, whatever the face."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import orjson

from pressroom.pipeline.exchange import Exchange


def file_data(exchange: Exchange) -> dict[str, Any]:
    """Return what an answer says of the file that a call made (2.8): its address, and the generator's own members."""
    data: dict[str, Any] = {
        "id": exchange.content_id,
        "url": exchange.url,
        "expiresAt": iso_time(exchange.expires_at),
        "cached": exchange.cached,
    }
    if exchange.made is not None:
        data.update(_members(exchange.made.entry.details))
        if exchange.made.entry.warnings:
            data["warnings"] = list(exchange.made.entry.warnings)
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
