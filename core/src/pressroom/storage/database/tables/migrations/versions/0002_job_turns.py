"""Index jobs so that accounts with waiting jobs are found without scanning all of their jobs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_UNFINISHED = sa.text("due_at IS NOT NULL")


def upgrade() -> None:
    """Add the indexes."""
    _create("ix_jobs_kind_subject_due_at", "kind", "subject", "due_at")
    _create("ix_jobs_due_at_kind_subject", "due_at", "kind", "subject")
    op.drop_index(op.f("ix_jobs_due_at"), table_name="jobs")


def downgrade() -> None:
    """Drop the indexes."""
    op.create_index(op.f("ix_jobs_due_at"), "jobs", ["due_at"])
    op.drop_index(op.f("ix_jobs_due_at_kind_subject"), table_name="jobs")
    op.drop_index(op.f("ix_jobs_kind_subject_due_at"), table_name="jobs")


def _create(name: str, *columns: str) -> None:
    op.create_index(op.f(name), "jobs", list(columns), postgresql_where=_UNFINISHED, sqlite_where=_UNFINISHED)
