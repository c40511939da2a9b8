"""Open and close the backends that tests use."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar


class Backend(Protocol):
    """The interface common to all backends."""

    async def open(self) -> None:
        """Connect."""

    async def close(self) -> None:
        """Close all connections."""


B = TypeVar("B", bound=Backend)


@asynccontextmanager
async def opened(backend: B) -> AsyncIterator[B]:
    """Open a backend, and close it again in any case."""
    await backend.open()
    try:
        yield backend
    finally:
        await backend.close()
