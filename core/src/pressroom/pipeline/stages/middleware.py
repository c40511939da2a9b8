"""Run the middleware of plugins around a call."""

from __future__ import annotations

import asyncio
import time
import types
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from typing import Any, Final

from pressroom.catalog.tool import PlanTool
from pressroom.errors import CallError
from pressroom.gate import PluginCall
from pressroom.gate.failures import own_exit
from pressroom.pipeline.context import EnteredMiddleware, Interface, ResolvedCall, Services, ValidatedCall
from pressroom.pipeline.stages.base import CallStage
from pressroom.pipeline.stages.observe import TRACED
from pressroom.plugins.contributions import Contribution
from pressroom.sdk import CallInfo, CallMiddleware, CallRecord
from pressroom.validation.client_ip import Headers


class Middleware(CallStage[ResolvedCall, ResolvedCall]):
    """Enters each middleware in order, and exits the entered ones in reverse. None can change the result."""

    name = "middleware"

    def __init__(self, services: Services) -> None:
        seconds = services.settings.middleware.timeout
        self._chain = [_Guarded(middleware, services, seconds) for middleware in services.middleware]

    def applies(self, plan_tool: PlanTool, interface: Interface) -> bool:
        """Return whether any plugin has middleware."""
        del plan_tool, interface
        return bool(self._chain)

    async def enter(self, call: ResolvedCall) -> ResolvedCall:
        """Enter each middleware, and keep its state for the exit."""
        request = call.request
        trace = _trace_of(request.headers) if request.headers is not None else {}
        info = CallInfo(call.plan_tool.tool.info, call.caller, request.request_id, request.interface, trace)
        entered: list[EnteredMiddleware] = []
        # Set before the first `await`: if the call is cancelled there, the middleware entered so far is exited.
        call.entered_middleware = entered
        for middleware in self._chain:
            ok, state = await middleware.enter(info)
            if ok:
                entered.append((middleware.exit, state))
        return call

    async def undo(self, call: ResolvedCall, error: CallError | None) -> None:
        """Exit the entered middleware, the last one first."""
        entered, call.entered_middleware = call.entered_middleware, None
        if not entered:
            return
        record = _record(call, error)
        cancelled: asyncio.CancelledError | None = None
        for leave, state in reversed(entered):
            try:
                await leave(state, record)
            except asyncio.CancelledError as cancellation:
                cancelled = cancellation  # the client has just left: the remaining middleware is exited all the same
        if cancelled is not None:
            raise cancelled


_TRACE_HEADERS: Final = ("traceparent", "tracestate", "baggage")


def _trace_of(headers: Headers) -> dict[str, str]:
    """Return the W3C Trace Context and Baggage headers. Repeated headers are joined, as both specifications require."""
    trace = {name: ",".join(headers.getall(name, [])) for name in _TRACE_HEADERS}
    return {name: value for name, value in trace.items() if value}


def _record(call: ResolvedCall, error: CallError | None) -> CallRecord:
    validated = call if isinstance(call, ValidatedCall) else None
    params = vars(validated.params) if validated else {}
    tool = call.plan_tool.tool
    return CallRecord(
        tool=tool.name,
        caller=call.caller,
        request_id=call.request.request_id,
        code="ok" if error is None else error.code,
        cached=validated is not None and validated.cached,
        duration=time.perf_counter() - call.request.started,
        run_duration=validated.run_seconds if validated else None,
        attributes={name: value for name in TRACED if isinstance(value := params.get(name), str)},
        interface=call.request.interface,
        mcp_name=tool.mcp_name,
    )


class _Guarded:
    """One middleware, whose failures are recorded and never affect the call."""

    def __init__(self, contribution: Contribution[CallMiddleware], services: Services, seconds: float) -> None:
        self._plugin = contribution.plugin
        self._middleware = contribution.record
        self._gate = services.gate
        self._seconds = seconds

    async def enter(self, info: CallInfo) -> tuple[bool, Any]:
        """Return whether it was entered, and the value that it returned."""
        if self._middleware.enter is None:
            return True, None
        return await self._run("enter", self._middleware.enter, info)

    async def exit(self, state: Any, record: CallRecord) -> None:
        """Exit the middleware with the record of the ended call."""
        if self._middleware.exit is not None:
            await self._run("exit", self._middleware.exit, state, record)

    async def _run(self, step: str, function: Any, *arguments: Any) -> tuple[bool, Any]:
        call = PluginCall(self._plugin, "middleware", f"{self._middleware.name} ({step})")
        task = asyncio.current_task()
        cancelled = task.cancelling() if task else 0
        try:
            with self._gate.traced(call):
                returned = _step(function, *arguments)
                if asyncio.iscoroutine(returned):
                    returned = await _within(self._seconds, returned)
        except _OutOfTime:
            self._gate.late(call, self._seconds, repeats=True)
            return False, None
        except GeneratorExit:
            raise
        except BaseException as error:
            # Only a cancellation that was requested is the call's own; otherwise the plugin raised it.
            if isinstance(error, asyncio.CancelledError) and task and task.cancelling() > cancelled:
                raise
            self._gate.note(call, "failed", error, repeats=True)
            return False, None
        self._gate.works(call)
        return True, returned


class _OutOfTime(Exception):
    """A coroutine was cancelled because its time was up."""


async def _within(seconds: float, coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Await a plugin's coroutine for at most `seconds`, in the context of the call.

    Once cancelled, it gets only its current step: a coroutine that catches the cancellation and keeps waiting is
    closed. The first step runs before the timer is set, since most coroutines end in that step.
    """
    try:
        yielded = _step(coroutine.send, None)
    except StopIteration as end:
        return end.value
    scope = asyncio.timeout(seconds)
    try:
        async with scope:
            return await _driven(coroutine, yielded)
    except TimeoutError:
        if scope.expired():
            raise _OutOfTime from None
        raise


_CLOSING_ERRORS: Final = (Exception, asyncio.CancelledError)


@types.coroutine
def _driven(coroutine: Coroutine[Any, Any, Any], yielded: Any) -> Generator[Any, Any, Any]:
    task = asyncio.current_task()
    cancelled = task.cancelling() if task else 0
    try:
        while True:
            try:
                value = yield yielded
            except asyncio.CancelledError as error:
                if task is None or task.cancelling() == cancelled:
                    yielded = _step(coroutine.throw, error)  # raised by what the coroutine awaits
                    continue
                with suppress(StopIteration, *_CLOSING_ERRORS):
                    coroutine.throw(error)
                raise
            except GeneratorExit:
                raise
            except BaseException as error:  # noqa: BLE001 - the coroutine decides how to handle it
                yielded = _step(coroutine.throw, error)
            else:
                yielded = _step(coroutine.send, value)
    except StopIteration as end:
        return end.value
    finally:
        with suppress(*_CLOSING_ERRORS):
            coroutine.close()


def _step(run: Callable[..., Any], *arguments: Any) -> Any:
    """Run a plugin's function, or its coroutine up to the next `await`."""
    try:
        return run(*arguments)
    except GeneratorExit as error:
        raise own_exit(error) from error
