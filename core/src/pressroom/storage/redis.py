"""The Redis connection shared by the limiter and the cache index."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar
from weakref import WeakValueDictionary

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError

from pressroom.config.models import Settings
from pressroom.errors import BackendError, ConfigError
from pressroom.storage.outage import OutageGuard

T = TypeVar("T")

CONCURRENCY = 20
"""How many calls to Redis one process makes at once; more would not be served faster."""


class RedisConnection:
    """A pool of connections to one Redis server, and the guard that all calls to it go through.

    Each user calls `open` and, once for each `open`, `close`; the last `close` closes the connections. A connection
    belongs to the event loop that first uses it.

    Args:
        url: `redis://`, `rediss://` or `unix://`; it can contain credentials.
        timeout: seconds that one call can take in all.
        prefix: the prefix of all keys.
        pause: seconds between two attempts while the server is down.
        clock: the guard's clock, in seconds.

    Raises:
        ConfigError: the URL is invalid.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float,
        prefix: str = "pressroom",
        pause: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        try:
            self.pool = BlockingConnectionPool.from_url(
                url,
                max_connections=CONCURRENCY + 1,
                # The guard ends calls: it can tell a silent server from a process that is too busy to read responses.
                timeout=None,
                socket_timeout=None,
                socket_connect_timeout=None,
                # With protocol 3 the client mistakes idle connections that the server has closed for usable ones.
                protocol=2,
                # A retry could count a request twice, and would double the time that an outage costs.
                retry=Retry(NoBackoff(), 0),
            )
            self.pool.make_connection()  # type: ignore[no-untyped-call]  # the client leaves it without annotations
        except (ValueError, TypeError, RedisError):
            # The client's own message can quote a part of the password.
            raise ConfigError(
                "storage.redis: the URL cannot be read",
                hint="Write redis://user:password@host:port/database, special characters as %2F and so on.",
            ) from None
        self.client = Redis(connection_pool=self.pool)
        self.prefix = prefix
        self._timeout = timeout
        self._users = 0
        self._guard = OutageGuard(
            f"Redis at {_location(self.pool)}",
            probe=self.client.ping,
            timeout=timeout,
            concurrency=CONCURRENCY,
            refused=(ResponseError,),
            unreachable=(RedisError, OSError),
            pause=pause,
            clock=clock,
        )

    @property
    def available(self) -> bool:
        """Whether the server responded to the last call."""
        return self._guard.available

    async def open(self) -> None:
        """Connect. An unreachable server is logged and tried again later."""
        self._users += 1
        with contextlib.suppress(BackendError):
            await self.call("ping", self.client.ping)

    async def close(self) -> None:
        """Close the connections, unless there are other users."""
        self._users = max(0, self._users - 1)
        if self._users == 0:
            # Unread commands cannot be flushed to a frozen server; the sockets are closed all the same.
            with contextlib.suppress(RedisError, OSError):
                async with asyncio.timeout(self._timeout):
                    await self.pool.aclose()

    async def call(self, name: str, operation: Callable[[], Awaitable[T]]) -> T:
        """Return the result of a Redis command, or of several that share one timeout.

        Raises:
            BackendError: the server is down, did not respond in time, or refused the command.
        """
        return await self._guard.call(name, operation)


def _location(pool: BlockingConnectionPool) -> str:
    options = pool.connection_kwargs
    if "path" in options:
        return str(options["path"])
    return f"{options.get('host', 'localhost')}:{options.get('port', 6379)}"


_connections: WeakValueDictionary[int, RedisConnection] = WeakValueDictionary()


class _SettingsConnection(RedisConnection):
    """Holds its settings, so that their `id` is not reused while the connection lives."""

    def __init__(self, settings: Settings) -> None:
        if settings.storage.redis is None:
            raise ConfigError(
                "storage.redis: no Redis server is configured", hint="Set [storage] redis to redis://host:6379."
            )
        super().__init__(settings.storage.redis.get_secret_value(), timeout=settings.storage.redis_timeout)
        self.settings = settings


def redis_connection(settings: Settings) -> RedisConnection:
    """Return the connection shared by all users of these settings, so that an outage costs a request one timeout.

    Raises:
        ConfigError: no server is configured, or its URL is invalid.
    """
    connection = _connections.get(id(settings))
    if connection is None:
        connection = _connections[id(settings)] = _SettingsConnection(settings)
    return connection
