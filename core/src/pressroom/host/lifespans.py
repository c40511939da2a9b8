"""The lifespans of plugins: each in a task of its own, within a bound on time, so that none takes the server along."""

from __future__ import annotations

import asyncio
from typing import Final

import structlog

from pressroom.errors import PluginError
from pressroom.plugins.explaining import one_line
from pressroom.sdk import Lifespan

log = structlog.get_logger()

SLOW_SECONDS: Final = 5.0
"""After how long the log names a plugin that the server waits for."""

_CANCEL_SECONDS: Final = 1.0
"""How long a lifespan that was cancelled may take to end before it is left behind."""


class RunningLifespan:
    """What one plugin has open while the server runs. It is entered and left in one task, as task groups demand.

    Nothing that it raises reaches the host, neither `CancelledError` nor another `BaseException`.
    """

    def __init__(self, plugin: str, lifespan: Lifespan) -> None:
        self._plugin = plugin
        self._lifespan = lifespan
        self._entered = asyncio.Event()
        self._leave = asyncio.Event()
        self._error: BaseException | None = None
        self._task: asyncio.Task[None] | None = None

    async def enter(self, seconds: float) -> BaseException | None:
        """Open what the plugin opens, within this many seconds. Return why that failed, or `None`."""
        self._task = asyncio.create_task(self._live(), name=f"lifespan {self._lifespan.name} of {self._plugin}")
        entered = asyncio.create_task(self._entered.wait())
        try:
            await asyncio.wait(
                {self._task, entered}, timeout=min(SLOW_SECONDS, seconds), return_when=asyncio.FIRST_COMPLETED
            )
            if not self._entered.is_set():
                log.warning("the server waits for a plugin to start", **self._named, at_most_seconds=seconds)
                left = max(0, seconds - SLOW_SECONDS)
                await asyncio.wait({self._task, entered}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self._abandon()
            raise
        finally:
            entered.cancel()
        if self._entered.is_set():
            self._task.add_done_callback(self._ended)
            return None
        if self._task.done():
            return self._error
        await self._abandon()
        return PluginError(
            f"the lifespan {self._lifespan.name} did not start within {seconds:g} s",
            hint="see what it waits for, or give it more time with [server] start_timeout",
        )

    async def leave(self, seconds: float) -> BaseException | None:
        """Close what the plugin opened, within this many seconds; what takes longer is cancelled, then left behind.

        Return what failed, or `None`.
        """
        if self._task is None or self._task.done():
            return self._error
        self._leave.set()
        await asyncio.wait({self._task}, timeout=seconds)
        if not self._task.done():
            log.error("the lifespan of a plugin does not end; it is cut off", **self._named)
            await self._abandon()
        return self._error

    @property
    def _named(self) -> dict[str, str]:
        return {"plugin": self._plugin, "lifespan": self._lifespan.name}

    async def _live(self) -> None:
        try:
            async with self._lifespan.enter():
                self._entered.set()
                await self._leave.wait()
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
            self._error = error

    async def _abandon(self) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=_CANCEL_SECONDS)

    def _ended(self, _task: asyncio.Task[None]) -> None:
        if self._error is not None:
            log.error("the lifespan of a plugin failed", **self._named, error=one_line(self._error))
        elif not self._leave.is_set():
            log.error("the lifespan of a plugin ended while the server ran", **self._named)
