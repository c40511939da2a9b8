"""Which domain of its own a built-in site has."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_TEXTS = (("domain", 253), ("domain_token", 64), ("domain_problem", 500))
_TIMES = ("domain_at", "domain_checked_at", "domain_lost_at")


def upgrade() -> None:
    """Add the columns. No site has a domain of its own."""
    for name, length in _TEXTS:
        op.add_column("content_websites", sa.Column(name, sa.String(length), nullable=False, server_default=""))
    for name in _TIMES:
        op.add_column("content_websites", sa.Column(name, sa.BigInteger(), nullable=True))
    op.add_column("content_websites", sa.Column("proven_domain", sa.String(253), nullable=True))
    op.create_index(op.f("ix_content_websites_proven_domain"), "content_websites", ["proven_domain"], unique=True)


def downgrade() -> None:
    """Remove the columns: all sites are at their URLs on this server again."""
    op.drop_index(op.f("ix_content_websites_proven_domain"), table_name="content_websites")
    for name in ("proven_domain", *_TIMES, *(name for name, _ in _TEXTS)):
        op.drop_column("content_websites", name)
