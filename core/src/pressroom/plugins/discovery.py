"""Finding installed plugins from their metadata alone; nothing is imported."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

ENTRY_POINT_GROUP = "pressroom.plugins"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry point that some distribution offers. `module` may carry an attribute: `package.module:attribute`.

    `host_requirement` is what the distribution's metadata demands of the host, such as `>=0.1`; empty for anything.
    """

    id: str
    distribution: str
    version: str
    module: str
    host_requirement: str = ""


def discover() -> tuple[Candidate, ...]:
    """Return every plugin that is installed, in the order of id, then distribution.

    A distribution that stands on the path twice counts once: the first one is the one that Python would import.
    """
    found: dict[tuple[str, str], Candidate] = {}
    for distribution in importlib.metadata.distributions():
        for entry_point in distribution.entry_points:
            if entry_point.group != ENTRY_POINT_GROUP:
                continue
            name = canonicalize_name(distribution.name or "unknown")
            found.setdefault(
                (entry_point.name, name),
                Candidate(
                    id=entry_point.name,
                    distribution=name,
                    version=distribution.version or "0",
                    module=entry_point.value,
                    host_requirement=_host_requirement(distribution),
                ),
            )
    return tuple(found[key] for key in sorted(found))


def _host_requirement(distribution: importlib.metadata.Distribution) -> str:
    for text in distribution.requires or ():
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if canonicalize_name(requirement.name) == "pressroom" and requirement.marker is None:
            return str(requirement.specifier)
    return ""
