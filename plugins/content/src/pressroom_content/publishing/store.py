"""Storage of publications: every change is one short transaction, and valid only while its author holds the lock.

Whoever works on a publication holds its lock: the job that processes it, or the request that takes its post down. A
process whose lease has passed to another one neither changes nor sends anything.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias, cast

from pressroom.columns import Timestamp, as_id
from pressroom.sdk import Database, Lease, NotFound, PluginContext
from sqlalchemy import CursorResult, and_, delete, func, literal, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.articles.store import note_status
from pressroom_content.publishing.publish_requests import UNDER_WAY
from pressroom_content.records import ArticleStatus, Publication, PublicationStatus
from pressroom_content.tables import PublicationRow, StepRow

_waiting: dict[tuple[int, str], set[asyncio.Event]] = {}


@contextmanager
def listening(publication_id: str) -> Iterator[asyncio.Event]:
    """Yield an event that is set whenever an attempt that runs on this event loop ends."""
    key, ended = _key(publication_id), asyncio.Event()
    _waiting.setdefault(key, set()).add(ended)
    try:
        yield ended
    finally:
        _waiting[key].discard(ended)
        if not _waiting[key]:
            del _waiting[key]


def notify(publication_id: str) -> None:
    """Signal that an attempt has ended."""
    for ended in _waiting.get(_key(publication_id), ()):
        ended.set()


def _key(publication_id: str) -> tuple[int, str]:
    return id(asyncio.get_running_loop()), publication_id


JOB: Final = "content.publish"

MAX_EXTERNAL_ID_LENGTH: Final = 200
"""The maximum length of a site's post ID and of a stored revision, in characters."""

STEPS: Final = ("terms", "media", "draft", "read_back", "live", "verify")
"""The steps of a publication, in order."""

_UNFINISHED: Final = (*UNDER_WAY, "failed")
"""Statuses of publications whose post may still be in the state before the request."""

StepState = Literal["pending", "running", "done", "failed", "unknown"]

Write: TypeAlias = Callable[[AsyncSession], Awaitable[object]]
"""A write that runs within another caller's transaction."""


@dataclass(slots=True)
class PublicationStep:
    """A step of the current attempt. `detail` holds its progress and results."""

    name: str
    state: StepState
    detail: dict[str, Any]


@dataclass(slots=True)
class LeasedPublication:
    """A publication under this process's lock, with the recorded changes that are not yet written.

    `lease` is that of the job that processes it, or of another holder of the lock.
    """

    database: Database
    lease: Lease
    row: PublicationRow
    steps: dict[str, PublicationStep]
    _values: dict[str, Any] = field(default_factory=dict)
    _noted: set[str] = field(default_factory=set)
    _later: list[Write] = field(default_factory=list)

    def note(self, name: str, state: StepState, detail: Mapping[str, Any] | None = None, **values: Any) -> None:
        """Change a step, and set the columns in `values`. The next `save` writes both."""
        step = self.steps[name]
        step.state, step.detail = state, dict(step.detail if detail is None else detail)
        self._noted.add(name)
        self._take(values)

    def later(self, write: Write) -> None:
        """Run `write` within the transaction of the next `save`."""
        self._later.append(write)

    async def save(self, *also: Write, **values: Any) -> None:
        """Do the same as `save` in a given transaction, without the `later` writes. Raises `LeaseLost` and `NotFound`.

        Raises:
            LeaseLost: another process has taken over the publication. Nothing is written.
            NotFound: the publication no longer exists.
            BackendError: the database failed.
        """
        async with self.database.writing() as session:
            await self.write(session, **values)
            for write in (*self._later, *also):
                await write(session)
        self._values.clear()
        self._noted.clear()
        self._later.clear()

    async def write(self, session: AsyncSession, **values: Any) -> None:
        """Write the recorded changes in a given transaction. Raises `LeaseLost` and `NotFound`."""
        await self.lease.keep(session)
        self._take(values)
        now = await now_of(session)
        changed = {name: _fitting(name, value) for name, value in self._values.items()} | {"updated_at": now}
        change = update(PublicationRow).where(PublicationRow.id == self.row.id).values(changed)
        result = await session.execute(change.execution_options(synchronize_session=False))
        if cast("CursorResult[Any]", result).rowcount != 1:
            raise NotFound(f"the publication {self.row.id} no longer exists")
        for name in self._noted:
            step = self.steps[name]
            values = {"state": step.state, "detail": step.detail}
            values["finished_at"] = now if step.state in ("done", "failed") else None
            if step.state != "pending":
                values["started_at"] = func.coalesce(StepRow.started_at, literal(now, Timestamp()))
            conditions = (StepRow.publication_id == self.row.id, StepRow.position == STEPS.index(name))
            noting = update(StepRow).where(*conditions).values(values)
            await session.execute(noting.execution_options(synchronize_session=False))

    def _take(self, values: Mapping[str, Any]) -> None:
        self._values |= values
        for name, value in values.items():
            setattr(self.row, name, value)


