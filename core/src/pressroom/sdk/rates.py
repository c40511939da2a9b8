"""How often a tool may be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_WINDOWS: Final = {1: "second", 60: "minute", 3600: "hour", 86_400: "day"}


@dataclass(frozen=True, slots=True)
class Rate:
    """`requests` (at least 1) in any moving window of `window_seconds` (at least 1)."""

    requests: int
    window_seconds: int

    def __post_init__(self) -> None:
        if self.requests < 1 or self.window_seconds < 1:
            raise ValueError(f"a rate needs at least 1 request and 1 second, got {self!r}")

    def __str__(self) -> str:
        return f"{self.requests} per {_WINDOWS.get(self.window_seconds) or f'{self.window_seconds} s'}"


def per_minute(requests: int) -> Rate:
    """Return the rate of that many requests in any 60 seconds."""
    return Rate(requests, 60)


def per_hour(requests: int) -> Rate:
    """Return the rate of that many requests in any 3600 seconds."""
    return Rate(requests, 3600)


def per_day(requests: int) -> Rate:
    """Return the rate of that many requests in any 86400 seconds."""
    return Rate(requests, 86400)
