from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from pressroom.sdk import CacheIndex
from pressroom.storage.cache.memory import MemoryCacheIndex
from pressroom.storage.cache.redis import RedisCacheIndex
from pressroom.storage.redis import RedisConnection
from support.redis import any_redis, connected


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with any_redis(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
async def connection(redis_url: str) -> AsyncIterator[RedisConnection]:
    async with connected(redis_url) as connection:
        yield connection


@pytest.fixture(params=["memory", "redis"])
def cache(request: pytest.FixtureRequest) -> CacheIndex:
    if request.param == "memory":
        return MemoryCacheIndex(max_entries=1000)
    return RedisCacheIndex(request.getfixturevalue("connection"))
