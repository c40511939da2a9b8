"""Insert many rows at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, count
from typing import Any, Final

from sqlalchemy import Table
from sqlalchemy.ext.asyncio import AsyncSession

STATEMENT_ROWS: Final = (500, 25)
"""Row counts of a statement, largest first. Few sizes, so that drivers can cache the statements."""

MAX_PARAMETERS: Final = 32_000
"""The maximum number of parameters per statement. SQLite allows 32,766, PostgreSQL 65,535, asyncpg 32,767."""


async def insert_rows(
    session: AsyncSession, table: Table, columns: tuple[str, ...], rows: Sequence[Sequence[Any]]
) -> None:
    """Insert rows in their order. Each has the values of `columns` in the types that the driver accepts.

    SQLAlchemy processes each value of each row, and a driver that gets single rows blocks the event loop for each of
    them. Here one statement with constant text inserts many rows.

    Raises:
        BackendError: the database failed.
        sqlalchemy.exc.StatementError: the database rejects a row.
    """
    connection = await session.connection()
    dialect = connection.dialect
    names = tuple(map(dialect.identifier_preparer.quote, columns))
    name = dialect.identifier_preparer.format_table(table)
    start = 0
    for size in STATEMENT_ROWS:
        while len(rows) - start >= size and size * len(columns) <= MAX_PARAMETERS:
            values = tuple(chain.from_iterable(rows[start : start + size]))
            await connection.exec_driver_sql(_statement(name, names, size, dialect.paramstyle), values)
            start += size
    if start < len(rows):
        remaining = [tuple(row) for row in rows[start:]]
        await connection.exec_driver_sql(_statement(name, names, 1, dialect.paramstyle), remaining)


@lru_cache(maxsize=64)
def _statement(table: str, columns: tuple[str, ...], rows: int, paramstyle: str) -> str:
    numbers = count(1)
    row = [
        f"({', '.join('?' if paramstyle == 'qmark' else f'${next(numbers)}' for _ in columns)})" for _ in range(rows)
    ]
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join(row)}"  # noqa: S608 - no text of a client
