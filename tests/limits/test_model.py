"""Any sequence of calls gives the same results as a naive limiter."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from pressroom.limits.limiter import MemoryWindows, MovingWindowLimiter
from pressroom.limits.redis import RedisWindows
from pressroom.sdk import LimitStatus, Rate
from pressroom.testing.clock import FrozenClock
from support.redis import connected
from support.sizes import examples

T = TypeVar("T")

rates = st.sampled_from([Rate(1, 60), Rate(3, 60), Rate(3, 3600), Rate(12, 3600)])
keys = st.sampled_from(["a", "b"])
costs = st.one_of(st.sampled_from([100, 10, 10, 1]), st.integers(1, 100))
seconds = st.one_of(st.sampled_from([0, 1e-6, 1, 59.999999, 60]), st.floats(0, 4000))


class PlainLimiter:
    """Keeps every request and recounts for each call; times are in microseconds."""

    def __init__(self) -> None:
        self._taken: dict[tuple[Rate, str], list[tuple[int, int]]] = defaultdict(list)

    def take(self, rate: Rate, key: str, amount: int, now: int) -> tuple[bool, int, int]:
        allowed = self._free(rate, key, now) >= amount
        if allowed:
            self._taken[rate, key].append((now, amount))
        return allowed, *self._left(rate, key, now)

    def give_back(self, rate: Rate, key: str, amount: int, now: int) -> tuple[bool, int, int]:
        entries = [entry for entry in self._counted(rate, key, now) if entry[1] == amount]
        if entries:
            taken = self._taken[rate, key]
            newest = len(taken) - 1 - taken[::-1].index(entries[-1])
            del taken[newest]
        return self.peek(rate, key, now)

    def peek(self, rate: Rate, key: str, now: int) -> tuple[bool, int, int]:
        return self._free(rate, key, now) >= 100, *self._left(rate, key, now)

    def _counted(self, rate: Rate, key: str, now: int) -> list[tuple[int, int]]:
        oldest = now - rate.window_seconds * 1_000_000
        return [entry for entry in self._taken[rate, key] if entry[0] > oldest]

    def _free(self, rate: Rate, key: str, now: int) -> int:
        return rate.requests * 100 - sum(amount for _, amount in self._counted(rate, key, now))

    def _left(self, rate: Rate, key: str, now: int) -> tuple[int, int]:
        remaining = self._free(rate, key, now) // 100
        leaving = [time + rate.window_seconds * 1_000_000 for time, _ in self._counted(rate, key, now)]
        return remaining, next((time for time in leaving if self._free(rate, key, time) // 100 > remaining), now)


class Comparison(RuleBasedStateMachine):
    redis_url: str | None = None

    def __init__(self) -> None:
        super().__init__()
        self.plain = PlainLimiter()
        self.clock = FrozenClock()
        self.runner = asyncio.Runner()
        self.cleanup = AsyncExitStack()
        self.limiter = self.run(self.connect())

    async def connect(self) -> MovingWindowLimiter:
        if self.redis_url is None:
            windows: MemoryWindows | RedisWindows = MemoryWindows(max_keys=1000, clock=self.clock.micros)
        else:
            connection = await self.cleanup.enter_async_context(connected(self.redis_url))
            windows = RedisWindows(connection, clock=self.clock.micros)
        return MovingWindowLimiter(windows, clock=self.clock.seconds)

    def run(self, call: Awaitable[T]) -> T:
        async def wait() -> T:
            return await call

        return self.runner.run(wait())

    def teardown(self) -> None:
        self.run(self.cleanup.aclose())
        self.runner.close()

    def compare(self, status: LimitStatus, rate: Rate, expected: tuple[bool, int, int]) -> None:
        assert status.limit == rate.requests
        assert (status.allowed, status.remaining, round(status.reset_at * 1_000_000)) == expected

    @rule(rate=rates, key=keys, amount=costs)
    def take(self, rate: Rate, key: str, amount: int) -> None:
        status = self.run(self.limiter.take(rate, key, amount / 100))
        self.compare(status, rate, self.plain.take(rate, key, amount, self.clock.micros()))

    @rule(rate=rates, key=keys, count=st.integers(2, 30))
    def take_many(self, rate: Rate, key: str, count: int) -> None:
        for _ in range(count):
            self.take(rate, key, 10)

    @rule(rate=rates, key=keys, amount=costs)
    def give_back(self, rate: Rate, key: str, amount: int) -> None:
        status = self.run(self.limiter.give_back(rate, key, amount / 100))
        self.compare(status, rate, self.plain.give_back(rate, key, amount, self.clock.micros()))

    @rule(rate=rates, key=keys)
    def peek(self, rate: Rate, key: str) -> None:
        status = self.run(self.limiter.peek(rate, key))
        self.compare(status, rate, self.plain.peek(rate, key, self.clock.micros()))

    @rule(seconds=seconds)
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule(rate=rates, key=keys)
    def wait_until_the_reset(self, rate: Rate, key: str) -> None:
        self.clock.advance_to(self.run(self.limiter.peek(rate, key)).reset_at)
        self.peek(rate, key)


def test_memory_counts_like_the_reference_limiter() -> None:
    run_state_machine_as_test(Comparison, settings=settings(max_examples=examples(80), stateful_step_count=40))


def test_redis_counts_like_the_reference_limiter(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Comparison, "redis_url", redis_url)
    quick = settings(max_examples=examples(25), stateful_step_count=30, suppress_health_check=[HealthCheck.too_slow])
    run_state_machine_as_test(Comparison, settings=quick)
