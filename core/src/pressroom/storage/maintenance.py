"""Prune the embedded storage while the server runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta

import structlog

from pressroom.config.models import StorageSettings
from pressroom.errors import BackendError
from pressroom.sdk import FileStore

log = structlog.get_logger()


@asynccontextmanager
async def prune_regularly(files: FileStore, settings: StorageSettings) -> AsyncIterator[None]:
    """Prune the store in the background, at once and then at the configured interval, until the block ends."""
    task = asyncio.get_running_loop().create_task(_prune_for_ever(files, settings))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _prune_for_ever(files: FileStore, settings: StorageSettings) -> None:
    while True:
        oldest = datetime.now(UTC) - timedelta(seconds=settings.retention)
        try:
            pruned = await files.prune(older_than=oldest, max_bytes=settings.max_total_bytes)
        except BackendError as error:
            log.warning("old files could not be removed", error=error.message, hint=error.hint)
        else:
            if pruned.removed_files:
                log.info("removed old files", files=pruned.removed_files, bytes=pruned.removed_bytes)
        await asyncio.sleep(settings.prune_interval)
