"""A host: plugins loaded, catalog compiled, backends open, calls answered."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any, Protocol, TypeVar

import structlog

from pressroom.catalog.compile import RuleFailed, compile_catalog
from pressroom.catalog.tool import Catalog
from pressroom.config import Origins, Settings
from pressroom.errors import ConfigError
from pressroom.lanes import Lanes
from pressroom.observability.metrics import Metrics
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
)
from pressroom.sdk.shared import BackendKind
from pressroom.wire.nearest import nearest

log = structlog.get_logger()


class _Openable(Protocol):
    async def open(self) -> None: ...
    async def close(self) -> None: ...


Store = TypeVar("Store", bound=_Openable)


class Compiled:
    """Plugins and the catalog that they came to; enough for commands that serve nothing."""

    def __init__(self, settings: Settings, origins: Origins | None = None) -> None:
        self.settings = settings
        self.plugins: LoadedPlugins = load_plugins(settings, origins)
        self.catalog = self._compile()
        self.branding = branding(settings)

    def drop(self, plugin: str, error: Exception) -> None:
        """Take out a plugin that failed after it was loaded, and compile the rest again."""
        log.error("a plugin failed while the server started", plugin=plugin, error=f"{type(error).__name__}: {error}")
        self.plugins = self.plugins.without(plugin, "lifespan", error)
        self.catalog = self._compile()

    def brand_block(self) -> Mapping[str, Any]:
        """Return the promotional block of the brander that the operator named.

        Raises:
            ConfigError: no active plugin offers that brander.
        """
        branders = {one.record.name: one.record for one in self.plugins.contributions.of(Brander)}
        brander = branders.get(self.settings.branding.brander)
        if brander is None:
            raise _unknown("branding.brander", self.settings.branding.brander, branders)
        return brander.block(self.branding)

    def backend(self, kind: BackendKind, name: str, key: str) -> Any:
        """Return a new instance of the backend that the operator named under the configuration's `key`.

        Raises:
            ConfigError: no active plugin offers that backend.
        """
        backends = {
            one.record.name: one.record for one in self.plugins.contributions.of(Backend) if one.record.kind == kind
        }
        if name not in backends:
            raise _unknown(key, name, backends)
        return backends[name].factory(self.settings)

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
        self.draining = False
        self._open = AsyncExitStack()

    async def start(self) -> None:
        """Enter the plugins' lifespans, open the backends and start the lanes.

        A plugin whose lifespan fails is taken out. Raises `ConfigError` or `BackendError` where the host itself cannot
        work; everything that was open is closed again then.
        """
        async with AsyncExitStack() as opened:
            await self._enter_lifespans(opened)
            self.services = await self._services(opened)
            self.pipeline = Pipeline(self.services)
            opened.push_async_callback(self.pipeline.settle)
            self._open = opened.pop_all()

    async def close(self) -> None:
        """Finish what is under way, within the operator's time, and let go of everything."""
        self.draining = True
        await self._open.aclose()

    async def _enter_lifespans(self, opened: AsyncExitStack) -> None:
        lifespans = self.compiled.plugins.contributions.of(Lifespan)
        failed: set[str] = set()
        for contribution in lifespans:
            if contribution.plugin in failed:
                continue
            try:
                await opened.enter_async_context(contribution.record.enter())
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                failed.add(contribution.plugin)
                self.compiled.drop(contribution.plugin, error)

    async def _services(self, opened: AsyncExitStack) -> Services:
        settings, compiled = self.settings, self.compiled
        files, cache, limiter = await open_backends(compiled, opened)
        lanes = Lanes(settings.lanes, preload=tuple(self._process_lane_modules()))
        await lanes.start()
        opened.push_async_callback(lanes.close, settings.server.shutdown_timeout)
        contributions = compiled.plugins.contributions
        return Services(
            settings=settings,
            catalog=compiled.catalog,
            authenticators=self._authenticators(),
            authorizers=tuple(one.record for one in contributions.of(Authorizer)),
            observers=tuple(one.record for one in contributions.of(Observer)),
            brand=compiled.brand_block(),
            files=files,
            cache=cache,
            limiter=limiter,
            lanes=lanes,
            metrics=Metrics(compiled.catalog.tools, lanes),
        )

    def _authenticators(self) -> tuple[Authenticator, ...]:
        found = {one.record.name: one.record for one in self.compiled.plugins.contributions.of(Authenticator)}
        named = self.settings.auth.authenticators
        for name in named:
            if name not in found:
                raise _unknown("auth.authenticators", name, found)
        return tuple(found[name] for name in (*named, *sorted(found.keys() - set(named))))

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
        await _opened(stack, compiled.backend("files", files, "storage.files")),
        await _opened(stack, compiled.backend("cache", cache, "cache.backend")),
        await _opened(stack, compiled.backend("limits", limits, "limits.backend")),
    )


async def _opened(stack: AsyncExitStack, store: Store) -> Store:
    stack.push_async_callback(store.close)
    await store.open()
    return store


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
