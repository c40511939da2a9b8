"""A host: plugins loaded, catalog compiled, backends open, lifespans running, calls answered."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from time import monotonic
from typing import TYPE_CHECKING, Final

import structlog

from pressroom.accounts.service import AccountServices
from pressroom.errors import PluginError
from pressroom.fetch import GuardedFetcher
from pressroom.graphics.font_sources import use_font_folders
from pressroom.host.loaded_app import LoadedApp
from pressroom.host.shared_keys import check_keys
from pressroom.host.stores import OpenableStore, make_schema_current, open_backends
from pressroom.jobs.queue import JobQueue
from pressroom.oauth.service import AuthorizationServer
from pressroom.observability.metrics import Metrics
from pressroom.pipeline.chain import Pipeline
from pressroom.pipeline.executors import Executors
from pressroom.pipeline.executors.workers import WorkerPool
from pressroom.pipeline.internal_calls import InternalCalls
from pressroom.pipeline.services import Services
from pressroom.plugins.records import one_line
from pressroom.sdk import Authorizer, Job, Lifespan, Observer
from pressroom.storage.database import DatabaseProbe, SqlDatabase
from pressroom.storage.files.signing import signing_secret

if TYPE_CHECKING:
    from pressroom.accounts.identity_provider import IdentityProvider


log = structlog.get_logger()

SLOW_SECONDS: Final = 5.0
"""After how long the log names a plugin that the server waits for."""

_CANCEL_SECONDS: Final = 1.0
"""How long a lifespan that was cancelled may take to end before it is left behind."""


class RunningLifespan:
    """What one plugin has open while the server runs. It is entered and left in one task, as task groups demand.

    Nothing that it raises reaches the host, neither `CancelledError` nor another `BaseException`.
    """

    def __init__(self, plugin: str, lifespan: Lifespan) -> None:
        self._plugin = plugin
        self._lifespan = lifespan
        self._entered = asyncio.Event()
        self._leave = asyncio.Event()
        self._error: BaseException | None = None
        self._task: asyncio.Task[None] | None = None

    async def enter(self, seconds: float) -> BaseException | None:
        """Open what the plugin opens, within this many seconds. Return why that failed, or `None`."""
        self._task = asyncio.create_task(self._live(), name=f"lifespan {self._lifespan.name} of {self._plugin}")
        entered = asyncio.create_task(self._entered.wait())
        try:
            await asyncio.wait(
                {self._task, entered}, timeout=min(SLOW_SECONDS, seconds), return_when=asyncio.FIRST_COMPLETED
            )
            if not self._entered.is_set():
                log.warning("the server waits for a plugin to start", **self._named, at_most_seconds=seconds)
                left = max(0, seconds - SLOW_SECONDS)
                await asyncio.wait({self._task, entered}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self._abandon()
            raise
        finally:
            entered.cancel()
        if self._entered.is_set():
            self._task.add_done_callback(self._ended)
            return None
        if self._task.done():
            return self._error
        await self._abandon()
        return PluginError(
            f"the lifespan {self._lifespan.name} did not start within {seconds:g} s",
            hint="see what it waits for, or give it more time with [server] start_timeout",
        )

    async def leave(self, seconds: float) -> BaseException | None:
        """Close what the plugin opened, within this many seconds; what takes longer is cancelled, then left behind.

        Return what failed, or `None`.
        """
        if self._task is None or self._task.done():
            return self._error
        self._leave.set()
        await asyncio.wait({self._task}, timeout=seconds)
        if not self._task.done():
            log.error("the lifespan of a plugin does not end; it is cut off", **self._named)
            await self._abandon()
        return self._error

    @property
    def _named(self) -> dict[str, str]:
        return {"plugin": self._plugin, "lifespan": self._lifespan.name}

    async def _live(self) -> None:
        try:
            async with self._lifespan.enter():
                self._entered.set()
                await self._leave.wait()
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
            self._error = error

    async def _abandon(self) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=_CANCEL_SECONDS)

    def _ended(self, _task: asyncio.Task[None]) -> None:
        if self._error is not None:
            log.error("the lifespan of a plugin failed", **self._named, error=one_line(self._error))
        elif not self._leave.is_set():
            log.error("the lifespan of a plugin ended while the server ran", **self._named)


_PLUGINS_FETCH_AT_ONCE: Final = 32
"""So many that a few slow servers do not keep everybody else's images waiting."""


_LIFESPAN_SECONDS: Final = 2.0
"""What a lifespan gets to end where the time for calls in flight is used up."""


