"""The state of plugins during loading, and the settlement of conflicts between phases.

Plugins conflict if they claim the same name, or require a plugin that is missing or has failed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from types import ModuleType
from typing import Any

from pressroom.config.models import Settings
from pressroom.gate import PluginCall, PluginFailed, PluginGate
from pressroom.plugins.contributions import RECORD_TYPES, claims_of
from pressroom.plugins.discovery import BUILTIN_DISTRIBUTIONS, HOST_ID, Candidate, Phase, PluginRecord, Status
from pressroom.plugins.registering import excluded, failed
from pressroom.plugins.validating import Reason
from pressroom.plugins.wrapping import RunningWrapper, WrappedRecords, Wrapper
from pressroom.sdk import Plugin, PluginContext


@dataclass(slots=True)
class LoadingPlugin:
    """A plugin during loading. Each phase can take up to `seconds`.

    `record` is replaced after each phase. A failed plugin does not enter further phases.
    """

    record: PluginRecord
    candidate: Candidate
    gate: PluginGate
    seconds: float
    module: ModuleType | None = None
    plugin: Plugin | None = None
    context: PluginContext | None = None
    collected: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    wrappers: tuple[Wrapper, ...] = ()
    changes: tuple[str, ...] = ()
    claims: list[str] = field(default_factory=list)

    @contextmanager
    def phase(
        self, name: Phase, undo: Callable[[], None] | None = None, doing: Callable[[], str] | None = None
    ) -> Iterator[None]:
        """Record failures of the plugin in a phase; only Ctrl-C propagates. See `PluginGate.loading` for `doing`."""
        try:
            with self.gate.loading(PluginCall(self.record.id, name), self.seconds, doing):
                yield
        except PluginFailed as failure:
            self.record = failed(self.record, "broken", name, failure)
            self.collected, self.wrappers, self.claims = {}, (), []
            if undo is not None:
                undo()
        else:
            self.record = replace(self.record, phase=name)

    @property
    def sound(self) -> bool:
        """Whether it has not failed so far."""
        return self.record.status in ("available", "active")

    @property
    def records(self) -> tuple[Any, ...]:
        """Its contributions to hooks of the host."""
        return tuple(record for hook, records in self.collected.items() if hook in RECORD_TYPES for record in records)

    @property
    def extensions(self) -> dict[str, Sequence[Any]]:
        """Its contributions to hooks that other plugins offer."""
        return {hook: records for hook, records in self.collected.items() if hook not in RECORD_TYPES}

    @property
    def wrapped(self) -> tuple[str, ...]:
        """Display texts of its changes to other plugins' records."""
        hooks = dict.fromkeys(wrapper.hook for wrapper in self.wrappers)
        return (*(f"wrapper of {hook}" for hook in hooks), *self.changes)

    @property
    def requires(self) -> tuple[str, ...]:
        """The IDs of the plugins that it requires."""
        return self.plugin.requires if self.plugin else ()


def settle_claims(loading: Sequence[LoadingPlugin], of_the_host: Sequence[str]) -> None:
    """Take out plugins whose claims conflict with those of others."""
    sound = {plugin.record.id: plugin for plugin in loading if plugin.sound}
    builtin = frozenset(id_ for id_, plugin in sound.items() if plugin.record.builtin)
    bundled = frozenset(id_ for id_, plugin in sound.items() if plugin.record.distribution in BUILTIN_DISTRIBUTIONS)
    claimed = {HOST_ID: list(of_the_host), **{id_: plugin.claims for id_, plugin in sound.items()}}
    for id_, reason in _losers(claimed, (builtin, bundled), HOST_ID).items():
        sound[id_].record = excluded(sound[id_].record, "conflict", "validate", reason)


def _losers(claimed: Mapping[str, list[str]], favoured: Iterable[frozenset[str]], host: str) -> dict[str, Reason]:
    """Return the plugins that lose a conflict over a claim, each with the reason.

    `host` is the ID under which the host claims names. The host keeps its claims first, then the plugins of each group
    in `favoured`, in order. In a conflict between other plugins all of them lose, since any choice would be arbitrary.
    """
    losers: dict[str, Reason] = {}
    for plugin, names in claimed.items():
        duplicates = sorted({name for name in names if names.count(name) > 1})
        if duplicates:
            losers[plugin] = f"it offers {duplicates[0]} twice", "give each its own name"
    # A plugin that has lost is left out of later rounds, so it causes no further conflicts.
    for group in (frozenset({host}), *filter(None, favoured), frozenset[str]()):
        losers |= _round({plugin: names for plugin, names in claimed.items() if plugin not in losers}, group, host)
    return losers


def _round(claimed: Mapping[str, list[str]], favoured: frozenset[str], host: str) -> dict[str, Reason]:
    """Return the plugins that lose to favoured ones. Without favoured plugins, all that share a claim lose."""
    claimants: defaultdict[str, list[str]] = defaultdict(list)
    for plugin in sorted(claimed):
        for claim in claimed[plugin]:
            claimants[claim].append(plugin)
    losers: dict[str, Reason] = {}
    for claim, plugins in sorted(claimants.items()):
        winners = [plugin for plugin in plugins if plugin in favoured]
        if len(plugins) == 1 or len(winners) != (1 if favoured else 0):
            continue
        for plugin in plugins:
            if plugin not in winners:
                losers.setdefault(plugin, _reason(claim, plugin, [rival for rival in plugins if rival != plugin], host))
    return losers


