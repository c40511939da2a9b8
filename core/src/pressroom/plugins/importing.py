"""Importing a plugin's module, and undoing it where that fails."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Final

from pressroom.errors import PluginError
from pressroom.plugins.discovery import Candidate
from pressroom.plugins.shapes import shape_problems
from pressroom.sdk.plugin import API, Plugin

ACCEPTED_APIS: Final = frozenset({API, str(int(API) - 1)} - {"0"})
"""The plugin interfaces that this host works with: its own and the one before."""


class IncompatibleApi(PluginError):
    """The plugin is written for an interface that this host does not offer."""


def import_plugin(candidate: Candidate) -> tuple[ModuleType, Plugin]:
    """Import the module of a plugin and return it with its `PLUGIN`.

    Where that fails, the modules that the plugin's package brought are forgotten. What fails later leaves them: another
    plugin of the same package may work with them by then.

    Raises:
        IncompatibleApi: the plugin is made for another interface.
        PluginError: `PLUGIN` is missing, or is not what the entry point promises.
        BaseException: whatever the module itself raises while it is imported.
    """
    before = set(sys.modules)
    module_name, _, attribute = candidate.module.partition(":")
    if not all(part.isidentifier() for part in module_name.split(".")):
        raise PluginError(
            f"its entry point {candidate.module!r} names no module",
            hint=f'the package must say {candidate.id} = "package.module"; tell its authors',
        )
    try:
        module = importlib.import_module(module_name)
        return module, _declaration(module, attribute or "PLUGIN", candidate)
    except BaseException:
        _forget(module_name, before)
        raise


def _declaration(module: ModuleType, attribute: str, candidate: Candidate) -> Plugin:
    plugin = getattr(module, attribute, None)
    if not isinstance(plugin, Plugin):
        raise PluginError(
            f"{candidate.module.partition(':')[0]} has no {attribute}",
            hint=f'add {attribute} = Plugin(id="{candidate.id}", api="{API}", title=…, summary=…) beside the hooks',
        )
    problems = list(shape_problems(plugin))
    if problems:
        raise PluginError(f"{attribute}: {'; '.join(problems)}", hint=f"correct {attribute}, or tell the authors")
    if plugin.id != candidate.id:
        raise PluginError(
            f"its {attribute} has the id {plugin.id!r}, its entry point is named {candidate.id!r}",
            hint="give both the same name",
        )
    if plugin.api not in ACCEPTED_APIS:
        raise IncompatibleApi(
            f"it is written for plugin API {plugin.api}, this host offers {API}",
            hint="upgrade pressroom, or install an older version of the plugin",
        )
    return plugin


def _forget(module_name: str, before: set[str]) -> None:
    package = module_name.partition(".")[0]
    for name in set(sys.modules) - before:
        if name == package or name.startswith(f"{package}."):
            del sys.modules[name]
