"""The audit trail: clients' tool calls, and changes that members of an account made on the dashboard."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from time import monotonic, time_ns
from typing import Any, Final, NamedTuple

import structlog
from sqlalchemy import ColumnElement, Select, delete, func, select, text

from pressroom.accounts.periodic import PeriodicTask
from pressroom.accounts.records import display_name
from pressroom.columns import as_id
from pressroom.config.account_models import AccountsSettings
from pressroom.errors import BackendError, InvalidInput
from pressroom.sdk import Activity, CallRecord
from pressroom.storage.database import SqlDatabase, insert_rows
from pressroom.storage.database.tables import ActivityRow, Base, ConnectionRow, UserRow
from pressroom.validation.echo import cut, printable

FLUSH_SECONDS: Final = 1.0
PRUNE_SECONDS: Final = 3600.0
MAX_WAITING: Final = 20_000
"""Number of calls that can wait while the database is unavailable; further calls are dropped and counted."""

BATCH: Final = 2000
"""Maximum number of calls written in one transaction."""

PRUNE_BATCH: Final = 500
MAX_PAGE_SIZE: Final = 200

LAST_USES_LIMIT: Final = 2000
"""Number of a connection's latest calls that `last_uses` searches."""

_MAX_PAGE_LENGTH: Final = 64
_MAX_WEBSITE_ID_LENGTH: Final = 64
_NO_CONNECTION: Final = "-"
"""A connection ID that matches no call."""

_TABLE: Final = Base.metadata.tables[ActivityRow.__tablename__]

log = structlog.get_logger()


class _QueuedActivity(NamedTuple):
    """A call that has not been written yet, with the columns of its row. `at` is in microseconds since 1970.

    For a change made by a member, the connection is the member's ID and the tool is the path of the dashboard page.
    Tool names never contain a slash.
    """

    user_id: str
    connection_id: str
    at: int
    tool: str
    code: str
    cached: bool
    duration: float
    address: str
    request_id: str
    website_id: str


@dataclass(frozen=True, slots=True)
class LastUses:
    """When a connection last used each tool, by MCP name.

    `is_complete` is false if the search limit was reached, so that older calls may be missing.
    """

    by_tool: Mapping[str, datetime]
    is_complete: bool


