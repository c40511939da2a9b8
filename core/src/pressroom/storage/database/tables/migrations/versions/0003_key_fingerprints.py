"""Add key fingerprints, which detect hosts of one database with different keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "key_fingerprints",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("fingerprint", sa.String(16), nullable=False),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_key_fingerprints")),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("key_fingerprints")
