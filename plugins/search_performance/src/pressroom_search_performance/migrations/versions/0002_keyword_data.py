"""Create the cache of keyword data."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "search_performance_keyword_data",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("source", sa.String(length=64), nullable=False),
        sa.Column("country", sa.String(length=2), nullable=False),
        sa.Column("language", sa.String(length=2), nullable=False),
        sa.Column("phrase", sa.String(length=200), nullable=False),
        sa.Column("volume", sa.Integer(), nullable=True),
        sa.Column("difficulty", sa.Integer(), nullable=True),
        sa.Column("cpc", sa.Double(), nullable=True),
        sa.Column("competition", sa.String(length=16), nullable=False),
        sa.Column("fetched_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_search_performance_keyword_data")),
    )
    op.create_index(
        op.f("ix_search_performance_keyword_data_fetched_at"),
        "search_performance_keyword_data",
        ["fetched_at"],
        unique=False,
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_index(op.f("ix_search_performance_keyword_data_fetched_at"), table_name="search_performance_keyword_data")
    op.drop_table("search_performance_keyword_data")
