"""The declaration of a plugin, and the context that it gets from the host."""

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
"""The version of this host's plugin API. The host accepts this version and the previous one."""

FIRST_API: Final = "1"
"""The interface version assumed for plugins that do not declare one."""

PLUGIN_ID = re.compile(r"[a-z][a-z0-9_]{1,31}", re.ASCII)

hookimpl = pluggy.HookimplMarker("pressroom")
"""Marks a plugin's function as the implementation of the hook of the same name."""


class PluginConfig(BaseModel):
    """The base class of a plugin's own configuration: `[plugins.<id>.config]` in the operator's file.

    Unknown keys are rejected. Declare secrets as `pydantic.SecretStr`, so that they are never shown.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


@dataclass(frozen=True, slots=True)
class Plugin:
    """The declaration of a plugin, as the module's `PLUGIN`.

    `id` is the name of the entry point. `api` is the version of the plugin API that the plugin is written for, as
    a literal such as `"1"`: never use the host's `API`, which would match every host. Always state it: without it, the
    plugin counts as written for `"1"`, and operators are warned; a single-file plugin counts as written for the host's
    version. `requires` lists the ids of plugins that this one needs to work. `hookspecs` is a module or class with
    hooks that this plugin offers to others. `unique` maps such hooks to the field that identifies their records, such
    as `{"acme_stores": "name"}`: plugins that contribute the same name conflict, as they would with a name of the host.

    `worker_modules` lists the modules whose functions it runs in worker processes. They are imported there before the
    first call, and before the first call of its tools that run in such processes. `worker_setup` lists functions
    without parameters, such as `acme.models:load`, that each process of `plugin.services.workers` runs when it starts
    with the server, so that no call has to wait for them. Each may take `[server] start_timeout`.

    `templates` lists packages, such as `__package__`, whose folder `templates` contains the Jinja templates of the
    plugin's pages. `PluginContext.templates` renders them, or the operator's version if there is one.
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
        """The version of the plugin API that the host assumes the plugin is written for."""
        return self.api or FIRST_API


def _uncontained(_owner: str, _what: str, **_options: Any) -> AbstractContextManager[None]:
    """Let all exceptions pass, since no host is running."""
    return nullcontext()


class Extensions:
    """Contributions of other plugins to the hooks that a plugin offers with `Plugin(hookspecs=…)`.

    You can also read the hooks of the plugins that your plugin requires. The host provides the contributions once all
    plugins are loaded: read them in a lifespan or in a call, not in a hook.
    """

    __slots__ = ("_contain", "_contributed")

    def __init__(self, contain: Callable[..., AbstractContextManager[None]] = _uncontained) -> None:
        self._contributed: dict[str, tuple[tuple[str, Any], ...]] | None = None
        self._contain = contain

    def of(self, hook: str) -> tuple[tuple[str, Any], ...]:
        """Return the (plugin id, record) pairs of a hook.

        Raises `RuntimeError` before all plugins are loaded, and `KeyError` for an unknown hook.
        """
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
        """Return a context manager for calling contributed code. The block can await.

        `PressroomError` and the types in `passes` count as intentional, and are passed on. Any other exception,
        including `SystemExit`, is counted and logged as a failure of the plugin whose code raised it, and becomes a
        `PluginError`. The same happens if the block takes more than `seconds`; the `__cause__` is then a
        `TimeoutError`. If you put a time limit around the block yourself, such as with `asyncio.timeout`, no plugin is
        blamed for it.

        Args:
            what: the name of the called code in the log and in `pressroom plugins list`, such as `store acme`.
            record: the record that is called, if there is only one; failures are attributed to its plugin. Without it,
                they are attributed to the plugin that the traceback points to, which may be yours.
            passes: other exception types to pass on.
            private: whether to omit messages and tracebacks, because they may contain a credential.
            seconds: how long the block may take before it is cancelled. By default, there is no limit.
            interrupt: whether to interrupt a block that does not await after `seconds`, even if it blocks the event
                loop. This only works in the main thread.
        """
        bounds = {"seconds": seconds, "interrupt": interrupt}
        return self._contain(self._owner_of(record), what, passes=passes, private=private, **bounds)

    def _owner_of(self, record: object) -> str:
        pairs = (pair for pairs in (self._contributed or {}).values() for pair in pairs)
        return "" if record is None else next((id_ for id_, contribution in pairs if contribution is record), "")

    def fill(self, contributed: Mapping[str, Iterable[tuple[str, Any]]]) -> None:
        """Set the contributions to each hook. The host calls this, and again if it drops a plugin later."""
        self._contributed = {hook: tuple(pairs) for hook, pairs in contributed.items()}


@dataclass(frozen=True, slots=True)
class HostServices:
    """The services of a running server that plugins can use.

    `database` is for plugins that contribute `Models`. `accounts` has information about accounts, and `storage` limits
    the bytes that they store. `jobs` is the queue of background jobs, `fetcher` fetches untrusted URLs, `tools` creates
    files with the generators of this server, and `workers` are processes for untrusted input.
    """

    database: Database
    accounts: Accounts
    jobs: Jobs
    storage: Storage
    fetcher: Fetcher
    tools: Tools
    workers: Workers


class ServiceProvider:
    """Holds the services of a running server. The host sets them; plugins read `PluginContext.services`."""

    __slots__ = ("_services",)

    def __init__(self) -> None:
        self._services: HostServices | None = None

    @property
    def services(self) -> HostServices:
        """The services. Raises `NotRunning`, which is a `RuntimeError`, before the server has opened them."""
        if self._services is None:
            raise NotRunning(
                "the services of the server can be used once it starts, such as in a lifespan or a call",
                hint="hooks and commands run without a server: keep `plugin`, and read `plugin.services` when called",
            )
        return self._services

    def fill(self, services: HostServices) -> None:
        """Set the open services, replacing all earlier ones."""
        self._services = services

    @contextmanager
    def replaced(self, **parts: Any) -> Iterator[None]:
        """Replace services, such as `fetcher`, until the block ends. For tests only."""
        before = self.services
        self._services = replace(before, **parts)
        try:
            yield
        finally:
            self._services = before


Config = TypeVar("Config", default=Any)


@dataclass(frozen=True, slots=True)
class PluginContext(Generic[Config]):
    """The context of a plugin: its validated configuration, the folder for its data, and the services of the host.

    `config` is an instance of the class in `Plugin(config=…)`; annotate with `PluginContext[ThatClass]` for type
    checkers. `data_folder` belongs to this plugin alone; create it when you need it. `extensions` has the contributions
    of others to the hooks that this plugin offers. `templates` renders the templates of `Plugin(templates=…)`.
    `required` maps the ids of required plugins to their contexts, once all plugins are loaded; pass them to the
    functions that those plugins offer as a library. `provider` is internal to the host; use `services` instead.
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
        """The services of the server, available from lifespans onwards. Raises `NotRunning` earlier, as in a hook."""
        return self.provider.services
