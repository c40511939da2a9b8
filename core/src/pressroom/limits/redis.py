"""Moving windows in Redis, shared by several hosts."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from typing import Any, cast

from limits.aio.storage import RedisStorage

from pressroom.limits.limiter import SECOND, WeightedWindows, WindowState
from pressroom.storage.redis import RedisConnection

FORMAT = 1
"""Part of every key: windows that an older host wrote in another format are not found, rather than misread."""


class RedisWindows(WeightedWindows, RedisStorage):
    """Counts requests in Redis, in the limits package's Redis storage.

    The package's own moving windows keep a list element for each unit of cost, trust the clock of each host, and take
    two round trips to count a request and return the rest of the limit. These run one script, atomically and in one
    round trip, using the server's clock. Keys expire when their newest request leaves the window.

    A request whose response does not arrive in time may have been counted all the same.

    Args:
        connection: the connection to the server.
        clock: returns microseconds, and replaces the server's clock.
    """

    def __init__(self, connection: RedisConnection, *, clock: Callable[[], int] | None = None) -> None:
        super().__init__(
            "async+redis://",
            implementation="redispy",
            key_prefix=f"{connection.prefix}:limits:{FORMAT}",
            connection_pool=cast("Any", connection.pool),
        )
        self._connection = connection
        self._clock = clock
        self._script = connection.client.register_script(
            resources.files("pressroom.limits").joinpath("moving_window.lua").read_text("utf-8")
        )

    async def open(self) -> None:
        """Connect. An unreachable server is not an error, since it may come back."""
        await self._connection.open()

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    async def take(self, key: str, limit: int, expiry: int, amount: int) -> WindowState:
        """Count a request if it fits.

        Raises:
            BackendError: the server is down, did not respond in time, or refused the command.
        """
        return await self._run("take", key, limit, expiry, amount)

    async def give_back(self, key: str, limit: int, expiry: int, amount: int) -> WindowState:
        """Remove the newest entry of that amount.

        Raises:
            BackendError: the server is down, did not respond in time, or refused the command.
        """
        return await self._run("give_back", key, limit, expiry, amount)

    async def peek(self, key: str, limit: int, expiry: int) -> WindowState:
        """Return the state without counting anything.

        Raises:
            BackendError: the server is down, did not respond in time, or refused the command.
        """
        return await self._run("peek", key, limit, expiry, 0)

    async def _run(self, operation: str, key: str, limit: int, expiry: int, amount: int) -> WindowState:
        now = "" if self._clock is None else self._clock()
        keys = [self.bridge.prefixed_key(key)]
        arguments: list[str | int] = [operation, limit, expiry * SECOND, amount, now]
        fits, used, wait = await self._connection.call(
            f"limits.{operation}", lambda: self._script(keys=keys, args=arguments)
        )
        return WindowState(bool(fits), used, wait)
