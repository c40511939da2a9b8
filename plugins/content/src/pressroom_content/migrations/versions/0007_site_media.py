"""Note which images are on which website, and which posts show them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Create the tables. Images that were uploaded before stay with their one post."""
    op.create_table(
        "content_site_media",
        sa.Column("website_id", sa.String(length=32), nullable=False),
        sa.Column("media_id", sa.String(length=32), nullable=False),
        sa.Column("remote_id", sa.String(length=2048), nullable=False),
        sa.Column("url", sa.String(length=2048), nullable=False),
        sa.ForeignKeyConstraint(
            ["website_id"],
            ["content_websites.id"],
            name=op.f("fk_content_site_media_website_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("website_id", "media_id", name=op.f("pk_content_site_media")),
    )
    op.create_table(
        "content_site_media_uses",
        sa.Column("publication_id", sa.String(length=32), nullable=False),
        sa.Column("media_id", sa.String(length=32), nullable=False),
        sa.Column("website_id", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(
            ["publication_id"],
            ["content_publications.id"],
            name=op.f("fk_content_site_media_uses_publication_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("publication_id", "media_id", name=op.f("pk_content_site_media_uses")),
    )
    op.create_index(
        op.f("ix_content_site_media_uses_website_id_media_id"), "content_site_media_uses", ["website_id", "media_id"]
    )


def downgrade() -> None:
    """Drop the tables."""
    op.drop_index(op.f("ix_content_site_media_uses_website_id_media_id"), table_name="content_site_media_uses")
    op.drop_table("content_site_media_uses")
    op.drop_table("content_site_media")
