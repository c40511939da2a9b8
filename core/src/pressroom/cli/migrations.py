"""`pressroom migrations`: write and check the migrations of plugins."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from pressroom.cli.loading import compiled
from pressroom.cli.options import Invocation, command_options, common_options
from pressroom.cli.output import EXIT_PROBLEMS, FINE
from pressroom.errors import ConfigError, NotFound, PluginError

if TYPE_CHECKING:
    from pressroom.host.loaded_app import LoadedApp
    from pressroom.sdk import Models

_MAX_SLUG: Final = 40
_FORMAT_SECONDS: Final = 30

_REVISION: Final = '''"""{message}"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = {before}


def upgrade() -> None:
    """Make the changes."""
{upgrade}


def downgrade() -> None:
    """Undo them."""
{downgrade}
'''


@dataclass(frozen=True, slots=True)
class SchemaComparison:
    """Differences between a plugin's declared tables and its migrations. `error` is set if the migrations failed."""

    plugin: str
    differences: tuple[str, ...] = ()
    error: str = ""

    @property
    def fine(self) -> bool:
        """Whether the tables match."""
        return not (self.differences or self.error)


@click.group()
@common_options
def migrations() -> None:
    """Write and check the migrations of plugins. `pressroom migrate` runs them."""


@migrations.command()
@click.argument("plugin", required=False)
@command_options
def check(invocation: Invocation, plugin: str | None) -> int:
    """Compare the declared tables with those that the migrations create. The exit code is 1 if they differ.

    PLUGIN is an ID. Without it, the server and all enabled plugins are compared. The migrations run in an empty SQLite
    database that is removed afterwards. CHECK constraints are not compared.
    """
    import asyncio  # noqa: PLC0415 - takes longer to load than --help may take

    loaded = compiled(invocation)
    if plugin is not None:
        _models(loaded, plugin)
    comparisons = asyncio.run(_compare(loaded, plugin))
    fine = all(comparison.fine for comparison in comparisons)
    if invocation.json:
        plugins = [
            {
                "plugin": comparison.plugin,
                "ok": comparison.fine,
                "differences": comparison.differences,
                "error": comparison.error,
            }
            for comparison in comparisons
        ]
        invocation.output.data({"ok": fine, "plugins": plugins})
        return FINE if fine else EXIT_PROBLEMS
    rows = [
        (comparison.plugin, "ok" if comparison.fine else "failed" if comparison.error else "differs")
        for comparison in comparisons
    ]
    invocation.output.table(["Tables of", "Result"], rows)
    for comparison in comparisons:
        for difference in comparison.differences:
            invocation.output.line(f"{comparison.plugin}: {difference}")
        if comparison.differences:
            invocation.output.note(
                f'Write the missing migration: pressroom migrations new {comparison.plugin} "what it does"'
            )
        if comparison.error:
            invocation.output.problem(comparison.error)
    return FINE if fine else EXIT_PROBLEMS


@migrations.command()
@click.argument("plugin")
@click.argument("message")
@command_options
def new(invocation: Invocation, plugin: str, message: str) -> int:
    """Write a migration that brings the database up to date with the tables of PLUGIN. MESSAGE is a short summary.

    Review it before you release it: a renamed column looks like one column removed and another one added, and the
    command cannot know what should happen to existing rows. The plugin must be installed in editable mode, or be in the
    folder of one-file plugins.
    """
    import asyncio  # noqa: PLC0415 - takes longer to load than --help may take

    sentence = " ".join(message.split()).replace("\\", "/").replace('"', "'").rstrip(".")
    slug = re.sub(r"[^a-z0-9]+", "_", sentence.lower()[:_MAX_SLUG]).strip("_")
    if not slug:
        raise click.UsageError('MESSAGE needs letters, as in: pressroom migrations new notes "add a color"')
    loaded = compiled(invocation)
    folder = _folder(plugin, _models(loaded, plugin))
    number = _next_number(folder)
    head, upgrade, downgrade = asyncio.run(_revision(loaded, plugin))
    if not upgrade:
        if invocation.json:
            invocation.output.data({"plugin": plugin, "file": None, "revision": None})
        invocation.output.line(f"The migrations of {plugin} already create its tables.")
        return FINE
    file = folder / f"{number}_{slug}.py"
    folder.mkdir(exist_ok=True)
    file.write_text(
        _REVISION.format(
            message=f"{sentence[:1].upper()}{sentence[1:]}.",
            revision=number,
            before=f'"{head}"' if head else None,
            upgrade=textwrap.indent(upgrade, "    "),
            downgrade=textwrap.indent(downgrade or "pass", "    "),
        ),
        encoding="utf-8",
    )
    _format(file)
    if invocation.json:
        invocation.output.data({"plugin": plugin, "file": str(file), "revision": number})
    invocation.output.line(f"Wrote {file}. Read it, and try it with: pressroom migrations check {plugin}")
    return FINE


def _models(loaded: LoadedApp, plugin: str) -> Models:
    from pressroom.plugins.discovery import HOST_ID  # noqa: PLC0415 - importlib.metadata

    for record in loaded.plugins.failed:
        if record.id == plugin:
            raise PluginError(f"{plugin} does not work: {record.error}", hint=record.hint)
    models = dict(loaded.models())
    if plugin not in models or plugin == HOST_ID:
        with_tables = ", ".join(id_ for id_ in models if id_ != HOST_ID) or "none"
        raise NotFound(
            f"no enabled plugin {plugin} has tables; those that do: {with_tables}",
            hint="check `pressroom plugins list`, and what its hook pressroom_models returns",
        )
    return models[plugin]


async def _compare(loaded: LoadedApp, only: str | None) -> list[SchemaComparison]:
    """Run the migrations of each plugin, in order, in a new database and compare the resulting tables."""
    from pressroom.storage.database import Migrator, SchemaError  # noqa: PLC0415 - SQLAlchemy
    from pressroom.storage.database.autogeneration import migrated, new_database  # noqa: PLC0415

    models = loaded.models()
    comparisons: list[SchemaComparison] = []
    async with new_database() as database:
        migrator = Migrator(database, models)
        for plugin, plugin_models in models:
            try:
                schema = await migrated(database, migrator, plugin, plugin_models)
            except SchemaError as error:
                comparisons.append(SchemaComparison(plugin, error=error.message))
                continue
            comparisons.append(SchemaComparison(plugin, tuple(await schema.differences())))
    return [comparison for comparison in comparisons if only in (None, comparison.plugin)]


async def _revision(loaded: LoadedApp, plugin: str) -> tuple[str, str, str]:
    """Return the current head revision and the bodies of the new revision's `upgrade` and `downgrade`.

    Raises:
        SchemaError: migrations cannot be read, or fail.
    """
    from pressroom.storage.database import Migrator  # noqa: PLC0415 - SQLAlchemy
    from pressroom.storage.database.autogeneration import migrated, new_database  # noqa: PLC0415

    models = loaded.models()
    async with new_database() as database:
        migrator = Migrator(database, models)
        # Tables can refer to those of plugins earlier in the order.
        for name, plugin_models in models[: [name for name, _ in models].index(plugin)]:
            await migrated(database, migrator, name, plugin_models)
        schema = await migrated(database, migrator, plugin, dict(models)[plugin])
        return ((await migrator.state(plugin)).wanted, *await schema.revision())


def _folder(plugin: str, models: Models) -> Path:
    """Return the folder of the plugin's revisions in its source tree. Raises `ConfigError` if it is not editable."""
    try:
        folder = Path(str(files(models.migrations)))
    except (ImportError, TypeError) as error:
        raise ConfigError(
            f"{plugin} has no package {models.migrations}",
            hint="create that package, a folder with an empty __init__.py: Models of the plugin names it",
        ) from error
    if not folder.is_dir() or "site-packages" in folder.parts:
        raise ConfigError(
            f"{plugin} is installed at {folder}, where its next installation replaces what is written",
            hint="install it with: python -m pip install -e FOLDER",
        )
    return folder / "versions"


def _next_number(folder: Path) -> str:
    names = [path.name for path in folder.glob("[0-9]*.py")]
    numbers = [int(match[0]) for name in names if (match := re.match(r"\d{1,9}", name))]
    return f"{max(numbers, default=0) + 1:04}"


def _format(file: Path) -> None:
    """Format a new file with ruff, if available, in the style of its project."""
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent)) or shutil.which("ruff")
    if ruff is not None:
        command = [ruff, "format", "--quiet", str(file)]
        subprocess.run(command, check=False, capture_output=True, timeout=_FORMAT_SECONDS)  # noqa: S603 - no shell
