"""Publications as rows: every change is one short transaction, and names the lease of who makes it.

Who works on a publication holds its lease: a random token in the row, and a time until which nobody else may take it.
A process whose lease has passed to another changes nothing any more, and sends nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, cast

from pressroom.columns import as_id, random_text
from pressroom.sdk import NotFound, PluginContext
from sqlalchemy import CursorResult, delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.records import Publication, PublicationStatus
from pressroom_content.tables import PublicationRow, StepRow

STEPS: Final = ("terms", "media", "draft", "read_back", "live", "verify")
"""The steps of a publication, in their order."""

StepState = Literal["pending", "running", "done", "failed", "unknown"]


class LeaseLost(Exception):
    """Another process works on the publication now, or it was taken back."""


@dataclass(slots=True)
class Step:
    """A step of the current attempt. `detail` is what it found out and did so far."""

    name: str
    state: StepState
    detail: dict[str, Any]


@dataclass(slots=True)
class Held:
    """A publication that this process works on. `ends` is when its lease ends, by the event loop's clock."""

    row: PublicationRow
    token: str
    ends: float
    steps: dict[str, Step] = field(default_factory=dict)

    def check(self) -> None:
        """Raise `LeaseLost` where the lease is about to end, so that nothing is sent that another might send too."""
        if asyncio.get_running_loop().time() >= self.ends:
            raise LeaseLost


class PublicationStore:
    """The tables of publications and their steps."""

    def __init__(self, plugin: PluginContext) -> None:
        self._database = plugin.services.database
        self._lease = float(plugin.config.lease_seconds)

    async def get(self, user_id: str, publication_id: str) -> Publication:
        """Return a publication of an account. Raises `NotFound`."""
        async with self._database.reading() as session:
            return record(await owned(session, user_id, publication_id))

    async def steps(self, publication_id: str) -> Sequence[Step]:
        """Return the steps of the current attempt."""
        async with self._database.reading() as session:
            return list((await _steps(session, publication_id)).values())

    async def note_verified(self, seen: Publication, facts: Mapping[str, Any], warnings: Sequence[str]) -> None:
        """Keep what was found on the page just now, instead of what was found before, unless work goes on meanwhile."""
        async with self._database.writing() as session:
            row = await owned(session, seen.user_id, seen.id, lock=True)
            step = next((one for one in await _rows(session, row.id) if one.name == "verify"), None)
            if row.lease or step is None or row.status != seen.status:
                return
            before = (step.detail or {}).get("warnings", [])
            kept = [one for one in row.warnings or () if one not in before]
            row.warnings, row.verified = list(dict.fromkeys([*kept, *warnings])), dict(facts)
            step.detail = {**(step.detail or {}), "warnings": list(warnings)}

    async def claim(self, publication_id: str) -> Held | None:
        """Take the lease of a publication on which there is something to do; `None` where there is nothing."""
        token = random_text(22)
        asked = asyncio.get_running_loop().time()
        async with self._database.writing() as session:
            at = await now_of(session)
            free = or_(PublicationRow.lease == "", PublicationRow.lease_until <= at)
            claim = (
                update(PublicationRow)
                .where(PublicationRow.id == publication_id, PublicationRow.due_at <= at, free)
                .values(lease=token, lease_until=at + timedelta(seconds=self._lease))
                .execution_options(synchronize_session=False)
            )
            if cast("CursorResult[Any]", await session.execute(claim)).rowcount != 1:
                return None
            row = await session.get_one(PublicationRow, publication_id)
            return Held(row, token, asked + self._lease * 0.8, await _steps(session, publication_id))

    async def hold(self, user_id: str, publication_id: str) -> Held | None:
        """Take the lease of a publication that somebody wants to change now; `None` while another works on it.

        Raises `NotFound`.
        """
        token = random_text(22)
        asked = asyncio.get_running_loop().time()
        async with self._database.writing() as session:
            row = await owned(session, user_id, publication_id, lock=True)
            at = await now_of(session)
            if row.lease and row.lease_until is not None and row.lease_until > at:
                return None
            row.lease, row.lease_until = token, at + timedelta(seconds=self._lease)
            return Held(row, token, asked + self._lease * 0.8, await _steps(session, publication_id))

    async def renew(self, held: Held) -> None:
        """Keep the lease. Raises `LeaseLost`."""
        asked = asyncio.get_running_loop().time()
        async with self._database.writing() as session:
            until = await now_of(session) + timedelta(seconds=self._lease)
            await _change(session, held, lease_until=until)
        held.ends = asked + self._lease * 0.8

    async def change(self, held: Held, **values: Any) -> None:
        """Change the publication. Raises `LeaseLost`."""
        async with self._database.writing() as session:
            await _change(session, held, **values)
        _take(held.row, values)

    async def release(self, held: Held, **values: Any) -> None:
        """Change the publication, and let go of it. Raises `LeaseLost`."""
        await self.change(held, lease="", lease_until=None, **values)

    async def step(
        self, held: Held, name: str, state: StepState, detail: Mapping[str, Any] | None = None, **values: Any
    ) -> None:
        """Change a step, and what `values` says of the publication, together. Raises `LeaseLost`."""
        step = held.steps[name]
        fresh = dict(step.detail) if detail is None else dict(detail)
        async with self._database.writing() as session:
            now = await now_of(session)
            await _change(session, held, **values)
            row = await session.get_one(StepRow, (held.row.id, STEPS.index(name)))
            row.state, row.detail = state, fresh
            row.started_at = row.started_at or (now if state != "pending" else None)
            row.finished_at = now if state in ("done", "failed") else None
        step.state, step.detail = state, fresh
        _take(held.row, values)

    async def waiting(self, limit: int = 100) -> Sequence[str]:
        """Return the ids of publications on which something is to be done, and nobody does it."""
        async with self._database.reading() as session:
            at = await now_of(session)
            free = or_(PublicationRow.lease == "", PublicationRow.lease_until <= at)
            wanted = select(PublicationRow.id).where(PublicationRow.due_at <= at, free)
            return list(await session.scalars(wanted.order_by(PublicationRow.due_at).limit(limit)))