class Host:
    """A running host. `start` opens everything, `close` lets go of it in reverse.

    `pipeline`, `services`, `database`, `accounts`, `authorization_server` and `jobs` are there between the two, and
    `identity_provider` where the operator named one. `failures` are what lifespans of plugins raised after they began.
    """

    def __init__(self, compiled: LoadedApp) -> None:
        self.settings = compiled.settings
        self.compiled = compiled
        self.identity_provider: IdentityProvider | None = None
        self.failures: list[BaseException] = []
        self._deadline: float | None = None
        self._leaving = False
        self._open = AsyncExitStack()
        self._internal_calls = InternalCalls()

    @property
    def leaving(self) -> bool:
        """Whether the host is about to stop: nothing new should be sent to it."""
        return self._leaving

    @property
    def time_left(self) -> float:
        """The seconds that calls in flight still have before the host stops without them."""
        return self.settings.server.shutdown_timeout if self._deadline is None else max(0, self._deadline - monotonic())

    def leave(self) -> None:
        """Say on `/readyz` that the host is about to stop, and keep serving."""
        self._leaving = True

    def drain(self) -> None:
        """Begin to stop: from now on counts the time that the operator gives to calls in flight."""
        self._leaving = True
        if self._deadline is None:
            self._deadline = monotonic() + self.settings.server.shutdown_timeout

    async def start(self) -> None:
        """Enter the plugins' lifespans, open the backends and start the executors.

        A plugin whose lifespan fails is taken out. Raises `ConfigError` or `BackendError` where the host itself cannot
        work; everything that was open is closed again then.
        """
        async with AsyncExitStack() as opened:
            await self._open_database(opened)
            await self._open_identity_provider(opened)
            await self._enter_lifespans(opened)
            self.services = await self._services(opened)
            self.pipeline = Pipeline(self.services)
            self._internal_calls.begin(self.pipeline, self.services.files)
            opened.push_async_callback(self._settle)
            self.jobs.retain(one.record.kind for one in self.compiled.plugins.contributions.of(Job))
            await self.jobs.open()
            opened.push_async_callback(self._close_jobs)
            self._open = opened.pop_all()

    async def close(self) -> None:
        """Finish what is under way, within the operator's time, and let go of everything."""
        self.drain()
        await self._open.aclose()

    async def _close_executors(self, executors: Executors) -> None:
        await executors.close(self.time_left)

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
        self.database_probe = DatabaseProbe(self.database.ask, self.database.name)
        await make_schema_current(compiled, self.database)
        await check_keys(compiled, self.database)
        self.accounts = AccountServices(settings, self.database)
        self.accounts.know_plans(compiled.plan_summary)
        self.accounts.stored.know_kinds(compiled.storage_kinds)
        secret = signing_secret(settings)
        self.authorization_server = AuthorizationServer(settings, self.database, self.accounts, secret)
        kinds = (one.record for one in compiled.plugins.contributions.of(Job))
        self.jobs = JobQueue(self.database, kinds, settings.jobs)
        fetcher = GuardedFetcher(
            concurrency=_PLUGINS_FETCH_AT_ONCE,
            fair=True,
            anonymous_bytes=settings.fetch.anonymous_bytes,
            private_networks=settings.fetch.private_networks,
        )
        setup = compiled.plugins.worker_setup if settings.executors.start_plugin_processes else ()
        workers = self._workers = WorkerPool(settings.executors, settings.graphics.fonts, setup)
        parts: tuple[OpenableStore, ...] = (self.accounts, self.authorization_server, fetcher, workers)
        for part in parts:
            await part.open()
            opened.push_async_callback(part.close)
        compiled.plugins.services.fill(self.database, *parts, self.accounts.stored, self.jobs, self._internal_calls)

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
            running = RunningLifespan(contribution.plugin, contribution.record)
            failure = await running.enter(self.settings.server.start_timeout)
            if failure is None:
                opened.push_async_callback(self._leave, running)
            else:
                self.compiled.drop(contribution.plugin, failure)

    async def _leave(self, running: RunningLifespan) -> None:
        failure = await running.leave(self.time_left + _LIFESPAN_SECONDS)
        if failure is not None:
            self.failures.append(failure)

    async def _services(self, opened: AsyncExitStack) -> Services:
        settings, compiled = self.settings, self.compiled
        files, cache, limiter = await open_backends(compiled, opened)
        fonts = settings.graphics.fonts
        use_font_folders(fonts)
        executors = Executors(settings.executors, preload=tuple(self._worker_modules()), font_folders=fonts)
        await executors.start()
        if settings.executors.start_plugin_processes and compiled.plugins.worker_modules:
            self._workers.start()
        opened.push_async_callback(self._close_executors, executors)
        contributions = compiled.plugins.contributions
        metrics = Metrics(compiled.catalog.tools, executors, lambda: self.database_probe.up)
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
            authorizers=tuple(one.record for one in contributions.of(Authorizer)),
            observers=tuple(one.record for one in contributions.of(Observer)),
            brand=compiled.brand_block(),
            files=files,
            cache=cache,
            limiter=limiter,
            executors=executors,
            metrics=metrics,
            quotas=self.accounts.quotas,
            client_requests=self.accounts.client_requests,
        )

    def _worker_modules(self) -> set[str]:
        """Return the modules that worker processes import before their first call."""
        tools = self.compiled.catalog.tools.values()
        of_tools = {tool.declaration.reference.partition(":")[0] for tool in tools if tool.executor == "process"}
        return of_tools | self.compiled.plugins.worker_modules
