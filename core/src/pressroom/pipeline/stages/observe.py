"""Telling the observers."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Coroutine, Mapping
from typing import Final

import structlog

from pressroom.observability.metrics import Metrics
from pressroom.pipeline.exchange import Exchange
from pressroom.pipeline.executors.within import within
from pressroom.pipeline.services import Services
from pressroom.sdk import CallRecord, Observer

log = structlog.get_logger()

OBSERVER_SECONDS = 30.0

MAX_WAITING = 10_000
"""How many calls may wait for an observer; beyond that it misses calls, which is counted as its failure."""

MAX_CONCURRENT = 64
"""How many calls an observer deals with at the same time."""

TRACED: Final = ("website_id",)
"""Arguments that the list of calls can be searched by."""


class Observe:
    """Counts the call and tells the observers, beside the answer and never in its way."""

    name = "observe"

    def __init__(self, services: Services) -> None:
        self._catalog = services.catalog
        self._metrics = services.metrics
        self._audiences = [_Audience(observer, services.metrics) for observer in services.observers]

    async def __call__(self, exchange: Exchange) -> None:
        """Count the call, and begin to tell each observer."""
        duration = time.perf_counter() - exchange.started
        code = exchange.error.code if exchange.error else "ok"
        known = exchange.plan_tool
        tool = known.tool.name if known else ""
        self._metrics.call(tool, code, duration)
        if not self._audiences or exchange.caller is None:
            return
        record = CallRecord(
            tool=tool,
            caller=exchange.caller,
            request_id=exchange.request_id,
            code=code,
            cached=exchange.cached,
            duration=duration,
            run_duration=exchange.run_seconds,
            attributes=_attributes(exchange),
            face="mcp" if exchange.by_mcp_name else "http",
            mcp_name=known.tool.mcp_name if known else self._mcp_name(exchange),
        )
        for audience in self._audiences:
            audience.tell(record)

    def _mcp_name(self, exchange: Exchange) -> str:
        """Return the MCP name of a tool that the caller's plan does not have."""
        known = exchange.by_mcp_name and exchange.tool_name in self._catalog.mcp_tools
        return exchange.tool_name if known else ""

    async def settle(self, seconds: float) -> None:
        """Wait at most so long until the observers have been told of everything so far, then cut them off."""
        tasks = {task for audience in self._audiences for task in audience.tasks}
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=seconds)
        for task in late:
            task.cancel()
        for audience in self._audiences:
            audience.drop()


class _Audience:
    """One observer, and what it still has to do beside the answers. A task does all that waits, and ends."""

    def __init__(self, observer: Observer, metrics: Metrics) -> None:
        self._observer = observer
        self._metrics = metrics
        self._waiting: deque[Awaitable[None]] = deque()
        self._starting = False
        self._failing = False
        self.tasks: set[asyncio.Task[None]] = set()

    def tell(self, record: CallRecord) -> None:
        """Tell the observer; what it has to wait for then is done beside the answer to the call."""
        if len(self._waiting) >= MAX_WAITING:
            self._metrics.observer_failure(self._observer.name)
            return
        try:
            observing = self._observer.observe(record)
        except Exception as error:  # noqa: BLE001 - an observer never matters
            self._failed(error)
            return
        if observing is None:
            self._failing = False
            return
        self._waiting.append(observing)
        # A task that has not begun yet will find this one too.
        if not self._starting and len(self.tasks) < MAX_CONCURRENT:
            self._starting = True
            task = asyncio.get_running_loop().create_task(self._do_all())
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    def drop(self) -> None:
        """Forget what waits and has not begun."""
        while self._waiting:
            observing = self._waiting.popleft()
            if isinstance(observing, Coroutine):
                observing.close()  # Python would warn of one that was never awaited

    async def _do_all(self) -> None:
        self._starting = False
        while self._waiting:
            try:
                await within(OBSERVER_SECONDS, self._waiting.popleft())
            except Exception as error:  # noqa: BLE001 - an observer never matters
                self._failed(error)
            else:
                self._failing = False

    def _failed(self, error: Exception) -> None:
        self._metrics.observer_failure(self._observer.name)
        if not self._failing:  # one that fails at every call, such as during an outage, would fill the log
            log.warning("an observer failed", observer=self._observer.name, error=f"{type(error).__name__}: {error}")
        self._failing = True


def _attributes(exchange: Exchange) -> Mapping[str, str]:
    # A model takes long to say that it has no such attribute; its fields are in its dictionary.
    given = vars(exchange.params) if exchange.params is not None else {}
    return {name: value for name in TRACED if isinstance(value := given.get(name), str)}
