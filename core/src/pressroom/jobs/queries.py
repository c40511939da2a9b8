"""The queries that are asked all the time: each finds its rows by an index, however many jobs there are."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, String, literal, select, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom.jobs.places import WaitingJobs
from pressroom.storage.database.tables import JobRow

MAX_LOOK: Final = 200
"""How many jobs are read at once to find one that may run."""

_MAX_WAITING: Final = 1000


def due_job(kind: str, subject: str, now: datetime) -> Select[JobRow]:
    """Return the query for the oldest due job of a kind and subject: queued, or with a lease that has ended."""
    due = select(JobRow).where(JobRow.kind == kind, JobRow.subject == subject, JobRow.due_at <= now)
    return due.order_by(JobRow.due_at).limit(1)


def oldest_due(now: datetime) -> Select[str, str, datetime | None]:
    """Return the query for the jobs that are due longest, whatever their kind."""
    due = select(JobRow.kind, JobRow.subject, JobRow.due_at).where(JobRow.due_at <= now)
    return due.order_by(JobRow.due_at).limit(MAX_LOOK)


def next_due(now: datetime) -> Select[str, str, datetime | None]:
    """Return the query for the jobs that are due next, whatever their kind."""
    coming = select(JobRow.kind, JobRow.subject, JobRow.due_at).where(JobRow.due_at > now)
    return coming.order_by(JobRow.due_at).limit(MAX_LOOK)


def due_subjects(kinds: Collection[str], now: datetime) -> Select[Any]:
    """Return the query for who has jobs of these kinds that are due, and since when.

    It goes from one subject to the next in the index, so that it costs the same however many jobs each of them has.
    """
    names = union_all(*(select(literal(kind, String).label("kind")) for kind in kinds)).subquery()
    first = _next_subject(names.c.kind)
    found = select(names.c.kind, first.label("subject")).cte("found", recursive=True)
    following = _next_subject(found.c.kind, found.c.subject)
    found = found.union_all(select(found.c.kind, following).where(found.c.subject.is_not(None)))
    oldest = select(JobRow.due_at).where(JobRow.kind == found.c.kind, JobRow.subject == found.c.subject)
    oldest = oldest.where(JobRow.due_at.is_not(None)).order_by(JobRow.due_at).limit(1)
    all_of_them = select(found.c.kind, found.c.subject, oldest.scalar_subquery().label("due_at"))
    heads = all_of_them.where(found.c.subject.is_not(None)).subquery()
    due = select(heads.c.kind, heads.c.subject, heads.c.due_at).where(heads.c.due_at <= now)
    return due.order_by(heads.c.due_at).limit(_MAX_WAITING)


def _next_subject(kind: ColumnElement[str], after: ColumnElement[str] | None = None) -> ColumnElement[str | None]:
    wanted = select(JobRow.subject).where(JobRow.kind == kind, JobRow.due_at.is_not(None))
    if after is not None:
        wanted = wanted.where(JobRow.subject > after)
    return wanted.order_by(JobRow.subject).limit(1).scalar_subquery()


async def waiting_jobs(session: AsyncSession, kinds: Collection[str], now: datetime) -> tuple[list[WaitingJobs], bool]:
    """Return who has jobs of these kinds that are due, the oldest first, and whether at most one job is due at all."""
    if not kinds:
        return [], False
    rows = (await session.execute(oldest_due(now))).all()
    lonely = len(rows) <= 1
    if len(rows) == MAX_LOOK:
        rows = (await session.execute(due_subjects(kinds, now))).all()
    first: dict[tuple[str, str], WaitingJobs] = {}
    for kind, subject, due_at in rows:
        if kind in kinds and due_at is not None:
            first.setdefault((kind, subject), WaitingJobs(kind, subject, due_at))
    return list(first.values()), lonely
