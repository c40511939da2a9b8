"""Helpers to open the backends under test, and to create a temporary database on a PostgreSQL server."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol, TypeVar

from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool


class OpenableBackend(Protocol):
    """The methods that every backend has."""

    async def open(self) -> None:
        """Connect."""

    async def close(self) -> None:
        """Close all connections."""


B = TypeVar("B", bound=OpenableBackend)


def opened(make: Callable[[], B | AbstractAsyncContextManager[B]]) -> AbstractAsyncContextManager[B]:
    """Return a context manager that creates and opens a backend, and always closes it.

    `make` returns a backend that is not open yet, or an async context manager that yields an open one and closes it.
    """

    @asynccontextmanager
    async def opening() -> AsyncIterator[B]:
        created = make()
        if isinstance(created, AbstractAsyncContextManager):
            async with created as backend:
                yield backend
            return
        await created.open()
        try:
            yield created
        finally:
            await created.close()

    return opening()


@asynccontextmanager
async def new_database(server: str) -> AsyncIterator[str]:
    """Create a database, yield its URL, and remove it at the end.

    `server` is the URL of another database on the server, as in `[storage] database`. Its user must be allowed to
    create databases.
    """
    name = f"pressroom_check_{secrets.token_hex(6)}"
    await _execute(server, f"CREATE DATABASE {name} TEMPLATE template0")
    try:
        yield f"{server.rpartition('/')[0]}/{name}"
    finally:
        await _execute(server, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


async def _execute(server: str, statement: str) -> None:
    url = make_url(server).set(drivername="postgresql+asyncpg")
    engine = create_async_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    try:
        async with engine.connect() as connection:
            await connection.execute(text(statement))
    finally:
        await engine.dispose()