def as_on_site(leased: LeasedPublication) -> dict[str, Any]:
    """Return the columns of a publication whose post was edited on its site and therefore not overwritten."""
    row, detail = leased.row, leased.steps["draft"].detail
    values: dict[str, Any] = {"article_version": detail.get("version", row.article_version)}
    state, at = detail.get("remote_state"), detail.get("remote_at")
    if state == "scheduled" and at:  # the site publishes it at that time, whatever was requested since
        at = datetime.fromisoformat(at)
        return values | {"status": "scheduled", "mode": "schedule", "publish_at": at, "due_at": at}
    if state != "live" and row.mode == "schedule" and row.publish_at and row.publish_at > datetime.now(UTC):
        return values | {"status": "scheduled", "due_at": row.publish_at}
    live = state == "live" or (state is None and row.published_at is not None)
    return values | {"status": "published" if live else "draft"}


def shortened(revision: str) -> str:
    """Return a revision in its stored form: unchanged, or hashed if it is too long."""
    if len(revision) <= MAX_EXTERNAL_ID_LENGTH:
        return revision
    return hashlib.sha256(revision.encode("utf-8", "replace")).hexdigest()


def lock_of(publication_id: str) -> str:
    """Return the key of the lock on a publication."""
    return f"content:publication:{publication_id}"


async def work_on(plugin: PluginContext, session: AsyncSession, publication_id: str, user_id: str, at: datetime) -> str:
    """Enqueue the job for a publication as part of the transaction, and return the job's ID.

    Store the ID in the publication's row: of several jobs, only that one is in charge.
    """
    payload = {"publication_id": publication_id}
    return await plugin.services.jobs.enqueue(JOB, payload, subject=user_id, run_at=at, session=session)


async def begin_attempt(session: AsyncSession, row: PublicationRow, *, resume: bool) -> None:
    """Store a publication's row, and set up the steps of its next attempt.

    With `resume` it continues at the step where the last one ended. Uploads are kept, and so is every mark of a request
    whose outcome is unknown.
    """
    row.attempt = (row.attempt or 0) + 1
    row.tries = 0
    new = row in session.new
    await session.flush()
    previous = [] if new else await step_rows(session, row.id)
    if resume and previous:
        for step in previous:
            step.state = "pending" if step.state == "failed" else step.state
        return
    if previous:
        await session.execute(delete(StepRow).where(StepRow.publication_id == row.id))
    details = {step.name: step.detail for step in previous}
    for position, name in enumerate(STEPS):
        carried_over = {key: value for key, value in details.get(name, {}).items() if key in _CARRIED_OVER}
        session.add(StepRow(publication_id=row.id, position=position, name=name, state="pending", detail=carried_over))


_CARRIED_OVER: Final = frozenset(
    {
        *("term_ids", "term_names"),
        *("uploaded", "sent", "post_hash", "version", "seen", "overwritten", "native", "native_at", "taken_down"),
    }
)
"""Keys of step details that carry over to the next attempt: what is on the site, and how it was last seen."""


