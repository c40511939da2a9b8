"""A host: plugins loaded, catalog compiled, backends open, calls answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Protocol

import orjson
import structlog

from pressroom.accounts.records import PlanSummary
from pressroom.accounts.service import AccountServices
from pressroom.catalog.compile import RuleFailed, compile_catalog
from pressroom.catalog.tool import Catalog
from pressroom.config import Origins, Settings
from pressroom.errors import BackendError, ConfigError, PluginError, PressroomError
from pressroom.fetch import GuardedFetcher
from pressroom.graphics.font_sources import use_font_folders
from pressroom.jobs.queue import JobQueue
from pressroom.lanes import Lanes
from pressroom.oauth.service import AuthorizationServer
from pressroom.observability.metrics import Metrics
from pressroom.paths import host_path_taken
from pressroom.pipeline.chain import Pipeline
from pressroom.pipeline.own_calls import OwnCalls
from pressroom.pipeline.services import Services
from pressroom.plugins.load import LoadedPlugins, load_plugins
from pressroom.plugins.select import HOST_ID
from pressroom.sdk import (
    Authenticator,
    Authorizer,
    Backend,
    Brander,
    Branding,
    CacheIndex,
    FileStore,
    Job,
    Lifespan,
    Limiter,
    Models,
    Observer,
    Route,
)
from pressroom.sdk.shared import BackendKind
from pressroom.storage.database import Migrator, SchemaError, SqlDatabase
from pressroom.storage.files.secret import signing_secret
from pressroom.wire.nearest import nearest

if TYPE_CHECKING:
    from pressroom.accounts.identity_provider import IdentityProvider

log = structlog.get_logger()


_PLUGINS_FETCH_AT_ONCE: Final = 32
"""So many that a few slow servers do not keep everybody else's pictures waiting."""

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

    def plan_summary(self, plan: str) -> PlanSummary:
        """Return what accounts on a plan are told of it."""
        return self.catalog.summary(plan)

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

    def models(self) -> list[tuple[str, Models]]:
        """Return the tables of the host, then of each plugin, as pairs of plugin id and contribution."""
        pairs = [(one.plugin, one.record) for one in self.plugins.contributions.of(Models)]
        return sorted(pairs, key=lambda pair: (pair[0] != HOST_ID, pair[0]))

    def migrator(self, database: SqlDatabase) -> Migrator:
        """Return what brings the schema of the host, then of each plugin, up to date."""
        return Migrator(database, self.models())

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

    `pipeline`, `services`, `database`, `accounts`, `authorization_server` and `jobs` are there between the two, and
    `identity_provider` where the operator named one.
    """

    def __init__(self, compiled: Compiled) -> None:
        self.settings = compiled.settings
        self.compiled = compiled
        self.identity_provider: IdentityProvider | None = None
        self._deadline: float | None = None
        self._open = AsyncExitStack()
        self._own_calls = OwnCalls()

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
            await self._open_database(opened)
            await self._open_identity_provider(opened)
            await self._enter_lifespans(opened)
            self.services = await self._services(opened)
            self.pipeline = Pipeline(self.services)
            self._own_calls.begin(self.pipeline)
            opened.push_async_callback(self._settle)
            self.jobs.retain(one.record.kind for one in self.compiled.plugins.contributions.of(Job))
            await self.jobs.open()
            opened.push_async_callback(self._close_jobs)
            self._open = opened.pop_all()

    async def close(self) -> None:
        """Finish what is under way, within the operator's time, and let go of everything."""
        self.drain()
        await self._open.aclose()

    async def _close_lanes(self, lanes: Lanes) -> None:
        await lanes.close(self.time_left)

    async def _close_jobs(self) -> None:
        await self.jobs.close(self.time_left)

    async def _settle(self) -> None:
        await self.pipeline.settle(self.time_left)

    async def _open_database(self, opened: AsyncExitStack) -> None:
        """Open the database and what lives in it. An embedded one is brought up to date unasked."""
        settings, compiled = self.settings, self.compiled
        self.database = SqlDatabase(settings)
        await self.database.open()
        opened.push_async_callback(self.database.close)
        await make_schema_current(compiled, self.database)
        self.accounts = AccountServices(settings, self.database)
        self.accounts.know_plans(compiled.plan_summary)
        secret = signing_secret(settings)
        self.authorization_server = AuthorizationServer(settings, self.database, self.accounts, secret)
        kinds = (one.record for one in compiled.plugins.contributions.of(Job))
        self.jobs = JobQueue(self.database, kinds, settings.jobs)
        fetcher = GuardedFetcher(concurrency=_PLUGINS_FETCH_AT_ONCE, private_networks=settings.fetch.private_networks)
        parts: tuple[_Openable, ...] = (self.accounts, self.authorization_server, fetcher)
        for part in parts:
            await part.open()
            opened.push_async_callback(part.close)
        compiled.plugins.services.fill(self.database, *parts, self.jobs, self._own_calls)

    async def _open_identity_provider(self, opened: AsyncExitStack) -> None:
        settings = self.settings.accounts.identity_provider
        if settings.issuer is not None:
            import httpx  # noqa: PLC0415 - takes a while, and most hosts do without

            from pressroom.accounts.identity_provider import IdentityProvider  # noqa: PLC0415

            client = await opened.enter_async_context(httpx.AsyncClient())
            self.identity_provider = IdentityProvider(settings, client)

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
        fonts = settings.graphics.fonts
        use_font_folders(fonts)
        lanes = Lanes(settings.lanes, preload=tuple(self._process_lane_modules()), font_folders=fonts)
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
            quotas=self.accounts.quotas,
        )

    def _process_lane_modules(self) -> set[str]:
        return {
            tool.declaration.reference.partition(":")[0]
            for tool in self.compiled.catalog.tools.values()
            if tool.lane == "process"
        }


async def make_schema_current(compiled: Compiled, database: SqlDatabase) -> None:
    """Bring the schema of an embedded database up to date; one that many hosts share must be so already.

    A plugin whose tables cannot be used is taken out.

    Raises:
        BackendError: the host's own tables cannot be used, or the database failed.
    """
    migrator = compiled.migrator(database)
    for plugin in migrator.plugins:
        try:
            await _make_current(migrator, database, plugin)
        except SchemaError as error:
            if plugin == HOST_ID:
                raise
            compiled.drop(plugin, error)


async def _make_current(migrator: Migrator, database: SqlDatabase, plugin: str) -> None:
    if database.embedded:
        before = await migrator.upgrade(plugin)
        if before.behind:
            log.info("tables migrated", plugin=plugin, revision=before.wanted, before=before.current)
    elif (await migrator.state(plugin)).behind:
        raise SchemaError(
            f"the tables of {plugin} in {database.name} are not those of this version",
            hint="run `pressroom migrate`, then start again",
        )


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
