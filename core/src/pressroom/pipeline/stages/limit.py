"""Whether the caller has requests left."""

from __future__ import annotations

import math
import time

from pressroom.catalog.tool import LimitRule
from pressroom.errors import BackendError, Overloaded, RateLimited
from pressroom.pipeline.exchange import Exchange
from pressroom.pipeline.services import Services
from pressroom.sdk import LimitStatus, Rate
from pressroom.validation.echo import counted


class Limit:
    """Counts the call against every limit of the tool. A cached result costs only a part of a request.

    While limits cannot be counted, calls pass or are refused as the operator chose.
    """

    name = "limit"

    def __init__(self, services: Services) -> None:
        self._limiter = services.limiter
        self._flights = services.flights
        self._metrics = services.metrics
        self._refuse_on_outage = services.settings.limits.on_outage == "refuse"

    async def __call__(self, exchange: Exchange) -> None:
        """Count the call and set the state of the strictest limit. Raises `RateLimited` or `Overloaded`."""
        discount = exchange.known_tool.tool.info.cache_discount
        await self._count(exchange, discount if exchange.cached else 1.0)
        if self._joins_late(exchange):
            await self.discount(exchange)

    async def discount(self, exchange: Exchange) -> None:
        """Count a call that was counted whole as one that is served from the cache after all."""
        await self._return(exchange)
        await self._count(exchange, exchange.known_tool.tool.info.cache_discount)

    def _joins_late(self, exchange: Exchange) -> bool:
        """Join a run of the same content that began while this call was being counted."""
        if exchange.cached or not exchange.content_id or exchange.known_tool.cache.seconds == 0:
            return False
        exchange.flight = self._flights.current(exchange.content_id)
        exchange.cached = exchange.flight is not None
        return exchange.cached

    async def _count(self, exchange: Exchange, cost: float) -> None:
        if cost == 0:
            return
        passed: list[LimitRule] = []
        try:
            for rule in exchange.known_tool.limits:
                await self._count_against(rule, exchange, cost)
                passed.append(rule)
        except Exception:
            for rule in passed:
                await self._give_back(exchange, rule, cost)
            raise
        exchange.taken = cost

    async def _count_against(self, rule: LimitRule, exchange: Exchange, cost: float) -> None:
        status = await self._take(exchange, rule, cost)
        self._report(exchange, status)
        if not status.allowed:
            self._metrics.limited(exchange.known_tool.tool.name)
            raise _refusal(rule.rate, status)

    async def settle(self, exchange: Exchange) -> None:
        """Give back what a call took that failed through no run of its own, and make sure that the limit is known.

        A run that the request made fail has taken a worker's time like any other, and keeps its cost.
        """
        if exchange.error is not None and not exchange.error.spent:
            await self._return(exchange)
        if exchange.limit_status is None and exchange.plan_tool is not None:
            for rule in exchange.plan_tool.limits:
                self._report(exchange, await self._peek(exchange, rule))

    async def _return(self, exchange: Exchange) -> None:
        cost, exchange.taken = exchange.taken, 0.0
        if cost == 0:
            return
        exchange.limit_status = None
        for rule in exchange.known_tool.limits:
            await self._give_back(exchange, rule, cost)

    async def _take(self, exchange: Exchange, rule: LimitRule, cost: float) -> LimitStatus:
        try:
            return await self._limiter.take(rule.rate, self._key(exchange, rule), cost)
        except BackendError as error:
            self._metrics.backend_failure("limits")
            if self._refuse_on_outage:
                raise Overloaded("requests cannot be counted at the moment; try again shortly") from error
            return _unknown(rule.rate)

    async def _peek(self, exchange: Exchange, rule: LimitRule) -> LimitStatus:
        try:
            return await self._limiter.peek(rule.rate, self._key(exchange, rule))
        except BackendError:
            self._metrics.backend_failure("limits")
            return _unknown(rule.rate)

    async def _give_back(self, exchange: Exchange, rule: LimitRule, cost: float) -> None:
        try:
            self._report(exchange, await self._limiter.give_back(rule.rate, self._key(exchange, rule), cost))
        except BackendError:
            self._metrics.backend_failure("limits")

    @staticmethod
    def _key(exchange: Exchange, rule: LimitRule) -> str:
        return f"{rule.name}\n{exchange.known_tool.tool.name}\n{rule.key(exchange.known_caller)}"

    @staticmethod
    def _report(exchange: Exchange, status: LimitStatus) -> None:
        strictest = exchange.limit_status
        if strictest is None or not status.allowed or status.remaining < strictest.remaining:
            exchange.limit_status = status


def _unknown(rate: Rate) -> LimitStatus:
    return LimitStatus(True, rate.requests, rate.requests, time.time())


def _refusal(rate: Rate, status: LimitStatus) -> RateLimited:
    seconds = max(1, math.ceil(status.reset_at - time.time()))
    return RateLimited(
        f"the limit of {rate} is used up; try again in {counted(seconds, 'second')}", retry_after=seconds
    )
