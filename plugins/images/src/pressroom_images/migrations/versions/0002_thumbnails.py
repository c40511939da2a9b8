"""Create the table for thumbnails."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "images_thumbnails",
        sa.Column("media_id", sa.String(length=32), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["media_id"], ["images_media.id"], name=op.f("fk_images_thumbnails_media_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("media_id", name=op.f("pk_images_thumbnails")),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("images_thumbnails")
