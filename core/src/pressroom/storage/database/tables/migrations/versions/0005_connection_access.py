"""Add an access level and toolsets to each connection."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add both columns. Existing connections keep full access."""
    op.add_column("connections", sa.Column("access", sa.String(8), nullable=False, server_default="full"))
    op.add_column("connections", sa.Column("toolsets", sa.JSON(), nullable=True))


def downgrade() -> None:
    """Drop both columns."""
    op.drop_column("connections", "toolsets")
    op.drop_column("connections", "access")
