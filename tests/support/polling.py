"""Wait for changes that raise no event: files, processes, threads, rows and responses of another server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

_PAUSE_SECONDS = 0.01


def wait_until(read: Callable[[], T | None], *, seconds: float = 30) -> T:
    """Poll a function until it returns something truthy, and return that. The test fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while not (value := read()):
        assert time.monotonic() < deadline, f"after {seconds} seconds it was still {value!r}"
        time.sleep(_PAUSE_SECONDS)
    return value


async def until(condition: Callable[[], bool], *, seconds: float = 30) -> None:
    """Poll a condition on the event loop until it holds. Raises `TimeoutError` after `seconds`."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - files and processes set no event
            await asyncio.sleep(_PAUSE_SECONDS)


async def eventually(read: Callable[[], Awaitable[T]], right: Callable[[T], bool], *, seconds: float = 60) -> T:
    """Poll a value until `right` accepts it, and return it. Raises `TimeoutError` after `seconds`."""
    async with asyncio.timeout(seconds):
        while not right(value := await read()):  # noqa: ASYNC110 - it changes in a database
            await asyncio.sleep(_PAUSE_SECONDS)
    return value
