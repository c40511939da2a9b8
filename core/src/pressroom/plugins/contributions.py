"""The records that plugins contributed, by type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar, cast

import click

from pressroom.sdk import (
    Authenticator,
    Authorizer,
    Backend,
    Brander,
    CacheRule,
    Check,
    Generator,
    IndexEntries,
    Job,
    Lifespan,
    McpTool,
    Models,
    Observer,
    RateLimit,
    Route,
    SharedKeys,
    StorageKind,
)

Record = TypeVar("Record")

RECORD_TYPES: Final[Mapping[str, type[Any]]] = MappingProxyType(
    {
        "pressroom_generators": Generator,
        "pressroom_mcp_tools": McpTool,
        "pressroom_authenticators": Authenticator,
        "pressroom_authorizers": Authorizer,
        "pressroom_rate_limits": RateLimit,
        "pressroom_cache_rules": CacheRule,
        "pressroom_branding": Brander,
        "pressroom_backends": Backend,
        "pressroom_routes": Route,
        "pressroom_models": Models,
        "pressroom_shared_keys": SharedKeys,
        "pressroom_jobs": Job,
        "pressroom_storage": StorageKind,
        "pressroom_index_entries": IndexEntries,
        "pressroom_observers": Observer,
        "pressroom_checks": Check,
        "pressroom_commands": click.Command,
        "pressroom_lifespan": Lifespan,
    }
)
"""The host's hooks and the type that each yields."""


@dataclass(frozen=True, slots=True)
class Contribution(Generic[Record]):
    """A record and the plugin that it came from."""

    plugin: str
    record: Record


class Contributions:
    """Everything that the active plugins contributed, in the order of plugin id."""

    def __init__(self, contributions: Iterable[Contribution[Any]] = ()) -> None:
        self._all = tuple(contributions)

    def of(self, record_type: type[Record]) -> tuple[Contribution[Record], ...]:
        """Return the contributions of one record type."""
        return tuple(
            cast("Contribution[Record]", contribution)
            for contribution in self._all
            if isinstance(contribution.record, record_type)
        )

    def without(self, plugin: str) -> Contributions:
        """Return the contributions of all plugins but one."""
        return Contributions(contribution for contribution in self._all if contribution.plugin != plugin)


def describe(record: Any) -> str:
    """Return how a record is called in lists: its kind and its name."""
    if isinstance(record, Backend):
        return f"{record.kind} backend {record.name}"
    kind, name = next((kind, name) for type_, (kind, name) in _NAMES.items() if isinstance(record, type_))
    return f"{kind} {getattr(record, name)}"


_NAMES: Final[Mapping[type[Any], tuple[str, str]]] = MappingProxyType(
    {
        Generator: ("generator", "slug"),
        McpTool: ("tool", "name"),
        Authenticator: ("authenticator", "name"),
        Authorizer: ("authorizer", "name"),
        RateLimit: ("rate limit", "name"),
        CacheRule: ("cache rule", "name"),
        Brander: ("brander", "name"),
        Route: ("route", "path"),
        Models: ("models", "migrations"),
        SharedKeys: ("shared keys", "name"),
        Job: ("job", "kind"),
        StorageKind: ("storage", "name"),
        IndexEntries: ("index", "section"),
        Observer: ("observer", "name"),
        Check: ("check", "name"),
        click.Command: ("command", "name"),
        Lifespan: ("lifespan", "name"),
    }
)
"""How each kind of record is called, and which of its members names it."""


def claims(record: Any) -> tuple[str, ...]:
    """Return what a record claims for itself alone; two plugins that claim the same are in conflict.

    Slugs, MCP names and aliases are claimed alike: `[tools.<name>]` and plans mean a tool by the first two, clients by
    the last two.
    """
    match record:
        case Generator():
            names = {record.slug, record.mcp.name} if record.mcp else {record.slug}
            return tuple(f"the tool name {name}" for name in sorted(names))
        case McpTool():
            return tuple(f"the tool name {name}" for name in sorted({record.name, *record.aliases}))
        case Route():
            methods = {method.upper() for method in record.methods}
            if "GET" in methods:
                methods.add("HEAD")
            path = re.sub(r"<[^<>]*+>", "<…>", record.path.rstrip("/") or "/")
            return tuple(f"the route {method} {path}" for method in sorted(methods))
        case Backend():
            return (f"the {record.kind} backend {record.name}",)
        case Models():
            return (f"the {describe(record)}", *(f"the table {name}" for name in sorted(record.metadata.tables)))
        case Authenticator() | Brander() | Job() | SharedKeys() | StorageKind():
            return (f"the {describe(record)}",)
        case _:
            return ()
