"""Migration packages written by tests, and operations on migrated databases."""

from __future__ import annotations

from pathlib import Path

from pressroom.config import Settings
from pressroom.host.loaded_app import LoadedApp
from pressroom.sdk import Models
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.migrations import run_migrations
from sqlalchemy import inspect

REVISION = '''"""One table."""

import sqlalchemy as sa
from alembic import op

revision = "$revision"
down_revision = $before


def upgrade():
    $upgrade


def downgrade():
    op.drop_table("$table")
'''

CREATE = 'op.create_table("$table", sa.Column("id", sa.Integer, primary_key=True), sa.Column("text", sa.Text))'


def revision_source(revision: str, table: str, *, before: str | None = None, more: str = "") -> str:
    """Return a revision that creates a table, and then runs `more`, additional lines of its function."""
    upgrade = "\n    ".join([CREATE, *more.splitlines()])
    source = REVISION.replace("$upgrade", upgrade).replace("$revision", revision).replace("$table", table)
    return source.replace("$before", repr(before))


def write_migrations(folder: Path, package: str, revisions: dict[str, str]) -> str:
    """Write a package of migrations into a folder that belongs on the path, and return its name."""
    versions = folder / package / "versions"
    versions.mkdir(parents=True, exist_ok=True)
    (folder / package / "__init__.py").touch()
    for name, source in revisions.items():
        (versions / f"{name}.py").write_text(source)
    return package


async def tables_of(database: SqlDatabase) -> set[str]:
    """Return the names of all tables."""
    async with database.reading() as session:
        connection = await session.connection()
        return set(await connection.run_sync(lambda sync: inspect(sync).get_table_names()))


async def downgrade(database: SqlDatabase, plugin: str, models: Models, revision: str) -> None:
    """Downgrade the tables of a plugin to a revision, or remove them with `base`."""
    async with database.migrating() as connection:
        await connection.run_sync(lambda sync: run_migrations(sync, plugin, models, downgrade_to=revision))


async def migrate(settings: Settings) -> None:
    """Create the tables of a host and its plugins, as `pressroom migrate` does."""
    database = SqlDatabase(settings)
    await database.open()
    try:
        await LoadedApp(settings).migrator(database).migrate()
    finally:
        await database.close()
