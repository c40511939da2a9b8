"""The plugins of a host, the catalog compiled from them, and their running lifespans."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import orjson
import structlog

from pressroom.accounts.records import PlanSummary
from pressroom.catalog.compile import compile_catalog
from pressroom.catalog.reserved_paths import shadowed_host_path
from pressroom.catalog.tool import Catalog
from pressroom.config import Origins, Settings
from pressroom.errors import BackendError, ConfigError, PressroomError
from pressroom.gate import PluginCall, PluginFailed, PluginGate
from pressroom.gate.deadlines import CANCEL_SECONDS
from pressroom.gate.plugin_gate import BLOCKED_GRACE
from pressroom.plugins.contributions import Contribution
from pressroom.plugins.discovery import HOST_ID
from pressroom.plugins.load import LoadedPlugins, load_plugins
from pressroom.plugins.template_folder import TemplateFolder
from pressroom.sdk import (
    Authenticator,
    Backend,
    Brander,
    Branding,
    CacheIndex,
    CacheRule,
    CallMiddleware,
    FileStore,
    Lifespan,
    Limiter,
    Models,
    RateLimit,
    Route,
    StorageKind,
)
from pressroom.sdk.shared import BackendKind
from pressroom.validation.echo import nearest

if TYPE_CHECKING:
    from pressroom.storage.database import Migrator, SqlDatabase

log = structlog.get_logger()

_PROTOCOLS: Final[Mapping[BackendKind, type[Any]]] = {"files": FileStore, "cache": CacheIndex, "limits": Limiter}

SLOW_SECONDS: Final = 5.0
"""How many seconds a plugin can take to start before the log names it."""

_START_HINT: Final = "see what it waits for, or give it more time with [server] start_timeout"


class LoadedApp:
    """Plugins and the catalog compiled from them, which is enough for commands that serve nothing.

    All calls into the plugins pass through `gate`. `templates` holds the operator's replacements for page templates.
    `schema_mismatches` maps plugins that were dropped because of the version of their tables to the revision in the
    database and the one that this version needs.
    """

    def __init__(self, settings: Settings, origins: Origins | None = None) -> None:
        self.settings = settings
        self.gate = PluginGate()
        self.gate.traces = settings.logging.level == "debug"
        self._brand: Mapping[str, Any] | None = None
        self.origins = origins or Origins()
        self.templates = TemplateFolder(settings.branding)
        loaded = load_plugins(settings, origins, gate=self.gate, templates=self.templates)
        self.plugins: LoadedPlugins = _without_taken_paths(loaded)
        self.catalog = self._compile()
        self.branding = branding(settings)
        self.schema_mismatches: dict[str, tuple[str, str]] = {}

    def drop(self, plugin: str, error: BaseException) -> None:
        """Remove a plugin that failed after it was loaded, and compile the rest again."""
        if isinstance(error, PluginFailed):
            self.gate.report(error)
        else:
            self.gate.note(PluginCall(plugin, "start"), "failed", error)
        self.plugins = self.plugins.without(plugin, "lifespan", error)
        self.catalog = self._compile()

    def failures_of_plugins(self) -> Mapping[tuple[str, str, str], int]:
        """Return the number of failures by plugin, extension point and reason."""
        return {(plugin, point, reason): count for (plugin, point, reason), count in self.gate.failures.items()}

    def failures_of_templates(self) -> Mapping[str, int]:
        """Return how often each of the operator's templates failed to render."""
        return dict(self.templates.failures)

    def active_plugins(self) -> Mapping[str, bool]:
        """Return whether each enabled plugin works."""
        switched_on = (record for record in self.plugins.records if record.status == "active" or record.failed)
        return {record.id: record.status == "active" for record in switched_on}

    def plan_summary(self, plan: str) -> PlanSummary:
        """Return the summary of a plan for its accounts."""
        return self.catalog.summary(plan)

    def storage_kinds(self) -> Sequence[StorageKind]:
        """Return the kinds of data that the active plugins store for accounts."""
        return [contribution.record for contribution in self.plugins.contributions.of(StorageKind)]

    def brand_block(self) -> Mapping[str, Any]:
        """Return the promotional block of the configured brander.

        Raises:
            ConfigError: no active plugin offers that brander.
            PluginFailed: the brander failed, or returned something other than a JSON object.
        """
        if self._brand is not None:
            return self._brand
        name = self.settings.branding.brander
        branders = {contribution.record.name: contribution for contribution in self.plugins.contributions.of(Brander)}
        if name not in branders:
            raise _unknown("branding.brander", name, branders)
        return self._block(branders[name])

    def brand_block_at_start(self) -> Mapping[str, Any]:
        """Return the promotional block. If its brander fails, remove the plugin and use the host's own brander.

        Raises:
            ConfigError: no plugin offers the configured brander.
        """
        try:
            self._brand = self.brand_block()
        except PluginFailed as failure:
            if failure.call.plugin == HOST_ID:
                raise
            self.drop(failure.call.plugin, failure)
            branders = self.plugins.contributions.of(Brander)
            self._brand = self._block(next(contribution for contribution in branders if contribution.plugin == HOST_ID))
        return self._brand

    def _block(self, brander: Contribution[Brander]) -> Mapping[str, Any]:
        call = PluginCall(brander.plugin, "brander", brander.record.name)
        with self.gate.loading(call, self.settings.server.start_timeout):
            block = dict(brander.record.block(self.branding))
            orjson.dumps(block)
        return block

    def check_choices(self) -> None:
        """Check that the configured rate limit, cache rule and middleware exist.

        Raises:
            ConfigError: no active plugin offers one of them.
        """
        contributions = self.plugins.contributions
        configured: tuple[tuple[str, str, type[RateLimit | CacheRule]], ...] = (
            ("limits.default_limit", self.settings.limits.default_limit, RateLimit),
            ("cache.default_rule", self.settings.cache.default_rule, CacheRule),
        )
        for key, name, record_type in configured:
            by_name = {contribution.record.name: contribution.record for contribution in contributions.of(record_type)}
            if name not in by_name:
                raise _unknown(key, name, by_name)
        self.middleware()

    def middleware(self) -> tuple[Contribution[CallMiddleware], ...]:
        """Return the middleware of plugins, outermost first.

        Raises:
            ConfigError: no active plugin offers a configured one.
        """
        # Names are unique, and contributions are in the order of plugin id.
        by_name = {
            contribution.record.name: contribution for contribution in self.plugins.contributions.of(CallMiddleware)
        }
        configured = dict.fromkeys(self.settings.middleware.order)
        for name in configured:
            if name not in by_name:
                raise _unknown("middleware.order", name, by_name)
        return tuple(by_name[name] for name in (*configured, *(name for name in by_name if name not in configured)))

    def backend(self, kind: BackendKind, name: str, key: str) -> Any:
        """Return a new instance of the backend that is configured under `key`.

        Raises:
            ConfigError: no active plugin offers that backend.
            BackendError: it cannot be created, or lacks a method of its protocol.
        """
        backends = {
            contribution.record.name: contribution.record
            for contribution in self.plugins.contributions.of(Backend)
            if contribution.record.kind == kind
        }
        if name not in backends:
            # The S3 backend is chosen by a bucket URL rather than by its name.
            offered = ["s3://bucket/prefix" if (kind, backend) == ("files", "s3") else backend for backend in backends]
            raise _unknown(key, name, offered)
        call = PluginCall(self.backend_owner(kind, name), "backend", f"{kind} {name}")
        try:
            with self.gate.loading(call, self.settings.server.start_timeout):
                backend = backends[name].factory(self.settings)
        except PluginFailed as failure:
            if isinstance(failure.cause, PressroomError):
                raise failure.cause from None
            raise BackendError(f"the {kind} backend {name!r} failed: {failure.message}") from failure
        protocol = _PROTOCOLS.get(kind)
        if protocol is not None and not isinstance(backend, protocol):
            raise BackendError(f"the {kind} backend {name!r} is no {protocol.__name__}: {type(backend).__name__}")
        return backend

    def backend_owner(self, kind: BackendKind, name: str) -> str:
        """Return the id of the plugin that offers a backend, or the host's id if there is no such backend."""
        backends = self.plugins.contributions.of(Backend)
        return next(
            (
                contribution.plugin
                for contribution in backends
                if (contribution.record.kind, contribution.record.name) == (kind, name)
            ),
            HOST_ID,
        )

    def models(self) -> list[tuple[str, Models]]:
        """Return the tables of the host, then of each plugin, as pairs of plugin id and contribution."""
        from pressroom.storage.database.tables import HOST_MODELS  # noqa: PLC0415 - SQLAlchemy, which most commands do without

        pairs = [(contribution.plugin, contribution.record) for contribution in self.plugins.contributions.of(Models)]
        return [(HOST_ID, HOST_MODELS), *sorted(pairs, key=itemgetter(0))]

    def migrator(self, database: SqlDatabase) -> Migrator:
        """Return the migrator for the schemas of the host and of each plugin."""
        from pressroom.storage.database import Migrator  # noqa: PLC0415 - SQLAlchemy, which most commands do without

        return Migrator(database, self.models())

    def authenticators(self) -> tuple[Authenticator, ...]:
        """Return the authenticators in the order in which they are called.

        Raises:
            ConfigError: no active plugin offers a configured one.
        """
        by_name = {
            contribution.record.name: contribution.record
            for contribution in self.plugins.contributions.of(Authenticator)
        }
        configured = self.settings.auth.authenticators
        for name in configured:
            if name not in by_name:
                raise _unknown("auth.authenticators", name, by_name)
        return tuple(by_name[name] for name in (*configured, *sorted(by_name.keys() - set(configured))))

    def _compile(self) -> Catalog:
        while True:
            try:
                return compile_catalog(self.plugins.contributions, self.plugins.contexts, self.settings, self.gate)
            except PluginFailed as failure:
                plugin = failure.call.plugin
                if plugin not in {record.id for record in self.plugins.records}:
                    raise failure.cause from None
                self.plugins = self.plugins.without(plugin, "validate", failure)


