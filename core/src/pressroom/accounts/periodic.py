"""A periodic background task."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from pressroom.errors import BackendError

log = structlog.get_logger()


class PeriodicTask:
    """Does something at a fixed interval from `start` on, and once more at the end. An outage is logged once.

    Args:
        name: what it does, for the log.
        seconds: the interval.
        action: does it.
        end_after: a last round is due at the end if it is this many seconds after `start` or the last round.
    """

    def __init__(
        self, name: str, seconds: float, action: Callable[[], Awaitable[None]], *, end_after: float = 0.0
    ) -> None:
        self._name = name
        self._seconds = seconds
        self._action = action
        self._end_after = end_after
        self._failing = False
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin; calling it again does nothing."""
        if self._task is None:
            self._stopping.clear()
            self._task = asyncio.create_task(self._run(), name=self._name)

    async def stop(self) -> None:
        """End it, with a last round if one is due. What fails is logged, since nobody could act on it."""
        self._stopping.set()
        task, self._task = self._task, None
        if task is not None:
            await task

    async def _run(self) -> None:
        stopping = False
        while not stopping:
            began = time.monotonic()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    stopping = await self._stopping.wait()
            if not stopping or time.monotonic() - began >= self._end_after:
                await self._once()

    async def _once(self) -> None:
        try:
            await self._action()
        except BackendError as error:
            if not self._failing:
                log.warning("background work failed", work=self._name, error=error.message, hint=error.hint)
            self._failing = True
        except Exception:
            log.exception("background work failed", work=self._name)
        else:
            self._failing = False
