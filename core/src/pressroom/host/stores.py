"""Opening what the operator named: the schema of the database, and the stores of files, cache and limits."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import Any, Final, Protocol

import structlog

from pressroom.catalog.tool import Catalog
from pressroom.config.models import Settings
from pressroom.errors import BackendError, PressroomError
from pressroom.gate import PluginCall, PluginFailed, PluginGate
from pressroom.gate.wording import one_line
from pressroom.host.loaded_app import LoadedApp
from pressroom.plugins.gated import GatedBackend
from pressroom.plugins.select import HOST_ID
from pressroom.sdk import CacheIndex, FileStore, Generator, Limiter
from pressroom.sdk.shared import BackendKind
from pressroom.storage.database import Migrator, SchemaError, SchemaMismatch, SqlDatabase
from pressroom.storage.files import MediaTypes

log = structlog.get_logger()


_CLOSE_SECONDS: Final = 1.0
"""How long a store may take to close once nothing uses it any more; then it is left behind."""


_METHODS: Final[Mapping[BackendKind, Mapping[str, float]]] = {
    "files": {"write": 60, "read": 60, "stat": 10, "has": 10, "url": 10, "delete": 10, "prune": 3600},
    "cache": {"get": 5, "put": 5, "delete": 5},
    "limits": {"take": 5, "give_back": 5, "peek": 5},
}
"""How many seconds each call of a plugin's store may take."""


class OpenableStore(Protocol):
    """What has to be opened before it is used, and closed after."""

    async def open(self) -> None:
        """Connect, or make ready."""

    async def close(self) -> None:
        """Let go of everything."""


async def make_schema_current(compiled: LoadedApp, database: SqlDatabase) -> None:
    """Bring the schema of an embedded database up to date; one that many hosts share must be so already.

    A plugin whose tables cannot be used is taken out. Where they are those of another version, the host is not ready
    either: behind a load balancer it would answer that tools do not exist which other hosts have.

    Raises:
        BackendError: the host's own tables cannot be used, or the database failed.
    """
    migrator = compiled.migrator(database)
    for plugin in migrator.plugins:
        # A plugin that fell out took along those that need it.
        if plugin not in {id_ for id_, _ in compiled.models()}:
            continue
        if plugin == HOST_ID:
            await _make_current(migrator, database, plugin)
            continue
        call, seconds = PluginCall(plugin, "migration"), compiled.settings.server.start_timeout
        work = partial(_make_current, migrator, database, plugin)
        try:
            await compiled.gate.run(call, seconds, work, passes=(PressroomError,), interrupt=True)
        except SchemaError as error:
            if isinstance(error, SchemaMismatch):
                compiled.schema_mismatches[plugin] = (error.current, error.wanted)
            compiled.drop(plugin, error)
        except PluginFailed as failure:
            if failure.reason != "failed":
                failure.hint = "run `pressroom migrate`, which waits for as long as it takes, then start again"
            compiled.drop(plugin, failure)


async def _make_current(migrator: Migrator, database: SqlDatabase, plugin: str) -> None:
    if database.embedded:
        before = await migrator.upgrade(plugin)
        if before.behind:
            log.info("tables migrated", plugin=plugin, revision=before.wanted, before=before.current)
        return
    state = await migrator.state(plugin)
    if state.behind:
        current = state.current or "none"
        raise SchemaMismatch(
            f"the tables of {plugin} in {database.name} are not those of this version: they are at revision {current}, "
            f"and it needs {state.wanted}",
            current,
            state.wanted,
            hint="run `pressroom migrate`, then start again",
        )


def backend_names(settings: Settings) -> Mapping[BackendKind, str]:
    """Return the name of each backend that the operator chose: `auto` is Redis where one is configured, else memory."""
    shared = "memory" if settings.storage.redis is None else "redis"
    chosen: dict[BackendKind, str] = {"cache": settings.cache.backend, "limits": settings.limits.backend}
    return {
        "files": settings.storage.files_backend,
        **{kind: shared if name == "auto" else name for kind, name in chosen.items()},
    }


async def open_backends(compiled: LoadedApp, stack: AsyncExitStack) -> tuple[FileStore, CacheIndex, Limiter]:
    """Open the stores that the operator named; leaving `stack` closes them.

    Raises:
        ConfigError: no active plugin offers one of them.
        BackendError: one of them cannot be used.
    """
    names = backend_names(compiled.settings)
    return (
        await _opened(stack, compiled, "files", names["files"], "storage.files"),
        await _opened(stack, compiled, "cache", names["cache"], "cache.backend"),
        await _opened(stack, compiled, "limits", names["limits"], "limits.backend"),
    )


async def _opened(stack: AsyncExitStack, compiled: LoadedApp, kind: BackendKind, name: str, key: str) -> Any:
    call = PluginCall(compiled.backend_owner(kind, name), "backend", f"{kind} {name}")
    store: OpenableStore = compiled.backend(kind, name, key)
    stack.push_async_callback(_closed, store, call, compiled.gate)
    seconds = compiled.settings.server.start_timeout
    try:
        await compiled.gate.run(call, seconds, store.open, passes=(PressroomError,), interrupt=True)
    except PluginFailed as failure:
        if failure.reason == "failed":
            raise BackendError(f"the {kind} backend {name!r} failed: {one_line(failure.cause)}") from failure
        raise BackendError(
            f"the {kind} backend {name!r} did not open within {seconds:g} s",
            hint="see what it waits for, or give it more time with [server] start_timeout",
        ) from failure
    return store if call.plugin == HOST_ID else GatedBackend(store, call, compiled.gate, _METHODS[kind])


async def _closed(store: OpenableStore, call: PluginCall, gate: PluginGate) -> None:
    # Nobody is left to tell an error to: a plugin's is counted and logged, and nothing is lost with one of the host.
    passes = (PressroomError,) if call.plugin == HOST_ID else ()
    with suppress(PluginFailed, *passes):
        await gate.run(call, _CLOSE_SECONDS, store.close, passes=passes, interrupt=True)


def know_media_types(files: FileStore, catalog: Catalog) -> None:
    """Tell one of the host's own file stores which media types generators declare. Those of plugins keep each type."""
    known = getattr(files, "media_types", None)
    if isinstance(known, MediaTypes):
        for tool in catalog.tools.values():
            if isinstance(tool.declaration, Generator):
                known.declare(tool.name, tool.declaration.extensions)
