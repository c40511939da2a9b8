"""The index of cached results."""

from __future__ import annotations

from pressroom.config.models import Settings
from pressroom.sdk.backends import CacheIndex
from pressroom.storage import connect_to_redis
from pressroom.storage.cache.memory import MemoryCacheIndex


def memory_cache(settings: Settings) -> CacheIndex:
    """Return the index in the memory of this process."""
    return MemoryCacheIndex(max_entries=settings.cache.max_entries)


def redis_cache(settings: Settings) -> CacheIndex:
    """Return the index in Redis, shared by all hosts that use it.

    Raises:
        ConfigError: no server is configured, its URL is invalid, or the client is not installed.
    """
    connection = connect_to_redis("cache.backend", settings)
    from pressroom.storage.cache.redis import RedisCacheIndex  # noqa: PLC0415 - the client is slow to import

    return RedisCacheIndex(connection)
