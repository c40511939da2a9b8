"""Back up and restore a database: SQLite while the server runs, PostgreSQL with its own programs.

PostgreSQL's programs handle every type, sequence and constraint, and the order in which tables depend on each other, in
every version of the server. They work in one transaction: a dump is a consistent snapshot, and a restore is all or
nothing.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import text

from pressroom.config import Settings
from pressroom.errors import BackendError
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.migrations import VERSION_TABLE_PREFIX

_PAGES: Final = 1024
_LOCK_SECONDS: Final = 10.0


def copy_database(source: Path, target: Path, advance: Callable[[int], None]) -> None:
    """Copy a snapshot of the database, including its write-ahead log, without blocking writers.

    Raises `sqlite3.Error` or `OSError`.
    """
    with closing(_open(source)) as reading, closing(sqlite3.connect(target)) as writing:
        # In a transaction, otherwise the copy would restart whenever the server writes.
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
    revisions = {}
    with closing(_open(path)) as connection:
        for table in tables_of(path):
            if table.startswith(VERSION_TABLE_PREFIX):
                rows = connection.execute(f'SELECT version_num FROM "{table.replace(chr(34), "")}"')  # noqa: S608
                revisions[table.removeprefix(VERSION_TABLE_PREFIX)] = ", ".join(revision for (revision,) in rows)
    return revisions


def is_in_use(path: Path) -> bool:
    """Return whether another process has the database open. Raises `sqlite3.Error`."""
    with closing(_open(path, timeout=0)) as connection:
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


def _open(path: Path, *, timeout: float = _LOCK_SECONDS) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=timeout)


_LIBPQ_PARAMETERS: Final = frozenset(
    {"host", "krbsrvname", "passfile", "port", "service", "sslmode", "target_session_attrs"}
)
"""Parameters of a configured URL that libpq supports too."""

_LOCK_TIMEOUT: Final = "10s"
_VERSION: Final = re.compile(r"\(PostgreSQL\) (\d+)")
_MAX_REASON: Final = 500

_DEBIAN_PROGRAMS: Final = Path("/usr/lib/postgresql")


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """Facts about a database. `version` is PostgreSQL's major version, `schema` the one that contains its tables."""

    version: int
    schema: str
    tables: list[str]
    revisions: dict[str, str]


def dump(settings: Settings, target: Path) -> DatabaseFacts:
    """Write a snapshot of the database to a file in the custom format of `pg_dump`.

    Raises `BackendError`.
    """
    _check_direct(settings)
    return asyncio.run(_dump(settings, target))


def facts(settings: Settings) -> DatabaseFacts:
    """Return facts about the database. Raises `BackendError`."""
    _check_direct(settings)
    return asyncio.run(_read_facts(settings))


def restore(settings: Settings, source: Path, facts: DatabaseFacts, *, schema: str) -> None:
    """Restore a dump in one transaction, replacing tables with the same names.

    Raises `BackendError`, in which case nothing was changed.
    """
    program = find_program("pg_restore", facts.version)
    options = ["--single-transaction", "--exit-on-error", "--clean", "--if-exists", "--no-owner", "--no-privileges"]
    command = [
        program,
        *options,
        "--no-password",
        f"--schema={schema}",
        f"--dbname={_libpq_url(settings)}",
        str(source),
    ]
    # A running server holds locks, which must not block the command for ever.
    environment = {**_environment(settings), "PGOPTIONS": f"-c lock_timeout={_LOCK_TIMEOUT}"}
    completed = subprocess.run(  # noqa: S603 - the command is ours
        command, env=environment, capture_output=True, check=False
    )
    if completed.returncode:
        reason = _reason(completed.stderr)
        in_use = "lock timeout" in reason
        raise BackendError(
            f"pg_restore failed, and the database was not changed: {reason}",
            hint="Stop every server that uses the database, and try again." if in_use else "",
        )


def find_program(name: str, server: int) -> str:
    """Return the path of one of PostgreSQL's programs that is compatible with a server of this major version.

    Raises `BackendError` if there is no such program.
    """
    paths: dict[int, str] = {}
    for path in _candidates(name):
        output = subprocess.run(  # noqa: S603 - a program of the machine
            [path, "--version"], capture_output=True, text=True, check=False
        ).stdout
        version = _VERSION.search(output)
        if version:
            paths.setdefault(int(version[1]), path)
    fitting = [version for version in paths if version >= server]
    if fitting:
        return paths[min(fitting)]
    installed = f"the newest {name} here is {max(paths)}" if paths else f"{name} is not installed here"
    raise BackendError(
        f"the database is PostgreSQL {server}, and {installed}",
        hint=f"Install the client programs of PostgreSQL {server} or newer: postgresql-client-{server} on Debian.",
    )