def _without_taken_paths(plugins: LoadedPlugins) -> LoadedPlugins:
    """Remove the plugins with a route that would hide one of the host's own."""
    for contribution in plugins.contributions.of(Route):
        path = contribution.record.path
        host_path = shadowed_host_path(path)
        if host_path is not None and contribution in plugins.contributions.of(Route):
            description = host_path if host_path == path else f"{path}, as a part of {host_path},"
            plugins = plugins.without(
                contribution.plugin, "validate", ConfigError(f"the path {description} is served by the host itself")
            )
    return plugins


def branding(settings: Settings) -> Branding:
    """Return the operator's branding, with defaults for missing values."""
    configured, base_url = settings.branding, settings.public_url
    return Branding(
        key=configured.key,
        name=configured.name,
        tagline=configured.tagline,
        url=configured.url or base_url,
        mcp_url=f"{base_url}/api/mcp",
        docs_url=configured.docs_url or f"{base_url}/tools",
        accent=configured.accent,
        accent_dark=configured.accent_dark,
        logo_url=configured.logo_url,
    )


def _unknown(key: str, name: str, known: Collection[str]) -> ConfigError:
    similar = nearest(name, known)
    return ConfigError(
        f"{key}: there is no {name!r}",
        hint=f"did you mean {similar!r}?" if similar else f"known are {', '.join(sorted(known)) or 'none'}",
    )


