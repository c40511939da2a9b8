"""Rate limits with moving windows."""

from __future__ import annotations

from pressroom.config.models import Settings
from pressroom.sdk.backends import Limiter
from pressroom.storage import connect_to_redis

# The limits package takes a tenth of a second to import, the Redis client twice that: both are imported on use.


def memory_limits(settings: Settings) -> Limiter:
    """Return the limiter that counts in the memory of this process."""
    from pressroom.limits.limiter import MemoryWindows, MovingWindowLimiter  # noqa: PLC0415

    return MovingWindowLimiter(MemoryWindows(max_keys=settings.limits.max_keys))


def redis_limits(settings: Settings) -> Limiter:
    """Return the limiter that counts in Redis, shared by all hosts that use it.

    Raises:
        ConfigError: no server is configured, its URL is invalid, or the client is not installed.
    """
    connection = connect_to_redis("limits.backend", settings)
    from pressroom.limits.limiter import MovingWindowLimiter  # noqa: PLC0415
    from pressroom.limits.redis import RedisWindows  # noqa: PLC0415

    return MovingWindowLimiter(RedisWindows(connection))
