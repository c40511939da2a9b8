"""Database connections and the kinds of transactions on them."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from sqlalchemy import URL, event, make_url, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from pressroom.config.models import Settings, StorageSettings
from pressroom.errors import BackendError
from pressroom.storage.data_folder import finish_restore, make_private_folder
from pressroom.storage.database.availability import RESPONSE_SECONDS, hint_for, is_outage, reason_of
from pressroom.storage.database.sqlite import sqlite_engine
from pressroom.storage.outage import OutageGuard

FILE_NAME: Final = "pressroom.sqlite"

_MIGRATION_TIMEOUT: Final = 600.0
"""How long a migration waits for another one, and how long a statement of a migration can take, in seconds."""

_CACHE_PARAMETERS: Final = ("prepared_statement_cache_size", "statement_cache_size")

_SLACK: Final = 1.0
"""Seconds added to a driver's own timeout, whose error describes better what it waited for."""

_POSTGRESQL_READING: Final = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}


def database_url_of(storage: StorageSettings) -> URL:
    """Return the configured database URL, or that of the SQLite file in `[storage] path`."""
    if storage.database is None:
        return URL.create("sqlite+aiosqlite", database=str(storage.path / FILE_NAME))
    url = make_url(storage.database.get_secret_value())
    # libpq and its tools call the parameter `sslmode`, asyncpg calls it `ssl`; the values are the same.
    mode = url.query.get("sslmode")
    # Commonly recommended for PgBouncer. Here `database_pooler` covers it, and the driver rejects strings.
    url = url.difference_update_query(_CACHE_PARAMETERS)
    return url.difference_update_query(["sslmode"]).update_query_dict({"ssl": mode}) if mode else url


def is_behind_pooler(storage: StorageSettings) -> bool:
    """Return whether a transaction pooler is configured. A URL that disables the statement cache implies one."""
    if storage.database is None or storage.database_pooler == "transaction":
        return storage.database_pooler == "transaction"
    query = make_url(storage.database.get_secret_value()).query
    return any(query.get(name) == "0" for name in _CACHE_PARAMETERS)


