"""A host: loads plugins, compiles the catalog, opens backends, runs lifespans and handles calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from time import monotonic
from typing import TYPE_CHECKING, Final

import structlog

from pressroom.accounts.service import AccountServices
from pressroom.fetch import GuardedFetcher
from pressroom.gate import PluginFailed
from pressroom.graphics.font_sources import use_font_folders
from pressroom.host.loaded_app import LoadedApp, RunningLifespan
from pressroom.host.stores import OpenableStore, check_keys, declare_media_types, make_schema_current, open_backends
from pressroom.jobs.queue import JobQueue
from pressroom.oauth.service import AuthorizationServer
from pressroom.observability.metrics import Metrics
from pressroom.pipeline.chain import InternalCalls, Pipeline
from pressroom.pipeline.context import Services
from pressroom.pipeline.executors import Executors
from pressroom.pipeline.executors.workers import WorkerPool
from pressroom.pipeline.previews import Previews
from pressroom.plugins.defaults import OwnServices
from pressroom.sdk import Authorizer, Job, Lifespan, Observer
from pressroom.storage.database import DatabaseProbe, SqlDatabase
from pressroom.storage.files.signing import signing_secret

if TYPE_CHECKING:
    from pressroom.accounts.identity_provider import IdentityProvider


log = structlog.get_logger()

_MAX_PLUGIN_FETCHES: Final = 32
"""High enough that a few slow servers do not keep everybody else's images waiting."""


_LIFESPAN_SECONDS: Final = 1.0
"""How many seconds a lifespan gets to end after the time for calls in flight, within the process's own deadline."""


