"""What a plugin says of itself, and what the host tells it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pluggy
from pydantic import BaseModel, ConfigDict

API: Final = "1"
"""The plugin interface of this host. It accepts this one and the one before."""

PLUGIN_ID = re.compile(r"[a-z][a-z0-9_]{1,31}", re.ASCII)

hookimpl = pluggy.HookimplMarker("pressroom")
"""Marks a function of a plugin as the implementation of the hook that it is named after."""


class PluginConfig(BaseModel):
    """The base of a plugin's own configuration: `[plugins.<id>.config]` in the operator's file.

    Unknown keys are refused. Declare a secret as `pydantic.SecretStr`, so that it is never shown.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


@dataclass(frozen=True, slots=True)
class Plugin:
    """What stands beside the hooks of a plugin, as the module's `PLUGIN`.

    `id` is the name of the entry point. `requires` lists the ids of plugins without which this one
    cannot work. `hookspecs` is a module or class of further hooks that this plugin offers to others.
    """

    id: str
    title: str
    summary: str
    api: str = API
    config: type[PluginConfig] | None = None
    requires: tuple[str, ...] = ()
    hookspecs: Any = None


class Extensions:
    """What other plugins contributed through the hooks that a plugin offers with `Plugin(hookspecs=…)`.

    The host fills it once all plugins are loaded: read it in a lifespan or in a call, not in a hook.
    """

    __slots__ = ("_contributed",)

    def __init__(self) -> None:
        self._contributed: dict[str, tuple[tuple[str, Any], ...]] | None = None

    def of(self, hook: str) -> tuple[tuple[str, Any], ...]:
        """Return pairs of plugin id and record. Raises `RuntimeError` too early, `KeyError` where it is unknown."""
        if self._contributed is None:
            raise RuntimeError("extensions can be read once all plugins are loaded, such as in a lifespan")
        return self._contributed[hook]

    def fill(self, contributed: Mapping[str, Iterable[tuple[str, Any]]]) -> None:
        """Take what was contributed to each hook. The host calls it, again where a plugin falls out later."""
        self._contributed = {hook: tuple(pairs) for hook, pairs in contributed.items()}


@dataclass(frozen=True, slots=True)
class PluginContext:
    """What a hook is told: its plugin's validated configuration, and where it may keep data.

    `data_folder` belongs to this plugin alone; the plugin makes it when it needs it. `extensions` holds what others
    contributed to the hooks that this plugin offers.
    """

    id: str
    version: str
    config: Any
    base_url: str
    data_folder: Path
    extensions: Extensions = field(default_factory=Extensions)
