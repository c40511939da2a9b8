"""Opening what the operator named: the schema of the database, and the stores of files, cache and limits."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any, Protocol

import structlog

from pressroom.compiled import Compiled, backend_failures
from pressroom.plugins.select import HOST_ID
from pressroom.sdk import CacheIndex, FileStore, Limiter
from pressroom.sdk.shared import BackendKind
from pressroom.storage.database import Migrator, SchemaError, SqlDatabase

log = structlog.get_logger()


class Openable(Protocol):
    """What has to be opened before it is used, and closed after."""

    async def open(self) -> None:
        """Connect, or make ready."""

    async def close(self) -> None:
        """Let go of everything."""


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
    store: Openable = compiled.backend(kind, name, key)
    stack.push_async_callback(store.close)
    with backend_failures(kind, name):
        await store.open()
    return store
