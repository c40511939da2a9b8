"""Report calls to the observers."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Coroutine, Mapping
from typing import Final

import structlog

from pressroom.gate import PluginFailed
from pressroom.observability.metrics import Metrics
from pressroom.pipeline.context import CallRequest, Outcome, RefusedCall, ResolvedCall, Services, ValidatedCall
from pressroom.pipeline.executors.in_process import within
from pressroom.pipeline.stages.base import CallStage
from pressroom.sdk import CallRecord, Observer, Params

log = structlog.get_logger()

OBSERVER_SECONDS = 30.0

MAX_WAITING = 10_000
"""The maximum number of calls waiting for an observer. Further calls are dropped, and count as its failures."""

MAX_CONCURRENT = 64
"""The maximum number of calls that an observer handles at the same time."""

TRACED: Final = ("website_id",)
"""Arguments that the list of calls can be searched by."""


class Observe(CallStage[Outcome, Outcome]):
    """Counts the call and notifies the observers in the background. Every call passes this stage last."""

    name = "observe"

    def __init__(self, services: Services) -> None:
        self._catalog = services.catalog
        self._metrics = services.metrics
        self._audiences = [_Audience(observer, services.metrics) for observer in services.observers]

    async def enter(self, call: Outcome) -> Outcome:
        """Count the call, and begin to notify each observer."""
        context, code = (call.context, call.error.code) if isinstance(call, RefusedCall) else (call, "ok")
        request, caller = call.request, call.caller
        duration = time.perf_counter() - request.started
        tool = context.plan_tool.tool if isinstance(context, ResolvedCall) else None
        self._metrics.call(tool.name if tool else "", code, duration)
        if not self._audiences or caller is None:
            return call
        validated = context if isinstance(context, ValidatedCall) else None
        record = CallRecord(
            tool=tool.name if tool else "",
            caller=caller,
            request_id=request.request_id,
            code=code,
            cached=validated is not None and validated.cached,
            duration=duration,
            run_duration=validated.run_seconds if validated else None,
            attributes=_attributes(validated.params) if validated else {},
            interface=request.interface,
            mcp_name=tool.mcp_name if tool else self._mcp_name(request),
        )
        for audience in self._audiences:
            audience.notify(record)
        return call

    def _mcp_name(self, request: CallRequest) -> str:
        """Return the MCP name of a tool outside the caller's plan, or an empty string if the tool is unknown."""
        known = request.interface == "mcp" and request.tool_name in self._catalog.mcp_tools
        return request.tool_name if known else ""

    async def settle(self, seconds: float) -> None:
        """Wait at most `seconds` for the observers to handle all calls so far, then cancel them."""
        tasks = {task for audience in self._audiences for task in audience.tasks}
        if not tasks:
            return
        _, pending = await asyncio.wait(tasks, timeout=seconds)
        for task in pending:
            task.cancel()
        for audience in self._audiences:
            audience.drop()


class _Audience:
    """One observer and its backlog. Each task works until the backlog is empty, then ends."""

    def __init__(self, observer: Observer, metrics: Metrics) -> None:
        self._observer = observer
        self._metrics = metrics
        self._waiting: deque[Awaitable[None]] = deque()
        self._starting = False
        self._failing = False
        self.tasks: set[asyncio.Task[None]] = set()

    def notify(self, record: CallRecord) -> None:
        """Notify the observer; what it awaits is done in the background."""
        if len(self._waiting) >= MAX_WAITING:
            self._metrics.observer_failure(self._observer.name)
            return
        try:
            observing = self._observer.observe(record)
        except Exception as error:  # noqa: BLE001 - an observer must never affect the call
            self._failed(error)
            return
        if observing is None:
            self._failing = False
            return
        self._waiting.append(observing)
        # A task that has not begun yet will take this record too.
        if not self._starting and len(self.tasks) < MAX_CONCURRENT:
            self._starting = True
            task = asyncio.get_running_loop().create_task(self._do_all())
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    def drop(self) -> None:
        """Discard the backlog."""
        while self._waiting:
            observing = self._waiting.popleft()
            if isinstance(observing, Coroutine):
                observing.close()  # Python would warn that it was never awaited

    async def _do_all(self) -> None:
        self._starting = False
        while self._waiting:
            try:
                await within(OBSERVER_SECONDS, self._waiting.popleft())
            except Exception as error:  # noqa: BLE001 - an observer must never affect the call
                self._failed(error)
            else:
                self._failing = False

    def _failed(self, error: Exception) -> None:
        self._metrics.observer_failure(self._observer.name)
        # The gate has logged failures of plugins. Logging every failure would fill the log.
        if not self._failing and not isinstance(error, PluginFailed):
            log.warning("an observer failed", observer=self._observer.name, error=f"{type(error).__name__}: {error}")
        self._failing = True


def _attributes(params: Params) -> Mapping[str, str]:
    # `getattr` is slow for a missing attribute of a model; the fields are in its dictionary.
    values = vars(params)
    return {name: value for name in TRACED if isinstance(value := values.get(name), str)}
