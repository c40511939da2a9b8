"""The limiter contract detects each violation, and reports the promise, its location and the fix."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest
from pressroom.limits.limiter import MemoryWindows, MovingWindowLimiter
from pressroom.sdk import LimitStatus, Rate
from pressroom.testing.clock import FrozenClock
from pressroom.testing.contracts import check_limiter
from pressroom.testing.contracts.limiter import LIMITER
from support.contracts import assert_broken


class Limiter:
    """Behaves like the in-memory limiter; each class below breaks one promise."""

    def __init__(self, clock: FrozenClock) -> None:
        self.clock = clock
        self.inner = MovingWindowLimiter(MemoryWindows(max_keys=1000, clock=clock.micros), clock=clock.seconds)

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def take(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        return await self.inner.take(rate, key, cost)

    async def give_back(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        return await self.inner.give_back(rate, key, cost)

    async def peek(self, rate: Rate, key: str) -> LimitStatus:
        return await self.inner.peek(rate, key)


class ResetsLate(Limiter):
    async def peek(self, rate: Rate, key: str) -> LimitStatus:
        status = await super().peek(rate, key)
        return replace(status, reset_at=status.reset_at + rate.window_seconds)


class AlwaysAllows(Limiter):
    async def take(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        return replace(await super().take(rate, key, cost), allowed=True)


class ResetsEarly(Limiter):
    async def take(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        status = await super().take(rate, key, cost)
        return replace(status, reset_at=status.reset_at - 1)


class FixedWindow(Limiter):
    async def take(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        window = self.clock.seconds() // rate.window_seconds
        return await super().take(rate, f"{key}/{window}", cost)


class CountsRefused(Limiter):
    refused_at = 0.0

    async def take(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        status = await super().take(rate, key, cost)
        if not status.allowed or self.clock.seconds() < self.refused_at + rate.window_seconds:
            self.refused_at = self.clock.seconds()
            status = replace(status, allowed=False)
        return status


class RoundsCosts(Limiter):
    async def take(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        return await super().take(rate, key, cost if not 0 < cost <= 1 else math.ceil(cost * 10) / 10)


class RoundsUp(Limiter):
    async def take(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        status = await super().take(rate, key, cost)
        return replace(status, remaining=min(status.limit, status.remaining + 1))


class CountsWhole(Limiter):
    async def take(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        return await super().take(rate, key, 1 if 0.01 <= cost < 1 else cost)


class GivesNothingBack(Limiter):
    async def give_back(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        if not 0.01 <= cost <= 1:
            raise ValueError(cost)
        return await super().peek(rate, key)


class GivesOldestBack(Limiter):
    async def give_back(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        status = await super().give_back(rate, key, cost)
        return replace(status, reset_at=status.reset_at - 5)


class GivesMoreBack(Limiter):
    async def give_back(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        status = await super().give_back(rate, key, cost)
        return replace(status, remaining=status.remaining + 1)


class PeeksByTaking(Limiter):
    async def peek(self, rate: Rate, key: str) -> LimitStatus:
        return await super().take(rate, key, 1)


class CutsKeys(Limiter):
    async def take(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        return await super().take(rate, key[:60], cost)


class IgnoresTheRate(Limiter):
    async def take(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        return await super().take(Rate(1, 60), key, cost)


class NotAtomic(Limiter):
    async def take(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        before = await super().peek(rate, key)
        await asyncio.sleep(0)
        status = await super().take(rate, key, cost)
        return replace(status, allowed=before.remaining > 0)


class ForgetsToGiveBack(Limiter):
    given = 0

    async def give_back(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        self.given += 1
        if self.given > 200:
            return await super().peek(rate, key)
        return await super().give_back(rate, key, cost)


class NeverForgets(Limiter):
    async def take(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        return await super().take(Rate(rate.requests, 86_400), key, cost)


class TakesAnyCost(Limiter):
    async def take(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        return await super().take(rate, key, min(1, max(0.01, cost)) if not math.isnan(cost) else 1)


class NoPeek(Limiter):
    peek: Any = None


BROKEN: Final[dict[str, Callable[[FrozenClock], Limiter]]] = {
    "protocol": NoPeek,
    "unused": ResetsLate,
    "taken": AlwaysAllows,
    "reset": ResetsEarly,
    "moving": FixedWindow,
    "refused_count_nothing": CountsRefused,
    "costs": RoundsCosts,
    "whole_requests": RoundsUp,
    "small": CountsWhole,
    "small_reset": ResetsEarly,
    "given_back": GivesNothingBack,
    "newest_given_back": GivesOldestBack,
    "never_counted": GivesMoreBack,
    "nothing_left": GivesNothingBack,
    "peeked": PeeksByTaking,
    "keys": CutsKeys,
    "rates": IgnoresTheRate,
    "at_once": NotAtomic,
    "given_back_at_once": ForgetsToGiveBack,
    "long_use": NeverForgets,
    "wrong_costs": TakesAnyCost,
}


def test_a_limiter_that_keeps_every_promise_gets_no_findings() -> None:
    assert check_limiter(Limiter) == []


@pytest.mark.parametrize("promise", LIMITER.promises, ids=str)
def test_a_limiter_that_breaks_a_promise_gets_a_finding(promise: Any) -> None:
    excluded = {other.name for other in LIMITER.promises} - {promise.name}
    findings = check_limiter(BROKEN[promise.name], where="odd", excluded=excluded)
    assert_broken(promise, findings, contract="limiter")
