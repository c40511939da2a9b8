"""Migrate the schemas of the host and of each plugin with Alembic, each with its own version table.

Alembic is imported only when a migration runs: usually none does, and the import takes longer than everything else that
is needed to see that a schema is up to date.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, column, inspect, select, table, text
from sqlalchemy.exc import DBAPIError

from pressroom.errors import BackendError
from pressroom.sdk import Models
from pressroom.storage.database.availability import is_outage, reason_of
from pressroom.storage.database.engine import SqlDatabase

if TYPE_CHECKING:
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory


_VERSIONS: Final = "versions"
_NAMES: Final = frozenset({"revision", "down_revision", "branch_labels", "depends_on"})


@dataclass(frozen=True, slots=True)
class Revisions:
    """The revisions that a version of a plugin includes (`known`), and the newest of them (`heads`)."""

    known: frozenset[str]
    heads: tuple[str, ...]


def plain_revisions(package: str) -> Revisions | None:
    """Return a package's revisions if they form a single line, with every field written as a constant.

    Returns:
        `None` if Alembic has to load them: there are branches, labels or dependencies, or a file that cannot be
        parsed with certainty.
    """
    try:
        declarations = [_declared(path.read_bytes()) for path in _sources(files(package) / _VERSIONS)]
    except (OSError, SyntaxError, SystemError, ValueError, ImportError):
        # SystemError: compile() of Python 3.11 miscounts its depth if the garbage collector switches greenlets in it.
        return None
    parents: dict[str, str | None] = {}
    for fields in declarations:
        name, down = fields.get("revision"), fields.get("down_revision", 0)
        if fields.get("branch_labels") or fields.get("depends_on") or not isinstance(name, str) or name in parents:
            return None
        if down is not None and not isinstance(down, str):
            return None
        parents[name] = down
    heads = parents.keys() - set(parents.values())
    line: list[str] = []
    revision = next(iter(heads), None)
    while revision is not None and revision in parents:
        line.append(revision)
        revision = parents[revision]
    if revision is not None or len(heads) != 1 or len(line) != len(parents):
        return None
    return Revisions(frozenset(parents), tuple(heads))


def _sources(folder: Traversable) -> Iterator[Traversable]:
    for path in folder.iterdir():
        if path.name.endswith(".py") and not path.name.startswith(("__init__", ".#")):
            yield path


@lru_cache(maxsize=128)  # a process that opens several databases parses the same files each time
def _declared(source: bytes) -> Mapping[str, Any]:
    """Return the values that a migration assigns to the names that Alembic reads.

    Raises `ValueError` unless each is assigned once, as a constant.
    """
    values: dict[str, Any] = {}
    module = ast.parse(source)
    for statement in module.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in _NAMES:
                values[name] = ast.literal_eval(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if name in _NAMES:
                values[name] = ast.literal_eval(value)
    if len(values) != sum(_binds(node) for node in ast.walk(module)):
        raise ValueError("the revision is not named plainly")
    return values


def _binds(node: ast.AST) -> bool:
    """Return whether a node can bind one of the names."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.alias(asname=str(name)) | ast.alias(name=name):
            return name in _NAMES or name == "*"
        case _:
            return False


_LOCK: Final = 0x70726573
"""The key of the PostgreSQL advisory lock that lets only one process migrate at a time."""


VERSION_TABLE_PREFIX: Final = "schema_version_"
"""The prefix of the tables that hold the revision of a plugin's schema."""


class SchemaError(BackendError):
    """A plugin's schema cannot be used: its migrations fail, or the database is from a newer version."""