def _candidates(name: str) -> Iterator[str]:
    yield from (path for path in [shutil.which(name)] if path)
    yield from map(str, sorted(_DEBIAN_PROGRAMS.glob(f"*/bin/{name}")))


def _check_direct(settings: Settings) -> None:
    """Refuse a pooler: session settings of the programs would stay on connections that servers use."""
    if SqlDatabase(settings).behind_pooler:
        raise BackendError(
            "pg_dump and pg_restore cannot work through a pooler of transactions",
            hint=(
                "For this command set PRESSROOM_STORAGE__DATABASE to the URL of the PostgreSQL server itself, and "
                "PRESSROOM_STORAGE__DATABASE_POOLER=none."
            ),
        )


async def _dump(settings: Settings, target: Path) -> DatabaseFacts:
    database = SqlDatabase(settings)
    await database.open()
    try:
        async with database.reading() as session:
            facts = await _facts(session)
            program = find_program("pg_dump", facts.version)
            # The same snapshot for the revisions and for the rows.
            snapshot = await session.scalar(text("SELECT pg_export_snapshot()"))
            quoted = facts.schema.replace('"', '""')
            command = [
                *(program, "--format=custom", "--no-owner", "--no-privileges", "--no-password"),
                *(f'--schema="{quoted}"', f"--snapshot={snapshot}", f"--file={target}"),
                f"--dbname={_libpq_url(settings)}",
            ]
            await _run(command, _environment(settings))
    finally:
        await database.close()
    return facts


async def _run(command: Sequence[str], environment: dict[str, str]) -> None:
    process = await asyncio.create_subprocess_exec(
        *command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        _, stderr = await process.communicate()
    except BaseException:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        full = b"No space left on device" in stderr
        raise BackendError(
            f"pg_dump failed: {_reason(stderr)}", hint="Free some space there, and try again." if full else ""
        )


async def _read_facts(settings: Settings) -> DatabaseFacts:
    database = SqlDatabase(settings)
    await database.open(restoring=True)
    try:
        async with database.reading() as session:
            return await _facts(session)
    finally:
        await database.close()


async def _facts(session: Any) -> DatabaseFacts:
    version = int(await session.scalar(text("SHOW server_version_num"))) // 10_000
    schema = await session.scalar(text("SELECT current_schema()"))
    if schema is None:
        raise BackendError(
            "the database has no schema that this user sees", hint="Check the user's rights and its search_path."
        )
    query = text("SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename")
    tables = list(await session.scalars(query))
    revisions = {}
    for table in tables:
        if table.startswith(VERSION_TABLE_PREFIX):
            quoted = table.replace('"', '""')
            rows = await session.scalars(text(f'SELECT version_num FROM "{quoted}"'))  # noqa: S608 - quoted
            revisions[table.removeprefix(VERSION_TABLE_PREFIX)] = ", ".join(rows)
    return DatabaseFacts(version, schema, tables, revisions)


def _libpq_url(settings: Settings) -> str:
    """Return the database's URL for libpq, without the password: any user of the machine could read it."""
    url = SqlDatabase(settings).url
    query = {("sslmode" if name == "ssl" else name): value for name, value in url.query.items()}
    libpq_query = {name: value for name, value in query.items() if name in _LIBPQ_PARAMETERS}
    plain = url.set(drivername="postgresql", query=libpq_query)
    return plain._replace(password=None).render_as_string(hide_password=False)


def _environment(settings: Settings) -> dict[str, str]:
    password = SqlDatabase(settings).url.password
    credentials = {"PGPASSWORD": str(password)} if password else {}
    return {
        **os.environ,
        "PGCONNECT_TIMEOUT": str(max(2, round(settings.storage.database_timeout))),
        "LC_ALL": "C",
        **credentials,
    }


def _reason(stderr: bytes) -> str:
    lines = [line for line in stderr.decode(errors="replace").splitlines() if line.strip()]
    return " ".join(lines)[:_MAX_REASON] or "it did not say why"
