"""`pressroom migrate`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from pressroom.cli.loading import compiled
from pressroom.cli.options import Invocation, command_options
from pressroom.cli.output import EXIT_PROBLEMS, FINE, Progress

if TYPE_CHECKING:
    from pressroom.host.loaded_app import LoadedApp
    from pressroom.storage.database import Migrator, SchemaState


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The status of one plugin's tables. `result` is `up to date`, `migrated`, `behind` or `failed`."""

    plugin: str
    before: str = ""
    wanted: str = ""
    result: str = "failed"
    error: str = ""
    hint: str = ""

    @property
    def none(self) -> str:
        """What to show without a revision: it is unknown if the migrations cannot be read."""
        return "none" if self.wanted or not self.error else "unknown"

    @property
    def wrong(self) -> bool:
        return self.result in ("behind", "failed")


@click.command()
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 if a migration has to run.")
@command_options
def migrate(invocation: Invocation, check: bool) -> int:
    """Migrate the database tables of the host and of each plugin.

    A failed migration rolls back. Concurrent runs are safe: one waits for the other.
    """
    import asyncio  # noqa: PLC0415 - takes longer to load than --help may take

    host = compiled(invocation)
    with invocation.output.progress("Checking" if check else "Migrating") as progress:
        name, outcomes = asyncio.run(_all(host, check=check, progress=progress))
    failed = any(outcome.wrong for outcome in outcomes)
    if invocation.json:
        plugins = [
            {
                "plugin": outcome.plugin,
                "before": outcome.before,
                "wanted": outcome.wanted,
                "result": outcome.result,
                "error": outcome.error,
                "hint": outcome.hint,
            }
            for outcome in outcomes
        ]
        invocation.output.data({"ok": not failed, "database": name, "plugins": plugins})
        return EXIT_PROBLEMS if failed else FINE
    rows = [(outcome.plugin, outcome.before or outcome.none, outcome.wanted, outcome.result) for outcome in outcomes]
    invocation.output.table(["Tables of", "Revision before", "Wanted", "Result"], rows)
    for outcome in outcomes:
        if outcome.error:
            invocation.output.problem(outcome.error, hint=outcome.hint)
    if check and any(outcome.result == "behind" for outcome in outcomes):
        invocation.output.note("Run `pressroom migrate` to bring them up to date.")
    return EXIT_PROBLEMS if failed else FINE


async def _all(host: LoadedApp, *, check: bool, progress: Progress) -> tuple[str, list[_Outcome]]:
    """Return the database's name and the status of each plugin's tables. Raises `BackendError` on an outage."""
    from pressroom.plugins.discovery import HOST_ID  # noqa: PLC0415 - importlib.metadata
    from pressroom.storage.database import SqlDatabase  # noqa: PLC0415 - SQLAlchemy

    database = SqlDatabase(host.settings)
    migrator = host.migrator(database)
    if check and database.missing:
        return database.name, [_Outcome(plugin, result="behind") for plugin in migrator.plugins]
    await database.open()
    outcomes: list[_Outcome] = []
    try:
        for plugin in migrator.plugins:
            outcomes.append(await _migrate_plugin(migrator, plugin, check=check))
            progress.advance()
            if plugin == HOST_ID and outcomes[-1].result == "failed":
                break  # tables of plugins can refer to those of the host
    finally:
        await database.close()
    return database.name, outcomes


async def _migrate_plugin(migrator: Migrator, plugin: str, *, check: bool) -> _Outcome:
    from pressroom.storage.database import SchemaError, SchemaMismatch  # noqa: PLC0415 - SQLAlchemy takes time

    before = wanted = ""
    try:
        state = await migrator.state(plugin)
        before, wanted = state.current, state.wanted
        if not check:
            state = await migrator.upgrade(plugin)
    except SchemaMismatch as error:
        return _Outcome(plugin, error.current, error.wanted, error=error.message, hint=error.hint)
    except SchemaError as error:
        return _Outcome(plugin, before, wanted, error=error.message, hint=error.hint)
    return _Outcome(plugin, state.current, state.wanted, _result(state, check=check))


def _result(state: SchemaState, *, check: bool) -> str:
    if not state.behind:
        return "up to date"
    return "behind" if check else "migrated"
