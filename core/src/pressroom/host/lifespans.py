"""What plugins have open while the server runs."""

from __future__ import annotations

import asyncio
import time
from typing import Final

import structlog

from pressroom.gate import PluginCall, PluginGate
from pressroom.gate.bounded import CANCEL_SECONDS
from pressroom.gate.plugin_gate import BLOCKED_GRACE
from pressroom.sdk import Lifespan

log = structlog.get_logger()

SLOW_SECONDS: Final = 5.0
"""After how long the log names a plugin that the server waits for."""


class RunningLifespan:
    """What one plugin has open while the server runs. It is entered and left in one task, as task groups demand.

    Nothing that it raises reaches the host, neither `CancelledError` nor another `BaseException`.
    """

    def __init__(self, gate: PluginGate, plugin: str, lifespan: Lifespan) -> None:
        self._gate = gate
        self._call = PluginCall(plugin, "lifespan", lifespan.name)
        self._lifespan = lifespan
        self._entered = asyncio.Event()
        self._leave = asyncio.Event()
        self._error: BaseException | None = None
        self._task: asyncio.Task[None] | None = None

    async def enter(self, seconds: float) -> None:
        """Open what the plugin opens, within this many seconds, also where it blocks the event loop.

        Raises:
            PluginFailed: it raised anything, or took too long.
        """
        self._task = asyncio.create_task(self._live(), name=f"{self._call} of {self._call.plugin}")
        entered = asyncio.create_task(self._entered.wait())
        began = time.monotonic()
        try:
            with self._gate.interrupting(self._call, seconds, RunningLifespan._live.__code__):
                await self._wait(entered, min(SLOW_SECONDS, seconds))
                if not self._entered.is_set() and not self._task.done():
                    log.warning("the server waits for a plugin to start", **self._named, at_most_seconds=seconds)
                    await self._wait(entered, max(0, seconds - SLOW_SECONDS))
        except asyncio.CancelledError:
            await self._abandon()
            raise
        finally:
            entered.cancel()
        in_time = time.monotonic() - began < seconds + BLOCKED_GRACE
        if self._entered.is_set() and in_time:
            self._task.add_done_callback(self._ended)
            return
        if not self._task.done():
            self._leave.set()  # for one that blocked the event loop, and swallowed that it was interrupted
            await self._abandon()
            raise self._gate.late(self._call, seconds, verb="start", hint=_START_HINT)
        raise self._gate.failed(self._call, self._error or RuntimeError("it ended without a yield"), seconds)

    async def leave(self, seconds: float) -> BaseException | None:
        """Close what the plugin opened, within this many seconds; what takes longer is cancelled, then left behind.

        Return what failed, or `None`.
        """
        if self._task is None or self._task.done():
            return self._error
        self._leave.set()
        await asyncio.wait({self._task}, timeout=seconds)
        if not self._task.done():
            self._gate.late(self._call, seconds)
            await self._abandon()
        return self._error

    @property
    def _named(self) -> dict[str, str]:
        return {"plugin": self._call.plugin, "lifespan": self._call.name}

    async def _wait(self, entered: asyncio.Task[bool], seconds: float) -> None:
        if self._task is not None:
            await asyncio.wait({self._task, entered}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)

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
            await asyncio.wait({self._task}, timeout=CANCEL_SECONDS)

    def _ended(self, _task: asyncio.Task[None]) -> None:
        if self._error is not None:
            self._gate.note(self._call, "failed", self._error)
        elif not self._leave.is_set():
            self._gate.note(self._call, "failed", f"{self._call} ended while the server ran")


_START_HINT: Final = "see what it waits for, or give it more time with [server] start_timeout"
