"""The nightly work: fetching the days that are missing or were not final, the newest first."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from pressroom.sdk import BackendError, Job, JobRun, NotFound, PluginContext, Rejected
from pressroom_content.contract import (
    Grain,
    SearchLimited,
    SearchQuery,
    SearchRow,
    SearchSource,
    SiteError,
    content_services,
)

from pressroom_search_performance.connecting.store import Connections
from pressroom_search_performance.days import next_night, span, today
from pressroom_search_performance.figures.lease import Lease, LeaseLost, claim, due, release
from pressroom_search_performance.figures.store import settled_days, write_day
from pressroom_search_performance.host import config_of, sources_of

JOB: Final = "search_performance.fetch"
SWEEP: Final = "search_performance.fetch_due"
RESEAL: Final = "search_performance.reseal"
_DAY: Final = 86_400.0
_MAX_ERROR_LENGTH: Final = 1000
_MAX_DAY_ROWS: Final = 25_000
_AWAY: Final = timedelta(hours=1)
_REJECTED: Final = timedelta(days=1)


def jobs(plugin: PluginContext) -> Sequence[Job]:
    """Return the jobs: fetching one connection, finding those that are due, and encrypting with the newest key."""

    async def fetch(run: JobRun) -> Mapping[str, Any]:
        days, more = await fetch_connection(plugin, str(run.payload["connection_id"]), run)
        if more:
            await wake(plugin, str(run.payload["connection_id"]), run.subject)
        return {"days": days}

    async def sweep(_run: JobRun) -> Mapping[str, Any]:
        return {"due": await fetch_due(plugin)}

    async def reseal(_run: JobRun) -> Mapping[str, Any]:
        return {"encrypted_anew": await Connections(plugin).reseal()}

    every = float(config_of(plugin).sweep_seconds)
    return [
        Job(JOB, fetch, attempts=2, lease=60, timeout=3600),
        Job(SWEEP, sweep, every=every),
        Job(RESEAL, reseal, every=_DAY),
    ]


async def fetch_due(plugin: PluginContext) -> int:
    """Have every connection that is due fetched, and return how many there are."""
    found = await due(plugin)
    for connection_id, user_id in found:
        await wake(plugin, connection_id, user_id)
    return len(found)


async def wake(plugin: PluginContext, connection_id: str, user_id: str) -> None:
    """Have a connection fetched at once, if it is due. The lease sees to it that one process does."""
    await plugin.services.jobs.enqueue(JOB, {"connection_id": connection_id}, subject=user_id)


async def fetch_connection(plugin: PluginContext, connection_id: str, run: JobRun | None = None) -> tuple[int, bool]:
    """Fetch a slice of the days of a connection that is due; return how many days were, and if there are more to do.

    Where a quota is used up, the source is away or rejects the credential, the rest waits for a later run; nothing of
    what was fetched is lost. Returns 0 where somebody else fetches it.
    """
    lease = await claim(plugin, connection_id)
    if lease is None:
        return 0, False
    work = _Work(plugin, lease, run)
    now = datetime.now(UTC)
    noted: dict[str, Any] = {"due_at": now + _AWAY, "last_error": "the fetch failed inside", "last_error_at": now}
    try:
        noted = await work.fetch()
    except LeaseLost:
        return work.days, False
    except asyncio.CancelledError:
        noted = {"due_at": now}
        raise
    except SearchLimited as error:
        noted = {"due_at": datetime.now(UTC) + timedelta(seconds=error.retry_after)}
    except (Rejected, SiteError) as error:
        noted = {"due_at": now + _REJECTED, "status": "error", **_error(error.message)}
    except BackendError as error:
        noted = {"due_at": now + _AWAY, **_error(error.message)}
    finally:
        await asyncio.shield(release(plugin, lease, **noted))
    return work.days, work.more


def _error(message: str) -> dict[str, Any]:
    return {"last_error": message.replace("\0", "")[:_MAX_ERROR_LENGTH], "last_error_at": datetime.now(UTC)}


class _Work:
    """One slice of one connection."""

    def __init__(self, plugin: PluginContext, lease: Lease, run: JobRun | None) -> None:
        self.days = 0
        self.more = False
        self._plugin = plugin
        self._lease = lease
        self._run = run
        self._config = config_of(plugin)

    async def fetch(self) -> dict[str, Any]:
        """Fetch, and return what is to be noted of the connection."""
        lease = self._lease
        try:
            await content_services(self._plugin).websites.get(lease.user_id, lease.website_id)
        except NotFound:  # it was disconnected: what is there stays until it is connected again
            return {"due_at": datetime.now(UTC) + _REJECTED}
        source = sources_of(self._plugin).get(lease.source)
        if source is None:
            raise BackendError(f"no plugin of this server reads {lease.source}")
        connection = (await Connections(self._plugin).of(lease.user_id, lease.website_id)).get(lease.source)
        if connection is None or connection.id != lease.connection_id:
            raise LeaseLost
        credential = await Connections(self._plugin).credential(connection)
        incomplete = await self._first_incomplete(source, credential)
        wanted = await self._wanted()
        todo = wanted[: self._config.slice_days]
        for number, (day, search_type) in enumerate(todo):
            await self._fetch_day(source, credential, day, search_type, final=day < incomplete)
            if self._run is not None:
                await self._run.progress((number + 1) / len(todo), f"{day.isoformat()} of {source.title}")
        now = datetime.now(UTC)
        self.more = len(wanted) > len(todo)
        due_at = now if self.more else next_night(lease.connection_id, now)
        noted = {"due_at": due_at, "fetched_at": now, "status": "active", "last_error": "", "last_error_at": None}
        return noted if self.more else {**noted, "round_at": None}

    async def _first_incomplete(self, source: SearchSource, credential: Mapping[str, str]) -> date:
        if source.first_incomplete is None:
            return today() - timedelta(days=source.lag_days - 1)
        return await source.first_incomplete(self._lease.site_url, credential, self._plugin.services.fetcher)

    async def _wanted(self) -> list[tuple[date, str]]:
        """Return the days to fetch, newest first. The present day is left out: it has hardly begun."""
        last = today() - timedelta(days=1)
        first = today() - timedelta(days=self._config.history_days)
        wanted: list[tuple[date, str]] = []
        for search_type in self._config.search_types:
            settled = await settled_days(self._plugin, self._lease.connection_id, search_type, self._lease.round_at)
            wanted += [(day, search_type) for day in span(first, last) if day not in settled]
        return sorted(wanted, key=lambda one: (-one[0].toordinal(), one[1]))

    async def _fetch_day(
        self, source: SearchSource, credential: Mapping[str, str], day: date, search_type: Any, *, final: bool
    ) -> None:
        rows: dict[Grain, list[SearchRow]] = {}
        truncated = False
        for grain in source.grains:
            # Totals come from these few rows, so none of them may be missing.
            most = _MAX_DAY_ROWS if grain == "day" else self._config.max_rows
            query = SearchQuery(self._lease.site_url, day, search_type, grain, most)
            found = source.rows(query, credential, self._plugin.services.fetcher)
            rows[grain] = [row async for row in found][:most]
            truncated = truncated or len(rows[grain]) >= most
        await write_day(self._plugin, self._lease, day, search_type, rows, final=final, truncated=truncated)
        self.days += 1
