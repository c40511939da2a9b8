"""Finding installed plugins from their metadata alone; nothing is imported."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from pressroom.gate.wording import one_line

ENTRY_POINT_GROUP = "pressroom.plugins"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry point that some distribution offers. `module` may carry an attribute: `package.module:attribute`.

    `host_requirement` is what the distribution's metadata demands of the host, such as `>=0.1`; empty for anything.
    `problem` says what is wrong with the metadata, and `hint` what to do; empty for nothing. `folder` is the one of
    `plugins_dir` for a plugin in it: its `distribution` is then the name of its file.
    """

    id: str
    distribution: str
    version: str
    module: str
    host_requirement: str = ""
    problem: str = ""
    hint: str = ""
    folder: Path | None = None


def discover() -> tuple[Candidate, ...]:
    """Return every plugin that is installed, in the order of id, then distribution.

    A distribution that is on the path twice counts once: the first one is the one that Python would import. One
    whose entry points cannot be read is left out, since nothing tells that it is a plugin.
    """
    found: list[Candidate] = []
    seen: set[str] = set()
    for distribution in importlib.metadata.distributions():
        entry_points = _entry_points(distribution)
        if not entry_points:
            continue
        offered = [_candidate(distribution, entry_point) for entry_point in entry_points]
        first = offered[0]
        # Damaged ones have no name to tell them apart by.
        if first in found or (first.distribution in seen and not first.problem):
            continue
        seen.add(first.distribution)
        found += {candidate.id: candidate for candidate in reversed(offered)}.values()
    return tuple(sorted(found, key=lambda candidate: (candidate.id, candidate.distribution)))


def editable_folder(distribution: str) -> str:
    """Return the folder that a distribution is installed from as editable, or an empty text (PEP 610)."""
    try:
        recorded = json.loads(importlib.metadata.distribution(distribution).read_text("direct_url.json") or "{}")
        editable = recorded.get("dir_info", {}).get("editable") is True
        return unquote(urlsplit(recorded["url"]).path) if editable else ""
    except Exception:  # noqa: BLE001 - any installed package may have damaged metadata
        return ""


def _entry_points(distribution: importlib.metadata.Distribution) -> list[importlib.metadata.EntryPoint]:
    try:
        return [one for one in distribution.entry_points if one.group == ENTRY_POINT_GROUP]
    except Exception:  # noqa: BLE001 - any installed package may have damaged metadata
        return []


def _candidate(distribution: importlib.metadata.Distribution, entry_point: importlib.metadata.EntryPoint) -> Candidate:
    match = entry_point.pattern.fullmatch(entry_point.value)
    module, attribute = (match["module"], match["attr"]) if match else (entry_point.value, None)
    value = f"{module}:{attribute}" if attribute else module
    try:
        metadata = distribution.metadata  # parsed each time that it is asked for
        return Candidate(
            id=entry_point.name,
            distribution=_name(metadata),
            version=metadata["Version"] or "0",
            module=value,
            host_requirement=str(_host_requirement(metadata.get_all("Requires-Dist") or distribution.requires or ())),
        )
    except Exception as error:  # noqa: BLE001 - any installed package may have damaged metadata
        problem = f"the metadata of its package cannot be read: {one_line(error)}"
        return Candidate(entry_point.name, "unknown", "0", value, problem=problem)


def _name(metadata: importlib.metadata.PackageMetadata) -> str:
    name = metadata["Name"]
    if not name:
        raise ValueError("it does not say the package's name")
    return canonicalize_name(name)


def _host_requirement(requirements: Iterable[str]) -> SpecifierSet:
    accepted = SpecifierSet()
    for requirement in _readable(requirements):
        applies = requirement.marker is None or requirement.marker.evaluate()
        if canonicalize_name(requirement.name) == "pressroom" and applies:
            accepted &= requirement.specifier
    return accepted


def _readable(requirements: Iterable[str]) -> Iterator[Requirement]:
    for text in requirements:
        try:
            yield Requirement(text)
        except InvalidRequirement:
            continue
