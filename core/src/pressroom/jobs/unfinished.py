"""Unfinished jobs by kind, for the operator: how many there are, and discarding those that wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, cast

from sqlalchemy import ColumnElement, CursorResult, and_, func, not_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom.jobs.queries import now_of
from pressroom.storage.database.tables import JobRow

_DISCARDED: Final = "the operator discarded it"


@dataclass(frozen=True, slots=True)
class UnfinishedJobs:
    """The unfinished jobs of one kind. `first_due_at` is when the first one that waits is due."""

    kind: str
    waiting: int
    running: int
    first_due_at: datetime | None


async def unfinished_jobs(session: AsyncSession) -> Sequence[UnfinishedJobs]:
    """Return the unfinished jobs of each kind, ordered by kind."""
    runs = _runs(await now_of(session))
    running, first = func.count().filter(runs), func.min(JobRow.due_at).filter(not_(runs))
    counts = select(JobRow.kind, func.count(), running, first).where(JobRow.due_at.is_not(None))
    rows = (await session.execute(counts.group_by(JobRow.kind).order_by(JobRow.kind))).all()
    return [UnfinishedJobs(kind, total - running, running, first_due_at) for kind, total, running, first_due_at in rows]


async def discard_jobs(session: AsyncSession, kind: str, retention: float) -> int:
    """Cancel the jobs of a kind that do not run at present, and return their number.

    They are kept for `retention` seconds, like other finished jobs.
    """
    now = await now_of(session)
    waiting = update(JobRow).where(JobRow.kind == kind, JobRow.due_at.is_not(None), not_(_runs(now)))
    change = waiting.values(
        state="cancelled",
        message=_DISCARDED,
        lease="",
        waits_for="",
        due_at=None,
        finished_at=now,
        expires_at=now + timedelta(seconds=retention),
    )
    result = await session.execute(change.execution_options(synchronize_session=False))
    return cast("CursorResult[Any]", result).rowcount


def _runs(now: datetime) -> ColumnElement[bool]:
    # A job whose lease has ended was run by a process that ended or hangs.
    return and_(JobRow.state == "running", JobRow.due_at > now)
