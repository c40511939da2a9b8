"""Which of the host's own backends a setting names."""

from __future__ import annotations

from typing import Literal

from pressroom.config.models import Settings
from pressroom.errors import ConfigError


def select_backend(key: str, name: str, settings: Settings) -> Literal["memory", "redis"]:
    """Return the backend that the setting `key` names; `auto` is redis where a server is configured, else memory.

    Raises:
        ConfigError: the host has no backend of that name, or `redis` is named and no server is configured.
    """
    match name:
        case "auto":
            return "memory" if settings.storage.redis is None else "redis"
        case "memory":
            return "memory"
        case "redis":
            if settings.storage.redis is None:
                raise ConfigError(
                    f'{key}: "redis" needs a server', hint='Set [storage] redis, such as "redis://localhost:6379".'
                )
            return "redis"
        case _:
            raise ConfigError(
                f"{key}: there is no backend {name!r}",
                hint="The host has auto, memory and redis; any other is offered by a plugin that must be enabled.",
            )


def redis_missing(key: str) -> ConfigError:
    """Return the error for a host that is told to use Redis and has no client for it."""
    return ConfigError(f"{key}: the Redis client is not installed", hint="Install pressroom[redis].")
