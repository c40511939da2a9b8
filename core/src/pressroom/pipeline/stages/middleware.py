"""Running the middleware of plugins around a call."""

from __future__ import annotations

import asyncio
import time
import types
from collections.abc import Coroutine, Generator
from contextlib import suppress
from typing import Any, Final

from pressroom.catalog.tool import PlanTool
from pressroom.errors import CallError
from pressroom.gate import PluginCall
from pressroom.pipeline.context import EnteredMiddleware, Interface, ResolvedCall, Services, ValidatedCall
from pressroom.pipeline.stages.base import CallStage
from pressroom.pipeline.stages.observe import TRACED
from pressroom.plugins.contributions import Contribution
from pressroom.sdk import CallInfo, CallMiddleware, CallRecord
from pressroom.validation.client_ip import Headers


class Middleware(CallStage[ResolvedCall, ResolvedCall]):
    """Enters each middleware in order, and exits those that were entered in reverse. None changes the answer."""

    name = "middleware"

    def __init__(self, services: Services) -> None:
        seconds = services.settings.middleware.timeout
        self._chain = [_Guarded(one, services, seconds) for one in services.middleware]

    def applies(self, plan_tool: PlanTool, interface: Interface) -> bool:
        """Tell whether any plugin has middleware."""
        del plan_tool, interface
        return bool(self._chain)

    async def enter(self, call: ResolvedCall) -> ResolvedCall:
        """Enter each, and note what it returned."""
        request = call.request
        trace = _trace_of(request.headers) if request.headers is not None else {}
        info = CallInfo(call.plan_tool.tool.info, call.caller, request.request_id, request.interface, trace)
        entered: list[EnteredMiddleware] = []
        # Noted before the first one waits: where the call is cancelled there, those before it are left.
        call.entered_middleware = entered
        for one in self._chain:
            ok, state = await one.enter(info)
            if ok:
                entered.append((one.exit, state))
        return call

    async def undo(self, call: ResolvedCall, error: CallError | None) -> None:
        """Exit those that were entered, the last one first."""
        entered, call.entered_middleware = call.entered_middleware, None
        if not entered:
            return
        record = _record(call, error)
        cancelled: asyncio.CancelledError | None = None
        for leave, state in reversed(entered):
            try:
                await leave(state, record)
            except asyncio.CancelledError as cancellation:
                cancelled = cancellation  # the client left now: those that remain are told all the same
        if cancelled is not None:
            raise cancelled


_TRACE_HEADERS: Final = ("traceparent", "tracestate", "baggage")


def _trace_of(headers: Headers) -> dict[str, str]:
    """Return the headers of W3C Trace Context and Baggage. The lines of one are joined, as both recommendations say."""
    found = {name: ",".join(headers.getall(name, [])) for name in _TRACE_HEADERS}
    return {name: value for name, value in found.items() if value}


def _record(call: ResolvedCall, error: CallError | None) -> CallRecord:
    ran = call if isinstance(call, ValidatedCall) else None
    given = vars(ran.params) if ran else {}
    tool = call.plan_tool.tool
    return CallRecord(
        tool=tool.name,
        caller=call.caller,
        request_id=call.request.request_id,
        code="ok" if error is None else error.code,
        cached=ran is not None and ran.cached,
        duration=time.perf_counter() - call.request.started,
        run_duration=ran.run_seconds if ran else None,
        attributes={name: value for name in TRACED if isinstance(value := given.get(name), str)},
        interface=call.request.interface,
        mcp_name=tool.mcp_name,
    )


class _Guarded:
    """One middleware, whose failures are noted and cost the call nothing."""

    def __init__(self, contribution: Contribution[CallMiddleware], services: Services, seconds: float) -> None:
        self._plugin = contribution.plugin
        self._middleware = contribution.record
        self._gate = services.gate
        self._seconds = seconds

    async def enter(self, info: CallInfo) -> tuple[bool, Any]:
        """Return whether it was entered, and what it returned."""
        if self._middleware.enter is None:
            return True, None
        return await self._run("enter", self._middleware.enter, info)

    async def exit(self, state: Any, record: CallRecord) -> None:
        """Let it know how the call ended."""
        if self._middleware.exit is not None:
            await self._run("exit", self._middleware.exit, state, record)

    async def _run(self, step: str, function: Any, *arguments: Any) -> tuple[bool, Any]:
        call = PluginCall(self._plugin, "middleware", f"{self._middleware.name} ({step})")
        task = asyncio.current_task()
        cancelled = task.cancelling() if task else 0
        try:
            with self._gate.traced(call):
                returned = function(*arguments)
                if asyncio.iscoroutine(returned):
                    returned = await _within(self._seconds, returned)
        except _OutOfTime:
            self._gate.late(call, self._seconds, repeats=True)
            return False, None
        except GeneratorExit:
            raise
        except BaseException as error:
            # A cancellation is the call's own only where somebody asked for one; otherwise the plugin made it up.
            if isinstance(error, asyncio.CancelledError) and task and task.cancelling() > cancelled:
                raise
            self._gate.note(call, "failed", error, repeats=True)
            return False, None
        self._gate.works(call)
        return True, returned


class _OutOfTime(Exception):
    """A coroutine was cut off since its time was up."""


async def _within(seconds: float, coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Await a coroutine of a plugin for at most this many seconds, in the context of the call.

    Once it is cancelled it gets no more than the step that it is in: one that catches the cancellation and waits on
    is closed. Its first step runs before any clock is set, since most end in that step.
    """
    try:
        waits_for = coroutine.send(None)
    except StopIteration as end:
        return end.value
    scope = asyncio.timeout(seconds)
    try:
        async with scope:
            return await _driven(coroutine, waits_for)
    except TimeoutError:
        if scope.expired():
            raise _OutOfTime from None
        raise


_CLOSING_ERRORS: Final = (Exception, asyncio.CancelledError)


@types.coroutine
def _driven(coroutine: Coroutine[Any, Any, Any], waits_for: Any) -> Generator[Any, Any, Any]:
    task = asyncio.current_task()
    cancelled = task.cancelling() if task else 0
    try:
        while True:
            try:
                value = yield waits_for
            except asyncio.CancelledError as error:
                if task is None or task.cancelling() == cancelled:
                    waits_for = coroutine.throw(error)  # of something that it waited for
                    continue
                with suppress(StopIteration, *_CLOSING_ERRORS):
                    coroutine.throw(error)
                raise
            except GeneratorExit:
                raise
            except BaseException as error:  # noqa: BLE001 - the coroutine decides what to do about it
                waits_for = coroutine.throw(error)
            else:
                waits_for = coroutine.send(value)
    except StopIteration as end:
        return end.value
    finally:
        with suppress(*_CLOSING_ERRORS):
            coroutine.close()
