"""A test TCP server that leaves no sockets open when it ends.

Otherwise the garbage collector finds sockets left open by asyncio's server during a later test, which then fails.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

_ACCEPT_ITERATIONS: Final = 10


class Connections:
    """The connections of a server: each is served by `serve`, and closed once that returns."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._closing: set[asyncio.StreamWriter] = set()

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a new connection in a separate task."""
        task = asyncio.ensure_future(self._respond(reader, writer))
        self._open[task] = writer
        task.add_done_callback(self._close)

    async def end(self) -> None:
        """Close all connections, discarding unsent data."""
        await _some_turns()  # a connection just accepted has no task yet
        tasks = list(self._open)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await _some_turns()
        for writer in self._closing:
            with suppress(AttributeError):  # before Python 3.11.4, aborting a closed TLS connection raises an error
                writer.transport.abort()
        self._closing.clear()
        await _some_turns()

    async def _respond(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            await self._serve(reader, writer)

    def _close(self, task: asyncio.Task[None]) -> None:
        writer = self._open.pop(task)
        writer.close()
        self._closing.add(writer)


@asynccontextmanager
async def serving(serve: Serve, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> AsyncIterator[int]:
    """Serve every connection to a free port with `serve`; yield the port."""
    connections = Connections(serve)
    server = await asyncio.start_server(connections.accept, host, 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await connections.end()


async def _some_turns() -> None:
    for _ in range(_ACCEPT_ITERATIONS):
        await asyncio.sleep(0)
