"""Storage backends: files, the index of cached results, the database and the connection to Redis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pressroom.errors import ConfigError

if TYPE_CHECKING:
    from pressroom.config.models import Settings
    from pressroom.storage.redis import RedisConnection


def connect_to_redis(key: str, settings: Settings) -> RedisConnection:
    """Return the Redis connection for the backend configured by the setting `key`.

    Raises:
        ConfigError: no server is configured, its URL is invalid, or the client is not installed.
    """
    if settings.storage.redis is None:
        raise ConfigError(
            f'{key}: "redis" needs a server', hint='Set [storage] redis, such as "redis://localhost:6379".'
        )
    try:
        from pressroom.storage.redis import redis_connection  # noqa: PLC0415 - the client is slow to import
    except ModuleNotFoundError as error:
        raise ConfigError(f"{key}: the Redis client is not installed", hint="Install pressroom[redis].") from error
    return redis_connection(settings)