def _reason(claim: str, plugin: str, rivals: list[str], host: str) -> Reason:
    advice = f"set enabled = false in [plugins.{plugin}]"
    if rivals == [host]:
        return f"{claim} belongs to the host itself", f"{advice}, and ask the plugin's authors for another name"
    return f"{claim} is offered by {' and '.join(rivals)} too", f"{advice} or in [plugins.{rivals[0]}]"


def leave_out(loading: Sequence[LoadingPlugin], settings: Settings, other_statuses: dict[str, Status]) -> None:
    """Disable unconfigured plugins that require a plugin which the operator left out.

    Disabling `content`, for example, also disables the built-in plugins that depend on it.
    """
    sound = {plugin.record.id: plugin for plugin in loading if plugin.sound}
    unnamed = {id_: plugin for id_, plugin in sound.items() if id_ not in settings.plugins}
    left_out = {id_ for id_, status in other_statuses.items() if status in ("available", "disabled")}
    while fallen := {
        id_: absent for id_, plugin in unnamed.items() if (absent := left_out.intersection(plugin.requires))
    }:
        for id_, absent in fallen.items():
            plugin = unnamed.pop(id_)
            error = f"it needs {' and '.join(sorted(absent))}, which the configuration leaves out"
            hint = f"add [plugins.{min(absent)}] to the configuration, with enabled = true"
            plugin.record = excluded(plugin.record, "disabled", "select", (error, hint))
            other_statuses[id_] = "disabled"
        left_out |= fallen.keys()


def settle_requirements(loading: Sequence[LoadingPlugin], other_statuses: Mapping[str, Status]) -> None:
    """Take out plugins that require a plugin which is missing or has failed."""
    sound = {plugin.record.id: plugin for plugin in loading if plugin.sound}
    status = {**other_statuses, **{plugin.record.id: plugin.record.status for plugin in loading if not plugin.sound}}
    requires = {id_: plugin.requires for id_, plugin in sound.items()}
    for id_, reason in without_requirements(requires, status).items():
        sound[id_].record = excluded(sound[id_].record, "broken", "validate", reason)


def without_requirements(
    requires: Mapping[str, tuple[str, ...]], other_statuses: Mapping[str, Status]
) -> dict[str, Reason]:
    """Return the plugins with a missing requirement, directly or transitively, each with the reason.

    `requires` maps the remaining plugins to the IDs that each requires. `other_statuses` has the status of the
    installed plugins that are not among them.
    """
    remaining = dict(requires)
    broken: dict[str, Reason] = {}
    while True:
        fallen = {
            plugin: missing
            for plugin, required in remaining.items()
            if (missing := [requirement for requirement in required if requirement not in remaining])
        }
        if not fallen:
            return broken
        for plugin, missing in fallen.items():
            del remaining[plugin]
            is_are = "is" if len(missing) == 1 else "are"
            status: Status | None = "broken" if missing[0] in broken else other_statuses.get(missing[0])
            broken[plugin] = f"it needs {' and '.join(missing)}, which {is_are} not active", _remedy(missing[0], status)


def _remedy(plugin: str, status: Status | None) -> str:
    match status:
        case None:
            return f"install the package that offers {plugin}, and add [plugins.{plugin}] to the configuration"
        case "available":
            return f"add [plugins.{plugin}] to the configuration"
        case "disabled":
            return f"set enabled = true in [plugins.{plugin}]"
        case _:
            return f"fix {plugin} first: `pressroom plugins show {plugin}` says what is wrong with it"


def settle_wrappers(
    loading: Sequence[LoadingPlugin],
    other_statuses: Mapping[str, Status],
    types: Mapping[str, type[Any]],
    unique: Mapping[str, str],
    host_claims: Sequence[str],
) -> WrappedRecords:
    """Let each plugin wrap the hooks of the others, ordered by ID, and return the resulting records.

    If one fails, it is taken out, and all wrappers are run again without it.
    """
    while True:
        sound = {plugin.record.id: plugin for plugin in loading if plugin.sound}
        wrapped = WrappedRecords({id_: plugin.collected for id_, plugin in sound.items()})
        for _, plugin in sorted(sound.items()):
            if plugin.wrappers and plugin.context is not None:
                running = RunningWrapper()
                with plugin.phase("wrap", doing=running.__str__):
                    wrapped = wrapped.by(
                        plugin.wrappers, plugin.context, types, partial(claims_of, unique), host_claims, running
                    )
        if all(plugin.sound for plugin in sound.values()):
            break
        settle_requirements(loading, other_statuses)
    for id_, plugin in sound.items():
        plugin.collected, plugin.changes = wrapped.records[id_], wrapped.changes.get(id_, ())
        plugin.record = replace(plugin.record, wrapped_by=tuple(sorted(wrapped.wrapped_by.get(id_, ()))))
    return wrapped
