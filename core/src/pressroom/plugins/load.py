"""Load plugins, from installed distributions to contributions.

A failure in any phase removes only the plugin concerned. Its record states the reason, and the others continue.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pluggy

from pressroom.config import Origins, validate_section
from pressroom.config.models import Settings
from pressroom.errors import PluginError
from pressroom.gate import PluginGate
from pressroom.gate.failures import PluginCode
from pressroom.plugins import defaults
from pressroom.plugins.contributions import (
    RECORD_TYPES,
    Contribution,
    Contributions,
    claims,
    claims_of,
    collect,
    describe,
)
from pressroom.plugins.discovery import HOST_ID, Candidate, Phase, PluginRecord, Status, discover
from pressroom.plugins.folder import discover_folder
from pressroom.plugins.gated import GatedRecords
from pressroom.plugins.loading_state import (
    LoadingPlugin,
    leave_out,
    settle_claims,
    settle_requirements,
    settle_wrappers,
    without_requirements,
)
from pressroom.plugins.registering import (
    excluded,
    failed,
    import_plugin,
    new_manager,
    offered_hooks,
    register,
    unregister,
    warnings_of,
)
from pressroom.plugins.select import record_of, select
from pressroom.plugins.template_folder import TemplateFolder, folders_of
from pressroom.plugins.validating import validate
from pressroom.sdk import Extensions, HostServices, Models, PageTemplates, Plugin, PluginContext
from pressroom.sdk.plugin import ServiceProvider
from pressroom.version import VERSION


@dataclass(frozen=True, slots=True)
class LoadedPlugins:
    """The result of loading: a record of every plugin, ordered by ID, and the contributions of the active ones.

    `requires` maps each active plugin to the IDs of the plugins that it requires. `extensions` maps each plugin that
    offers hooks to the contributions to them, as pairs of plugin ID and record. `worker_modules` maps plugins to the
    modules that worker processes import before their first call, and `worker_setup` to the functions that each worker
    runs before it.
    """

    records: tuple[PluginRecord, ...]
    contributions: Contributions
    contexts: dict[str, PluginContext]
    provider: ServiceProvider
    requires: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    extensions: Mapping[str, Mapping[str, list[tuple[str, Any]]]] = field(default_factory=dict)
    worker_modules: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    worker_setup: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def services(self) -> HostServices:
        """The server's services for plugins. Raises `NotRunning` before they are open."""
        return self.provider.services

    @property
    def failed(self) -> tuple[PluginRecord, ...]:
        """The records of plugins that the operator has to fix."""
        return tuple(record for record in self.records if record.failed)

    def without(self, plugin: str, phase: Phase, error: BaseException) -> LoadedPlugins:
        """Return a copy in which one active plugin is broken in that phase, and without its contributions.

        Plugins that require it are removed too.
        """
        remaining = {id_: required for id_, required in self.requires.items() if id_ != plugin}
        broken = without_requirements(remaining, {plugin: "broken"})
        contributions = self.contributions.without(plugin)
        for dependent in broken:
            contributions = contributions.without(dependent)

        def updated(record: PluginRecord) -> PluginRecord:
            if record.status != "active":
                return record
            if record.id == plugin:
                return failed(record, "broken", phase, error)
            return excluded(record, "broken", phase, broken[record.id]) if record.id in broken else record

        removed = {plugin, *broken}
        extensions = {
            owner: {hook: [pair for pair in pairs if pair[0] not in removed] for hook, pairs in hooks.items()}
            for owner, hooks in self.extensions.items()
        }
        _hand_out(extensions, self.contexts, remaining)
        return LoadedPlugins(
            records=tuple(updated(record) for record in self.records),
            contributions=contributions,
            contexts=self.contexts,
            provider=self.provider,
            requires={id_: required for id_, required in remaining.items() if id_ not in broken},
            worker_modules={id_: names for id_, names in self.worker_modules.items() if id_ not in removed},
            worker_setup={id_: names for id_, names in self.worker_setup.items() if id_ not in removed},
            extensions=extensions,
        )


