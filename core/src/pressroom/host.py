"""A host: plugins loaded, catalog compiled, backends open, calls answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from time import monotonic
from typing import Any, Final, Protocol

import orjson
import structlog

from pressroom.catalog.compile import RuleFailed, compile_catalog
from pressroom.catalog.tool import Catalog
from pressroom.config import Origins, Settings
from pressroom.errors import BackendError, ConfigError, PluginError, PressroomError
from pressroom.lanes import Lanes
from pressroom.observability.metrics import Metrics
from pressroom.paths import host_path_taken
from pressroom.pipeline.chain import Pipeline
from pressroom.pipeline.services import Services
from pressroom.plugins.load import LoadedPlugins, load_plugins
from pressroom.sdk import (
    Authenticator,
    Authorizer,
    Backend,
    Brander,
    Branding,
    CacheIndex,
    FileStore,
    Lifespan,
    Limiter,
    Observer,
    Route,
)
from pressroom.sdk.shared import BackendKind
from pressroom.wire.nearest import nearest

log = structlog.get_logger()


_ANOTHER_BRANDER: Final = "name another as [branding] brander, or report it to the plugin's authors"

_PROTOCOLS: Final[Mapping[BackendKind, type[Any]]] = {"files": FileStore, "cache": CacheIndex, "limits": Limiter}


class _Openable(Protocol):
    async def open(self) -> None: ...
    async def close(self) -> None: ...


class Compiled:
    """Plugins and the catalog that they came to; enough for commands that serve nothing."""

    def __init__(self, settings: Settings, origins: Origins | None = None) -> None:
        self.settings = settings
        self.plugins: LoadedPlugins = _without_taken_paths(load_plugins(settings, origins))
        self.catalog = self._compile()
        self.branding = branding(settings)

    def drop(self, plugin: str, error: BaseException) -> None:
        """Take out a plugin that failed after it was loaded, and compile the rest again."""
        log.error("a plugin failed while the server started", plugin=plugin, error=f"{type(error).__name__}: {error}")
        self.plugins = self.plugins.without(plugin, "lifespan", error)
        self.catalog = self._compile()

    def brand_block(self) -> Mapping[str, Any]:
        """Return the promotional block of the brander that the operator named.

        Raises:
            ConfigError: no active plugin offers that brander.
            PluginError: it failed, or made something that is no JSON object.
        """
        name = self.settings.branding.brander
        branders = {one.record.name: one.record for one in self.plugins.contributions.of(Brander)}
        if name not in branders:
            raise _unknown("branding.brander", name, branders)
        try:
            block = dict(branders[name].block(self.branding))
            orjson.dumps(block)
        except Exception as error:
            raise PluginError(f"the brander {name!r} failed: {_shown(error)}", hint=_ANOTHER_BRANDER) from error
        return block

    def backend(self, kind: BackendKind, name: str, key: str) -> Any:
        """Return a new instance of the backend that the operator named under the configuration's `key`.

        Raises:
            ConfigError: no active plugin offers that backend.
            BackendError: it cannot be made, or lacks a method of its protocol.
        """
        backends = {
            one.record.name: one.record for one in self.plugins.contributions.of(Backend) if one.record.kind == kind
        }
        if name not in backends:
            raise _unknown(key, name, backends)
        with _named(kind, name):
            made = backends[name].factory(self.settings)
        protocol = _PROTOCOLS.get(kind)
        if protocol is not None and not isinstance(made, protocol):
            raise BackendError(f"the {kind} backend {name!r} is no {protocol.__name__}: {type(made).__name__}")
        return made

    def authenticators(self) -> tuple[Authenticator, ...]:
        """Return the authenticators in the order in which they are asked.

        Raises:
            ConfigError: no active plugin offers one that the operator named.
        """
        found = {one.record.name: one.record for one in self.plugins.contributions.of(Authenticator)}
        named = self.settings.auth.authenticators
        for name in named:
            if name not in found:
                raise _unknown("auth.authenticators", name, found)
        return tuple(found[name] for name in (*named, *sorted(found.keys() - set(named))))

    def _compile(self) -> Catalog:
        while True:
            try:
                return compile_catalog(self.plugins.contributions, self.plugins.contexts, self.settings)
            except RuleFailed as failure:
                if failure.plugin not in {record.id for record in self.plugins.records}:
                    raise failure.error from None
                self.plugins = self.plugins.without(failure.plugin, "validate", failure.error)


class Host:
    """A running host. `start` opens everything, `close` lets go of it in reverse.

    `pipeline` and `services` are there between the two.
    """

    def __init__(self, compiled: Compiled) -> None:
        self.settings = compiled.settings
        self.compiled = compiled
        self._deadline: float | None = None
        self._open = AsyncExitStack()

    @property
    def draining(self) -> bool:
        """Whether the host is about to stop."""
        return self._deadline is not None

    @property
    def time_left(self) -> float:
        """The seconds that calls in flight still have before the host stops without them."""
        return self.settings.server.shutdown_timeout if self._deadline is None else max(0, self._deadline - monotonic())

    def drain(self) -> None:
        """Begin to stop: from now on counts the time that the operator gives to calls in flight."""
        if self._deadline is None:
            self._deadline = monotonic() + self.settings.server.shutdown_timeout

    async def start(self) -> None:
        """Enter the plugins' lifespans, open the backends and start the lanes.

        A plugin whose lifespan fails is taken out. Raises `ConfigError` or `BackendError` where the host itself cannot
        work; everything that was open is closed again then.
        """
        async with AsyncExitStack() as opened:
            await self._enter_lifespans(opened)
            self.services = await self._services(opened)
            self.pipeline = Pipeline(self.services)
            opened.push_async_callback(self._settle)
            self._open = opened.pop_all()

    async def close(self) -> None:
        """Finish what is under way, within the operator's time, and let go of everything."""
        self.drain()
        await self._open.aclose()

    async def _close_lanes(self, lanes: Lanes) -> None:
        await lanes.close(self.time_left)

    async def _settle(self) -> None:
        await self.pipeline.settle(self.time_left)

    async def _enter_lifespans(self, opened: AsyncExitStack) -> None:
        lifespans = self.compiled.plugins.contributions.of(Lifespan)
        for contribution in lifespans:
            # One that failed took along the plugins that need it.
            if contribution not in self.compiled.plugins.contributions.of(Lifespan):
                continue
            try:
                await opened.enter_async_context(contribution.record.enter())
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin may raise anything
                self.compiled.drop(contribution.plugin, error)

    async def _services(self, opened: AsyncExitStack) -> Services:
        settings, compiled = self.settings, self.compiled
        files, cache, limiter = await open_backends(compiled, opened)
        lanes = Lanes(settings.lanes, preload=tuple(self._process_lane_modules()))
        await lanes.start()
        opened.push_async_callback(self._close_lanes, lanes)
        contributions = compiled.plugins.contributions
        return Services(
            settings=settings,
            catalog=compiled.catalog,
            authenticators=compiled.authenticators(),
            authorizers=tuple(one.record for one in contributions.of(Authorizer)),
            observers=tuple(one.record for one in contributions.of(Observer)),
            brand=compiled.brand_block(),
            files=files,
            cache=cache,
            limiter=limiter,
            lanes=lanes,
            metrics=Metrics(compiled.catalog.tools, lanes),
        )

    def _process_lane_modules(self) -> set[str]:
        return {
            tool.declaration.reference.partition(":")[0]
            for tool in self.compiled.catalog.tools.values()
            if tool.lane == "process"
        }


