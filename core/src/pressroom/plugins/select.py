"""Which of the installed plugins are to be loaded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from typing import Final

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from pressroom.config.models import PluginSettings, Settings
from pressroom.plugins.discovery import Candidate
from pressroom.plugins.records import PluginRecord
from pressroom.sdk.plugin import PLUGIN_ID
from pressroom.version import VERSION
from pressroom.wire.nearest import nearest

BUILTIN_DISTRIBUTIONS: Final = frozenset({"pressroom-qr-code-generator"})
"""The distributions that are on without being named in the configuration."""


def select(candidates: Iterable[Candidate], settings: Settings) -> tuple[list[Candidate], list[PluginRecord]]:
    """Return the candidates to load, and a record for each plugin that is not loaded.

    A plugin is loaded where the configuration names it and does not switch it off, or where it is built in.
    """
    chosen: list[Candidate] = []
    records: list[PluginRecord] = []
    by_id = {id_: list(group) for id_, group in groupby(candidates, key=lambda candidate: candidate.id)}
    for id_, group in by_id.items():
        wanted = settings.plugins.get(id_)
        picked = _picked(group, wanted)
        for candidate in group:
            record = record_of(candidate, wanted)
            if wanted is not None and not wanted.enabled:
                records.append(replace(record, status="disabled"))
            elif not _is_on(group, wanted, settings) or candidate not in picked:
                records.append(record)
            elif len(picked) > 1:
                records.append(_two_distributions(record, picked))
            elif reason := _incompatibility(candidate):
                hint = "install a version of the plugin that is made for this host"
                records.append(
                    replace(record, status="incompatible", phase="compatible", error=reason, hint=hint),
                )
            else:
                chosen.append(candidate)
    records += [_not_installed(id_, wanted, by_id) for id_, wanted in settings.plugins.items() if id_ not in by_id]
    return chosen, records


def record_of(candidate: Candidate, wanted: PluginSettings | None) -> PluginRecord:
    """Return the record of a plugin that nothing has been done with yet."""
    return PluginRecord(
        id=candidate.id,
        status="available",
        distribution=candidate.distribution,
        version=candidate.version,
        module=candidate.module,
        builtin=candidate.distribution in BUILTIN_DISTRIBUTIONS,
        required=bool(wanted and wanted.required),
        phase="select",
    )


def _is_on(group: list[Candidate], wanted: PluginSettings | None, settings: Settings) -> bool:
    if wanted is not None:
        return wanted.enabled
    return settings.builtin_plugins and any(c.distribution in BUILTIN_DISTRIBUTIONS for c in group)


def _picked(group: list[Candidate], wanted: PluginSettings | None) -> list[Candidate]:
    if wanted is None or not wanted.distribution:
        return group
    return [candidate for candidate in group if candidate.distribution == wanted.distribution] or group


def _two_distributions(record: PluginRecord, rivals: list[Candidate]) -> PluginRecord:
    names = " and ".join(rival.distribution for rival in rivals)
    return replace(
        record,
        status="conflict",
        error=f"{names} both offer the id {record.id!r}",
        hint=f'uninstall one of them, or set distribution = "{record.distribution}" in [plugins.{record.id}]',
    )


def _incompatibility(candidate: Candidate) -> str:
    if not PLUGIN_ID.fullmatch(candidate.id):
        return f"the id {candidate.id!r} must be 2 to 32 lower-case letters, digits and underscores"
    try:
        accepted = SpecifierSet(candidate.host_requirement).contains(VERSION, prereleases=True)
    except InvalidSpecifier:
        return f"it asks for pressroom {candidate.host_requirement!r}, which is not a version specifier"
    if accepted:
        return ""
    return (
        f"{candidate.distribution} {candidate.version} needs pressroom {candidate.host_requirement}, this is {VERSION}"
    )


def _not_installed(id_: str, wanted: PluginSettings, known: Iterable[str]) -> PluginRecord:
    similar = nearest(id_, known)
    return PluginRecord(
        id=id_,
        status="broken" if wanted.enabled else "disabled",
        distribution=wanted.distribution,
        version="",
        module="",
        required=wanted.required,
        error="the configuration names it, but no installed package offers it",
        hint=f"did you mean {similar!r}?" if similar else "install the package that offers it, or remove the entry",
    )
