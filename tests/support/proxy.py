"""A TCP proxy that can stall, like a service on a frozen machine, or cut all connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final
from urllib.parse import urlsplit

from support.tcp_server import Connections

_FLUSHED_SECONDS: Final = 2


class Proxy:
    """Forwards bytes to `target`, until it is frozen. Create one with `proxy_to`."""

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._host, self._port = parts.hostname, parts.port
        self._talking = asyncio.Event()
        self._talking.set()
        self._connections = Connections(self._serve)
        self._reachable = True
        self.endpoint = ""

    def freeze(self) -> None:
        """Keep accepting connections and bytes, but stop forwarding them."""
        self._talking.clear()

    def thaw(self) -> None:
        """Resume forwarding."""
        self._talking.set()

    async def cut(self) -> None:
        """Close all connections, and every new one immediately."""
        self._reachable = False
        await self._connections.end()

    def restore(self) -> None:
        """Accept connections again."""
        self._reachable = True

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Accept connections on a free port, available as `endpoint`."""
        server = await asyncio.start_server(self._connections.accept, "127.0.0.1", 0)
        self.endpoint = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield
        finally:
            server.close()
            await self._connections.end()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until either side closes it."""
        if not self._reachable:
            return
        back, forth = await asyncio.open_connection(self._host, self._port)
        pumps = [asyncio.create_task(self._pump(*way)) for way in ((reader, forth), (back, writer))]
        try:
            await asyncio.wait(pumps)
            with suppress(OSError, TimeoutError):  # nobody reads the remaining bytes
                async with asyncio.timeout(_FLUSHED_SECONDS):
                    await forth.wait_closed()
        finally:
            for pump in pumps:
                pump.cancel()
            forth.transport.abort()

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError):
                while data := await source.read(65_536):
                    await self._talking.wait()
                    sink.write(data)
                    await sink.drain()
        finally:
            sink.close()


@asynccontextmanager
async def proxy_to(target: str) -> AsyncIterator[Proxy]:
    """Yield a running proxy to the server at the URL `target`."""
    proxy = Proxy(target)
    async with proxy.running():
        yield proxy
