"""Telling the observers."""

from __future__ import annotations

import asyncio
import time

import structlog

from pressroom.pipeline.exchange import Exchange
from pressroom.pipeline.services import Services
from pressroom.sdk import CallRecord, Observer

log = structlog.get_logger()

OBSERVER_SECONDS = 30.0

MOST_WAITING = 10_000
"""How many observations may be under way; beyond that an observer misses calls, which is counted as its failure."""


class Observe:
    """Counts the call and tells the observers, beside the answer and never in its way."""

    name = "observe"

    def __init__(self, services: Services) -> None:
        self._observers = services.observers
        self._metrics = services.metrics
        self._tasks: set[asyncio.Task[None]] = set()

    async def __call__(self, exchange: Exchange) -> None:
        """Count the call, and begin to tell each observer."""
        duration = time.perf_counter() - exchange.started
        code = exchange.error.code if exchange.error else "ok"
        tool = exchange.plan_tool.tool.name if exchange.plan_tool else ""
        self._metrics.call(tool, code, duration)
        if not self._observers or exchange.caller is None:
            return
        record = CallRecord(
            tool=tool,
            caller=exchange.caller,
            request_id=exchange.request_id,
            code=code,
            cached=exchange.cached,
            duration=duration,
            run_duration=exchange.run_seconds,
        )
        for observer in self._observers:
            if len(self._tasks) >= MOST_WAITING:
                self._metrics.observer_failure(observer.name)
                continue
            task = asyncio.get_running_loop().create_task(self._tell(observer, record))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _tell(self, observer: Observer, record: CallRecord) -> None:
        try:
            async with asyncio.timeout(OBSERVER_SECONDS):
                await observer.observe(record)
        except Exception as error:  # noqa: BLE001 - an observer never matters
            self._metrics.observer_failure(observer.name)
            log.warning("an observer failed", observer=observer.name, error=f"{type(error).__name__}: {error}")

    async def settle(self, seconds: float) -> None:
        """Wait at most so long until the observers have been told of everything so far, then cut them off."""
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=seconds)
        for task in late:
            task.cancel()
