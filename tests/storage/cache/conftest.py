from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from pressroom.sdk import CacheIndex
from pressroom.storage.cache.memory import MemoryCacheIndex
from pressroom.storage.cache.redis import RedisCacheIndex
from pressroom.storage.redis import RedisConnection
from pressroom.testing.contracts.cache_index import MakeCacheIndex
from support.redis import any_redis, connected


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with any_redis(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
async def connection(redis_url: str) -> AsyncIterator[RedisConnection]:
    async with connected(redis_url) as connection:
        yield connection


@pytest.fixture
def make_memory_index() -> MakeCacheIndex:
    return lambda: MemoryCacheIndex(max_entries=1000)


@pytest.fixture
def make_redis_index(redis_url: str) -> MakeCacheIndex:
    @asynccontextmanager
    async def index() -> AsyncIterator[CacheIndex]:
        async with connected(redis_url) as connection:
            yield RedisCacheIndex(connection)

    return index
