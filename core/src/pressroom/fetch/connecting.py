"""Connects to IP addresses that were checked, and to no other."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from httpcore import SOCKET_OPTION, AnyIOBackend, AsyncNetworkBackend, AsyncNetworkStream, ConnectError

from pressroom.errors import FetchFailed
from pressroom.fetch.addresses import IPAddress

_MAX_TRIES = 4


class PinnedBackend(AsyncNetworkBackend):
    """Makes the one connection of one request, to the first of the given IP addresses that answers.

    The name that httpcore asks for is not looked up again; it serves for the certificate alone.
    """

    def __init__(self, name: str, addresses: Sequence[IPAddress], seconds: float) -> None:
        self._name = name
        self._addresses = addresses[:_MAX_TRIES]
        self._seconds = seconds
        self._stream: AsyncNetworkStream | None = None

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        """Return a connection. Raises `FetchFailed` where no IP address answers."""
        share = self._seconds / len(self._addresses)
        for address in self._addresses:
            try:
                async with asyncio.timeout(share):
                    self._stream = await AnyIOBackend().connect_tcp(
                        str(address), port, local_address=local_address, socket_options=socket_options
                    )
            except (ConnectError, TimeoutError):
                continue
            return self._stream
        raise FetchFailed(f"{self._name} could not be connected to")

    async def close(self) -> None:
        """Close the connection. httpcore leaves it open where it is cancelled during the TLS handshake."""
        if self._stream is not None:
            await self._stream.aclose()
