"""What the crawler knows of time, so that tests can stand in for it."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Tells the time and waits."""

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""

    def time(self) -> float:
        """Return the seconds since 1970 (UTC)."""

    async def sleep(self, seconds: float) -> None:
        """Wait so many seconds."""


class SystemClock:
    """The clock of the machine."""

    def monotonic(self) -> float:
        """See `Clock`."""
        return time.monotonic()

    def time(self) -> float:
        """See `Clock`."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """See `Clock`."""
        await asyncio.sleep(seconds)