async def now_of(session: AsyncSession) -> datetime:
    """Return the time of the database server, so that the clocks of hosts need not agree; local time for SQLite."""
    if session.get_bind().dialect.name == "sqlite":
        return datetime.now(UTC)
    return cast("datetime", await session.scalar(select(func.clock_timestamp()))).astimezone(UTC)


async def owned(session: AsyncSession, user_id: str, publication_id: str, *, lock: bool = False) -> PublicationRow:
    """Return a publication of an account. Raises `NotFound`."""
    row = await session.get(PublicationRow, as_id(publication_id), with_for_update=lock or None)
    if row is None or row.user_id != user_id:
        raise NotFound(
            f"this account has no publication {publication_id[:64]!r}; list_publications shows the ones that it has"
        )
    return row


async def article_status(session: AsyncSession, article_id: str) -> ArticleStatus:
    """Return the status that an article outside the trash has because of its publications."""
    live_step = and_(StepRow.publication_id == PublicationRow.id, StepRow.name == "live")
    query = select(PublicationRow, StepRow.detail).outerjoin(StepRow, live_step)
    rows = (await session.execute(query.where(PublicationRow.article_id == article_id))).all()
    if any(_is_live(row, detail or {}) for row, detail in rows):
        return "published"
    waits = any(row.status == "scheduled" or (row.status in UNDER_WAY and row.mode == "schedule") for row, _ in rows)
    return "scheduled" if waits else "draft"


async def update_article_status(session: AsyncSession, user_id: str, article_id: str) -> None:
    """Give an article the status that follows from all its publications. Raises `NotFound`."""
    await note_status(session, user_id, article_id, await article_status(session, article_id))


def _is_live(row: PublicationRow, live_detail: Mapping[str, Any]) -> bool:
    """Check whether a post is live. It stays so while an update of it is in progress, and after one that failed."""
    if row.status not in _UNFINISHED or row.published_at is None or row.mode == "draft":
        return row.status == "published"
    is_due = row.mode != "schedule" or row.publish_at is None or row.publish_at <= datetime.now(UTC)
    return is_due and "taken_down" not in live_detail


def record(row: PublicationRow) -> Publication:
    """Convert a row to a publication."""
    return Publication(
        id=row.id,
        user_id=row.user_id,
        article_id=row.article_id,
        website_id=row.website_id,
        status=cast("PublicationStatus", row.status),
        mode=cast("Literal['publish', 'draft', 'schedule']", row.mode),
        article_version=row.article_version,
        publish_at=row.publish_at,
        external_id=row.external_id or "",
        url=row.url or "",
        path=row.path or "",
        verified=dict(row.verified or {}),
        warnings=tuple(row.warnings or ()),
        error=row.error or "",
        attempt=row.attempt or 0,
        created_at=row.created_at,
        updated_at=row.updated_at,
        published_at=row.published_at,
        options=dict(row.options or {}),
        due_at=row.due_at,
        canonical_of=row.canonical_of,
    )


def _fitting(name: str, value: Any) -> Any:
    """Fit a value to its column: sites may return text of any length, and databases do not store NUL characters."""
    if not isinstance(value, str):
        return value
    max_length = getattr(PublicationRow.__table__.c[name].type, "length", None)
    return value.replace("\0", "").encode("utf-8", "replace").decode()[:max_length]


async def step_rows(session: AsyncSession, publication_id: str) -> list[StepRow]:
    """Return the rows of the steps, in order."""
    query = select(StepRow).where(StepRow.publication_id == publication_id).order_by(StepRow.position)
    return list(await session.scalars(query))


async def steps_of(session: AsyncSession, publication_id: str) -> dict[str, PublicationStep]:
    """Return the steps of the current attempt, by name."""
    return {
        row.name: PublicationStep(row.name, cast("StepState", row.state), dict(row.detail or {}))
        for row in await step_rows(session, publication_id)
    }
