"""Leave the right to fetch the figures of a connection to its job."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_TABLE = "search_performance_connections"


def upgrade() -> None:
    """Remove the columns of the lease."""
    op.drop_column(_TABLE, "lease_until")
    op.drop_column(_TABLE, "lease")


def downgrade() -> None:
    """Add the columns again: nobody holds a lease."""
    op.add_column(_TABLE, sa.Column("lease", sa.String(length=32), nullable=False, server_default=""))
    op.add_column(_TABLE, sa.Column("lease_until", sa.BigInteger(), nullable=True))
