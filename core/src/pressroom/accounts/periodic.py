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
    """Runs an action at a fixed interval after `start`, and once more on `stop`. An outage is logged only once.

    Args:
        name: Name of the task, for the log.
        seconds: Interval in seconds.
        action: The coroutine function to run.
        end_after: Skip the last run on `stop` if fewer than this many seconds have passed since the last run or
            `start`.
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
        """Start the task; further calls have no effect."""
        if self._task is None:
            self._stopping.clear()
            self._task = asyncio.create_task(self._run(), name=self._name)

    async def stop(self) -> None:
        """Stop the task, with a last run if one is due. Failures are logged, not raised."""
        self._stopping.set()
        task, self._task = self._task, None
        if task is not None:
            await task

    async def _run(self) -> None:
        stopping = False
        while not stopping:
            started_at = time.monotonic()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    stopping = await self._stopping.wait()
            if not stopping or time.monotonic() - started_at >= self._end_after:
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