class RunningLifespan:
    """The lifespan of one plugin, entered and exited in the same task, as task groups require.

    No exception reaches the host, not even `CancelledError` or another `BaseException`.
    """

    def __init__(self, gate: PluginGate, plugin: str, lifespan: Lifespan) -> None:
        self._gate = gate
        self._call = PluginCall(plugin, "lifespan", lifespan.name)
        self._lifespan = lifespan
        self._entered = asyncio.Event()
        self._leave = asyncio.Event()
        self._error: BaseException | None = None
        self._task: asyncio.Task[None] | None = None

    async def enter(self, seconds: float) -> None:
        """Enter the lifespan within `seconds`, even if it blocks the event loop.

        Raises:
            PluginFailed: it raised anything, or took too long.
        """
        self._task = asyncio.create_task(self._live(), name=f"{self._call} of {self._call.plugin}")
        entered = asyncio.create_task(self._entered.wait())
        started_at = time.monotonic()
        try:
            with self._gate.interrupting(self._call, seconds, RunningLifespan._live.__code__):
                await self._wait(entered, min(SLOW_SECONDS, seconds))
                if not self._entered.is_set() and not self._task.done():
                    log.warning("the server waits for a plugin to start", **self._named, at_most_seconds=seconds)
                    await self._wait(entered, max(0, seconds - SLOW_SECONDS))
        except asyncio.CancelledError:
            await self._abandon()
            raise
        finally:
            entered.cancel()
        in_time = time.monotonic() - started_at < seconds + BLOCKED_GRACE
        if self._entered.is_set() and in_time:
            self._task.add_done_callback(self._ended)
            return
        if not self._task.done():
            self._leave.set()  # in case it blocked the event loop and ignored the interruption
            await self._abandon()
            raise self._gate.late(self._call, seconds, verb="start", hint=_START_HINT)
        raise self._gate.failed(self._call, self._error or RuntimeError("it ended without a yield"), seconds)

    async def leave(self, seconds: float) -> BaseException | None:
        """Exit the lifespan within `seconds`; after that it is cancelled, and finally abandoned.

        Return the exception that it raised, or `None`.
        """
        if self._task is None or self._task.done():
            return self._error
        self._leave.set()
        await asyncio.wait({self._task}, timeout=seconds)
        if not self._task.done():
            self._gate.late(self._call, seconds)
            await self._abandon()
        return self._error

    @property
    def _named(self) -> dict[str, str]:
        return {"plugin": self._call.plugin, "lifespan": self._call.name}

    async def _wait(self, entered: asyncio.Task[bool], seconds: float) -> None:
        if self._task is not None:
            await asyncio.wait({self._task, entered}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)

    async def _live(self) -> None:
        try:
            async with self._lifespan.enter():
                self._entered.set()
                await self._leave.wait()
        except BaseException as error:  # noqa: BLE001 - a plugin can raise anything
            self._error = error

    async def _abandon(self) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=CANCEL_SECONDS)

    def _ended(self, _task: asyncio.Task[None]) -> None:
        if self._error is not None:
            self._gate.note(self._call, "failed", self._error)
        elif not self._leave.is_set():
            self._gate.note(self._call, "failed", f"{self._call} ended while the server ran")
