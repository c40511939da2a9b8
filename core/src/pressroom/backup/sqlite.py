"""Copying an SQLite database that is in use, and looking into one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from pressroom.storage.database.migrations import VERSION_TABLE_PREFIX

_PAGES: Final = 1024
_PATIENCE: Final = 10.0


def copy_database(source: Path, target: Path, advance: Callable[[int], None]) -> None:
    """Copy the database as it is at this moment, with what is only in its write-ahead log. Writers need not wait.

    Raises `sqlite3.Error` or `OSError`.
    """
    with closing(_open(source)) as reading, closing(sqlite3.connect(target)) as writing:
        # In a transaction, or the copy would begin anew whenever the server writes.
        reading.execute("BEGIN")
        page_size = reading.execute("PRAGMA page_size").fetchone()[0]
        reading.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        done = 0

        def step(_status: int, remaining: int, total: int) -> None:
            nonlocal done
            advance((total - remaining - done) * page_size)
            done = total - remaining

        reading.backup(writing, pages=_PAGES, progress=step)


def tables_of(path: Path) -> list[str]:
    """Return the names of the tables. Raises `sqlite3.Error`."""
    query = (
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    )
    with closing(_open(path)) as connection:
        return [name for (name,) in connection.execute(query)]


def revisions_of(path: Path) -> dict[str, str]:
    """Return the revision of each plugin's tables. Raises `sqlite3.Error`."""
    found = {}
    with closing(_open(path)) as connection:
        for table in tables_of(path):
            if table.startswith(VERSION_TABLE_PREFIX):
                rows = connection.execute(f'SELECT version_num FROM "{table.replace(chr(34), "")}"')  # noqa: S608
                found[table.removeprefix(VERSION_TABLE_PREFIX)] = ", ".join(revision for (revision,) in rows)
    return found


def is_in_use(path: Path) -> bool:
    """Tell whether another process has the database open. Raises `sqlite3.Error`."""
    with closing(_open(path, patience=0)) as connection:
        # Before the first access, so that the whole file is locked rather than a part of the write-ahead log.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                return True
            raise
        connection.execute("ROLLBACK")
    return False


def _open(path: Path, *, patience: float = _PATIENCE) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=patience)
