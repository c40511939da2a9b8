"""The nightly fetch of days that are missing or were not final, newest first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, TypeAlias

from pressroom.sdk import (
    BackendError,
    Job,
    JobRun,
    Lease,
    LeaseLost,
    NotFound,
    PluginContext,
    PluginError,
    Rejected,
    Reschedule,
)
from pressroom_content.contract import (
    Grain,
    SearchLimited,
    SearchQuery,
    SearchRow,
    SearchSource,
    SiteError,
    content_services,
)

from pressroom_search_performance.config import SearchPerformanceConfig
from pressroom_search_performance.connecting.store import SourceConnections
from pressroom_search_performance.figures.store import (
    ConnectionGone,
    FetchRound,
    begin_round,
    due,
    lock_of,
    note_round,
    settled_days,
    write_day,
)
from pressroom_search_performance.host import sources_of
from pressroom_search_performance.sources.google import next_night, span, today

JOB: Final = "search_performance.fetch"
SWEEP: Final = "search_performance.fetch_due"
RESEAL: Final = "search_performance.reseal"
_DAY: Final = 86_400.0
_MAX_ERROR_LENGTH: Final = 1000
_MAX_DAY_ROWS: Final = 25_000
_RETRY_AFTER_OUTAGE: Final = timedelta(hours=1)
_REJECTED: Final = timedelta(days=1)
_MANY: Final = 1000
_LEASE_SECONDS: Final = 60.0

Progress: TypeAlias = Callable[[float, str], Awaitable[None]]
"""Callback for the progress of a fetch: a fraction from 0 to 1, and a message for people."""


def jobs(plugin: PluginContext[SearchPerformanceConfig]) -> Sequence[Job]:
    """Return the jobs: fetch one connection, find those that are due, and re-encrypt with the newest key."""

    async def fetch(run: JobRun) -> Mapping[str, Any] | Reschedule:
        days, more = await fetch_connection(plugin, str(run.payload["connection_id"]), run, run.progress)
        # Give other jobs a turn between two slices.
        return Reschedule(datetime.now(UTC)) if more else {"days": days}

    def lock(payload: Mapping[str, Any]) -> str:
        return lock_of(str(payload["connection_id"]))

    async def sweep(_run: JobRun) -> Mapping[str, Any]:
        return {"due": await fetch_due(plugin)}

    async def reseal(_run: JobRun) -> Mapping[str, Any]:
        return {"encrypted_anew": await SourceConnections(plugin).reseal()}

    interval = float(plugin.config.sweep_seconds)
    return [
        # A killed process costs an attempt; days fetched before that are kept.
        Job(JOB, fetch, attempts=_MANY, lease=_LEASE_SECONDS, timeout=3600, lock=lock),
        Job(SWEEP, sweep, every=interval),
        Job(RESEAL, reseal, every=_DAY),
    ]


async def fetch_due(plugin: PluginContext[SearchPerformanceConfig]) -> int:
    """Enqueue a fetch for every connection that is due, and return their number."""
    connections = await due(plugin)
    for connection_id, user_id, due_at in connections:
        await wake(plugin, connection_id, user_id, due_at)
    return len(connections)


async def wake(
    plugin: PluginContext[SearchPerformanceConfig], connection_id: str, user_id: str, due_at: datetime
) -> None:
    """Enqueue a fetch for a connection. The key makes it one job for each `due_at`."""
    payload, key = {"connection_id": connection_id}, f"{connection_id}:{due_at.timestamp():.6f}"
    await plugin.services.jobs.enqueue(JOB, payload, subject=user_id, key=key)


async def fetch_connection(
    plugin: PluginContext[SearchPerformanceConfig], connection_id: str, lease: Lease, progress: Progress | None = None
) -> tuple[int, bool]:
    """Fetch a slice of the days of a due connection; return the number of days, and whether there are more.

    `lease` is that of the connection's lock. If a quota is used up, or the source is unavailable or rejects the
    credential, the rest waits for a later run, and the days fetched so far are kept. Returns 0 if the connection is not
    due.

    Raises `LeaseLost` if another process has taken over.
    """
    fetch_round = await begin_round(plugin, connection_id, lease)
    if fetch_round is None:
        return 0, False
    work = _Work(plugin, fetch_round, lease, progress)
    now = datetime.now(UTC)
    columns: dict[str, Any] = {
        "due_at": now + _RETRY_AFTER_OUTAGE,
        "last_error": "the fetch failed with an internal error",
        "last_error_at": now,
    }
    try:
        columns = await work.fetch()
    except (LeaseLost, asyncio.CancelledError):
        columns = {}  # the process that takes over continues immediately
        raise
    except ConnectionGone:
        columns = {}
    except SearchLimited as error:
        columns = {"due_at": datetime.now(UTC) + timedelta(seconds=error.retry_after)}
    except (Rejected, SiteError) as error:
        columns = {"due_at": now + _REJECTED, "status": "error", **_error(error.message)}
    except BackendError as error:
        columns = {"due_at": now + _RETRY_AFTER_OUTAGE, **_error(error.message)}
    finally:
        if columns:
            await asyncio.shield(note_round(plugin, connection_id, lease, columns))
    return work.days, work.more


def _error(message: str) -> dict[str, Any]:
    return {"last_error": message.replace("\0", "")[:_MAX_ERROR_LENGTH], "last_error_at": datetime.now(UTC)}


class _Work:
    """The fetch of one slice of a connection's days."""

    def __init__(
        self,
        plugin: PluginContext[SearchPerformanceConfig],
        fetch_round: FetchRound,
        lease: Lease,
        progress: Progress | None,
    ) -> None:
        self.days = 0
        self.more = False
        self._plugin = plugin
        self._round = fetch_round
        self._lease = lease
        self._progress = progress
        self._config = plugin.config

    async def fetch(self) -> dict[str, Any]:
        """Fetch the slice, and return the column values to store on the connection."""
        fetch_round = self._round
        try:
            await content_services(self._plugin).websites.get(fetch_round.user_id, fetch_round.website_id)
        except NotFound:  # the website was disconnected: keep its figures in case it is connected again
            return {"due_at": datetime.now(UTC) + _REJECTED}
        source = sources_of(self._plugin).get(fetch_round.source)
        if source is None:
            raise BackendError(f"no plugin of this server reads {fetch_round.source}")
        connection = (await SourceConnections(self._plugin).of(fetch_round.user_id, fetch_round.website_id)).get(
            fetch_round.source
        )
        if connection is None or connection.id != fetch_round.connection_id:
            raise ConnectionGone(fetch_round.connection_id)
        credential = await SourceConnections(self._plugin).credential(connection)
        incomplete = await self._first_incomplete(source, credential)
        pending = await self._pending_days()
        todo = pending[: self._config.slice_days]
        for number, (day, search_type) in enumerate(todo):
            await self._fetch_day(source, credential, day, search_type, final=day < incomplete)
            if self._progress is not None:
                await self._progress((number + 1) / len(todo), f"{day.isoformat()} of {source.title}")
        now = datetime.now(UTC)
        self.more = len(pending) > len(todo)
        columns = {"fetched_at": now, "status": "active", "last_error": "", "last_error_at": None}
        # The connection stays due while there are days left to fetch.
        return (
            columns
            if self.more
            else {**columns, "due_at": next_night(fetch_round.connection_id, now), "round_at": None}
        )

    async def _first_incomplete(self, source: SearchSource, credential: Mapping[str, str]) -> date:
        if source.first_incomplete is None:
            return today() - timedelta(days=source.lag_days - 1)
        with self._bound(source):
            return await source.first_incomplete(self._round.site_url, credential, self._plugin.services.fetcher)

    @contextmanager
    def _bound(self, source: SearchSource) -> Iterator[None]:
        """Limit the time of a source, and turn a timeout into `BackendError`. Other exceptions pass through."""
        operation, seconds = f"search source {source.name}", self._config.source_seconds
        try:
            with self._plugin.extensions.calling(operation, source, passes=(Exception,), seconds=seconds):
                yield
        except PluginError as error:
            if isinstance(error.__cause__, TimeoutError):
                raise BackendError(f"{source.title} did not respond within {seconds:g} s") from error
            raise

    async def _pending_days(self) -> list[tuple[date, str]]:
        """Return the days to fetch, newest first, without today, which has hardly begun."""
        last = today() - timedelta(days=1)
        first = today() - timedelta(days=self._config.history_days)
        days: list[tuple[date, str]] = []
        for search_type in self._config.search_types:
            settled = await settled_days(self._plugin, self._round.connection_id, search_type, self._round.round_at)
            days += [(day, search_type) for day in span(first, last) if day not in settled]
        return sorted(days, key=lambda entry: (-entry[0].toordinal(), entry[1]))

    async def _fetch_day(
        self, source: SearchSource, credential: Mapping[str, str], day: date, search_type: Any, *, final: bool
    ) -> None:
        rows: dict[Grain, list[SearchRow]] = {}
        truncated = False
        for grain in source.grains:
            # Totals are computed from these few rows, so none can be left out.
            max_rows = _MAX_DAY_ROWS if grain == "day" else self._config.max_rows
            query = SearchQuery(self._round.site_url, day, search_type, grain, max_rows)
            stream = source.rows(query, credential, self._plugin.services.fetcher)
            with self._bound(source):
                rows[grain] = [row async for row in stream][:max_rows]
            truncated = truncated or len(rows[grain]) >= max_rows
        await write_day(
            self._plugin,
            self._round.connection_id,
            self._lease,
            day,
            search_type,
            rows,
            final=final,
            truncated=truncated,
        )
        self.days += 1