async def open_backends(compiled: Compiled, stack: AsyncExitStack) -> tuple[FileStore, CacheIndex, Limiter]:
    """Open the stores that the operator named; leaving `stack` closes them.

    Raises:
        ConfigError: no active plugin offers one of them.
        BackendError: one of them cannot be used.
    """
    settings = compiled.settings
    shared = "redis" if settings.storage.redis else "memory"
    files = "s3" if settings.storage.files.startswith("s3://") else settings.storage.files
    cache = shared if settings.cache.backend == "auto" else settings.cache.backend
    limits = shared if settings.limits.backend == "auto" else settings.limits.backend
    return (
        await _opened(stack, compiled, "files", files, "storage.files"),
        await _opened(stack, compiled, "cache", cache, "cache.backend"),
        await _opened(stack, compiled, "limits", limits, "limits.backend"),
    )


async def _opened(stack: AsyncExitStack, compiled: Compiled, kind: BackendKind, name: str, key: str) -> Any:
    store: _Openable = compiled.backend(kind, name, key)
    stack.push_async_callback(store.close)
    with _named(kind, name):
        await store.open()
    return store


@contextmanager
def _named(kind: BackendKind, name: str) -> Iterator[None]:
    """Say which backend it was that raised something of its own."""
    try:
        yield
    except PressroomError:
        raise
    except Exception as error:
        raise BackendError(f"the {kind} backend {name!r} failed: {_shown(error)}") from error


def _without_taken_paths(plugins: LoadedPlugins) -> LoadedPlugins:
    """Take out the plugins with a route that would stand in for one of the host's own."""
    for contribution in plugins.contributions.of(Route):
        path = contribution.record.path
        taken = host_path_taken(path)
        if taken is not None and contribution in plugins.contributions.of(Route):
            own = taken if taken == path else f"{path}, as a part of {taken},"
            plugins = plugins.without(
                contribution.plugin, "validate", ConfigError(f"the path {own} is served by the host itself")
            )
    return plugins


def _shown(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def branding(settings: Settings) -> Branding:
    """Return the operator's branding, with what was left out filled in."""
    own, base_url = settings.branding, settings.public_url
    return Branding(
        key=own.key,
        name=own.name,
        tagline=own.tagline,
        url=own.url or base_url,
        mcp_url=f"{base_url}/api/mcp",
        docs_url=own.docs_url or f"{base_url}/tools",
        accent=own.accent,
        accent_dark=own.accent_dark,
        logo_url=own.logo_url,
    )


def _unknown(key: str, name: str, known: Mapping[str, object]) -> ConfigError:
    similar = nearest(name, known)
    return ConfigError(
        f"{key}: there is no {name!r}",
        hint=f"did you mean {similar!r}?" if similar else f"known are {', '.join(sorted(known)) or 'none'}",
    )