class SchemaMismatch(SchemaError):
    """A plugin's tables are at the revision `current`, and its code needs `wanted`."""

    def __init__(self, message: str, current: str, wanted: str, *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.current = current
        self.wanted = wanted


@dataclass(frozen=True, slots=True)
class SchemaState:
    """The schema of one plugin: its current revision (empty if it has none) and the one that its code needs."""

    plugin: str
    current: str
    wanted: str

    @property
    def behind(self) -> bool:
        """Whether a migration has to run first."""
        return self.current != self.wanted


class Migrator:
    """Migrates an open database. `models` are pairs of plugin id and contributed models, the host's first."""

    def __init__(self, database: SqlDatabase, models: Iterable[tuple[str, Models]]) -> None:
        self._database = database
        self._models = dict(models)

    @property
    def plugins(self) -> tuple[str, ...]:
        """The ids of the plugins with tables, in migration order."""
        return tuple(self._models)

    @property
    def embedded(self) -> bool:
        """Whether the database belongs to this server, which migrates it when it starts."""
        return self._database.embedded

    async def state(self, plugin: str) -> SchemaState:
        """Return the state of one plugin's schema.

        Raises:
            SchemaMismatch: the database holds a revision that is not among the plugin's migrations.
            SchemaError: its migrations cannot be loaded.
            BackendError: the database failed.
        """
        async with self._database.reading() as session:
            connection = await session.connection()
            return await connection.run_sync(self._state, plugin)

    async def upgrade(self, plugin: str) -> SchemaState:
        """Migrate one plugin's schema completely or not at all, and return its previous state.

        If several processes do so at the same time, one does the work and the others wait for it.

        Raises:
            SchemaError: a migration failed, or the database holds a revision unknown to this version.
            BackendError: the database failed.
        """
        # Usually nothing has to be changed, which can be seen without a lock and a separate connection.
        state = await self.state(plugin)
        if not state.behind:
            return state
        async with self._database.migrating() as connection:
            if self._database.dialect == "postgresql":
                await connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
            before = await connection.run_sync(self._state, plugin)
            if before.behind:
                await connection.run_sync(self._upgrade, plugin)
        return before

    async def migrate(self) -> list[SchemaState]:
        """Migrate all plugins, one at a time, and return the previous states of those that were behind.

        Raises the same errors as `upgrade`; plugins migrated before the error stay migrated.
        """
        return [state for plugin in self.plugins if (state := await self.upgrade(plugin)).behind]

    def _state(self, connection: Connection, plugin: str) -> SchemaState:
        current = _current(connection, plugin)
        revisions = known_revisions(plugin, self._models[plugin])
        if len(revisions.heads) > 1:
            raise SchemaError(
                f"the migrations of {plugin} have {len(revisions.heads)} ends: {', '.join(sorted(revisions.heads))}; "
                "set the down_revision of one of them to the other"
            )
        if unknown := [revision for revision in current if revision not in revisions.known]:
            wanted = ", ".join(revisions.heads)
            raise SchemaMismatch(
                f"the tables of {plugin} are at revision {unknown[0]}, which this version does not know: "
                f"it needs {wanted}",
                unknown[0],
                wanted,
                hint="a newer version used the database: upgrade, or restore a backup",
            )
        return SchemaState(plugin, ", ".join(current), ", ".join(revisions.heads))

    def _upgrade(self, connection: Connection, plugin: str) -> None:
        try:
            run_migrations(connection, plugin, self._models[plugin])
            if self._database.dialect == "sqlite":
                _check_foreign_keys(connection)
        except (Exception, SystemExit) as error:
            if is_outage(error):
                raise
            raise SchemaError(
                f"a migration of {plugin} failed and was undone: {_describe(error)}{_location(error)}",
                hint="report it to the plugin's authors; nothing was changed",
            ) from error


def known_revisions(plugin: str, models: Models) -> Revisions:
    """Return the revisions of this version of a plugin. Raises `SchemaError` if they cannot be loaded."""
    try:
        return plain_revisions(models.migrations) or _revisions(_script(models))
    except (Exception, SystemExit) as error:
        raise SchemaError(f"the migrations of {plugin} cannot be read: {_describe(error)}") from error


def run_migrations(connection: Connection, plugin: str, models: Models, *, downgrade_to: str = "") -> None:
    """Run a plugin's migrations on a connection, up to the newest or down to a revision (`base` removes everything).

    Raises whatever Alembic, the database or the migrations raise.
    """
    from alembic.config import Config  # noqa: PLC0415 - see above
    from alembic.runtime.environment import EnvironmentContext  # noqa: PLC0415

    script = _script(models)

    def steps(revision: Any, _context: MigrationContext) -> Sequence[Any]:
        # The same calls as Alembic's own `downgrade` and `upgrade` commands make.
        if downgrade_to:
            return script._downgrade_revs(downgrade_to, revision)  # noqa: SLF001
        return script._upgrade_revs("head", revision)  # noqa: SLF001

    with EnvironmentContext(Config(), script, fn=steps) as environment:
        environment.configure(
            connection=connection,
            target_metadata=models.metadata,
            version_table=version_table(plugin),
            render_as_batch=True,
        )
        environment.run_migrations()


def _check_foreign_keys(connection: Connection) -> None:
    broken = connection.execute(text("PRAGMA foreign_key_check")).first()
    if broken is not None:
        raise ValueError(f"rows of the table {broken[0]} refer to rows of {broken[2]} that are not there")


def version_table(plugin: str) -> str:
    """Return the name of the table that holds the revision of a plugin's schema."""
    return f"{VERSION_TABLE_PREFIX}{plugin}"


def _current(connection: Connection, plugin: str) -> tuple[str, ...]:
    """Return the current revisions of the plugin's schema: usually one, or none."""
    name = version_table(plugin)
    if not inspect(connection).has_table(name):
        return ()
    return tuple(connection.scalars(select(column("version_num")).select_from(table(name))))


def _revisions(script: ScriptDirectory) -> Revisions:
    known = frozenset(revision.revision for revision in script.walk_revisions())
    return Revisions(known, tuple(script.get_heads()))


def _script(models: Models) -> ScriptDirectory:
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - see above

    with as_file(files(models.migrations)) as folder:
        return ScriptDirectory(str(folder), version_locations=[str(Path(folder) / _VERSIONS)])


def _location(error: BaseException) -> str:
    """Return where a revision raised an exception, such as ` (0002_colors.py, line 12)`, if one did."""
    frames = [(Path(frame.f_code.co_filename), line) for frame, line in walk_tb(error.__traceback__)]
    locations = [f" ({path.name}, line {line})" for path, line in frames if path.parent.name == _VERSIONS]
    return locations[-1] if locations else ""


def _describe(error: BaseException) -> str:
    reason = reason_of(error)
    return reason if isinstance(error, DBAPIError) else f"{type(error).__name__}: {reason}"
