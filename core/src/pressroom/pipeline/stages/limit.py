"""Rate limits of a call."""

from __future__ import annotations

import math
import time
from functools import partial
from typing import Final

from pressroom.catalog.tool import LimitRule, PlanTool
from pressroom.errors import BackendError, CallError, ClientLeft, Overloaded, RateLimited
from pressroom.pipeline.context import Interface, ResolvedCall, Services, ValidatedCall
from pressroom.pipeline.stages.base import CallStage
from pressroom.sdk import LimitStatus, Rate
from pressroom.validation.echo import counted

REPEAT_COST: Final = 0.1
"""The cost of repeating a call that already has a result, as a fraction of a request."""


class Limit(CallStage[ValidatedCall, ValidatedCall]):
    """Counts the call against every limit of the tool. A cached result costs only a fraction of a request.

    A used-up limit does not refuse the repeat of a call that already has a result.
    While limits cannot be counted, calls pass or are refused, as the operator has configured.
    """

    name = "limit"

    def __init__(self, services: Services) -> None:
        self._limiter = services.limiter
        self._metrics = services.metrics
        self._refuse_on_outage = services.settings.limits.on_outage == "refuse"

    def applies(self, plan_tool: PlanTool, interface: Interface) -> bool:
        """Return whether the plan limits the tool."""
        del interface
        return bool(plan_tool.limits)

    async def enter(self, call: ValidatedCall) -> ValidatedCall:
        """Count the call and set the status of the strictest limit. Raises `RateLimited` or `Overloaded`."""
        if call.cached:
            await self._count(call, _discounted(call))
        else:
            await self._count(call, 1.0)
            call.when_shared.append(partial(self._discount, call))
        return call

    async def undo(self, call: ResolvedCall, error: CallError | None) -> None:
        """Give back the cost of a call that failed without a run of its own, and set the limit status if it is missing.

        A run that its arguments made fail has used a worker's time like any other, and keeps its cost. So does a client
        that has left, which gets no response.
        """
        if isinstance(error, ClientLeft):
            return
        if error is not None and not error.spent and isinstance(call, ValidatedCall):
            await self._return(call)
        if call.limit_status is None:
            for rule in call.plan_tool.limits:
                _report(call, await self._peek(call, rule))

    async def _discount(self, call: ValidatedCall) -> None:
        """Reduce the cost of a call counted in full to that of a cached result."""
        await self._return(call)
        await self._count(call, _discounted(call))

    async def _count(self, call: ValidatedCall, cost: float) -> None:
        if cost == 0:
            return
        counted_rules: list[LimitRule] = []
        try:
            for rule in call.plan_tool.limits:
                await self._count_against(rule, call, cost)
                counted_rules.append(rule)
        except Exception as error:
            for rule in counted_rules:
                await self._give_back(call, rule, cost)
            if isinstance(error, RateLimited) and _is_repeat(call):
                return  # the client lost the response, and it has been looked up already: refusing would save nothing
            raise
        call.limit_cost = cost

    async def _count_against(self, rule: LimitRule, call: ValidatedCall, cost: float) -> None:
        status = await self._take(call, rule, cost)
        _report(call, status)
        if not status.allowed:
            if not _is_repeat(call):
                self._metrics.limited(call.plan_tool.tool.name)
            raise limit_refusal(rule.rate, status)

    async def _return(self, call: ValidatedCall) -> None:
        cost, call.limit_cost = call.limit_cost, 0.0
        if cost == 0:
            return
        call.limit_status = None
        for rule in call.plan_tool.limits:
            await self._give_back(call, rule, cost)

    async def _take(self, call: ValidatedCall, rule: LimitRule, cost: float) -> LimitStatus:
        try:
            return await self._limiter.take(rule.rate, _key(call, rule), cost)
        except BackendError as error:
            self._metrics.backend_failure("limits")
            if self._refuse_on_outage:
                raise Overloaded("requests cannot be counted at the moment; try again shortly") from error
            return _unknown(rule.rate)

    async def _peek(self, call: ResolvedCall, rule: LimitRule) -> LimitStatus:
        try:
            return await self._limiter.peek(rule.rate, _key(call, rule))
        except BackendError:
            self._metrics.backend_failure("limits")
            return _unknown(rule.rate)

    async def _give_back(self, call: ValidatedCall, rule: LimitRule, cost: float) -> None:
        try:
            _report(call, await self._limiter.give_back(rule.rate, _key(call, rule), cost))
        except BackendError:
            self._metrics.backend_failure("limits")


def _is_repeat(call: ValidatedCall) -> bool:
    return call.cached and call.repeatable is not None


def _discounted(call: ValidatedCall) -> float:
    return call.plan_tool.tool.info.cache_discount if call.repeatable is None else REPEAT_COST


def _key(call: ResolvedCall, rule: LimitRule) -> str:
    return f"{rule.name}\n{call.plan_tool.tool.name}\n{rule.key(call.caller)}"


def _report(call: ResolvedCall, status: LimitStatus) -> None:
    strictest = call.limit_status
    if strictest is None or not status.allowed or status.remaining < strictest.remaining:
        call.limit_status = status


def _unknown(rate: Rate) -> LimitStatus:
    return LimitStatus(True, rate.requests, rate.requests, time.time())


def limit_refusal(rate: Rate, status: LimitStatus) -> RateLimited:
    """Return the error for a caller who has used up a limit, with the time until the next request is possible."""
    seconds = max(1, math.ceil(status.reset_at - time.time()))
    return RateLimited(
        f"the limit of {rate} is used up; try again in {counted(seconds, 'second')}", retry_after=seconds
    )
