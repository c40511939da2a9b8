"""Drop the lease of connections: the lock of the fetch job replaces it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_TABLE = "search_performance_connections"


def upgrade() -> None:
    """Drop the lease columns."""
    op.drop_column(_TABLE, "lease_until")
    op.drop_column(_TABLE, "lease")


def downgrade() -> None:
    """Add the lease columns, with no lease held."""
    op.add_column(_TABLE, sa.Column("lease", sa.String(length=32), nullable=False, server_default=""))
    op.add_column(_TABLE, sa.Column("lease_until", sa.BigInteger(), nullable=True))