class Host:
    """A running host. `start` opens everything, `close` closes it in reverse order.

    In between, `pipeline`, `previews`, `services`, `database`, `accounts`, `authorization_server` and `jobs` exist, and
    `identity_provider` if one is configured. `tools` makes calls to the server's own tools. `failures` lists exceptions
    that plugins' lifespans raised after they had been entered.
    """

    def __init__(self, compiled: LoadedApp) -> None:
        self.settings = compiled.settings
        self.compiled = compiled
        self.identity_provider: IdentityProvider | None = None
        self.failures: list[BaseException] = []
        self._deadline: float | None = None
        self._leaving = False
        self._open = AsyncExitStack()
        self.tools = InternalCalls()

    @property
    def leaving(self) -> bool:
        """Whether the host is about to stop, and should get no new requests."""
        return self._leaving

    @property
    def time_left(self) -> float:
        """The seconds left for calls in flight before the host stops without them."""
        return self.settings.server.shutdown_timeout if self._deadline is None else max(0, self._deadline - monotonic())

    def leave(self) -> None:
        """Report on `/readyz` that the host is about to stop, and keep serving."""
        self._leaving = True

    def drain(self) -> None:
        """Begin to stop: start the countdown of the configured `shutdown_timeout` for calls in flight."""
        self._leaving = True
        if self._deadline is None:
            self._deadline = monotonic() + self.settings.server.shutdown_timeout

    async def start(self) -> None:
        """Enter the plugins' lifespans, open the backends and start the executors.

        A plugin whose lifespan fails is removed. Raises `ConfigError` or `BackendError` if the host itself cannot work,
        after closing everything that was open.
        """
        async with AsyncExitStack() as opened:
            await self._open_database(opened)
            await self._open_identity_provider(opened)
            await self._enter_lifespans(opened)
            self.services = await self._services(opened)
            self.pipeline = Pipeline(self.services)
            self.previews = Previews(self.pipeline, self.services)
            self.tools.begin(self.pipeline, self.services.files)
            opened.push_async_callback(self._settle)
            self.jobs.retain(contribution.record.kind for contribution in self.compiled.plugins.contributions.of(Job))
            await self.jobs.open()
            opened.push_async_callback(self._close_jobs)
            self._open = opened.pop_all()

    async def close(self) -> None:
        """Finish the calls in flight, within the configured time, and close everything."""
        self.drain()
        await self._open.aclose()

    async def _close_executors(self, executors: Executors) -> None:
        await executors.close(self.time_left)

    async def _close_jobs(self) -> None:
        await self.jobs.close(self.time_left)

    async def _settle(self) -> None:
        await self.pipeline.settle(self.time_left)

    async def _open_database(self, opened: AsyncExitStack) -> None:
        """Open the database and the services that use it. An embedded database is migrated automatically."""
        settings, compiled = self.settings, self.compiled
        self.database = SqlDatabase(settings)
        await self.database.open()
        opened.push_async_callback(self.database.close)
        self.database_probe = DatabaseProbe(self.database.ask, self.database.name)
        await make_schema_current(compiled, self.database)
        await check_keys(compiled, self.database)
        self.accounts = AccountServices(settings, self.database)
        self.accounts.know_plans(compiled.plan_summary)
        self.accounts.stored.know_kinds(compiled.storage_kinds)
        secret = signing_secret(settings)
        self.authorization_server = AuthorizationServer(settings, self.database, self.accounts, secret)
        kinds = (contribution.record for contribution in compiled.plugins.contributions.of(Job))
        self.jobs = JobQueue(self.database, kinds, settings.jobs)
        fetcher = GuardedFetcher(
            concurrency=_MAX_PLUGIN_FETCHES,
            fair=True,
            anonymous_bytes=settings.fetch.anonymous_bytes,
            private_networks=settings.fetch.private_networks,
        )
        of_plugins = compiled.plugins.worker_setup if settings.executors.start_plugin_processes else {}
        setup = tuple((plugin, name) for plugin, names in of_plugins.items() for name in names)
        modules = {name for names in compiled.plugins.worker_modules.values() for name in names}
        workers = self.workers = WorkerPool(
            settings.executors,
            settings.graphics.fonts,
            setup,
            modules,
            compiled.gate,
            setup_seconds=settings.server.start_timeout,
        )
        parts: tuple[OpenableStore, ...] = (self.accounts, self.authorization_server, fetcher, workers)
        for part in parts:
            await part.open()
            opened.push_async_callback(part.close)
        compiled.plugins.provider.fill(
            OwnServices(
                database=self.database,
                accounts=self.accounts,
                jobs=self.jobs,
                storage=self.accounts.stored,
                fetcher=fetcher,
                tools=self.tools,
                workers=workers,
                authorization_server=self.authorization_server,
            )
        )

    async def _open_identity_provider(self, opened: AsyncExitStack) -> None:
        settings = self.settings.accounts.identity_provider
        if settings.issuer is not None:
            import httpx  # noqa: PLC0415 - takes a while, and most hosts do without

            from pressroom.accounts.identity_provider import IdentityProvider  # noqa: PLC0415

            client = await opened.enter_async_context(httpx.AsyncClient())
            self.identity_provider = IdentityProvider(settings, client)

    async def _enter_lifespans(self, opened: AsyncExitStack) -> None:
        positions = _required_first(self.compiled.plugins.requires)
        lifespans = self.compiled.plugins.contributions.of(Lifespan)
        for contribution in sorted(lifespans, key=lambda lifespan: positions.get(lifespan.plugin, -1)):
            # A lifespan that failed also removed the plugins that depend on it.
            if contribution not in self.compiled.plugins.contributions.of(Lifespan):
                continue
            running = RunningLifespan(self.compiled.gate, contribution.plugin, contribution.record)
            try:
                await running.enter(self.settings.server.start_timeout)
            except PluginFailed as failure:
                self.compiled.drop(contribution.plugin, failure)
            else:
                opened.push_async_callback(self._leave, running)

    async def _leave(self, running: RunningLifespan) -> None:
        failure = await running.leave(self.time_left + _LIFESPAN_SECONDS)
        if failure is not None:
            self.failures.append(failure)

    async def _services(self, opened: AsyncExitStack) -> Services:
        settings, compiled = self.settings, self.compiled
        compiled.check_choices()
        brand = compiled.brand_block_at_start()
        files, cache, limiter = await open_backends(compiled, opened)
        declare_media_types(files, compiled.catalog)
        fonts = settings.graphics.fonts
        use_font_folders(fonts)
        tool_modules = self._tool_modules()
        executors = Executors(settings.executors, preload=tool_modules, font_folders=fonts)
        if tool_modules:
            await executors.start()
        if settings.executors.start_plugin_processes and any(compiled.plugins.worker_modules.values()):
            self.workers.start()
        opened.push_async_callback(self._close_executors, executors)
        contributions = compiled.plugins.contributions
        metrics = Metrics(compiled.catalog.tools, executors, lambda: self.database_probe.up, compiled)
        for plugin, _ in compiled.models():
            metrics.schema(plugin, matches=True)
        for plugin in compiled.schema_mismatches:
            metrics.schema(plugin, matches=False)
        self.database.on_failure(lambda: metrics.backend_failure("database"))
        await self.database_probe.open()
        opened.push_async_callback(self.database_probe.close)
        return Services(
            settings=settings,
            catalog=compiled.catalog,
            authenticators=compiled.authenticators(),
            authorizers=tuple(contribution.record for contribution in contributions.of(Authorizer)),
            observers=tuple(contribution.record for contribution in contributions.of(Observer)),
            brand=brand,
            files=files,
            cache=cache,
            limiter=limiter,
            executors=executors,
            metrics=metrics,
            quotas=self.accounts.quotas,
            client_requests=self.accounts.client_requests,
            gate=compiled.gate,
            middleware=compiled.middleware(),
        )

    def _tool_modules(self) -> list[str]:
        """Return the modules that tools' worker processes import before their first call, and no other plugin's.

        Empty if no tool runs in one.
        """
        tools = [tool for tool in self.compiled.catalog.tools.values() if tool.executor == "process"]
        of_plugins = self.compiled.plugins.worker_modules
        plugin_modules = {module for tool in tools for module in of_plugins.get(tool.context.id, ())}
        return sorted({tool.declaration.reference.partition(":")[0] for tool in tools} | plugin_modules)


def _required_first(requires: Mapping[str, Sequence[str]]) -> Mapping[str, int]:
    """Return the position of each plugin: after those that it requires, and otherwise in order of ID."""
    positions: dict[str, int] = {}
    visited: set[str] = set()

    def visit(plugin: str) -> None:
        if plugin in visited:
            return
        visited.add(plugin)
        for required in sorted(requires.get(plugin, ())):
            visit(required)
        positions[plugin] = len(positions)

    for plugin in sorted(requires):
        visit(plugin)
    return positions
