"""Running the tool."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any, Final

import structlog

from pressroom.catalog.tool import Tool
from pressroom.errors import BackendError, CallError, CallTimeout, InternalError, Overloaded
from pressroom.lanes import Work
from pressroom.pipeline.exchange import Exchange, Made
from pressroom.pipeline.services import Services
from pressroom.pipeline.stages.store import Store
from pressroom.sdk import EXTENSIONS, Artifact, Call, Generator, Params
from pressroom.sdk.generator import PrepareFunction

log = structlog.get_logger()

_OUTAGE_SECONDS: Final = 5
"""When it is worth to try again what met an outage."""


class Run:
    """Runs the tool in its lane. Identical calls to a generator share one run, which ends when its result is stored."""

    name = "run"

    def __init__(self, services: Services, store: Store) -> None:
        self._base_url = services.settings.public_url
        self._lanes = services.lanes
        self._flights = services.flights
        self._metrics = services.metrics
        self._store = store

    async def __call__(self, exchange: Exchange) -> None:
        """Set `made`, or `result` for an MCP tool. Raises what the tool or the lane raises."""
        plan_tool = exchange.known_tool
        if exchange.made is not None:
            return
        if plan_tool.tool.kind == "mcp":
            exchange.result = await self._run(exchange)
        elif plan_tool.cache.seconds == 0:
            exchange.made = await self._make(exchange)
        else:
            flight = exchange.flight or self._flights.start(exchange.content_id, self._make(exchange))
            exchange.made = await asyncio.shield(flight)

    async def _make(self, exchange: Exchange) -> Made:
        tool = exchange.known_tool.tool
        artifact = await self._run(exchange)
        _check(artifact, tool)
        return await self._store(exchange, artifact)

    async def _run(self, exchange: Exchange) -> Any:
        tool = exchange.known_tool.tool
        declaration = tool.declaration
        call = exchange.call(self._base_url)
        if isinstance(declaration, Generator) and declaration.prepare is not None:
            call = replace(call, prepared=await _prepared(declaration.prepare, exchange.known_params, call))
        work = Work(
            reference=declaration.reference,
            function=declaration.function,
            params=exchange.known_params,
            call=replace(call, plugin=None) if declaration.lane == "process" else call,
            timeout=tool.timeout,
            memory_mib=declaration.memory_mib,
        )
        started = time.perf_counter()
        try:
            return await self._lanes.run(declaration.lane, work)
        except BackendError as error:
            log.warning("a tool met an outage", tool=tool.name, request_id=exchange.request_id, error=error.message)
            raise Overloaded(
                f"{tool.name} could not reach the server's storage. Nothing was confirmed: try again in some seconds",
                retry_after=_OUTAGE_SECONDS,
            ) from error
        finally:
            exchange.run_seconds = time.perf_counter() - started
            self._metrics.rendered(tool.name, exchange.run_seconds)


async def _prepared(prepare: PrepareFunction, params: Params, call: Call) -> Any:
    """Return what a generator prepared for its run. Raises a `CallError`."""
    scope = asyncio.timeout(call.timeout)
    try:
        async with scope:
            return await prepare(params, call)
    except CallError:
        raise
    except Exception as error:
        if scope.expired():
            raise CallTimeout(f"{call.tool} was not ready within {call.timeout:g} s; try again later.") from None
        log.exception("a generator could not prepare a run", tool=call.tool, request_id=call.request_id)
        raise InternalError(f"{call.tool} failed; the request id tells the operator where") from error


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
