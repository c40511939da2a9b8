"""Running the tool."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import structlog

from pressroom.catalog.tool import Tool
from pressroom.errors import InternalError
from pressroom.lanes import Work
from pressroom.pipeline.exchange import Exchange, Made
from pressroom.pipeline.services import Services
from pressroom.pipeline.stages.store import Store
from pressroom.sdk import Artifact, Call, Generator

log = structlog.get_logger()


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
        work = Work(
            reference=declaration.reference,
            function=declaration.function,
            params=exchange.known_params,
            call=Call(
                tool=tool.name,
                request_id=exchange.request_id,
                caller=exchange.known_caller,
                base_url=self._base_url,
                timeout=tool.timeout,
                config=tool.config,
            ),
            timeout=tool.timeout,
            memory_mib=declaration.memory_mib,
        )
        started = time.perf_counter()
        try:
            return await self._lanes.run(declaration.lane, work)
        finally:
            exchange.run_seconds = time.perf_counter() - started
            self._metrics.rendered(tool.name, exchange.run_seconds)


def _check(artifact: object, tool: Tool) -> None:
    """Refuse what a generator should not have returned, before it reaches the store or a client."""
    declaration = tool.declaration
    if not isinstance(declaration, Generator):
        return
    if not isinstance(artifact, Artifact):
        problem = f"returned {type(artifact).__name__} instead of an Artifact"
    elif artifact.media_type not in declaration.produces:
        problem = f"made {artifact.media_type}, which it does not declare"
    elif declaration.details is not None and not isinstance(artifact.details, declaration.details):
        problem = f"returned details of type {type(artifact.details).__name__}"
    else:
        return
    log.error("a generator broke its declaration", tool=tool.name, plugin=tool.info.plugin, problem=problem)
    raise InternalError(f"{tool.name} failed; the request id tells the operator where")
