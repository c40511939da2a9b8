"""The contract of every limiter, in memory and in Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from limits.aio.strategies import MovingWindowRateLimiter
from pressroom.limits.limiter import MemoryWindows, MovingWindowLimiter, window_item
from pressroom.limits.redis import RedisWindows
from pressroom.sdk import Limiter, Rate
from pressroom.testing.clock import FrozenClock
from pressroom.testing.contracts import LimiterContract, check_limiter
from pressroom.testing.contracts.limiter import MakeLimiter
from support.redis import connected


class TestLimiter(LimiterContract):
    """In memory and in Redis."""

    @pytest.fixture(params=["memory", "redis"])
    def make_limiter(self, request: pytest.FixtureRequest) -> MakeLimiter:
        if request.param == "memory":
            return in_memory
        url: str = request.getfixturevalue("redis_url")

        @asynccontextmanager
        async def in_redis(clock: FrozenClock) -> AsyncIterator[Limiter]:
            async with connected(url) as connection:
                windows = RedisWindows(connection, clock=clock.micros)
                yield MovingWindowLimiter(windows, clock=clock.seconds)

        return in_redis


def in_memory(clock: FrozenClock) -> Limiter:
    return MovingWindowLimiter(MemoryWindows(max_keys=1000, clock=clock.micros), clock=clock.seconds)


def test_the_contract_holds_in_real_time() -> None:
    assert check_limiter(lambda _: MovingWindowLimiter(MemoryWindows(max_keys=1000)), real_time=True) == []


async def test_strategies_of_the_limits_package_share_the_windows(
    limiter: MovingWindowLimiter, clock: FrozenClock
) -> None:
    rate, item = Rate(2, 60), window_item(2, 60)
    strategy = MovingWindowRateLimiter(limiter.storage)
    await limiter.take(rate, "a", 1)
    assert await strategy.hit(item, "a", cost=60)
    assert not await strategy.hit(item, "a", cost=60)
    assert not await strategy.test(item, "a", cost=41)
    assert (await strategy.get_window_stats(item, "a")).remaining == 40
    assert (await limiter.peek(rate, "a")).remaining == 0
    await strategy.clear(item, "a")
    assert (await limiter.peek(rate, "a")).remaining == 2
