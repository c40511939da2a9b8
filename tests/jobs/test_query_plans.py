"""Frequent queries use an index, however many jobs there are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pressroom.jobs.queries import due_job, due_subjects, first_jobs, next_due
from pressroom.sdk import Job
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import JobRow
from sqlalchemy import ColumnElement, delete, insert, select, text
from sqlalchemy.ext.asyncio import AsyncSession

NOW = datetime.now(UTC)


async def nothing(_run: object) -> None: ...


KINDS = {"crawl": Job("crawl", nothing), "mail": Job("mail", nothing)}


def row(number: int) -> dict[str, Any]:
    """Return one of 10,000 job rows; every hundredth is unfinished."""
    finished = number % 100 != 0
    when = NOW - timedelta(seconds=number)
    return {
        "id": f"j_{number}",
        "kind": ("crawl", "mail")[number % 2],
        "key": f"k{number}",
        "payload": {},
        "state": "succeeded" if finished else "queued",
        "created_at": when,
        "due_at": None if finished else when,
        "finished_at": when if finished else None,
        "expires_at": when + timedelta(days=7) if finished else None,
    }


@pytest.fixture
async def filled(database: SqlDatabase) -> SqlDatabase:
    async with database.writing() as session:
        await session.execute(insert(JobRow), [row(number) for number in range(10_000)])
        await session.execute(text("ANALYZE"))
    return database


async def plan(session: AsyncSession, dialect: str, statement: Any) -> str:
    compiled = statement.compile(dialect=session.get_bind().dialect, compile_kwargs={"literal_binds": True})
    explain = "EXPLAIN QUERY PLAN" if dialect == "sqlite" else "EXPLAIN"
    lines = await session.execute(text(f"{explain} {compiled}".replace(":", r"\:")))
    return "\n".join(str(line[-1]) for line in lines)


def by_key() -> ColumnElement[bool]:
    return (JobRow.kind == "crawl") & (JobRow.subject == "") & (JobRow.key == "k42")


STATEMENTS: list[tuple[str, Any, str]] = [
    ("lease", due_job("mail", "", NOW).with_for_update(skip_locked=True), "subject_due_at|due_at_kind_subject"),
    ("first", first_jobs(), "ix_jobs_due_at_kind_subject"),
    ("subjects", due_subjects(KINDS, NOW), "ix_jobs_kind_subject_due_at"),
    ("wait", next_due(NOW), "ix_jobs_due_at_kind_subject"),
    ("status", select(JobRow).where(JobRow.id == "j_42"), "pk_jobs|sqlite_autoindex_jobs_1"),
    ("key", select(JobRow.id).where(by_key()), "uq_jobs_kind_subject_key|sqlite_autoindex_jobs_2"),
    ("forget", delete(JobRow).where(JobRow.expires_at < NOW), "ix_jobs_expires_at"),
]


async def test_an_index_is_used(filled: SqlDatabase) -> None:
    for name, statement, index in STATEMENTS:
        async with filled.writing() as session:
            query_plan = await plan(session, filled.dialect, statement)
        assert any(alternative in query_plan for alternative in index.split("|")), f"{name}: {query_plan}"
        assert "Seq Scan" not in query_plan, name
        assert "SCAN jobs\n" not in f"{query_plan}\n", name
