"""Opening the backends that a contract is checked on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol, TypeVar


class OpenableBackend(Protocol):
    """What every backend has."""

    async def open(self) -> None:
        """Connect."""

    async def close(self) -> None:
        """Let go of connections."""


B = TypeVar("B", bound=OpenableBackend)


def opened(make: Callable[[], B | AbstractAsyncContextManager[B]]) -> AbstractAsyncContextManager[B]:
    """Return a context manager that makes and opens a backend, and closes it whatever happens.

    `make` returns a backend that is not open yet, or an async context manager that gives an open one and closes it.
    """

    @asynccontextmanager
    async def opening() -> AsyncIterator[B]:
        made = make()
        if isinstance(made, AbstractAsyncContextManager):
            async with made as backend:
                yield backend
            return
        await made.open()
        try:
            yield made
        finally:
            await made.close()

    return opening()
