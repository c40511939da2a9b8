"""Add locks for jobs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_WAITING = sa.text("waits_for <> ''")


def upgrade() -> None:
    """Add the table, and the column for jobs that wait for a lock."""
    op.create_table(
        "job_locks",
        sa.Column("key", sa.String(200), nullable=False),
        sa.Column("token", sa.String(32), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_job_locks")),
    )
    op.add_column("jobs", sa.Column("waits_for", sa.String(200), nullable=False, server_default=""))
    op.create_index(op.f("ix_jobs_waits_for"), "jobs", ["waits_for"], postgresql_where=_WAITING, sqlite_where=_WAITING)


def downgrade() -> None:
    """Drop both."""
    op.drop_index(op.f("ix_jobs_waits_for"), table_name="jobs")
    op.drop_column("jobs", "waits_for")
    op.drop_table("job_locks")
