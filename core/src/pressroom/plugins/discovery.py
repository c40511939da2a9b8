"""Discover installed plugins from their metadata, without importing them.

Also defines `PluginRecord`, the host's information about each plugin.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from pressroom.validation.echo import counted

ENTRY_POINT_GROUP = "pressroom.plugins"

HOST_ID: Final = "pressroom"
"""The ID under which the host registers its own records; plugins cannot use it."""

BUILTIN_DISTRIBUTIONS: Final = frozenset(
    {
        "pressroom-account",
        "pressroom-code-to-image",
        "pressroom-content",
        "pressroom-devto",
        "pressroom-favicon-generator",
        "pressroom-ghost",
        "pressroom-git",
        "pressroom-image-generator",
        "pressroom-images",
        "pressroom-qr-code-generator",
        "pressroom-search-performance",
        "pressroom-seo",
        "pressroom-webhook",
        "pressroom-wordpress",
    }
)
"""Distributions that ship with the server, enabled without being configured.

They win conflicts with third-party plugins over names.
"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A discovered plugin: an entry point of a distribution, or a module in `plugins_dir`.

    `module` can include an attribute: `package.module:attribute`. `host_requirement` is the distribution's version
    specifier for the host, such as `>=0.1`; empty for any version. `problem` and `hint` describe invalid metadata and
    how to fix it; both are empty if it is valid. `folder` is set only for plugins in `plugins_dir`, whose
    `distribution` is the file name.
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
    """Return all installed plugins, ordered by ID, then distribution.

    If a distribution is on the path twice, the first one counts, which Python would import. Distributions with
    unreadable entry points are left out, since they cannot be recognised as plugins.
    """
    candidates: list[Candidate] = []
    known_distributions: set[str] = set()
    for distribution in importlib.metadata.distributions():
        entry_points = _entry_points(distribution)
        if not entry_points:
            continue
        offered = [_candidate(distribution, entry_point) for entry_point in entry_points]
        first = offered[0]
        # Distributions with damaged metadata have no name to compare.
        if first in candidates or (
            not first.problem and (first.distribution in known_distributions or _hidden(first.distribution))
        ):
            continue
        known_distributions.add(first.distribution)
        candidates += {candidate.id: candidate for candidate in reversed(offered)}.values()
    return tuple(sorted(candidates, key=lambda candidate: (candidate.id, candidate.distribution)))


def _hidden(distribution: str) -> bool:
    """Return whether the first distribution of this name on the path offers no plugins."""
    try:
        return not _entry_points(importlib.metadata.distribution(distribution))
    except importlib.metadata.PackageNotFoundError:  # its folder has another name than its metadata
        return False


def editable_folder(distribution: str) -> str:
    """Return the folder of an editable installation (PEP 610), or an empty string."""
    try:
        recorded = json.loads(importlib.metadata.distribution(distribution).read_text("direct_url.json") or "{}")
        editable = recorded.get("dir_info", {}).get("editable") is True
        return unquote(urlsplit(recorded["url"]).path) if editable else ""
    except Exception:  # noqa: BLE001 - any installed package may have damaged metadata
        return ""


def _entry_points(distribution: importlib.metadata.Distribution) -> list[importlib.metadata.EntryPoint]:
    try:
        if ENTRY_POINT_GROUP not in (distribution.read_text("entry_points.txt") or ""):
            return []  # the common case, without parsing
        return [entry_point for entry_point in distribution.entry_points if entry_point.group == ENTRY_POINT_GROUP]
    except Exception:  # noqa: BLE001 - any installed package may have damaged metadata
        return []


def _candidate(distribution: importlib.metadata.Distribution, entry_point: importlib.metadata.EntryPoint) -> Candidate:
    match = entry_point.pattern.fullmatch(entry_point.value)
    module, attribute = (match["module"], match["attr"]) if match else (entry_point.value, None)
    value = f"{module}:{attribute}" if attribute else module
    try:
        metadata = distribution.metadata  # parsed on each access
        return Candidate(
            id=entry_point.name,
            distribution=_name(metadata),
            version=metadata["Version"] or "0",
            module=value,
            host_requirement=str(_host_requirement(metadata.get_all("Requires-Dist") or distribution.requires or ())),
        )
    except Exception as error:  # noqa: BLE001 - any installed package may have damaged metadata
        from pressroom.gate.failures import one_line  # noqa: PLC0415 - loads pydantic and more, which takes time

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


