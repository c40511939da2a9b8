"""Makes the cache index that the operator chose."""

from __future__ import annotations

from pressroom.config.models import Settings
from pressroom.sdk.backends import CacheIndex
from pressroom.storage.cache.memory import MemoryCacheIndex
from pressroom.storage.selection import redis_missing, select_backend


def create_cache_index(settings: Settings) -> CacheIndex:
    """Return the cache index of `cache.backend`: `memory`, `redis` or `auto`.

    Raises:
        ConfigError: the name is unknown, or Redis is wanted and cannot be used.
    """
    if select_backend("cache.backend", settings.cache.backend, settings) == "memory":
        return MemoryCacheIndex(max_entries=settings.cache.max_entries)
    try:
        from pressroom.storage.cache.redis import RedisCacheIndex  # noqa: PLC0415 - the client is slow to import
        from pressroom.storage.redis import redis_connection  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise redis_missing("cache.backend") from error
    return RedisCacheIndex(redis_connection(settings))