class SqlDatabase:
    """Implements `pressroom.sdk.Database` with SQLAlchemy.

    SQLite has one writer at a time: writing transactions take turns in this process, and wait for other processes up
    to the operator's `database_timeout`. Every outage is raised as `BackendError`; errors of a statement itself, such
    as a constraint violation, stay SQLAlchemy's own. While the database is down, one transaction per second checks
    whether it is back, and the others fail at once.
    """

    def __init__(self, settings: Settings) -> None:
        storage = settings.storage
        self.url = database_url_of(storage)
        self.dialect: Literal["sqlite", "postgresql"] = (
            "sqlite" if self.url.get_backend_name() == "sqlite" else "postgresql"
        )
        self._folder = storage.path
        self._timeout = storage.database_timeout
        self._size = storage.database_connections
        self.behind_pooler = is_behind_pooler(storage)
        self._readers: _Connections | None = None
        self._writers: _Connections | None = None
        self._prober: AsyncEngine | None = None
        self._on_failure: Callable[[], None] | None = None

    @property
    def embedded(self) -> bool:
        """Whether the database is a file of this server, which can migrate its schema without asking."""
        return self.dialect == "sqlite"

    @property
    def name(self) -> str:
        """The kind and location of the database, without credentials."""
        if self.dialect == "sqlite":
            return f"SQLite in {self.url.database}"
        return f"PostgreSQL at {self.url.host or 'localhost'}:{self.url.port or 5432}"

    @property
    def missing(self) -> bool:
        """Whether the database is a file that does not exist yet; `open` creates it.

        A file that this user cannot see is not missing: `open` raises the reason.
        """
        if self.dialect != "sqlite":
            return False
        try:
            Path(str(self.url.database)).stat()
        except OSError as error:
            return isinstance(error, FileNotFoundError)
        return False

    async def open(self, *, restoring: bool = False) -> None:
        """Connect, after finishing an interrupted restore. Only the restore command itself sets `restoring`.

        Raises `BackendError` if the database cannot be reached, or a restore of it is incomplete.
        """
        if not restoring:
            finish_restore(self._folder)
        if self.dialect == "sqlite":
            _make_private_file(Path(str(self.url.database)))
            reading = sqlite_engine(self.url, "BEGIN", self._timeout, pool_size=self._size, query_only=True)
            writing = sqlite_engine(self.url, "BEGIN IMMEDIATE", self._timeout, pool_size=1)
            self._readers = _Connections(self.name, reading, self._size, self._timeout, self._note_failure)
            self._writers = _Connections(self.name, writing, 1, self._timeout, self._note_failure)
        else:
            engine = self._postgresql_engine(self._timeout, self._timeout, pool_size=self._size, pool_pre_ping=True)
            connections = _Connections(self.name, engine, self._size, self._timeout, self._note_failure)
            self._readers = self._writers = connections
            self._prober = self._postgresql_engine(
                RESPONSE_SECONDS, RESPONSE_SECONDS, pool_size=1, max_overflow=0, pool_pre_ping=True
            )
        try:
            await self._look()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Close all connections; those in use are closed when they are returned."""
        pools = {self._readers, self._writers}
        self._readers = self._writers = None
        for pool in pools:
            if pool is not None:
                await pool.close()
        prober, self._prober = self._prober, None
        if prober is not None:
            await prober.dispose()

    def on_failure(self, note: Callable[[], None]) -> None:
        """Call `note` for each transaction that fails because of an outage."""
        self._on_failure = note

    async def ask(self) -> None:
        """Check that the database responds. PostgreSQL has a separate connection for this, which no call can occupy.

        Raises `BackendError` if it does not respond.
        """
        prober = self._prober
        try:
            if prober is None:
                await self._opened(self._readers).look()
                return
            async with prober.connect() as connection:
                await connection.execute(text("SELECT 1"))
        except Exception as error:
            if prober is not None:
                await prober.dispose()
            raise _unavailable(self.name, error, RESPONSE_SECONDS) from error

    def _note_failure(self) -> None:
        if self._on_failure is not None:
            self._on_failure()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncSession]:
        """Yield a read-only session that sees a single snapshot of the database.

        Raises `BackendError` on an outage.
        """
        options = _POSTGRESQL_READING if self.dialect == "postgresql" else {}
        async with self._opened(self._readers).session(options) as session:
            yield session

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncSession]:
        """Yield a session whose changes are committed together at the end, or not at all.

        Raises:
            BackendError: the database failed or did not respond in time. Nothing was changed, unless the connection
                broke during the commit.
        """
        async with self._opened(self._writers).session({}) as session:
            yield session
            await session.commit()

    @asynccontextmanager
    async def migrating(self) -> AsyncIterator[AsyncConnection]:
        """Yield a separate connection for schema changes, committed at the end or not at all.

        Statements can take long. SQLite does not enforce foreign keys meanwhile: a table often has to be recreated
        there, which would otherwise delete the rows that refer to it (https://sqlite.org/lang_altertable.html, 7).

        Raises:
            BackendError: the database failed; nothing was changed.
        """
        if self.dialect == "sqlite":
            engine = sqlite_engine(
                self.url, "BEGIN IMMEDIATE", _MIGRATION_TIMEOUT, poolclass=NullPool, foreign_keys="OFF"
            )
        else:
            engine = self._postgresql_engine(self._timeout, _MIGRATION_TIMEOUT, poolclass=NullPool)
        try:
            async with engine.begin() as connection:
                yield connection
        except Exception as error:
            if not is_outage(error):
                raise
            raise _failed(self.name, error, self._timeout) from error
        finally:
            await engine.dispose()

    async def _look(self) -> None:
        try:
            async with asyncio.timeout(self._timeout + _SLACK):
                await self._opened(self._writers).look()
        except Exception as error:
            raise _unavailable(self.name, error, self._timeout) from error

    def _opened(self, pool: _Connections | None) -> _Connections:
        if pool is None:
            raise BackendError("the database is not open")
        return pool

    def _postgresql_engine(self, connect_timeout: float, command_timeout: float, **pool: Any) -> AsyncEngine:
        arguments: dict[str, Any] = {"timeout": connect_timeout, "command_timeout": command_timeout}
        try:
            if self.behind_pooler:
                from pressroom.storage.database.pooled import POOLED_ARGUMENTS  # noqa: PLC0415 - few need it

                arguments |= POOLED_ARGUMENTS
            engine = create_async_engine(self.url, connect_args=arguments, **pool)
        except ImportError as error:
            raise BackendError("PostgreSQL needs the driver asyncpg", hint="install pressroom[postgresql]") from error
        engine.sync_engine.dialect.do_ping = _ping  # type: ignore[method-assign, assignment]
        return engine


class _Connections:
    """The connections of one engine, limited to `size` at once. None is opened while the database is down."""

    def __init__(
        self, name: str, engine: AsyncEngine, size: int, timeout: float, note_failure: Callable[[], None]
    ) -> None:
        self._name = name
        self._note_failure = note_failure
        self._engine = engine
        self._timeout = timeout
        self._sessions = async_sessionmaker(engine, expire_on_commit=False)
        self._slots = asyncio.Semaphore(size)
        self._guard = OutageGuard(
            name,
            probe=_no_probe,
            timeout=timeout + _SLACK,
            concurrency=size,
            refused=(),
            unreachable=(Exception,),
            reason=reason_of,
        )

    async def close(self) -> None:
        event.listen(self._engine.sync_engine.pool, "checkin", _close_lent)
        await self._engine.dispose()

    async def look(self) -> None:
        """Connect and run a query; raises any error of the driver."""
        async with self._engine.connect() as connection:
            # SQLite reads its file only if the query needs a table.
            table = " FROM sqlite_master LIMIT 1" if self._engine.dialect.name == "sqlite" else ""
            await connection.execute(text(f"SELECT 1{table}"))

    @asynccontextmanager
    async def session(self, options: Mapping[str, Any]) -> AsyncIterator[AsyncSession]:
        await self._take_slot()
        try:
            async with self._sessions() as session:
                try:
                    await self._connect(session, options)
                    yield session
                except Exception as error:
                    if is_outage(error):
                        # A rollback would wait for the database once more.
                        await session.invalidate()
                    raise
        except Exception as error:
            if not is_outage(error):
                raise
            self._note_failure()
            raise _failed(self._name, error, self._timeout) from error
        finally:
            self._slots.release()

    async def _connect(self, session: AsyncSession, options: Mapping[str, Any]) -> None:
        try:
            await self._guard.call("a connection", partial(session.connection, execution_options=options))
        except BackendError:
            self._note_failure()
            raise

    async def _take_slot(self) -> None:
        try:
            async with asyncio.timeout(self._timeout):
                await self._slots.acquire()
        except TimeoutError as error:
            self._note_failure()
            raise BackendError(
                f"{self._name}: no connection was free within {self._timeout:g} s",
                hint="raise [storage] database_connections, or find out what keeps the database busy",
            ) from error


def _ping(connection: Any) -> bool:
    """Check that a pooled connection to PostgreSQL is alive. Raises the driver's error otherwise.

    SQLAlchemy's own check takes three round trips, because it prepares its query. This query is not prepared, which
    also works with a transaction pooler.
    """
    try:
        connection.run_async(lambda driver: driver.execute("SELECT 1"))
    except Exception as error:  # noqa: BLE001 - raised again
        # SQLAlchemy's own check translates errors in this way.
        connection._handle_exception(error)  # noqa: SLF001
    return True


def _close_lent(_connection: Any, entry: ConnectionPoolEntry) -> None:
    """Close a connection that is returned to a disposed pool, which would leave it open."""
    entry.invalidate()


async def _no_probe() -> None:
    """Do nothing: pooled connections are checked before use, and opening a new one is a check itself."""


def _make_private_file(path: Path) -> None:
    """Create the file so that only its owner can read it, since it holds hashes of secrets; SQLite's others follow."""
    try:
        make_private_folder(path.parent)
        # An existing file is not opened: closing it would release the locks of all other connections of this process
        # to it, and other processes would then corrupt it (https://sqlite.org/howtocorrupt.html, section 2.2).
        with suppress(FileExistsError):
            os.close(os.open(os.path.realpath(path), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        if not os.access(path, os.R_OK | os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise BackendError(
            f"the database {path} cannot be used: {error.strerror}", hint="check [storage] path and its permissions"
        ) from error


def _failed(name: str, error: Exception, timeout: float) -> BackendError:
    return BackendError(f"{name} failed: {_reason(error, timeout)}", hint=hint_for(error))


def _unavailable(name: str, error: Exception, timeout: float) -> BackendError:
    return BackendError(f"{name} is unavailable: {_reason(error, timeout)}", hint=hint_for(error))


def _reason(error: Exception, timeout: float) -> str:
    return reason_of(error) or f"no response within {timeout:g} s"