class ActivityLog:
    """Write accounts' calls in batches and delete old ones."""

    def __init__(self, database: SqlDatabase, settings: AccountsSettings) -> None:
        self._database = database
        self._retention = timedelta(seconds=settings.activity_retention)
        self._queue: deque[_QueuedActivity] = deque()
        self._flushing = asyncio.Lock()
        self._pruned_at = -PRUNE_SECONDS
        self._writer = PeriodicTask("writing the list of calls", FLUSH_SECONDS, self._tidy)

    async def open(self) -> None:
        """Start the background writer."""
        self._writer.start()

    async def close(self) -> None:
        """Stop the background writer after a last flush; log an error for calls that could not be written."""
        await self._writer.stop()
        if self._queue:
            log.error("calls are missing from the list of calls", calls=len(self._queue))

    def observe(self, record: CallRecord) -> None:
        """Queue a call that an account made over MCP. It is written with the next batch, about a second later.

        Raises `BackendError` if too many calls are already waiting for the database.
        """
        # Users known only to a plugin's authenticator have no account, and therefore no list of calls.
        user_id = as_id(record.caller.subject)
        if record.interface != "mcp" or not user_id or not record.mcp_name:
            return
        website_id = record.attributes.get("website_id", "")
        self._keep(
            _QueuedActivity(
                user_id,
                as_id(record.caller.connection),
                time_ns() // 1000,
                record.mcp_name,
                record.code[:32],
                record.cached,
                record.duration,
                record.caller.client_ip[:64],
                record.request_id[:128],
                _as_website_id(website_id) if website_id else "",
            )
        )

    def note_change(
        self, account: str, member: str, path: str, *, duration: float, client_ip: str, request_id: str
    ) -> None:
        """Queue a change that a member made in an account on the dashboard page at `path`.

        Raises `BackendError` if too many calls are already waiting for the database.
        """
        page, changed_at = cut(printable(path), _MAX_PAGE_LENGTH), time_ns() // 1000
        self._keep(
            _QueuedActivity(
                account, member, changed_at, page, "ok", False, duration, client_ip[:64], request_id[:128], ""
            )
        )

    def _keep(self, entry: _QueuedActivity) -> None:
        if len(self._queue) >= MAX_WAITING:
            raise BackendError("too many calls wait to be written to the list of calls")
        self._queue.append(entry)

    async def flush(self) -> None:
        """Write the calls that are waiting now, each exactly once. Raises `BackendError`; unwritten calls are kept.

        Calls that arrive meanwhile wait for the next flush. Otherwise, steady traffic would keep this loop busy
        forever, with a transaction for every few calls.
        """
        async with self._flushing:
            await self._flush(len(self._queue))

    async def _flush(self, remaining: int) -> None:
        size = BATCH
        while remaining:
            batch = tuple(islice(self._queue, min(size, remaining)))
            try:
                await self._write(batch)
            except BackendError:
                raise
            except Exception:
                if len(batch) > 1:
                    size = len(batch) // 2  # one row that the database rejects must not hold back the others
                    continue
                log.exception("a call is missing from the list of calls", tool=batch[0].tool)
                size = BATCH
            for _ in batch:
                self._queue.popleft()
            remaining -= len(batch)

    async def prune(self) -> int:
        """Delete calls past the operator's retention period and return their number.

        Connections revoked before that period are deleted as well: the calls that could show their names are gone.
        """
        oldest = datetime.now(UTC) - self._retention
        async with self._database.writing() as session:
            await session.execute(delete(ConnectionRow).where(ConnectionRow.revoked_at < oldest))
        old = select(ActivityRow.id).where(ActivityRow.at < oldest).order_by(ActivityRow.at).limit(PRUNE_BATCH)
        removed = 0
        while True:
            async with self._database.writing() as session:
                result: Any = await session.execute(delete(ActivityRow).where(ActivityRow.id.in_(old)))
            count: int = result.rowcount
            removed += count
            if count < PRUNE_BATCH:
                return removed

    async def list(
        self,
        user_id: str,
        *,
        limit: int = 50,
        before: int | None = None,
        tool: str = "",
        code: str = "",
        connection: str = "",
        website_id: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Sequence[Activity]:
        """Return an account's calls, newest first; see `pressroom.sdk.Accounts`. Raises `InvalidInput`.

        `until` limits the list to calls before that time (exclusive).
        """
        if not 1 <= limit <= MAX_PAGE_SIZE:
            raise InvalidInput("limit", f"must be between 1 and {MAX_PAGE_SIZE} (got {limit})")
        statement = listing(
            user_id,
            before=before,
            tool=tool,
            code=code,
            connection=connection,
            website_id=website_id,
            since=since,
            until=until,
        )
        async with self._database.reading() as session:
            rows = (await session.execute(statement.limit(limit))).all()
        return [
            _activity(row, name or "", display_name(member_name, email) if email else "")
            for row, name, member_name, email in rows
        ]

    async def last_uses(self, user_id: str, connection_id: str) -> LastUses:
        """Return when a connection last used each tool, by MCP name, searching only its latest calls."""
        statement = latest_uses(user_id, connection_id)
        async with self._database.reading() as session:
            rows = (await session.execute(statement)).all()
        return LastUses(
            {tool: last_used_at for tool, last_used_at, _ in rows},
            is_complete=sum(count for _, _, count in rows) < LAST_USES_LIMIT,
        )

    async def _tidy(self) -> None:
        await self.flush()
        if monotonic() - self._pruned_at >= PRUNE_SECONDS:
            self._pruned_at = monotonic()
            if removed := await self.prune():
                log.info("removed old calls from the list of calls", calls=removed)

    async def _write(self, batch: Sequence[_QueuedActivity]) -> None:
        users = {row.user_id for row in batch}
        async with self._database.writing() as session:
            # The account may have been deleted since, and users of other authenticators have none.
            existing_ids = set(await session.scalars(select(UserRow.id).where(UserRow.id.in_(users))))
            await insert_rows(
                session, _TABLE, _QueuedActivity._fields, [row for row in batch if row.user_id in existing_ids]
            )


def latest_uses(user_id: str, connection_id: str) -> Select[str, datetime, int]:
    """Return the statement that finds each tool's last use and counts its calls, among a connection's latest.

    `LAST_USES_LIMIT` limits the rows read, even for a connection with millions of calls.
    """
    latest = (
        select(ActivityRow.tool, ActivityRow.at)
        .where(ActivityRow.user_id == user_id, ActivityRow.connection_id == (as_id(connection_id) or _NO_CONNECTION))
        .order_by(ActivityRow.id.desc())
        .limit(LAST_USES_LIMIT)
        .subquery()
    )
    return select(latest.c.tool, func.max(latest.c.at), func.count()).group_by(latest.c.tool)


def listing(
    user_id: str,
    *,
    before: int | None = None,
    tool: str = "",
    code: str = "",
    connection: str = "",
    website_id: str = "",
    since: datetime | None = None,
    until: datetime | None = None,
) -> Select[ActivityRow, str, str, str]:
    """Return the statement that lists calls with the name of their connection or member, newest first."""
    conditions: list[ColumnElement[bool]] = [ActivityRow.user_id == user_id]
    if before is not None:
        conditions.append(ActivityRow.id < before)
    if tool:
        conditions.append(ActivityRow.tool == printable(tool))
    if code == "error":
        # Literal SQL, because SQLite uses a partial index only if the condition contains no bound parameter.
        conditions.append(text("activity.code <> 'ok'"))  # type: ignore[arg-type]
    elif code:
        conditions.append(ActivityRow.code == code)
    if connection:
        conditions.append(ActivityRow.connection_id == (as_id(connection) or _NO_CONNECTION))
    if website_id:
        conditions += [ActivityRow.website_id == _as_website_id(website_id), text("activity.website_id <> ''")]  # type: ignore[list-item]
    if since is not None:
        conditions.append(ActivityRow.at >= since)
    if until is not None:
        conditions.append(ActivityRow.at < until)
    return (
        select(ActivityRow, ConnectionRow.name, UserRow.name, UserRow.email)
        .outerjoin(ConnectionRow, ConnectionRow.id == ActivityRow.connection_id)
        .outerjoin(UserRow, UserRow.id == ActivityRow.connection_id)
        .where(*conditions)
        .order_by(ActivityRow.id.desc())
    )


def _as_website_id(text: str) -> str:
    """Return a client-supplied website ID, made printable and shortened so that every database can store it."""
    return cut(printable(text), _MAX_WEBSITE_ID_LENGTH)


def _activity(row: ActivityRow, connection_name: str, member: str) -> Activity:
    is_change = row.tool.startswith("/")
    return Activity(
        id=row.id,
        at=row.at,
        tool=row.tool,
        code=row.code,
        cached=row.cached,
        duration=row.duration,
        connection="" if is_change else row.connection_id,
        connection_name=connection_name,
        client_ip=row.address,
        request_id=row.request_id,
        website_id=row.website_id,
        member=member or "a former user" if is_change else "",
    )