def load_plugins(
    settings: Settings,
    origins: Origins | None = None,
    candidates: Sequence[Candidate] | None = None,
    gate: PluginGate | None = None,
    templates: TemplateFolder | None = None,
) -> LoadedPlugins:
    """Load the configured plugins, phase by phase. Failures of plugins are recorded, not raised.

    `origins` locate the values of the configuration. `candidates` replace the plugins installed on this machine, but
    not those of `plugins_dir`. All code of plugins passes the `gate`, with `[server] start_timeout` as the limit of
    each phase. `templates` holds the operator's replacements for plugins' templates.
    """
    gate = gate or PluginGate()
    templates = templates or TemplateFolder(settings.branding)
    provider = ServiceProvider()
    installed = discover() if candidates is None else candidates
    selected, records = select([*installed, *discover_folder(settings)], settings)
    seconds = settings.server.start_timeout
    loading = [
        LoadingPlugin(record_of(candidate, settings.plugins.get(candidate.id)), candidate, gate, seconds)
        for candidate in selected
    ]
    other_statuses: dict[str, Status] = {record.id: record.status for record in records}

    for plugin in loading:
        _import(plugin)
        if plugin.sound:
            _configure(plugin, settings, origins, provider, gate, templates)
    templates.settle()
    # Before hooks are checked: a plugin can implement hooks of an absent plugin.
    leave_out(loading, settings, other_statuses)
    settle_requirements(loading, other_statuses)
    manager = new_manager()
    offered = _add_offered_hooks(manager, loading)
    every_offered = {hook: kind for hooks in offered.values() for hook, kind in hooks.items()}
    offering = (plugin.plugin for plugin in loading if plugin.plugin and plugin.record.id in offered)
    unique = {hook: member for plugin in offering for hook, member in plugin.unique.items()}
    for plugin in loading:
        if plugin.sound:
            _collect(plugin, manager, every_offered, unique)
    settle_requirements(loading, other_statuses)

    host = PluginContext(HOST_ID, VERSION, settings, settings.public_url, settings.storage.path, provider=provider)
    manager.register(defaults, name=HOST_ID)
    host_records = [record for contributed in collect(manager, host).values() for record in contributed]
    host_claims = [claim for record in (*host_records, *_tables_of_the_host(loading)) for claim in claims(record)]
    settle_claims(loading, host_claims)
    settle_requirements(loading, other_statuses)
    wrapped = settle_wrappers(loading, other_statuses, {**RECORD_TYPES, **every_offered}, unique, host_claims)

    active = {plugin.record.id: plugin for plugin in loading if plugin.sound}
    contributions = [Contribution(HOST_ID, record) for record in host_records]
    contexts = {HOST_ID: host}
    for id_, plugin in active.items():
        extension_hooks = (hook for hook, contributed in plugin.extensions.items() if contributed)
        names = (*map(describe, plugin.records), *extension_hooks, *plugin.wrapped)
        plugin.record = replace(plugin.record, status="active", contributes=names)
        gated = GatedRecords(gate, id_, seconds)
        contributions += [
            Contribution(id_, gated.record(record), wrapped.changed.get(id(record), ())) for record in plugin.records
        ]
        if plugin.context is not None:
            contexts[id_] = plugin.context
    extensions = {
        owner: {
            hook: [(id_, record) for id_, plugin in active.items() for record in plugin.extensions.get(hook, ())]
            for hook in hooks
        }
        for owner, hooks in offered.items()
        if owner in active
    }
    requires = {id_: plugin.requires for id_, plugin in active.items()}
    _hand_out(extensions, contexts, requires)
    modules = {id_: plugin.record.module for id_, plugin in active.items()}
    gate.code = PluginCode.of(modules, extensions, requires, wrapped.wrapped_by)
    records += [warnings_of(plugin.record, plugin.plugin) for plugin in loading]
    return LoadedPlugins(
        records=tuple(sorted(records, key=lambda record: (record.id, record.distribution))),
        contributions=Contributions(contributions),
        contexts=contexts,
        provider=provider,
        requires=requires,
        worker_modules={id_: loaded.plugin.worker_modules for id_, loaded in active.items() if loaded.plugin},
        worker_setup={id_: loaded.plugin.worker_setup for id_, loaded in active.items() if loaded.plugin},
        extensions=extensions,
    )


def _import(plugin: LoadingPlugin) -> None:
    started = time.perf_counter()
    with plugin.phase("import"):
        plugin.module, plugin.plugin = import_plugin(plugin.candidate)
        declared = plugin.plugin
        plugin.record = replace(plugin.record, title=declared.title, summary=declared.summary, api=declared.written_for)
    plugin.record = replace(plugin.record, import_seconds=time.perf_counter() - started)


