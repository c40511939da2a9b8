"""From the installed distributions to contributions, a plugin at a time.

Every phase contains what goes wrong in it: the plugin is taken out whole, its record says why, and the others go on.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, Final

import pluggy

from pressroom import defaults, hookspecs
from pressroom.config import Origins, validate_section
from pressroom.config.models import Settings
from pressroom.errors import PressroomError
from pressroom.plugins.collecting import collect, validate
from pressroom.plugins.conflicts import losers, without_requirements
from pressroom.plugins.contributions import Contribution, Contributions, describe
from pressroom.plugins.discovery import Candidate, discover
from pressroom.plugins.importing import ACCEPTED_APIS, import_plugin
from pressroom.plugins.records import Phase, PluginRecord, Status
from pressroom.plugins.registering import register, unregister
from pressroom.plugins.select import record_of, select
from pressroom.sdk import API, Plugin, PluginContext
from pressroom.version import VERSION

HOST_ID: Final = "pressroom"
"""The id under which the host registers its own defaults."""


@dataclass(frozen=True, slots=True)
class LoadedPlugins:
    """What loading came to: a record of every plugin, in the order of id, and what the active ones contributed."""

    records: tuple[PluginRecord, ...]
    contributions: Contributions
    contexts: dict[str, PluginContext]

    @property
    def failed(self) -> tuple[PluginRecord, ...]:
        """The plugins that an operator has to do something about."""
        return tuple(record for record in self.records if record.failed)

    def without(self, plugin: str, phase: Phase, error: BaseException) -> LoadedPlugins:
        """Return the same with one plugin broken in that phase, and nothing left of what it contributed."""
        records = tuple(
            _fallen(record, "broken", phase, error) if record.id == plugin else record for record in self.records
        )
        return replace(self, records=records, contributions=self.contributions.without(plugin))


@dataclass(slots=True)
class _Loading:
    """A plugin on its way. `record` is replaced as it goes; a failed one goes no further."""

    record: PluginRecord
    candidate: Candidate
    module: ModuleType | None = None
    plugin: Plugin | None = None
    context: PluginContext | None = None
    records: tuple[Any, ...] = ()

    @contextmanager
    def phase(self, name: Phase, undo: Callable[[], None] | None = None) -> Iterator[None]:
        """Contain whatever a plugin raises in a phase; `SystemExit` too, since a module may call `sys.exit`."""
        try:
            yield
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin may raise anything
            self.record = _fallen(self.record, "broken", name, error)
            self.records = ()
            if undo is not None:
                undo()

    @property
    def sound(self) -> bool:
        return not self.record.failed


def load_plugins(
    settings: Settings, origins: Origins | None = None, candidates: Sequence[Candidate] | None = None
) -> LoadedPlugins:
    """Load the plugins that the configuration selects, phase by phase. Nothing that a plugin does is raised here.

    `origins` tell where each value of the configuration stands. `candidates` replaces what is discovered on this
    machine.
    """
    chosen, records = select(discover() if candidates is None else candidates, settings)
    loading = [_Loading(record_of(candidate, settings.plugins.get(candidate.id)), candidate) for candidate in chosen]

    for plugin in loading:
        _import(plugin)
        if plugin.sound:
            _configure(plugin, settings, origins)
    manager = _manager([plugin for plugin in loading if plugin.sound])
    for plugin in loading:
        if plugin.sound:
            _collect(plugin, manager)
    _settle(loading)

    host = PluginContext(HOST_ID, VERSION, settings, settings.public_url, settings.storage.path)
    manager.register(defaults, name=HOST_ID)
    contributions = [Contribution(HOST_ID, record) for record in collect(manager, host)]
    contexts = {HOST_ID: host}
    for plugin in loading:
        if plugin.sound and plugin.context is not None:
            names = tuple(describe(record) for record in plugin.records)
            plugin.record = replace(plugin.record, status="active", contributes=names)
            contributions += [Contribution(plugin.record.id, record) for record in plugin.records]
            contexts[plugin.record.id] = plugin.context
    records += [plugin.record for plugin in loading]
    in_order = tuple(sorted(records, key=lambda record: (record.id, record.distribution)))
    return LoadedPlugins(in_order, Contributions(contributions), contexts)


def _import(plugin: _Loading) -> None:
    started = time.perf_counter()
    with plugin.phase("import"):
        plugin.module, plugin.plugin = import_plugin(plugin.candidate)
        title, summary = plugin.plugin.title, plugin.plugin.summary
        plugin.record = replace(plugin.record, title=title, summary=summary)
        if plugin.plugin.api not in ACCEPTED_APIS:
            error = f"it is written for plugin API {plugin.plugin.api}, this host offers {API}"
            hint = "upgrade pressroom, or install an older version of the plugin"
            plugin.record = replace(plugin.record, status="incompatible", phase="compatible", error=error, hint=hint)
    plugin.record = replace(plugin.record, import_seconds=time.perf_counter() - started)


def _configure(plugin: _Loading, settings: Settings, origins: Origins | None) -> None:
    id_ = plugin.record.id
    with plugin.phase("config"):
        model = plugin.plugin.config if plugin.plugin else None
        given = settings.plugins[id_].config if id_ in settings.plugins else {}
        plugin.context = PluginContext(
            id=id_,
            version=plugin.candidate.version,
            config=validate_section(model, given, path=f"plugins.{id_}.config", origins=origins),
            base_url=settings.public_url,
            data_folder=settings.storage.path / "plugins" / id_,
        )


def _manager(plugins: Sequence[_Loading]) -> pluggy.PluginManager:
    manager = pluggy.PluginManager("pressroom")
    manager.add_hookspecs(hookspecs)
    for plugin in plugins:
        offered = plugin.plugin.hookspecs if plugin.plugin else None
        if offered is not None:
            with plugin.phase("register"):
                manager.add_hookspecs(offered)
    return manager


def _collect(plugin: _Loading, manager: pluggy.PluginManager) -> None:
    if plugin.module is None or plugin.context is None:
        return
    id_ = plugin.record.id

    def undo() -> None:
        unregister(manager, id_)

    with plugin.phase("register", undo):
        register(manager, plugin.module, id_)
    if plugin.sound:
        with plugin.phase("collect", undo):
            plugin.records = collect(manager, plugin.context)
    if plugin.sound:
        with plugin.phase("validate", undo):
            validate(plugin.records)


def _settle(loading: Sequence[_Loading]) -> None:
    """Take out plugins that are in conflict, then those that need one which is not there."""
    sound = {plugin.record.id: plugin for plugin in loading if plugin.sound}
    builtin = frozenset(id_ for id_, plugin in sound.items() if plugin.record.builtin)
    for id_, (error, hint) in losers({id_: plugin.records for id_, plugin in sound.items()}, builtin).items():
        loser = sound.pop(id_)
        loser.record = replace(loser.record, status="conflict", phase="validate", error=error, hint=hint)
    requires = {id_: plugin.plugin.requires if plugin.plugin else () for id_, plugin in sound.items()}
    for id_, (error, hint) in without_requirements(requires).items():
        sound[id_].record = replace(sound[id_].record, status="broken", phase="validate", error=error, hint=hint)


def _fallen(record: PluginRecord, status: Status, phase: Phase, error: BaseException) -> PluginRecord:
    hint = error.hint if isinstance(error, PressroomError) and error.hint else _HINTS.get(phase, "")
    return replace(record, status=status, phase=phase, error=_one_line(error), hint=hint, contributes=())


def _one_line(error: BaseException) -> str:
    if isinstance(error, PressroomError):
        return re.sub(r"\s+", " ", error.message).strip()
    if isinstance(error, SyntaxError) and error.filename:
        return f"SyntaxError: {error.msg} ({error.filename.rsplit('/', 1)[-1]}, line {error.lineno})"
    text = re.sub(r"\s+", " ", str(error)).strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


_HINTS: Final[dict[str, str]] = {
    "import": "reinstall or upgrade the package; `pressroom plugins show` prints what it was installed from",
    "config": "correct the table in the configuration; `pressroom config check` shows it again",
    "register": "report it to the plugin's authors, or switch the plugin off with enabled = false",
    "collect": "report it to the plugin's authors, or switch the plugin off with enabled = false",
    "validate": "report it to the plugin's authors, or switch the plugin off with enabled = false",
    "lifespan": "see the log for the details, then restart",
}
