"""Opening what the operator named: the schema of the database, and the stores of files, cache and limits."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any, Final, Protocol

import structlog

from pressroom.errors import BackendError
from pressroom.host.loaded_app import LoadedApp, backend_failures
from pressroom.plugins.select import HOST_ID
from pressroom.sdk import CacheIndex, FileStore, Limiter
from pressroom.sdk.shared import BackendKind
from pressroom.storage.database import Migrator, SchemaError, SchemaMismatch, SqlDatabase

log = structlog.get_logger()


_CLOSE_SECONDS: Final = 5.0


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
        try:
            await _make_current(migrator, database, plugin)
        except SchemaError as error:
            if plugin == HOST_ID:
                raise
            if isinstance(error, SchemaMismatch):
                compiled.schema_mismatches[plugin] = (error.current, error.wanted)
            compiled.drop(plugin, error)


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


async def open_backends(compiled: LoadedApp, stack: AsyncExitStack) -> tuple[FileStore, CacheIndex, Limiter]:
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


async def _opened(stack: AsyncExitStack, compiled: LoadedApp, kind: BackendKind, name: str, key: str) -> Any:
    store: OpenableStore = compiled.backend(kind, name, key)
    stack.push_async_callback(_closed, store, kind, name)
    seconds = compiled.settings.server.start_timeout
    scope = asyncio.timeout(seconds)
    try:
        with backend_failures(kind, name):
            async with scope:
                await store.open()
    except BackendError as error:
        if not scope.expired():
            raise
        raise BackendError(
            f"the {kind} backend {name!r} did not open within {seconds:g} s",
            hint="see what it waits for, or give it more time with [server] start_timeout",
        ) from error
    return store


async def _closed(store: OpenableStore, kind: BackendKind, name: str) -> None:
    try:
        async with asyncio.timeout(_CLOSE_SECONDS):
            await store.close()
    except TimeoutError:
        log.error("a backend does not close; it is left behind", kind=kind, backend=name, seconds=_CLOSE_SECONDS)  # noqa: TRY400 - where it waits says nothing
