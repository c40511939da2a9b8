"""Running the tool."""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import structlog

from pressroom.catalog.tool import Tool
from pressroom.errors import BackendError, CallError, CallTimeout, InternalError, Overloaded
from pressroom.fetch.shares import Share, current_share, shared_by
from pressroom.pipeline.exchange import Exchange, Made
from pressroom.pipeline.executors import ExecutionRequest
from pressroom.pipeline.run_places import RunPlaces
from pressroom.pipeline.services import Services
from pressroom.pipeline.stages.store import OUTAGE_SECONDS, Store
from pressroom.sdk import EXTENSIONS, Artifact, Call, Caller, Generator, Params

log = structlog.get_logger()


class Run:
    """Runs the tool in its executor. Identical calls to a generator share one run, and with it the stored result."""

    name = "run"

    def __init__(self, services: Services, store: Store) -> None:
        self._base_url = services.settings.public_url
        self._executors = services.executors
        self._flights = services.flights
        self._places = RunPlaces(services.settings)
        self._metrics = services.metrics
        self._store = store

    async def __call__(self, exchange: Exchange) -> None:
        """Set `made`, or `result` for an MCP tool. Raises what the tool or the executor raises."""
        plan_tool = exchange.known_tool
        if exchange.made is not None:
            return
        if plan_tool.tool.kind == "mcp":
            exchange.result = await self._run(exchange)
        else:
            flight = exchange.flight or self._start(exchange)
            exchange.made = await asyncio.shield(flight)

    def _start(self, exchange: Exchange) -> asyncio.Task[Made]:
        """Begin a run of a generator, on one of the places of its caller. Raises `Overloaded` where all are taken."""
        leave = self._places.enter(exchange.known_caller)
        run = self._make(exchange)
        if exchange.known_tool.cache.seconds == 0:
            flight = self._flights.start_alone(run)
        else:
            flight = self._flights.start(exchange.content_id, run)
        # Not before the run itself ends: leaving early must not make room for another.
        flight.add_done_callback(lambda _done: leave())
        return flight

    async def _make(self, exchange: Exchange) -> Made:
        tool = exchange.known_tool.tool
        artifact = await self._run(exchange)
        _check(artifact, tool)
        return await self._store(exchange, artifact)

    async def _run(self, exchange: Exchange) -> Any:
        tool = exchange.known_tool.tool
        declaration = tool.declaration
        call = exchange.call(self._base_url)
        caller = exchange.known_caller
        with _share_of(caller) as share:
            if isinstance(declaration, Generator) and declaration.prepare is not None:
                with self._executors.expecting(declaration.executor):
                    call = replace(call, prepared=await _prepared(declaration, exchange.known_params, call, share))
            return await self._run_in_executor(exchange, call)

    async def _run_in_executor(self, exchange: Exchange, call: Call) -> Any:
        tool = exchange.known_tool.tool
        declaration = tool.declaration
        work = ExecutionRequest(
            reference=declaration.reference,
            function=declaration.function,
            params=exchange.known_params,
            call=replace(call, plugin=None) if declaration.executor == "process" else call,
            timeout=tool.timeout,
            memory_mib=declaration.memory_mib,
        )
        started = time.perf_counter()
        try:
            return await self._executors.run(declaration.executor, work)
        except BackendError as error:
            log.warning("a tool met an outage", tool=tool.name, request_id=exchange.request_id, error=error.message)
            raise Overloaded(
                f"{tool.name} could not reach the server's storage. Nothing was confirmed: try again in some seconds",
                retry_after=OUTAGE_SECONDS,
            ) from error
        except CallError as error:
            error.spent = error.spent or _is_of_the_request(error)
            raise
        finally:
            exchange.run_seconds = time.perf_counter() - started
            self._metrics.rendered(tool.name, exchange.run_seconds)


def _share_of(caller: Caller) -> AbstractContextManager[Share]:
    """Return what the fetches of a call count against; the host's own calls have no address, and keep their owner's."""
    if caller.subject:
        return shared_by(caller.subject, "call")
    return shared_by(caller.address, "anonymous") if caller.address else nullcontext(current_share())


async def _prepared(declaration: Generator, params: Params, call: Call, share: Share) -> Any:
    """Return what a generator prepared for its run. Raises a `CallError`.

    A refusal is spent where something had been fetched for it by then; before that it is like any other validation.
    """
    if declaration.prepare is None:
        return None
    scope = asyncio.timeout(call.timeout)
    try:
        async with scope:
            return await declaration.prepare(params, call)
    except CallError as error:
        error.spent = share.requests > 0 and _is_of_the_request(error)
        raise
    except Exception as error:
        if scope.expired():
            late = CallTimeout(f"{call.tool} was not ready within {call.timeout:g} s; try again later.")
            late.spent = True
            raise late from None
        log.exception("a generator could not prepare a run", tool=call.tool, request_id=call.request_id)
        raise InternalError(f"{call.tool} failed; the request id tells the operator where") from error


def _is_of_the_request(error: CallError) -> bool:
    """Tell whether an error of a run is the request's doing, and not a failure or a lack of the server's."""
    return not isinstance(error, InternalError | Overloaded)


def _check(artifact: object, tool: Tool) -> None:
    """Refuse what a generator should not have returned, before it reaches the store or a client."""
    declaration = tool.declaration
    if not isinstance(declaration, Generator):
        return
    if not isinstance(artifact, Artifact):
        problem = f"returned {type(artifact).__name__} instead of an Artifact"
    elif artifact.media_type not in declaration.produces:
        problem = f"made {artifact.media_type}, which it does not declare"
    elif artifact.preview is not None and not _is_picture(artifact.preview[0]):
        problem = f"made a preview of type {artifact.preview[0]}, which is no picture"
    elif declaration.details is not None and not isinstance(artifact.details, declaration.details):
        problem = f"returned details of type {type(artifact.details).__name__}"
    else:
        return
    log.error("a generator broke its declaration", tool=tool.name, plugin=tool.info.plugin, problem=problem)
    raise InternalError(f"{tool.name} failed; the request id tells the operator where")


def _is_picture(media_type: str) -> bool:
    return media_type.startswith("image/") and media_type in EXTENSIONS