def _configure(
    plugin: LoadingPlugin,
    settings: Settings,
    origins: Origins | None,
    provider: ServiceProvider,
    gate: PluginGate,
    templates: TemplateFolder,
) -> None:
    id_ = plugin.record.id
    with plugin.phase("config"):
        model = plugin.plugin.config if plugin.plugin else None
        folders = folders_of(plugin.plugin.templates) if plugin.plugin else ()
        section = settings.plugins[id_].config if id_ in settings.plugins else {}
        plugin.context = PluginContext(
            id=id_,
            version=plugin.candidate.version,
            config=validate_section(model, section, path=f"plugins.{id_}.config", origins=origins),
            base_url=settings.public_url,
            data_folder=settings.storage.path / "plugins" / id_,
            extensions=Extensions(partial(gate.contributed, id_)),
            provider=provider,
            templates=templates.of_plugin(id_, folders) if folders else PageTemplates(),
        )


def _add_offered_hooks(
    manager: pluggy.PluginManager, loading: Sequence[LoadingPlugin]
) -> dict[str, dict[str, type[Any]]]:
    """Register the hooks that plugins offer each other, and return them by plugin, with their record types.

    If several plugins offer a hook of the same name, all of them lose.
    """
    offering = {plugin.record.id: plugin for plugin in loading if plugin.sound and plugin.plugin}
    offered: dict[str, dict[str, type[Any]]] = {}
    for id_, plugin in offering.items():
        if plugin.plugin and plugin.plugin.hookspecs is not None:
            with plugin.phase("register"):
                offered[id_] = offered_hooks(plugin.plugin.hookspecs)
                _check_unique(plugin.plugin, offered[id_])
    for id_, hooks in offered.items():
        plugin = offering[id_]
        rivals = [rival for rival, rival_hooks in offered.items() if rival != id_ and rival_hooks.keys() & hooks.keys()]
        if rivals:
            reason = f"{' and '.join(rivals)} offers a hook of the same name", f"set enabled = false in [plugins.{id_}]"
            plugin.record = excluded(plugin.record, "conflict", "register", reason)
        elif plugin.plugin:
            with plugin.phase("register"):
                manager.add_hookspecs(plugin.plugin.hookspecs)
    return {id_: hooks for id_, hooks in offered.items() if offering[id_].sound}


def _check_unique(plugin: Plugin, hooks: Mapping[str, type[Any]]) -> None:
    for hook in plugin.unique:
        if hook not in hooks:
            raise PluginError(f"unique names {hook}", hint=f"its hookspecs hold {', '.join(sorted(hooks))}")


def _collect(
    plugin: LoadingPlugin, manager: pluggy.PluginManager, offered: Mapping[str, type[Any]], unique: Mapping[str, str]
) -> None:
    if plugin.module is None or plugin.context is None:
        return
    id_ = plugin.record.id

    def undo() -> None:
        unregister(manager, id_)

    with plugin.phase("register", undo):
        plugin.wrappers = register(manager, plugin.module, id_)
    if plugin.sound:
        with plugin.phase("collect", undo):
            of_the_host = collect(manager, plugin.context, module=plugin.module)
            plugin.collected = of_the_host | collect(manager, plugin.context, offered)
    if plugin.sound:
        with plugin.phase("validate", undo):
            validate(plugin.records)
            plugin.claims = [
                claim
                for hook, records in plugin.collected.items()
                for record in records
                for claim in claims_of(unique, hook, record)
            ]


def _tables_of_the_host(loading: Sequence[LoadingPlugin]) -> Iterator[Models]:
    """Yield the host's tables, whose names plugins cannot use, if any plugin has tables."""
    if any(isinstance(record, Models) for plugin in loading if plugin.sound for record in plugin.records):
        from pressroom.storage.database.tables import HOST_MODELS  # noqa: PLC0415 - SQLAlchemy, which those plugins have loaded

        yield HOST_MODELS


def _hand_out(
    extensions: Mapping[str, Mapping[str, list[tuple[str, Any]]]],
    contexts: Mapping[str, PluginContext],
    requires: Mapping[str, Iterable[str]],
) -> None:
    """Give each plugin the contexts of the plugins it requires, and the contributions to its hooks and to theirs."""
    for id_, context in contexts.items():
        owners = (id_, *requires.get(id_, ()))
        context.extensions.fill({hook: pairs for owner in owners for hook, pairs in extensions.get(owner, {}).items()})
        context.required.update({owner: contexts[owner] for owner in owners[1:] if owner in contexts})
