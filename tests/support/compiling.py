"""Helpers for tests of a compiled host; `Compile` is the type of their `compile_with` fixture."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any, Final, Protocol

from pressroom.host.loaded_app import LoadedApp
from pressroom.plugins.discovery import PluginRecord

from support.plugin_distributions import Distribution

_INSTALLED: Final = frozenset(entry.name for entry in entry_points(group="pressroom.plugins"))
"""Plugins installed in the test environment, such as this repository's other packages; there can be any number."""


class Compile(Protocol):
    """Compile a host that discovers the given distributions and configures their plugins."""

    def __call__(
        self, *distributions: Distribution, plugins: Mapping[str, Any] | None = None, **config: Any
    ) -> LoadedApp: ...


def record_of(compiled: LoadedApp, id_: str) -> PluginRecord:
    """Return the record of a plugin provided by exactly one distribution."""
    (record,) = (record for record in compiled.plugins.records if record.id == id_)
    return record


def records_of(compiled: LoadedApp) -> list[PluginRecord]:
    """Return the records of the built-in plugins and of those installed by the test."""
    return [record for record in compiled.plugins.records if record.builtin or record.id not in _INSTALLED]


def statuses(compiled: LoadedApp) -> dict[str, str]:
    """Return the status of each plugin installed by the test."""
    return {record.id: record.status for record in records_of(compiled) if not record.builtin}
