"""The order of the stages."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Iterator
from typing import Final, Protocol

import structlog

from pressroom.catalog.tool import PlanTool
from pressroom.errors import CallError, ClientLeft, InternalError
from pressroom.pipeline.exchange import Exchange, Headers
from pressroom.pipeline.services import Services
from pressroom.pipeline.stages.admit import Admit
from pressroom.pipeline.stages.authenticate import Authenticate
from pressroom.pipeline.stages.authorize import Authorize
from pressroom.pipeline.stages.brand import Brand
from pressroom.pipeline.stages.cache import Cache
from pressroom.pipeline.stages.limit import Limit
from pressroom.pipeline.stages.observe import Observe
from pressroom.pipeline.stages.plan import Plan
from pressroom.pipeline.stages.quota import Quota
from pressroom.pipeline.stages.respond import Respond
from pressroom.pipeline.stages.run import Run
from pressroom.pipeline.stages.store import Store
from pressroom.pipeline.stages.validate import Validate
from pressroom.sdk import Caller

log = structlog.get_logger()

STAGE_NAMES: Final = (
    Admit.name,
    Authenticate.name,
    Plan.name,
    Authorize.name,
    Validate.name,
    Cache.name,
    Limit.name,
    Quota.name,
    Run.name,
    Store.name,
    Respond.name,
    Brand.name,
    Observe.name,
)
"""The stages of a call in the order in which it passes them."""


class Stage(Protocol):
    """A stage of the chain."""

    name: str

    async def __call__(self, exchange: Exchange) -> None:
        """Move the exchange on. Raises a `CallError` to refuse the call."""


class Pipeline:
    """The stages of one call, compiled for one host: every call passes them in this order, whatever its face.

    The cache is asked before the limit, since a cached result costs less. `Store` works inside `Run`, so that calls
    which share a run share what it stored. The closing stages see refused calls too.
    """

    def __init__(self, services: Services) -> None:
        self._flights = services.flights
        self._limit = Limit(services)
        self._cache = Cache(services)
        self._quota = Quota(services, self._cache, self._limit)
        self._observe = Observe(services)
        self._admit = Admit(services)
        self._authenticate = Authenticate(services)
        self._plan, self._brand = Plan(services), Brand(services)
        self._authorize, self._validate = Authorize(services), Validate()
        self._run, self._respond = Run(services, Store(services)), Respond(services)
        # The catalog never changes, so its entries can be told apart by their identity.
        self._stages: dict[int, tuple[Stage, ...]] = {
            id(entry): tuple(self._needed(entry))
            for view in services.catalog.plans.values()
            for entry in (*view.tools.values(), *view.mcp_tools.values())
        }

    def _needed(self, plan_tool: PlanTool) -> Iterator[Stage]:
        """Yield the stages that calls of a tool pass once it is known; the others would do nothing for them."""
        shares_runs = plan_tool.cache.seconds > 0
        yield self._authorize
        yield self._validate
        if shares_runs:
            yield self._cache
        if plan_tool.limits or shares_runs:
            yield self._limit
        if plan_tool.tool.quota:
            yield self._quota
        yield self._run
        if plan_tool.tool.kind == "generator":
            yield self._respond

    async def __call__(self, exchange: Exchange) -> None:
        """Run one call. What refused it is left in `exchange.error`; nothing but a cancellation is raised.

        A call that is refused costs nothing, and still learns the state of its limit.
        """
        try:
            if exchange.caller is None:
                await self._admit(exchange)
                await self._authenticate(exchange)
            plan_tool = await self._plan(exchange)
            for stage in self._stages[id(plan_tool)]:
                await stage(exchange)
        except asyncio.CancelledError:
            exchange.error = ClientLeft("the client left before it was answered")
            if exchange.quota_use is not None:
                await self._settle_quota(exchange)
            await self._observe(exchange)
            raise
        except CallError as error:
            exchange.error = error
        except GeneratorExit:
            raise
        except BaseException:  # a plugin may raise anything, such as a panic of native code
            log.exception("a call failed", tool=exchange.tool_name, request_id=exchange.request_id)
            exchange.error = InternalError("something failed inside; the request id tells the operator where")
        if exchange.quota_use is not None:
            await self._settle_quota(exchange)
        if exchange.plan_tool is not None and exchange.plan_tool.limits:
            await self._settle_limit(exchange)
        await self._brand(exchange)
        await self._observe(exchange)

    async def make_own(self, exchange: Exchange) -> None:
        """Run a call of the host itself, which nobody is asked for: no limit, no quota, no observer counts it.

        It is for content that the host knows beforehand, such as a generator's examples; the caller is set already.

        Raises:
            CallError: it could not be made.
        """
        await self._plan(exchange)
        for stage in (self._validate, self._cache, self._run, self._respond):
            await stage(exchange)

    def admit(self, peer: str, headers: Headers) -> Caller:
        """Return the stranger that a request comes from: the first stage alone."""
        return self._admit.stranger(peer, headers)

    def identify(self, stranger: Caller, headers: Headers) -> Awaitable[Caller]:
        """Return whom the request's credential belongs to: the second stage alone.

        A face that has asked puts the answer into `Exchange.caller`, and nobody asks again.

        Raises:
            Rejected: the credential is of a kind that is known, and not valid.
            BackendError: it could not be checked.
        """
        return self._authenticate.identify(stranger, headers)

    async def _settle_limit(self, exchange: Exchange) -> None:
        try:
            await self._limit.settle(exchange)
        except Exception:
            log.exception("a limit could not be settled", tool=exchange.tool_name, request_id=exchange.request_id)

    async def _settle_quota(self, exchange: Exchange) -> None:
        try:
            await self._quota.settle(exchange)
        except Exception:
            log.exception("a quota could not be settled", tool=exchange.tool_name, request_id=exchange.request_id)

    async def settle(self, seconds: float) -> None:
        """Wait, for so many seconds in all, for runs that nobody waits for any more, and for the observers."""
        end = time.monotonic() + seconds
        await self._flights.settle(seconds)
        await self._observe.settle(max(0, end - time.monotonic()))
