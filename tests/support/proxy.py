"""A TCP proxy that can fall silent, as a service does whose machine hangs, or cut all connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final
from urllib.parse import urlsplit

_FLUSHED_SECONDS: Final = 2


class Proxy:
    """Passes bytes on to `target`, until it is told to be silent. Make one with `proxy_to`."""

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._host, self._port = parts.hostname, parts.port
        self._talking = asyncio.Event()
        self._talking.set()
        self._serving: set[asyncio.Task[Any]] = set()
        self._reachable = True
        self.endpoint = ""

    def freeze(self) -> None:
        """Go on accepting connections and bytes, but pass none of them on."""
        self._talking.clear()

    def thaw(self) -> None:
        """Pass bytes on again."""
        self._talking.set()

    async def cut(self) -> None:
        """End all connections, and every new one at once."""
        self._reachable = False
        await self.close()

    def restore(self) -> None:
        """Accept connections again."""
        self._reachable = True

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until either side ends it."""
        serving = asyncio.current_task()
        assert serving is not None
        self._serving.add(serving)
        writers = [writer]
        try:
            if self._reachable:
                back, forth = await asyncio.open_connection(self._host, self._port)
                writers.append(forth)
                pumps = [asyncio.create_task(self._pump(*way)) for way in ((reader, forth), (back, writer))]
                try:
                    await asyncio.wait(pumps)
                finally:
                    for pump in pumps:
                        pump.cancel()
        except asyncio.CancelledError:
            pass  # by `close`; the server would report it
        finally:
            for one in writers:
                one.close()
            for one in writers:
                try:
                    async with asyncio.timeout(_FLUSHED_SECONDS):
                        await one.wait_closed()
                except (OSError, TimeoutError):  # nobody reads what is left
                    one.transport.abort()
            self._serving.discard(serving)

    async def close(self) -> None:
        """End all connections."""
        for serving in list(self._serving):
            serving.cancel()
        while self._serving:
            await asyncio.wait(self._serving)

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
    server = await asyncio.start_server(proxy.accept, "127.0.0.1", 0)
    proxy.endpoint = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        server.close()
        await proxy.close()
        await server.wait_closed()
