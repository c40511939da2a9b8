"""Create the tables for images, their bytes, their uses and uploads."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    op.create_table(
        "images_media",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("website_id", sa.String(length=32), nullable=True),
        sa.Column("ref", sa.String(length=200), nullable=True),
        sa.Column("provider", sa.String(length=32), nullable=False),
        sa.Column("title", sa.String(length=300), nullable=False),
        sa.Column("filename", sa.String(length=200), nullable=False),
        sa.Column("media_type", sa.String(length=50), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("alt_text", sa.Text(), nullable=False),
        sa.Column("caption", sa.Text(), nullable=False),
        sa.Column("page_url", sa.String(length=2048), nullable=False),
        sa.Column("file_url", sa.String(length=2048), nullable=False),
        sa.Column("hosting", sa.String(length=16), nullable=False),
        sa.Column("license", sa.JSON(), nullable=False),
        sa.Column("credit", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_images_media")),
    )
    op.create_index(
        op.f("ix_images_media_user_id_created_at_id"), "images_media", ["user_id", "created_at", "id"], unique=False
    )
    op.create_index(op.f("ix_images_media_user_id_ref"), "images_media", ["user_id", "ref"], unique=True)
    op.create_table(
        "images_uploads",
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("media_id", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("content_id", sa.String(length=32), nullable=True),
        sa.Column("filename", sa.String(length=200), nullable=False),
        sa.Column("media_type", sa.String(length=50), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_images_uploads")),
        sa.UniqueConstraint("media_id", name=op.f("uq_images_uploads_media_id")),
    )
    op.create_index(op.f("ix_images_uploads_expires_at"), "images_uploads", ["expires_at"], unique=False)
    op.create_table(
        "images_bytes",
        sa.Column("media_id", sa.String(length=32), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["media_id"], ["images_media.id"], name=op.f("fk_images_bytes_media_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("media_id", name=op.f("pk_images_bytes")),
    )
    op.create_table(
        "images_uses",
        sa.Column("media_id", sa.String(length=32), nullable=False),
        sa.Column("content_id", sa.String(length=32), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.ForeignKeyConstraint(
            ["media_id"], ["images_media.id"], name=op.f("fk_images_uses_media_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("media_id", "content_id", name=op.f("pk_images_uses")),
    )
    op.create_index(op.f("ix_images_uses_content_id"), "images_uses", ["content_id"], unique=False)


def downgrade() -> None:
    """Drop all tables."""
    op.drop_index(op.f("ix_images_uses_content_id"), table_name="images_uses")
    op.drop_table("images_uses")
    op.drop_table("images_bytes")
    op.drop_index(op.f("ix_images_uploads_expires_at"), table_name="images_uploads")
    op.drop_table("images_uploads")
    op.drop_index(op.f("ix_images_media_user_id_ref"), table_name="images_media")
    op.drop_index(op.f("ix_images_media_user_id_created_at_id"), table_name="images_media")
    op.drop_table("images_media")
