"""How much of a plan's monthly quotas accounts have used."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Select, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from pressroom.columns import as_id
from pressroom.errors import NotFound, QuotaExceeded
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import QuotaRow

_NO_BOUND: Final = 2**31 - 1


class Quotas:
    """Counts uses by calendar month (UTC), exactly, however many calls count at once."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def take(self, user_id: str, quota: str, limit: int | None) -> str:
        """Count one use, and return the month (`YYYY-MM`) that it counts in.

        One statement both looks and counts, so that no two calls can take the same last use.

        Raises:
            QuotaExceeded: the month's uses are used up; nothing was counted. The message says when the next one begins.
            NotFound: there is no such account.
        """
        now = datetime.now(UTC)
        if limit is not None and limit <= 0:
            raise QuotaExceeded(f"the plan of this account includes no {quota}")
        bound = _NO_BOUND if limit is None else limit
        statement: Any = postgresql.insert if self._database.dialect == "postgresql" else sqlite.insert
        counting = (
            statement(QuotaRow)
            .values(user_id=as_id(user_id), month=month_of(now), quota=quota, used=1)
            .on_conflict_do_update(
                index_elements=[QuotaRow.user_id, QuotaRow.month, QuotaRow.quota],
                set_={"used": QuotaRow.used + 1},
                where=QuotaRow.used < bound,
            )
            .returning(QuotaRow.used)
        )
        try:
            async with self._database.writing() as session:
                counted = (await session.execute(counting)).scalar_one_or_none()
        except IntegrityError:
            raise NotFound("there is no such account") from None
        if counted is None:
            raise QuotaExceeded(
                f"the plan of this account includes {limit} {quota} a month, and all are used; "
                f"the next month begins on {next_month(now):%Y-%m-%d} (UTC)"
            )
        return month_of(now)

    async def give_back(self, user_id: str, quota: str, month: str) -> None:
        """Undo the counting of one use in that month, for a call that failed."""
        async with self._database.writing() as session:
            await session.execute(
                update(QuotaRow)
                .where(QuotaRow.user_id == as_id(user_id), QuotaRow.month == month, QuotaRow.quota == quota)
                .where(QuotaRow.used > 0)
                .values(used=QuotaRow.used - 1)
            )

    async def used(self, user_id: str) -> Mapping[str, int]:
        """Return this month's uses by quota class."""
        wanted = used_in(user_id, month_of(datetime.now(UTC)))
        async with self._database.reading() as session:
            return {row.quota: row.used for row in await session.execute(wanted)}


def used_in(user_id: str, month: str) -> Select[str, int]:
    """Return the statement that reads an account's uses in a month, by quota class."""
    return select(QuotaRow.quota, QuotaRow.used).where(QuotaRow.user_id == as_id(user_id), QuotaRow.month == month)


def month_of(moment: datetime) -> str:
    """Return the calendar month of a moment in UTC, as `YYYY-MM`."""
    return f"{moment.astimezone(UTC):%Y-%m}"


def next_month(moment: datetime) -> datetime:
    """Return when the calendar month after that of a moment begins, in UTC."""
    first = moment.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return first.replace(year=first.year + 1, month=1) if first.month == 12 else first.replace(month=first.month + 1)
