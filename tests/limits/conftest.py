from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from pressroom.limits.limiter import MemoryWindows, MovingWindowLimiter
from pressroom.limits.redis import RedisWindows
from pressroom.storage.redis import RedisConnection
from pressroom.testing.clock import FrozenClock
from support.redis import RedisServer, any_redis, connected, own_redis


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with any_redis(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
async def connection(redis_url: str) -> AsyncIterator[RedisConnection]:
    async with connected(redis_url) as connection:
        yield connection


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with own_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(params=["memory", "redis"])
def limiter(request: pytest.FixtureRequest, clock: FrozenClock) -> MovingWindowLimiter:
    windows = (
        MemoryWindows(max_keys=1000, clock=clock.micros)
        if request.param == "memory"
        else RedisWindows(request.getfixturevalue("connection"), clock=clock.micros)
    )
    return MovingWindowLimiter(windows, clock=clock.seconds)
