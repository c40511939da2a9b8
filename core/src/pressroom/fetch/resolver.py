"""Looks names up, and connects to IP addresses that were checked and to no other."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from typing import Protocol

from httpcore import SOCKET_OPTION, AnyIOBackend, AsyncNetworkBackend, AsyncNetworkStream, ConnectError

from pressroom.errors import FetchFailed
from pressroom.fetch.target import IPAddress


class Resolver(Protocol):
    """Finds the IP addresses of a name."""

    async def resolve(self, name: str) -> Sequence[IPAddress]:
        """Return all IP addresses of a name, the best first. Raises `OSError` if absent."""

    def close(self) -> None:
        """Let go of what the look-ups hold."""


class SystemResolver:
    """Asks the system, as every program does.

    Its threads are its own: the system's look-up cannot be cancelled, and whoever runs a name server can make it
    last. That must not hold up what else the process does in threads.
    """

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="resolve")

    async def resolve(self, name: str) -> Sequence[IPAddress]:
        """Return all IP addresses of a name, in the system's order."""
        found = await asyncio.get_running_loop().run_in_executor(self._threads, _look_up, name)
        return [ip_address(address) for address in dict.fromkeys(found)]

    def close(self) -> None:
        """Give up look-ups that have not begun."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _look_up(name: str) -> list[str]:
    # The dot keeps the system from trying the name inside the domains of its search list.
    found = socket.getaddrinfo(f"{name}.", None, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


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