Status = Literal["active", "available", "disabled", "incompatible", "broken", "conflict"]
"""The status of a plugin.

`active`: working. `available`: installed but not configured, and never imported. `disabled`: switched off.
`incompatible`: made for another version of the host. `broken`: failed. `conflict`: its claim duplicates that of another
plugin.
"""

SLOW_IMPORT_SECONDS = 0.5

Phase = Literal[
    "discover", "select", "compatible", "import", "config", "register", "collect", "validate", "wrap", "lifespan"
]

_NAMED: Final = 3
"""Maximum number of contributions to list by name in a short line; more are counted."""

_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "tool": "tool",
        "generator": "generator",
        "route": "URL",
        "job": "background job",
        "command": "command",
        "check": "health check",
        "authenticator": "authenticator",
        "authorizer": "authorizer",
        "rate limit": "rate limit",
        "cache rule": "cache rule",
        "brander": "branding",
        "middleware": "middleware",
        "observer": "observer",
    }
)
"""Display words for kinds of contributions that are listed by name or counted."""

_UNNAMED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "virtual hosts": "sites on domains of their own",
        "publishing targets": "places to publish",
        "overview section": "part of the overview",
        "instructions": "instructions for AI clients",
        "index": "entries of llms.txt",
        "wrapper of": "changes to other plugins",
        "change to": "changes to other plugins",
        "addition of": "changes to other plugins",
        "removal of": "changes to other plugins",
        "order of": "changes to other plugins",
    }
)
"""Display words for kinds of contributions whose names mean nothing to people. Left out of counted lists."""

_INTERNAL: Final = ("models", "shared keys", "storage", "lifespan")
"""Internal contributions, shown only by `pressroom plugins show`."""


@dataclass(frozen=True, slots=True)
class PluginRecord:
    """A plugin and its status.

    `phase` is the one that failed, or the last completed one. `error` is a single line, and `hint` describes the fix.
    `api` is the plugin API version that it is written for. `import_seconds` is 0 if it was not imported. `warnings`
    list deprecated features that it uses. `wrapped_by` lists the plugins that changed its contributions. `folder` is
    set only for plugins in `plugins_dir`, whose `distribution` is the file name.
    """

    id: str
    status: Status
    distribution: str
    version: str
    module: str
    builtin: bool = False
    required: bool = False
    title: str = ""
    summary: str = ""
    phase: Phase = "discover"
    error: str = ""
    hint: str = ""
    import_seconds: float = 0.0
    api: str = ""
    contributes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    wrapped_by: tuple[str, ...] = ()
    folder: str = ""

    @property
    def failed(self) -> bool:
        """Whether the operator has to fix something."""
        return self.status in ("incompatible", "broken", "conflict")

    @property
    def brief(self) -> str:
        """A short line on its contributions: names if there are few, otherwise counts."""
        names: defaultdict[str, list[str]] = defaultdict(list)
        for contribution in self.contributes:
            kind, name = _words_for(contribution)
            names[kind].append(name)
        named = sum(map(len, names.values())) <= _NAMED
        unlisted = {""} if named else {"", *_UNNAMED.values()}
        parts = [_line(kind, kind_names, named=named) for kind, kind_names in names.items() if kind not in unlisted]
        return ", ".join(parts or self.contributes)

    @property
    def imported_slowly(self) -> bool:
        """Whether its import noticeably delays the start of the server."""
        return self.import_seconds >= SLOW_IMPORT_SECONDS


def _words_for(contribution: str) -> tuple[str, str]:
    """Return the display words and the name of a contribution. Internal ones have neither."""
    if contribution.startswith("pressroom_"):  # a hook that another plugin offers: `pressroom_site_connectors`
        return contribution.removeprefix("pressroom_").replace("_", " "), ""
    if contribution.startswith(_INTERNAL):
        return "", ""
    for kinds in (_KINDS, _UNNAMED):
        for kind, words in kinds.items():
            if contribution.startswith(f"{kind} "):
                return words, contribution.removeprefix(f"{kind} ") if kinds is _KINDS else ""
    return contribution, ""


def _line(words: str, names: Sequence[str], *, named: bool) -> str:
    if not names[0]:
        return words
    if not named:
        return counted(len(names), words)
    return f"{words if len(names) == 1 else f'{words}s'} {', '.join(names)}"
