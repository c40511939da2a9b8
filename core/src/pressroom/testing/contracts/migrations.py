"""The contract of a plugin's tables (`pressroom.sdk.Models`), on SQLite and on PostgreSQL."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import DateTime

from pressroom.config import Settings
from pressroom.sdk import Models
from pressroom.storage.database import Migrator, SqlDatabase
from pressroom.storage.database.autogeneration import describe, differences
from pressroom.storage.database.tables import HOST_MODELS
from pressroom.testing.contracts.backends import new_database
from pressroom.testing.contracts.suite import ContractSuite, Finding, expect, run_apart

_HOST: Final = "pressroom"


@dataclass(frozen=True, slots=True)
class MigratedTables:
    """An empty database, and the tables and migrations of a plugin."""

    database: SqlDatabase
    plugin: str
    models: Models

    @property
    def migrator(self) -> Migrator:
        """The migrator for the tables of the host, then those of the plugin."""
        return Migrator(self.database, [(_HOST, HOST_MODELS), (self.plugin, self.models)])


MIGRATIONS: Final = ContractSuite[MigratedTables]("migrations")


def check_migrations(plugin: str, models: Models, *, postgresql: str = "") -> list[Finding]:
    """Check a plugin's tables and migrations, and return the findings.

    Args:
        plugin: the plugin's id.
        models: the plugin's contribution.
        postgresql: the URL of a database on a PostgreSQL server, as in `[storage] database`, whose user can create
            databases: the check creates a temporary one. Without it, only SQLite is checked.
    """
    servers = {"SQLite": _on_sqlite, "PostgreSQL": _on_postgresql(postgresql)}
    findings: list[Finding] = []
    for name, database in servers.items():
        if name == "PostgreSQL" and not postgresql:
            continue
        opening = _opening(plugin, models, database)
        where = f"{models.migrations} on {name}"
        findings += run_apart(lambda opening=opening, where=where: MIGRATIONS.check(opening, where=where))  # type: ignore[misc]
    return findings


@MIGRATIONS.promise(
    "the migrations create the tables that the models describe",
    fix="write the migration with `pressroom migrations new PLUGIN 'what it does'`, and review it",
)
async def _match(subject: MigratedTables) -> None:
    await subject.migrator.migrate()
    changes = await differences(subject.database, subject.models.metadata, ignore=HOST_MODELS.metadata.tables)
    expect(not changes, "; ".join(describe(change) for change in changes[:5]))


@MIGRATIONS.promise(
    "migrating again changes nothing",
    fix="give each revision a different down_revision, in a single line without branches",
)
async def _again(subject: MigratedTables) -> None:
    await subject.migrator.migrate()
    behind = await subject.migrator.migrate()
    expect(not behind, f"{', '.join(state.plugin for state in behind)} behind after a migration")


@MIGRATIONS.promise(
    "timestamps are the same on every database",
    fix="use pressroom.columns.Timestamp as the type of the column, and sa.BigInteger() in its migration",
)
async def _moments(subject: MigratedTables) -> None:
    # SQLite drops the time zone of such a column, and PostgreSQL refuses a time zone if the column has none.
    columns = [
        f"{table.name}.{column.name}"
        for table in subject.models.metadata.sorted_tables
        for column in table.columns
        if isinstance(column.type, DateTime)
    ]
    expect(not columns, f"DateTime, whose values differ between SQLite and PostgreSQL: {', '.join(columns)}")


def _opening(
    plugin: str, models: Models, settings: Callable[[Path], AbstractAsyncContextManager[Settings]]
) -> Callable[[], AbstractAsyncContextManager[MigratedTables]]:
    @asynccontextmanager
    async def opening() -> AsyncIterator[MigratedTables]:
        with tempfile.TemporaryDirectory(prefix="pressroom-") as folder:
            async with settings(Path(folder)) as configured:
                database = SqlDatabase(configured)
                await database.open()
                try:
                    yield MigratedTables(database, plugin, models)
                finally:
                    await database.close()

    return opening


@asynccontextmanager
async def _on_sqlite(folder: Path) -> AsyncIterator[Settings]:
    yield Settings.model_validate({"storage": {"path": folder}})


def _on_postgresql(server: str) -> Callable[[Path], AbstractAsyncContextManager[Settings]]:
    @asynccontextmanager
    async def settings(folder: Path) -> AsyncIterator[Settings]:
        async with new_database(server) as url:
            yield Settings.model_validate({"storage": {"path": folder, "database": url}})

    return settings
