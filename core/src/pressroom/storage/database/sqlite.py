"""The SQLite engine, which hands each statement to its connection's thread only once.

An `aiosqlite` cursor hands each step to the thread of its connection, and SQLAlchemy takes four steps per statement:
open a cursor, execute, fetch all rows, close the cursor. Handing over takes longer than most statements.
A read-only transaction begins on the thread together with its first statement.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final, Self

import aiosqlite
from sqlalchemy import URL, event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import PoolResetState

FIRST_ROWS: Final = 200
"""How many rows are fetched with the statement. Further rows are fetched on demand, as in `aiosqlite`."""

_Row = tuple[Any, ...]


class SqliteCursor:
    """A cursor for SQLAlchemy's `aiosqlite` adapter that keeps a cursor on the thread only while rows remain.

    Implements the methods of `aiosqlite.Cursor` that the adapter calls, with the same results and exceptions.
    """

    arraysize = 1

    def __init__(self, connection: SqliteConnection) -> None:
        self._connection = connection
        self._open: sqlite3.Cursor | None = None
        self._rows: deque[_Row] = deque()
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None

    async def __aenter__(self) -> Self:
        """Return the cursor: there is nothing to open before a statement."""
        return self

    async def __aiter__(self) -> AsyncIterator[_Row]:
        """Iterate over the remaining rows, fetching `FIRST_ROWS` at a time."""
        while rows := await self.fetchmany(FIRST_ROWS):
            for row in rows:
                yield row

    async def execute(self, statement: str, parameters: Iterable[Any] = ()) -> Self:
        """Run a statement and fetch its first rows."""
        await self._on_thread(self._run, "execute", statement, parameters)
        return self

    async def executemany(self, statement: str, parameters: Iterable[Iterable[Any]]) -> Self:
        """Run a statement once for each set of parameters."""
        await self._on_thread(self._run, "executemany", statement, parameters)
        return self

    async def fetchall(self) -> Sequence[_Row]:
        """Return all remaining rows."""
        if self._open is not None:
            await self._on_thread(self._fetch, None)
        return self._taken(len(self._rows))

    async def fetchmany(self, size: int = 1) -> Sequence[_Row]:
        """Return up to `size` of the remaining rows."""
        if self._open is not None and len(self._rows) < size:
            await self._on_thread(self._fetch, max(size - len(self._rows), FIRST_ROWS))
        return self._taken(size)

    async def fetchone(self) -> _Row | None:
        """Return the next row, or `None` after the last."""
        rows = await self.fetchmany(1)
        return rows[0] if rows else None

    async def close(self) -> None:
        """Discard the remaining rows."""
        self._rows.clear()
        if self._open is not None:
            await self._on_thread(self._finish)

    async def _on_thread(self, function: Callable[..., None], *arguments: Any) -> None:
        # The method behind every call of aiosqlite's own cursors.
        await self._connection._execute(function, *arguments)  # type: ignore[no-untyped-call]  # noqa: SLF001

    def _taken(self, size: int) -> Sequence[_Row]:
        return [self._rows.popleft() for _ in range(min(size, len(self._rows)))]

    def _run(self, method: str, statement: str, parameters: Any) -> None:
        self._finish()
        cursor = self._open = self._connection._conn.cursor()  # noqa: SLF001
        try:
            if begin := self._connection.take_begin():
                cursor.execute(begin)
            getattr(cursor, method)(statement, parameters)
            self.description, self.lastrowid = cursor.description, cursor.lastrowid
            self._fetch(FIRST_ROWS)
        except BaseException:
            self._finish()
            raise

    def _fetch(self, size: int | None) -> None:
        cursor = self._open
        if cursor is None:
            return
        rows = () if cursor.description is None else cursor.fetchall() if size is None else cursor.fetchmany(size)
        self._rows.extend(rows)
        self.rowcount = cursor.rowcount
        if size is None or len(rows) < size:
            self._finish()

    def _finish(self) -> None:
        cursor, self._open = self._open, None
        if cursor is not None:
            cursor.close()


class SqliteConnection(aiosqlite.Connection):
    """A connection whose cursors are `SqliteCursor`. Its thread is a daemon and ends with the process."""

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connector, FIRST_ROWS)
        self._thread.daemon = True
        self._begin = ""

    def begin_later(self, statement: str) -> None:
        """Run `statement`, a `BEGIN` that takes no lock, just before the next statement; an empty one cancels it."""
        self._begin = statement

    def take_begin(self) -> str:
        """Return the pending `BEGIN`, or an empty string, and clear it."""
        begin, self._begin = self._begin, ""
        return begin

    def cursor(self) -> SqliteCursor:  # type: ignore[override]
        """Return a cursor, without waiting."""
        return SqliteCursor(self)


def connect_to_sqlite(database: str, **options: Any) -> SqliteConnection:
    """Return a connection that opens when it is awaited, for SQLAlchemy's `async_creator_fn`.

    `database` is the path of the file; `options` are passed to `sqlite3.connect`.
    """
    return SqliteConnection(partial(sqlite3.connect, database, **options))


def sqlite_engine(
    url: URL, begin: str, timeout: float, *, query_only: bool = False, foreign_keys: str = "ON", **pool: Any
) -> AsyncEngine:
    """Return an engine whose transactions begin with the statement `begin`.

    A connection waits for a lock for at most `timeout` seconds. `pool` has SQLAlchemy's pool options.
    """
    connecting = {"timeout": timeout, "async_creator_fn": connect_to_sqlite}
    engine = create_async_engine(url, connect_args=connecting, pool_reset_on_return=None, **pool)
    pragmas = ["journal_mode = WAL", "synchronous = NORMAL", f"foreign_keys = {foreign_keys}"]
    if query_only:
        pragmas.append("query_only = ON")

    @event.listens_for(engine.sync_engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        # The driver must not begin transactions itself: it does so too late, and never IMMEDIATE.
        connection.isolation_level = None
        connection.create_function("lower", 1, _lower, deterministic=True)
        cursor = connection.cursor()
        for pragma in pragmas:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine.sync_engine, "reset")
    def roll_back(connection: Any, _record: Any, _state: PoolResetState) -> None:
        # Most connections are returned after a commit: a rollback on the thread would take time for nothing.
        driver: SqliteConnection = connection.driver_connection
        driver.begin_later("")
        if driver.in_transaction:
            connection.rollback()

    @event.listens_for(engine.sync_engine, "begin")
    def start(connection: Any) -> None:
        if query_only:
            connection.connection.driver_connection.begin_later(begin)
        else:
            connection.exec_driver_sql(begin)

    return engine


def _lower(value: Any) -> Any:
    """Lowercase a string like PostgreSQL; SQLite's own `lower` only converts the 26 letters of ASCII."""
    return value.lower() if isinstance(value, str) else value
