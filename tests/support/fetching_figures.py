"""Fetch a connection's figures under its lock, as the job does."""

from __future__ import annotations

from pressroom.sdk import LockTaken, PluginContext
from pressroom_search_performance.figures.fetching import fetch_connection
from pressroom_search_performance.figures.store import lock_of


async def fetch_slice(plugin: PluginContext, connection_id: str) -> tuple[int, bool]:
    """Fetch a slice, and return the number of days and whether more remain; `(0, False)` if the lock is taken."""
    try:
        async with plugin.services.jobs.lock(lock_of(connection_id)) as lease:
            return await fetch_connection(plugin, connection_id, lease)
    except LockTaken:
        return 0, False
