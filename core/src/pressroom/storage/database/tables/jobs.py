"""Background jobs, their locks, and fingerprints to detect hosts of one database with different keys."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from sqlalchemy import JSON, Float, Index, Integer, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from pressroom.storage.database.tables.accounts import ID, Base

PERIOD_KEY: Final = "every:"
"""The prefix of the keys of periodic jobs."""

_UNFINISHED: Final = text("due_at IS NOT NULL")
_WAITING: Final = text("waits_for <> ''")


class JobRow(Base):
    """A job. `state` is `queued`, `running`, `succeeded`, `failed` or `cancelled`; `progress` is 0 to 1.

    `due_at` is when a process can take the job next: the scheduled time, or the end of the lease of the process that
    runs it; NULL once it is finished. `lease` identifies the running attempt. `subject` is the job's owner; it is not a
    foreign key, since plugins can authenticate callers without an account here. `key`, if set, makes enqueuing
    idempotent. `waits_for` is the lock that kept a queued job from running. `expires_at` is when a finished job is
    deleted.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        UniqueConstraint("kind", "subject", "key"),
        Index(None, "due_at", "kind", "subject", postgresql_where=_UNFINISHED, sqlite_where=_UNFINISHED),
        Index(None, "kind", "subject", "due_at", postgresql_where=_UNFINISHED, sqlite_where=_UNFINISHED),
        Index(None, "waits_for", postgresql_where=_WAITING, sqlite_where=_WAITING),
    )

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    kind: Mapped[str] = mapped_column(String(64))
    subject: Mapped[str] = mapped_column(String(255), default="")
    key: Mapped[str | None] = mapped_column(String(200))
    payload: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    state: Mapped[str] = mapped_column(String(10))
    progress: Mapped[float] = mapped_column(Float, default=0.0)
    message: Mapped[str] = mapped_column(Text, default="")
    result: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    attempts: Mapped[int] = mapped_column(Integer, default=0)
    created_at: Mapped[datetime]
    due_at: Mapped[datetime | None]
    lease: Mapped[str] = mapped_column(String(32), default="")
    waits_for: Mapped[str] = mapped_column(String(200), default="")
    finished_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None] = mapped_column(index=True)


class JobLockRow(Base):
    """A lock held by a running job or by other code. `token` identifies the holder, `until` is the end of its lease."""

    __tablename__ = "job_locks"

    key: Mapped[str] = mapped_column(String(200), primary_key=True)
    token: Mapped[str] = mapped_column(String(32))
    until: Mapped[datetime]


class KeyFingerprintRow(Base):
    """The fingerprint of the key that the hosts of this database encrypt with. `name` is that of `SharedKeys`."""

    __tablename__ = "key_fingerprints"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    fingerprint: Mapped[str] = mapped_column(String(16))
    recorded_at: Mapped[datetime]
