"""Usage of accounts: the monthly quotas of their plan, and the bytes they store.

No running total of stored bytes is kept: each kind measures what exists, so that crashes, deletions and upgrades cannot
make the total wrong. Writes for one account are serialised while they measure.

An account is not measured before every write. For some seconds, a process can write a small part of the free space
without measuring again, so each further process can exceed the limit by that part at most.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Select, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom.columns import as_id
from pressroom.config import Settings
from pressroom.config.call_models import PlanSettings
from pressroom.errors import NotFound, QuotaExceeded
from pressroom.gate import PluginFailed
from pressroom.sdk import StorageKind, StorageUsage, StoredKind
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import QuotaRow, UserRow

_LOCK: Final = 7_305_811_203
"""Seed for PostgreSQL advisory lock numbers, to avoid collisions with the locks of plugins."""

_MEASURE_INTERVAL: Final = 10.0
"""Lifetime of a measurement, in seconds."""

_UNMEASURED: Final = 64
"""A process writes at most 1/64 of the free space before it measures again."""

_MAX_REMEMBERED: Final = 10_000

_UNITS: Final = ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"))


@dataclass(slots=True)
class _Measurement:
    """Number of bytes that an account can write until `until` (monotonic seconds); `None` means no limit."""

    until: float
    left: int | None

    def allows(self, size: int) -> bool:
        """Return whether a write fits without another measurement; if so, deduct it."""
        if time.monotonic() >= self.until or (self.left is not None and size > self.left):
            return False
        if self.left is not None:
            self.left -= size
        return True


class AccountStorage:
    """Implements `pressroom.sdk.Storage`."""

    def __init__(self, settings: Settings, database: SqlDatabase) -> None:
        self._settings = settings
        self._database = database
        self._kinds: Callable[[], Sequence[StorageKind]] = tuple
        self._measurements: dict[str, _Measurement] = {}

    def know_kinds(self, kinds: Callable[[], Sequence[StorageKind]]) -> None:
        """Set the function that returns the kinds of data that active plugins store."""
        self._kinds = kinds

    async def reserve(self, session: Any, subject: str, size: int) -> None:
        """See `pressroom.sdk.Storage`."""
        recent = self._measurements.get(subject)
        if recent is not None and recent.allows(size):
            return
        limit = await self._limit(session, subject)
        remaining = None
        if limit is not None:
            used = await self._make_room(session, subject, size, limit)
            remaining = (limit - used - size) // _UNMEASURED
        if len(self._measurements) >= _MAX_REMEMBERED:
            self._measurements.clear()
        self._measurements[subject] = _Measurement(time.monotonic() + _MEASURE_INTERVAL, remaining)

    async def _make_room(self, session: Any, subject: str, size: int, limit: int) -> int:
        """Ensure that `size` more bytes fit and return the bytes an account stores. Raises `QuotaExceeded`."""
        if self._database.dialect == "postgresql":
            # SQLite allows only one writer at a time anyway.
            await session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(subject, _LOCK))))
        usage = await self._measured(session, subject, limit)
        for kind in self._kinds():
            if usage.used + size <= limit:
                break
            if kind.make_room is not None:
                await kind.make_room(session, subject, usage.used + size - limit)
                usage = await self._measured(session, subject, limit)
        if usage.used + size > limit:
            raise QuotaExceeded(self._refusal(usage, limit, size))
        return usage.used

    async def storage(self, subject: str) -> StorageUsage:
        """See `pressroom.sdk.Storage`."""
        async with self._database.reading() as session:
            return await self._measured(session, subject, await self._limit(session, subject))

    async def storage_within(self, session: AsyncSession, subject: str, plan: str) -> StorageUsage:
        """Like `storage`, using an open session, for people: it leaves out what a failing plugin stores.

        `plan` is the account's plan, or empty if it has none.
        """
        return await self._measured(session, subject, self._limit_of(plan), lenient=True)

    async def _limit(self, session: Any, subject: str) -> int | None:
        plan = await session.scalar(select(UserRow.plan).where(UserRow.id == as_id(subject)))
        return self._limit_of(plan or "")

    def _limit_of(self, plan: str) -> int | None:
        return self._settings.plans.get(plan, _NO_PLAN).storage or None

    async def _measured(self, session: Any, subject: str, limit: int | None, *, lenient: bool = False) -> StorageUsage:
        kinds = []
        for kind in self._kinds():
            try:
                kinds.append(StoredKind(kind.name, kind.title, await kind.measure(session, subject)))
            except PluginFailed:
                if not lenient:
                    raise
        return StorageUsage(tuple(kinds), limit)

    def _refusal(self, usage: StorageUsage, limit: int, size: int) -> str:
        by_size = sorted(usage.kinds, key=lambda kind: -kind.size)
        parts = ", ".join(f"{kind.title} {format_size(kind.size)}" for kind in by_size)
        advice = {kind.name: kind.advice for kind in self._kinds()}
        todo = "; ".join(advice[kind.name] for kind in by_size if kind.size)
        return (
            f"this account's storage is full: {format_size(usage.used)} of {format_size(limit)} are used ({parts}), "
            f"and this needs {format_size(size)}. To make room: {todo or 'write less'}; or change the plan"
        )


_NO_PLAN: Final = PlanSettings()


def format_size(size: int) -> str:
    """Format a number of bytes for people, such as `1.9 GB`."""
    for unit, name in _UNITS:
        if size >= unit:
            return f"{size / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{size} bytes"


_MAX_COUNT: Final = 2**31 - 1
"""The largest number that the column can hold."""


class Quotas:
    """Counts uses by calendar month (UTC), exactly, even under concurrency."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def take(self, user_id: str, quota: str, limit: int | None) -> str:
        """Count one use and return the month (`YYYY-MM`) it counts towards.

        Checking and counting is a single statement, so two concurrent calls cannot both take the last use.

        Raises:
            QuotaExceeded: The month's quota is used up, and nothing was counted. The message states when the next month
                begins.
            NotFound: The account does not exist.
        """
        now = datetime.now(UTC)
        if limit is not None and limit <= 0:
            raise QuotaExceeded(f"the plan of this account includes no {quota}")
        month, bound = month_of(now), _MAX_COUNT if limit is None else min(limit, _MAX_COUNT)
        statement: Any = postgresql.insert if self._database.dialect == "postgresql" else sqlite.insert
        counting = (
            statement(QuotaRow)
            .values(user_id=as_id(user_id), month=month, quota=quota, used=1)
            .on_conflict_do_update(
                index_elements=[QuotaRow.user_id, QuotaRow.month, QuotaRow.quota],
                set_={"used": QuotaRow.used + 1},
                where=QuotaRow.used < bound,
            )
            .returning(QuotaRow.used)
        )
        try:
            async with self._database.writing() as session:
                new_count = (await session.execute(counting)).scalar_one_or_none()
        except IntegrityError:
            raise NotFound("there is no such account") from None
        if new_count is None:
            raise QuotaExceeded(
                f"the plan of this account includes {limit} {quota} a month, and all of them are used; the quota "
                f"resets on {next_month(now):%Y-%m-%d} (UTC)"
            )
        return month

    async def give_back(self, user_id: str, quota: str, month: str) -> None:
        """Return one use to that month's quota, after a failed call."""
        async with self._database.writing() as session:
            await session.execute(
                update(QuotaRow)
                .where(QuotaRow.user_id == as_id(user_id), QuotaRow.month == month, QuotaRow.quota == quota)
                .where(QuotaRow.used > 0)
                .values(used=QuotaRow.used - 1)
            )

    async def used(self, user_id: str) -> Mapping[str, int]:
        """Return this month's uses by quota class."""
        async with self._database.reading() as session:
            return await self.used_within(session, user_id)

    async def used_within(self, session: AsyncSession, user_id: str) -> Mapping[str, int]:
        """Like `used`, using an open session."""
        rows = await session.execute(used_in(user_id, month_of(datetime.now(UTC))))
        return {row.quota: row.used for row in rows}


def used_in(user_id: str, month: str) -> Select[str, int]:
    """Return the statement that reads an account's uses in a month, by quota class."""
    return select(QuotaRow.quota, QuotaRow.used).where(QuotaRow.user_id == as_id(user_id), QuotaRow.month == month)


def month_of(moment: datetime) -> str:
    """Return the calendar month of a time in UTC, as `YYYY-MM`."""
    return f"{moment.astimezone(UTC):%Y-%m}"


def next_month(moment: datetime) -> datetime:
    """Return the start of the calendar month after a given time, in UTC."""
    first = moment.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return first.replace(year=first.year + 1, month=1) if first.month == 12 else first.replace(month=first.month + 1)
