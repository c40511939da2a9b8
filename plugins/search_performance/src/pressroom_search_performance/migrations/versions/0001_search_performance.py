"""Create tables for connections, their days and figures, claims, tracked phrases and IndexNow keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    op.create_table(
        "search_performance_claims",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_search_performance_claims")),
    )
    op.create_table(
        "search_performance_connections",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("website_id", sa.String(length=32), nullable=False),
        sa.Column("source", sa.String(length=32), nullable=False),
        sa.Column("property", sa.String(length=2048), nullable=False),
        sa.Column("credential", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("last_error", sa.Text(), nullable=False),
        sa.Column("last_error_at", sa.BigInteger(), nullable=True),
        sa.Column("fetched_at", sa.BigInteger(), nullable=True),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("round_at", sa.BigInteger(), nullable=True),
        sa.Column("lease", sa.String(length=32), nullable=False),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_search_performance_connections")),
    )
    op.create_index(
        op.f("ix_search_performance_connections_due_at"), "search_performance_connections", ["due_at"], unique=False
    )
    op.create_index(
        op.f("ix_search_performance_connections_user_id"), "search_performance_connections", ["user_id"], unique=False
    )
    op.create_index(
        op.f("ix_search_performance_connections_website_id_source"),
        "search_performance_connections",
        ["website_id", "source"],
        unique=True,
    )
    op.create_table(
        "search_performance_indexnow_keys",
        sa.Column("website_id", sa.String(length=32), nullable=False),
        sa.Column("key", sa.String(length=128), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("website_id", name=op.f("pk_search_performance_indexnow_keys")),
        sa.UniqueConstraint("key", name=op.f("uq_search_performance_indexnow_keys_key")),
    )
    op.create_table(
        "search_performance_keywords",
        sa.Column("website_id", sa.String(length=32), nullable=False),
        sa.Column("phrase", sa.String(length=200), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("target_url", sa.String(length=2048), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("website_id", "phrase", name=op.f("pk_search_performance_keywords")),
    )
    op.create_table(
        "search_performance_days",
        sa.Column("connection_id", sa.String(length=32), nullable=False),
        sa.Column("search_type", sa.String(length=16), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("final", sa.Boolean(), nullable=False),
        sa.Column("truncated", sa.Boolean(), nullable=False),
        sa.Column("fetched_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["connection_id"],
            ["search_performance_connections.id"],
            name=op.f("fk_search_performance_days_connection_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("connection_id", "search_type", "day", name=op.f("pk_search_performance_days")),
    )
    op.create_table(
        "search_performance_figures",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("connection_id", sa.String(length=32), nullable=False),
        sa.Column("search_type", sa.String(length=16), nullable=False),
        sa.Column("grain", sa.String(length=16), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("page", sa.String(length=2048), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("country", sa.String(length=16), nullable=False),
        sa.Column("device", sa.String(length=16), nullable=False),
        sa.Column("clicks", sa.Integer(), nullable=False),
        sa.Column("impressions", sa.Integer(), nullable=False),
        sa.Column("position", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["connection_id"],
            ["search_performance_connections.id"],
            name=op.f("fk_search_performance_figures_connection_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_search_performance_figures")),
    )
    op.create_index(
        op.f("ix_search_performance_figures_connection_id_search_type_grain_day"),
        "search_performance_figures",
        ["connection_id", "search_type", "grain", "day"],
        unique=False,
    )


def downgrade() -> None:
    """Drop all tables."""
    op.drop_index(
        op.f("ix_search_performance_figures_connection_id_search_type_grain_day"),
        table_name="search_performance_figures",
    )
    op.drop_table("search_performance_figures")
    op.drop_table("search_performance_days")
    op.drop_table("search_performance_keywords")
    op.drop_table("search_performance_indexnow_keys")
    op.drop_index(
        op.f("ix_search_performance_connections_website_id_source"), table_name="search_performance_connections"
    )
    op.drop_index(op.f("ix_search_performance_connections_user_id"), table_name="search_performance_connections")
    op.drop_index(op.f("ix_search_performance_connections_due_at"), table_name="search_performance_connections")
    op.drop_table("search_performance_connections")
    op.drop_table("search_performance_claims")
