"""Makes the limiter that the operator chose."""

from __future__ import annotations

from pressroom.config.models import Settings
from pressroom.sdk.backends import Limiter
from pressroom.storage.selection import redis_missing, select_backend


def create_limiter(settings: Settings) -> Limiter:
    """Return the limiter of `limits.backend`: `memory`, `redis` or `auto`.

    Raises:
        ConfigError: the name is unknown, or Redis is wanted and cannot be used.
    """
    # The limits package takes a tenth of a second to import, the Redis client twice that.
    from pressroom.limits.limiter import MovingWindowLimiter  # noqa: PLC0415

    if select_backend("limits.backend", settings.limits.backend, settings) == "memory":
        from pressroom.limits.limiter import MemoryWindows  # noqa: PLC0415

        return MovingWindowLimiter(MemoryWindows(max_keys=settings.limits.max_keys))
    try:
        from pressroom.limits.redis import RedisWindows  # noqa: PLC0415
        from pressroom.storage.redis import redis_connection  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise redis_missing("limits.backend") from error
    return MovingWindowLimiter(RedisWindows(redis_connection(settings)))
