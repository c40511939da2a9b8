"""What a plugin says of itself, and what the host tells it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Generic

import pluggy
from pydantic import BaseModel, ConfigDict
from typing_extensions import TypeVar  # `typing` has defaults of type variables from Python 3.13 on

from pressroom.errors import NotRunning
from pressroom.sdk.data import Accounts, Database, Storage
from pressroom.sdk.jobs import Jobs
from pressroom.sdk.page_templates import PageTemplates
from pressroom.sdk.services import Fetcher, Tools, Workers

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
    operators are warned; in a plugin of one file it counts as that of the host. `requires` lists the ids of plugins
    without which this one cannot work. `hookspecs` is a module or class of further hooks that this plugin offers to
    others. `unique` maps hooks of those to the member that names their records, such as `{"acme_stores": "name"}`:
    plugins that offer the same name are in conflict, as with names of the host.

    `worker_modules` names the modules whose functions it runs in worker processes: they are imported there before the
    first call, and before that of its tools that run in such processes. `worker_setup` names functions without
    parameters, such as `acme.models:load`, that each process of `plugin.services.workers` runs when it starts with the
    server, so that no call waits for what they load.

    `templates` names packages, such as `__package__`, whose folder `templates` has the Jinja templates of the plugin's
    pages. `PluginContext.templates` renders them, in the operator's version where there is one.
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
    templates: tuple[str, ...] = ()

    @property
    def written_for(self) -> str:
        """The plugin interface that the host takes the plugin to be written for."""
        return self.api or FIRST_API


def _uncontained(_owner: str, _what: str, **_options: Any) -> AbstractContextManager[None]:
    """Contain nothing, where no host runs."""
    return nullcontext()


class Extensions:
    """What other plugins contributed through the hooks that a plugin offers with `Plugin(hookspecs=…)`.

    The hooks of the plugins that it requires can be read as well.
    The host fills it once all plugins are loaded: read it in a lifespan or in a call, not in a hook.
    """

    __slots__ = ("_contain", "_contributed")

    def __init__(self, contain: Callable[..., AbstractContextManager[None]] = _uncontained) -> None:
        self._contributed: dict[str, tuple[tuple[str, Any], ...]] | None = None
        self._contain = contain

    def of(self, hook: str) -> tuple[tuple[str, Any], ...]:
        """Return pairs of plugin id and record. Raises `RuntimeError` too early, `KeyError` where it is unknown."""
        if self._contributed is None:
            raise RuntimeError("extensions can be read once all plugins are loaded, such as in a lifespan")
        return self._contributed[hook]

    def calling(
        self,
        what: str,
        record: object = None,
        *,
        passes: tuple[type[BaseException], ...] = (),
        private: bool = False,
        seconds: float | None = None,
        interrupt: bool = False,
    ) -> AbstractContextManager[None]:
        """Contain what others contributed, while you call it in a `with` block, which may await.

        Errors that are meant for somebody, `PressroomError` and those of `passes`, come through. Whatever else is
        raised, also `SystemExit`, is counted and logged as a failure of the plugin whose code it is, and comes out as
        `PluginError`. So does a block that takes more than `seconds`; its `__cause__` is a `TimeoutError` then. A bound
        that you put around the block, such as with `asyncio.timeout`, counts for nobody.

        Args:
            what: what is called, for the log and for `pressroom plugins list`, such as `store acme`.
            record: the record that is called, if it is one alone; its plugin answers for the block. Left out, the
                plugin answers that the traceback leads to, yours included.
            passes: further errors that come through.
            private: whether messages and tracebacks are left out, which may hold a credential.
            seconds: how long the block may take; it is cancelled then. Left out, there is no bound.
            interrupt: whether the block awaits nothing, and is interrupted after `seconds` wherever it blocks the event
                loop. In other threads than the main one nothing can be interrupted.
        """
        bounds = {"seconds": seconds, "interrupt": interrupt}
        return self._contain(self._owner_of(record), what, passes=passes, private=private, **bounds)

    def _owner_of(self, record: object) -> str:
        pairs = (pair for pairs in (self._contributed or {}).values() for pair in pairs)
        return "" if record is None else next((id_ for id_, one in pairs if one is record), "")

    def fill(self, contributed: Mapping[str, Iterable[tuple[str, Any]]]) -> None:
        """Take what was contributed to each hook. The host calls it, again where a plugin falls out later."""
        self._contributed = {hook: tuple(pairs) for hook, pairs in contributed.items()}


@dataclass(frozen=True, slots=True)
class HostServices:
    """The parts of a running server that plugins may use.

    `database` is for a plugin that contributes `Models`. `accounts` knows of accounts, and `storage` bounds the bytes
    that they store. `jobs` is the queue of background work, `fetcher` fetches untrusted URLs, `tools` makes files with
    the generators of this server, and `workers` are processes for untrusted input.
    """

    database: Database
    accounts: Accounts
    jobs: Jobs
    storage: Storage
    fetcher: Fetcher
    tools: Tools
    workers: Workers


class ServiceProvider:
    """Has the services of a server while it runs. The host fills it; plugins read `PluginContext.services`."""

    __slots__ = ("_services",)

    def __init__(self) -> None:
        self._services: HostServices | None = None

    @property
    def services(self) -> HostServices:
        """The services. Raises `NotRunning`, which is a `RuntimeError`, before the server has opened them."""
        if self._services is None:
            raise NotRunning(
                "the services of the server can be used once it starts, such as in a lifespan or a call",
                hint="a command of a plugin runs without a server: it has the plugin's configuration and data folder",
            )
        return self._services

    def fill(self, services: HostServices) -> None:
        """Take the services that are open now, in place of all before."""
        self._services = services

    @contextmanager
    def replaced(self, **parts: Any) -> Iterator[None]:
        """Have other parts, such as `fetcher`, until the block ends. It is for tests."""
        before = self.services
        self._services = replace(before, **parts)
        try:
            yield
        finally:
            self._services = before


Config = TypeVar("Config", default=Any)


@dataclass(frozen=True, slots=True)
class PluginContext(Generic[Config]):
    """What a hook is told: its plugin's validated configuration, and where it may keep data.

    `config` is of the class that `Plugin(config=…)` names; with `PluginContext[ThatClass]` type checkers know it.
    `data_folder` belongs to this plugin alone; the plugin makes it when it needs it. `extensions` holds what others
    contributed to the hooks that this plugin offers. `templates` renders those that `Plugin(templates=…)` names.
    `required` holds the contexts of the plugins that it requires, by
    their ids, once all plugins are loaded: with them it can use what those plugins offer as a library. `provider` is
    the host's, for `services`.
    """

    id: str
    version: str
    config: Config
    base_url: str
    data_folder: Path
    extensions: Extensions = field(default_factory=Extensions)
    provider: ServiceProvider = field(default_factory=ServiceProvider, repr=False)
    required: dict[str, PluginContext] = field(default_factory=dict, repr=False, compare=False)
    templates: PageTemplates = field(default_factory=PageTemplates, repr=False, compare=False)

    @property
    def services(self) -> HostServices:
        """The server's parts, from the time of the lifespans on. Earlier, such as in a hook, it raises `NotRunning`."""
        return self.provider.services
