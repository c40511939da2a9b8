"""What a plugin says of itself, and what the host tells it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import pluggy
from pydantic import BaseModel, ConfigDict

from pressroom.errors import NotRunning
from pressroom.sdk.data import Accounts, Database, Storage
from pressroom.sdk.fetching import Fetcher
from pressroom.sdk.jobs import Jobs
from pressroom.sdk.tools import Tools
from pressroom.sdk.workers import Workers

API: Final = "1"
"""The plugin interface of this host. It accepts this one and the one before."""

FIRST_API: Final = "1"
"""The interface of plugins that do not say which one they are written for."""

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
    """What is beside the hooks of a plugin, as the module's `PLUGIN`.

    `id` is the name of the entry point. `api` is the plugin interface that the plugin is written for, as a text of your
    own such as `"1"`: never the host's `API`, which would fit every host. State it: left out, it counts as `"1"`, and
    operators are warned. `requires` lists the ids of plugins without which this one cannot work. `hookspecs` is a
    module or class of further hooks that this plugin offers to others. `unique` maps hooks of those to the member that
    names their records, such as `{"acme_stores": "name"}`: plugins that offer the same name are in conflict, as with
    names of the host.

    `worker_modules` names the modules whose functions it runs in worker processes: they are imported there before the
    first call, and before that of its tools that run in such processes. `worker_setup` names functions without
    parameters, such as `acme.models:load`, that each process of `plugin.services.workers` runs when it starts with the
    server, so that no call waits for what they load.
    """

    id: str
    title: str
    summary: str
    api: str = ""
    config: type[PluginConfig] | None = None
    requires: tuple[str, ...] = ()
    hookspecs: Any = None
    worker_modules: tuple[str, ...] = ()
    worker_setup: tuple[str, ...] = ()
    unique: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def written_for(self) -> str:
        """The plugin interface that the host takes the plugin to be written for."""
        return self.api or FIRST_API


Part = TypeVar("Part")


class Extensions:
    """What other plugins contributed through the hooks that a plugin offers with `Plugin(hookspecs=…)`.

    The hooks of the plugins that it requires can be read as well.
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


class HostServices:
    """The parts of a running server that plugins may use. They are there from the time of the lifespans on.

    Reading one earlier, such as in a hook, raises `RuntimeError`.
    """

    __slots__ = ("_found", "_parts")

    def __init__(self) -> None:
        self._parts: list[Any] = []
        self._found: dict[type, Any] = {}

    @property
    def database(self) -> Database:
        """The database, for a plugin that contributes `Models`."""
        return self.of(Database)  # type: ignore[type-abstract]

    @property
    def accounts(self) -> Accounts:
        """What is known of accounts."""
        return self.of(Accounts)  # type: ignore[type-abstract]

    @property
    def jobs(self) -> Jobs:
        """The queue of background work."""
        return self.of(Jobs)  # type: ignore[type-abstract]

    @property
    def storage(self) -> Storage:
        """What bounds the bytes that accounts store."""
        return self.of(Storage)  # type: ignore[type-abstract]

    @property
    def fetcher(self) -> Fetcher:
        """What fetches untrusted URLs."""
        return self.of(Fetcher)  # type: ignore[type-abstract]

    @property
    def tools(self) -> Tools:
        """The generators of this server."""
        return self.of(Tools)  # type: ignore[type-abstract]

    @property
    def workers(self) -> Workers:
        """Worker processes for untrusted input."""
        return self.of(Workers)  # type: ignore[type-abstract]

    def of(self, kind: type[Part]) -> Part:
        """Return the part that implements a protocol. Raises `RuntimeError` if absent yet."""
        found = self._found.get(kind)
        if found is None:
            found = self._found[kind] = next((part for part in self._parts if isinstance(part, kind)), None)
        if found is None:
            raise NotRunning(
                f"{kind.__name__} can be used once the server starts, such as in a lifespan or a call",
                hint="a command of a plugin runs without a server: it has the plugin's configuration and data folder",
            )
        return found

    def fill(self, *parts: Any) -> None:
        """Take the parts that are open now, in place of all before. The host calls it."""
        self._parts = list(parts)
        self._found.clear()


@dataclass(frozen=True, slots=True)
class PluginContext:
    """What a hook is told: its plugin's validated configuration, and where it may keep data.

    `data_folder` belongs to this plugin alone; the plugin makes it when it needs it. `extensions` holds what others
    contributed to the hooks that this plugin offers, `services` the server's parts once it starts. `required` holds the
    contexts of the plugins that it requires, by their ids, once all plugins are loaded: with them it can use what
    those plugins offer as a library.
    """

    id: str
    version: str
    config: Any
    base_url: str
    data_folder: Path
    extensions: Extensions = field(default_factory=Extensions)
    services: HostServices = field(default_factory=HostServices)
    required: dict[str, PluginContext] = field(default_factory=dict, repr=False, compare=False)
