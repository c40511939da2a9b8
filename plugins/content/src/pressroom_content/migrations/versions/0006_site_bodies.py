"""Keep the bodies of posts as their websites have them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_TABLE = "content_site_bodies"


def upgrade() -> None:
    """Create the table. Bodies of posts that were published before are kept from their next update on."""
    op.create_table(
        _TABLE,
        sa.Column("publication_id", sa.String(length=32), nullable=False),
        sa.Column("bound", sa.String(length=300), nullable=True),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.Column("sent", sa.JSON(), nullable=False),
        sa.Column("read_at", sa.BigInteger(), nullable=False),
        sa.Column("raw", sa.Text(), nullable=False),
        sa.Column("segments", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["publication_id"],
            ["content_publications.id"],
            name=op.f("fk_content_site_bodies_publication_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("publication_id", name=op.f("pk_content_site_bodies")),
        sa.UniqueConstraint("bound", name=op.f("uq_content_site_bodies_bound")),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table(_TABLE)
