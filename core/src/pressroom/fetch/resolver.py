"""Looks names up."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from typing import Protocol

from pressroom.fetch.addresses import IPAddress


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
