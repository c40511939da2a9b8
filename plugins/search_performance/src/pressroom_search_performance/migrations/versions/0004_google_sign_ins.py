"""Create the table of open sign-ins with Google."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_TABLE = "search_performance_google_sign_ins"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        _TABLE,
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("website_id", sa.String(length=32), nullable=False),
        sa.Column("session", sa.String(length=64), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("properties", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_search_performance_google_sign_ins")),
    )
    op.create_index(op.f("ix_search_performance_google_sign_ins_expires_at"), _TABLE, ["expires_at"], unique=False)
    op.create_index(op.f("ix_search_performance_google_sign_ins_user_id"), _TABLE, ["user_id"], unique=False)


def downgrade() -> None:
    """Drop the table."""
    op.drop_index(op.f("ix_search_performance_google_sign_ins_user_id"), table_name=_TABLE)
    op.drop_index(op.f("ix_search_performance_google_sign_ins_expires_at"), table_name=_TABLE)
    op.drop_table(_TABLE)
