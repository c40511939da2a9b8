"""The queue's frequent queries, which find their rows by an index however many jobs there are, and its scheduling.

`JobSlots` decides which job runs next: each account and each kind has a share of the slots, and accounts take turns.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias, cast

from sqlalchemy import ColumnElement, Row, Select, String, func, literal, or_, select, true, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom.sdk import Job
from pressroom.storage.database.tables import PERIOD_KEY, JobRow

_MAX_TURNS: Final = 1000
"""How many accounts are remembered as served; a forgotten one counts as new, and goes first."""

MAX_SNAPSHOT: Final = 200
"""How many jobs are read at once to find one that can run."""

_MAX_WAITING: Final = 1000

JobTime: TypeAlias = Row[str, str, datetime | None] | tuple[str, str, datetime | None]
"""The kind and subject of a job, and when it is due."""


@dataclass(frozen=True, slots=True)
class WaitingJobs:
    """The due jobs of one kind and one account. `due_at` is when the first of them became due."""

    kind: str
    subject: str
    due_at: datetime


class JobSlots:
    """The slots of one process: `size` for ordinary jobs and as many again for urgent ones.

    In a pool with more than one slot, no kind and no account takes all of them. A kind has at most half of the
    ordinary slots, or all but one of the urgent ones. An account has at most half of the slots, and half of a kind's
    share. Jobs without a subject are the server's own, limited only by their kind.

    Accounts take turns: the one that was served longest ago goes first, however many jobs the others have queued.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._share = max(1, size // 2)
        self._turns: OrderedDict[str, None] = OrderedDict()

    def open_kinds(self, jobs: Mapping[str, Job], running: Collection[tuple[str, str]]) -> dict[str, Job]:
        """Return the kinds that another job can run of, given the kind and subject of each running job."""
        return {kind: job for kind, job in jobs.items() if self._has_capacity(job, self._pool(jobs, job, running))}

    def admits(self, jobs: Mapping[str, Job], kind: str, subject: str, running: Collection[tuple[str, str]]) -> bool:
        """Return whether a job of this kind and subject can run in addition to the running ones."""
        job = jobs[kind]
        pool = self._pool(jobs, job, running)
        if not self._has_capacity(job, pool):
            return False
        if not subject:
            return True
        of_subject = [running_kind for running_kind, owner in pool if owner == subject]
        per_kind = (self._kind_share(job) + 1) // 2
        return len(of_subject) < self._share and of_subject.count(kind) < per_kind

    def order(self, waiting: Iterable[WaitingJobs]) -> list[WaitingJobs]:
        """Return the waiting jobs in the order in which they are served."""
        turns = {key: number for number, key in enumerate(self._turns, 1)}
        return sorted(waiting, key=lambda entry: (turns.get(_turn_of(entry.kind, entry.subject), 0), entry.due_at))

    def served(self, kind: str, subject: str) -> None:
        """Record that a job was started: its account has had its turn."""
        key = _turn_of(kind, subject)
        self._turns[key] = None
        self._turns.move_to_end(key)
        if len(self._turns) > _MAX_TURNS:
            self._turns.popitem(last=False)

    def _kind_share(self, job: Job) -> int:
        return max(1, self._size - 1) if job.urgent else self._share

    def _has_capacity(self, job: Job, pool: Collection[tuple[str, str]]) -> bool:
        return len(pool) < self._size and sum(kind == job.kind for kind, _ in pool) < self._kind_share(job)

    @staticmethod
    def _pool(jobs: Mapping[str, Job], job: Job, running: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
        return [pair for pair in running if pair[0] in jobs and jobs[pair[0]].urgent == job.urgent]


def _turn_of(kind: str, subject: str) -> str:
    """Return the key that takes turns: an account, or the kind of a job of the server itself."""
    return subject or f"\0{kind}"


def due_job(kind: str, subject: str, now: datetime) -> Select[JobRow]:
    """Return the query for the oldest due job of a kind and subject: queued, or with an expired lease."""
    due = select(JobRow).where(JobRow.kind == kind, JobRow.subject == subject, JobRow.due_at <= now)
    return due.order_by(JobRow.due_at).limit(1)


def first_jobs() -> Select[str, str, datetime | None]:
    """Return the query for the unfinished jobs of any kind in the order of their times: the due ones come first."""
    unfinished = select(JobRow.kind, JobRow.subject, JobRow.due_at).where(JobRow.due_at.is_not(None))
    return unfinished.order_by(JobRow.due_at).limit(MAX_SNAPSHOT)


def next_due(now: datetime) -> Select[str, str, datetime | None]:
    """Return the query for the jobs that become due next, of any kind."""
    statement = select(JobRow.kind, JobRow.subject, JobRow.due_at).where(JobRow.due_at > now)
    return statement.order_by(JobRow.due_at).limit(MAX_SNAPSHOT)


def due_subjects(kinds: Collection[str], now: datetime) -> Select[Any]:
    """Return the query for the subjects with due jobs of these kinds, and since when they are due.

    It jumps from one subject to the next in the index, so that its cost does not depend on their number of jobs.
    """
    names = union_all(*(select(literal(kind, String).label("kind")) for kind in kinds)).subquery()
    first = _next_subject(names.c.kind)
    subjects = select(names.c.kind, first.label("subject")).cte("found", recursive=True)
    next_subject = _next_subject(subjects.c.kind, subjects.c.subject)
    subjects = subjects.union_all(select(subjects.c.kind, next_subject).where(subjects.c.subject.is_not(None)))
    oldest = select(JobRow.due_at).where(JobRow.kind == subjects.c.kind, JobRow.subject == subjects.c.subject)
    oldest = oldest.where(JobRow.due_at.is_not(None)).order_by(JobRow.due_at).limit(1)
    all_subjects = select(subjects.c.kind, subjects.c.subject, oldest.scalar_subquery().label("due_at"))
    heads = all_subjects.where(subjects.c.subject.is_not(None)).subquery()
    due = select(heads.c.kind, heads.c.subject, heads.c.due_at).where(heads.c.due_at <= now)
    return due.order_by(heads.c.due_at).limit(_MAX_WAITING)


def _next_subject(kind: ColumnElement[str], after: ColumnElement[str] | None = None) -> ColumnElement[str | None]:
    statement = select(JobRow.subject).where(JobRow.kind == kind, JobRow.due_at.is_not(None))
    if after is not None:
        statement = statement.where(JobRow.subject > after)
    return statement.order_by(JobRow.subject).limit(1).scalar_subquery()


@dataclass(frozen=True, slots=True)
class QueueSnapshot:
    """The jobs at `now`: `due` are the ones that have been due longest, `coming` the next ones, of any kind.

    Both together are at most `MAX_SNAPSHOT`. With `more`, there may be others after the last one.
    """

    now: datetime
    due: Sequence[JobTime]
    coming: Sequence[JobTime]
    more: bool


async def look(session: AsyncSession) -> QueueSnapshot:
    """Return the first jobs, and the time of the database server: with one statement, since it is asked often."""
    if session.get_bind().dialect.name == "sqlite":
        now = datetime.now(UTC)
        rows: Sequence[JobTime] = (await session.execute(first_jobs())).all()
    else:
        clock, jobs = select(func.clock_timestamp().label("now")).subquery(), first_jobs().subquery()
        statement = select(jobs.c.kind, jobs.c.subject, jobs.c.due_at, clock.c.now).select_from(clock)
        records = (await session.execute(statement.outerjoin(jobs, true()).order_by(jobs.c.due_at))).all()
        now = records[0].now.astimezone(UTC)
        rows = [(kind, subject, due_at) for kind, subject, due_at, _ in records if due_at is not None]
    due = [row for row in rows if row[2] is not None and row[2] <= now]
    return QueueSnapshot(now, due, rows[len(due) :], more=len(rows) == MAX_SNAPSHOT)


async def now_of(session: AsyncSession) -> datetime:
    """Return the time of the database server, or this host's with SQLite."""
    if session.get_bind().dialect.name == "sqlite":
        return datetime.now(UTC)
    return cast("datetime", await session.scalar(select(func.clock_timestamp()))).astimezone(UTC)


async def coming_jobs(session: AsyncSession, now: datetime) -> tuple[Sequence[JobTime], bool]:
    """Return the jobs of any kind that become due next, and whether there may be others after them."""
    rows = (await session.execute(next_due(now))).all()
    return rows, len(rows) == MAX_SNAPSHOT


async def jobs_of_other_kinds(session: AsyncSession, kinds: Collection[str]) -> Mapping[str, int]:
    """Return the number of unfinished jobs of each kind that is not one of these, without periodic jobs.

    A periodic job that never runs loses nothing: the next period adds another one.
    """
    is_not_periodic = or_(JobRow.key.is_(None), JobRow.key.not_like(f"{PERIOD_KEY}%"), JobRow.subject != "")
    counts = select(JobRow.kind, func.count()).where(JobRow.due_at.is_not(None), JobRow.kind.not_in(kinds))
    statement = counts.where(is_not_periodic).group_by(JobRow.kind).order_by(JobRow.kind)
    return dict((await session.execute(statement)).all())


async def waiting_jobs(session: AsyncSession, kinds: Collection[str], snapshot: QueueSnapshot) -> list[WaitingJobs]:
    """Return the due jobs by kind and subject, the oldest first."""
    if not kinds:
        return []
    rows: Sequence[JobTime] = snapshot.due
    if len(rows) == MAX_SNAPSHOT:
        rows = (await session.execute(due_subjects(kinds, snapshot.now))).all()
    first: dict[tuple[str, str], WaitingJobs] = {}
    for kind, subject, due_at in rows:
        if kind in kinds and due_at is not None:
            first.setdefault((kind, subject), WaitingJobs(kind, subject, due_at))
    return list(first.values())
