"""Compare a plugin's tables with those that its migrations create, using Alembic."""

from __future__ import annotations

import re
import textwrap
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from sqlalchemy import Connection, MetaData, inspect
from sqlalchemy.types import TypeDecorator

from pressroom.config import Settings
from pressroom.sdk import Models
from pressroom.storage.database.engine import SqlDatabase
from pressroom.storage.database.migrations import VERSION_TABLE_PREFIX, Migrator

if TYPE_CHECKING:
    from alembic.migration import MigrationContext

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PluginSchema:
    """A database after a plugin's migrations, and the names of the tables that existed before them."""

    database: SqlDatabase
    models: Models
    others: frozenset[str]

    async def differences(self) -> list[str]:
        """List the changes that the database needs to match the plugin's tables, such as `add_column notes.color`."""
        changes = await differences(self.database, self.models.metadata, ignore=self.others)
        return [line for change in changes for line in _describe(change)]

    async def revision(self) -> tuple[str, str]:
        """Return the bodies of `upgrade` and `downgrade` for these changes, as source code without indentation.

        Both are empty if there are no differences.
        """
        return await _compared(self.database, lambda context: _source(context, self.models.metadata), self._ignored)

    @property
    def _ignored(self) -> set[str]:
        return set(self.others) - set(self.models.metadata.tables)


@asynccontextmanager
async def new_database() -> AsyncIterator[SqlDatabase]:
    """Yield an open SQLite database that is removed at the end."""
    with TemporaryDirectory(prefix="pressroom-") as folder:
        database = SqlDatabase(Settings.model_validate({"storage": {"path": Path(folder)}}))
        await database.open()
        try:
            yield database
        finally:
            await database.close()


async def migrated(database: SqlDatabase, migrator: Migrator, plugin: str, models: Models) -> PluginSchema:
    """Run the migrations of a plugin whose predecessors have run.

    Raises:
        SchemaError: its migrations cannot be loaded, or fail.
    """
    async with database.reading() as session:
        connection = await session.connection()
        before = await connection.run_sync(lambda sync: inspect(sync).get_table_names())
    await migrator.upgrade(plugin)
    return PluginSchema(database, models, frozenset(before))


async def differences(database: SqlDatabase, metadata: MetaData, *, ignore: Iterable[str] = ()) -> list[Any]:
    """Return the changes that Alembic would make so that the database has exactly these tables.

    `ignore` lists other tables that the database can have.
    """
    from alembic.autogenerate import compare_metadata  # noqa: PLC0415 - takes a while to import

    ignored = set(ignore) - set(metadata.tables)
    return await _compared(database, lambda context: list(compare_metadata(context, metadata)), ignored)


def describe(change: Any) -> str:
    """Format a change from `differences`, such as `add_column notes.color`."""
    return "; ".join(_describe(change))


def _describe(change: Any) -> list[str]:
    if isinstance(change, list):
        return [line for member in change for line in _describe(member)]
    kind, *details = change
    names = [str(getattr(part, "name", part)) for part in details if part is not None and not isinstance(part, dict)]
    return [f"{kind} {'.'.join(names)}"]


async def _compared(database: SqlDatabase, compare: Callable[[MigrationContext], T], ignored: set[str]) -> T:
    from alembic.migration import MigrationContext  # noqa: PLC0415 - takes a while to import

    def is_included(_object: Any, name: str | None, kind: str, _reflected: bool, _to: Any) -> bool:
        return kind != "table" or not (str(name).startswith(VERSION_TABLE_PREFIX) or name in ignored)

    def run(connection: Connection) -> T:
        options = {"compare_type": True, "include_object": is_included}
        return compare(MigrationContext.configure(connection, opts=options))

    async with database.reading() as session:
        connection = await session.connection()
        return await connection.run_sync(run)


_REMARK: Final = re.compile(r"^[ \t]*+# ###.*\n?", re.MULTILINE)
"""Comments that Alembic writes around generated code."""


def _source(context: MigrationContext, metadata: MetaData) -> tuple[str, str]:
    from alembic.autogenerate import produce_migrations, render_python_code  # noqa: PLC0415 - as above

    script = produce_migrations(context, metadata)
    upgrade, downgrade = script.upgrade_ops, script.downgrade_ops
    if upgrade is None or downgrade is None or upgrade.is_empty():
        return "", ""
    # In batch mode: SQLite can change most columns only by recreating the table.
    up, down = (
        render_python_code(operations, render_as_batch=True, render_item=_plain_type, migration_context=context)
        for operations in (upgrade, downgrade)
    )
    return tuple(textwrap.dedent(_REMARK.sub("", code)).strip("\n") for code in (up, down))  # type: ignore[return-value]


def _plain_type(kind: str, item: Any, _context: Any) -> str | Literal[False]:
    """Render a Python-side column type as its database type: migrations outlive the code around them.

    Returns `False` for everything else, which Alembic renders itself.
    """
    if kind == "type" and isinstance(item, TypeDecorator):
        return f"sa.{item.impl_instance!r}"
    return False