async def begin_attempt(session: AsyncSession, row: PublicationRow, *, resume: bool) -> None:
    """Set up the steps of an attempt. With `resume` it goes on at the step where the last one ended.

    What was uploaded is kept, and so is every mark of a request whose outcome is not known.
    """
    row.attempt = (row.attempt or 0) + 1
    row.tries = 0
    before = await _rows(session, row.id)
    if resume and before:
        for step in before:
            step.state = "pending" if step.state == "failed" else step.state
        return
    await session.execute(delete(StepRow).where(StepRow.publication_id == row.id))
    details = {step.name: step.detail for step in before}
    for position, name in enumerate(STEPS):
        kept = {key: value for key, value in details.get(name, {}).items() if key in _KEPT}
        session.add(StepRow(publication_id=row.id, position=position, name=name, state="pending", detail=kept))


_KEPT: Final = frozenset({"uploaded", "sent", "post_hash"})


async def now_of(session: AsyncSession) -> datetime:
    """Return the database's time where it is a server, so that the clocks of hosts need not agree."""
    if session.get_bind().dialect.name == "sqlite":
        return datetime.now(UTC)
    return cast("datetime", await session.scalar(select(func.clock_timestamp()))).astimezone(UTC)


async def owned(session: AsyncSession, user_id: str, publication_id: str, *, lock: bool = False) -> PublicationRow:
    """Return a publication of an account. Raises `NotFound`."""
    row = await session.get(PublicationRow, as_id(publication_id), with_for_update=lock or None)
    if row is None or row.user_id != user_id:
        raise NotFound(
            f"this account has no publication {publication_id[:64]!r}; list_publications and get_publication_status "
            "show the ones that it has"
        )
    return row


def record(row: PublicationRow) -> Publication:
    """Return what a row says."""
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
    )


def _fitting(name: str, value: Any) -> Any:
    """Return a value as its column can keep it: sites may say anything of any length, and no database keeps a NUL."""
    if not isinstance(value, str):
        return value
    longest = getattr(PublicationRow.__table__.c[name].type, "length", None)
    return value.replace("\0", "").encode("utf-8", "replace").decode()[:longest]


async def _change(session: AsyncSession, held: Held, **values: Any) -> None:
    values = {name: _fitting(name, value) for name, value in values.items()}
    values["updated_at"] = await now_of(session)
    change = update(PublicationRow).where(PublicationRow.id == held.row.id, PublicationRow.lease == held.token)
    done = await session.execute(change.values(values).execution_options(synchronize_session=False))
    if cast("CursorResult[Any]", done).rowcount != 1:
        raise LeaseLost


def _take(row: PublicationRow, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        setattr(row, name, value)


async def _rows(session: AsyncSession, publication_id: str) -> list[StepRow]:
    wanted = select(StepRow).where(StepRow.publication_id == publication_id).order_by(StepRow.position)
    return list(await session.scalars(wanted))


async def _steps(session: AsyncSession, publication_id: str) -> dict[str, Step]:
    return {
        row.name: Step(row.name, cast("StepState", row.state), dict(row.detail or {}))
        for row in await _rows(session, publication_id)
    }
