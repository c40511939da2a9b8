"""Select which installed plugins to load."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from typing import Final

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from pressroom.config.models import PluginSettings, Settings
from pressroom.plugins.discovery import BUILTIN_DISTRIBUTIONS, HOST_ID, Candidate, PluginRecord
from pressroom.sdk.plugin import PLUGIN_ID
from pressroom.validation.echo import nearest
from pressroom.version import VERSION

SAFE_MODE: Final = "left out: safe mode loads built-in plugins alone"
"""The error in records of plugins that safe mode leaves out."""


def select(candidates: Iterable[Candidate], settings: Settings) -> tuple[list[Candidate], list[PluginRecord]]:
    """Return the candidates to load, ordered by ID, and a record for each plugin that is not loaded.

    A plugin is loaded if the configuration lists and does not disable it, if it is built in, or if it is in the folder
    `plugins_dir`. An unconfigured ID of a built-in plugin means the built-in distribution. In safe mode only built-in
    plugins are loaded.
    """
    if settings.safe_mode:
        return _select_safely(candidates, settings)
    return _select(candidates, settings)


def _select_safely(candidates: Iterable[Candidate], settings: Settings) -> tuple[list[Candidate], list[PluginRecord]]:
    """Select only built-in plugins, and record for each other configured plugin that safe mode left it out."""
    available = list(candidates)
    builtin = [
        candidate
        for candidate in available
        if candidate.distribution in BUILTIN_DISTRIBUTIONS and candidate.folder is None
    ]
    ids = {candidate.id for candidate in builtin}
    plugins = {
        id_: configured.model_copy(update={"distribution": ""})
        for id_, configured in settings.plugins.items()
        if id_ in ids
    }
    selected, records = _select(builtin, settings.model_copy(update={"plugins": plugins}))
    for candidate in available:
        if candidate in builtin:
            continue
        configured = settings.plugins.get(candidate.id)
        record = record_of(candidate, configured)
        if configured is None and candidate.folder is None:
            records.append(record)
        else:
            records.append(
                _left_out(record) if configured is None or configured.enabled else replace(record, status="disabled")
            )
    known = ids | {candidate.id for candidate in available}
    missing = {id_: configured for id_, configured in settings.plugins.items() if id_ not in known}
    for id_, configured in missing.items():
        record = _not_installed(id_, configured, known)
        records.append(_left_out(record) if configured.enabled else record)
    return selected, records


def _left_out(record: PluginRecord) -> PluginRecord:
    return replace(
        record, status="disabled", phase="select", error=SAFE_MODE, hint="start without safe mode to load it"
    )


def _select(candidates: Iterable[Candidate], settings: Settings) -> tuple[list[Candidate], list[PluginRecord]]:
    selected: list[Candidate] = []
    records: list[PluginRecord] = []
    in_order = sorted(candidates, key=lambda candidate: (candidate.id, candidate.distribution))
    by_id = {id_: list(group) for id_, group in groupby(in_order, key=lambda candidate: candidate.id)}
    for id_, group in by_id.items():
        configured = settings.plugins.get(id_)
        picked = _picked(group, configured, settings)
        for candidate in group:
            record = record_of(candidate, configured)
            unusable = None if candidate.folder and candidate.problem else _unusable(candidate)
            if configured is not None and not configured.enabled:
                records.append(replace(record, status="disabled"))
            elif candidate.folder and candidate not in picked and configured is None:
                records.append(_taken_by_builtin(record, picked[0]))
            elif candidate not in picked:
                records.append(replace(record, error=unusable[0], hint=unusable[1]) if unusable else record)
            elif configured is not None and _is_elsewhere(configured, candidate):
                records.append(_other_distribution(record, configured, picked))
            elif len(picked) > 1:
                records.append(_two_distributions(record, picked))
            elif unusable or (unusable := _incompatibility(candidate)):
                error, hint = unusable
                records.append(replace(record, status="incompatible", phase="compatible", error=error, hint=hint))
            elif candidate.problem:
                hint = candidate.hint or f"reinstall the package that holds {candidate.module}"
                records.append(replace(record, status="broken", phase="discover", error=candidate.problem, hint=hint))
            else:
                selected.append(candidate)
    known = [id_ for id_, group in by_id.items() if not _unusable(group[0])]
    records += [
        _not_installed(id_, configured, known) for id_, configured in settings.plugins.items() if id_ not in by_id
    ]
    return selected, records


def record_of(candidate: Candidate, configured: PluginSettings | None) -> PluginRecord:
    """Return the initial record of a plugin."""
    return PluginRecord(
        id=candidate.id,
        status="available",
        distribution=candidate.distribution,
        version=candidate.version,
        module=candidate.module,
        builtin=candidate.distribution in BUILTIN_DISTRIBUTIONS,
        required=bool(configured and configured.required),
        phase="select",
        folder=str(candidate.folder or ""),
    )


def _picked(group: list[Candidate], configured: PluginSettings | None, settings: Settings) -> list[Candidate]:
    """Return the selected candidates of one ID. More than one is a conflict."""
    if configured is None:
        builtin = [
            candidate
            for candidate in group
            if settings.builtin_plugins and candidate.distribution in BUILTIN_DISTRIBUTIONS
        ]
        return builtin or [candidate for candidate in group if candidate.folder]
    if not configured.distribution:
        return group
    return [candidate for candidate in group if not _is_elsewhere(configured, candidate)] or group


def _is_elsewhere(configured: PluginSettings, candidate: Candidate) -> bool:
    names = configured.distribution, candidate.distribution
    return bool(configured.distribution) and len({canonicalize_name(name) for name in names}) > 1


def _other_distribution(record: PluginRecord, configured: PluginSettings, offered: list[Candidate]) -> PluginRecord:
    names = [candidate.distribution for candidate in offered]
    similar = nearest(configured.distribution, names)
    return replace(
        record,
        status="broken",
        error=f"the configuration picks the distribution {configured.distribution!r}, which does not offer it",
        hint=f"did you mean {similar!r}?" if similar else f"it is offered by {' and '.join(names)}",
    )


def _two_distributions(record: PluginRecord, rivals: list[Candidate]) -> PluginRecord:
    names = " and ".join(rival.distribution for rival in rivals)
    remove = "remove" if any(rival.folder for rival in rivals) else "uninstall"
    return replace(
        record,
        status="conflict",
        error=f"{names} both offer the id {record.id!r}",
        hint=f'{remove} one of them, or set distribution = "{record.distribution}" in [plugins.{record.id}]',
    )


def _taken_by_builtin(record: PluginRecord, builtin: Candidate) -> PluginRecord:
    return replace(
        record,
        status="conflict",
        error=f"{builtin.distribution}, which is built in, offers the id {record.id!r} too",
        hint=f'choose another id, or set distribution = "{record.distribution}" in [plugins.{record.id}] to replace it',
    )


def _unusable(candidate: Candidate) -> tuple[str, str] | None:
    """Return the error and hint for an ID that no configuration can enable, or `None` for a valid ID."""
    if not PLUGIN_ID.fullmatch(candidate.id):
        rule = "must be 2 to 32 lower-case letters, digits and underscores, and begin with a letter"
        return f"the id {candidate.id!r} {rule}", "tell the plugin's authors"
    if candidate.id == HOST_ID:
        return f"the id {HOST_ID!r} is reserved for the host", "tell the plugin's authors"
    return None


def _incompatibility(candidate: Candidate) -> tuple[str, str] | None:
    if SpecifierSet(candidate.host_requirement).contains(VERSION, prereleases=True):
        return None
    needs = f"{candidate.distribution} {candidate.version} needs pressroom {candidate.host_requirement}"
    return f"{needs}, this is {VERSION}", "install a version of the plugin that is made for this host"


def _not_installed(id_: str, configured: PluginSettings, known: Iterable[str]) -> PluginRecord:
    record = PluginRecord(
        id_, "disabled", configured.distribution, "", "", required=configured.required, phase="select"
    )
    if not configured.enabled:
        return record
    similar = nearest(id_, known)
    return replace(
        record,
        status="broken",
        phase="discover",
        error="the configuration names it, but no installed package offers it",
        hint=f"did you mean {similar!r}?" if similar else "install the package that offers it, or remove the entry",
    )
