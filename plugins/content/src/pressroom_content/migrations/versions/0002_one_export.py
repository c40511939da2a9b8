"""Keep one export of an account and format."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the index. Exports live for an hour: instead of choosing among them, all are made anew on demand."""
    op.execute("DELETE FROM content_exports")
    op.create_index(
        op.f("ix_content_exports_user_id_media_type"), "content_exports", ["user_id", "media_type"], unique=True
    )


def downgrade() -> None:
    """Remove the index."""
    op.drop_index(op.f("ix_content_exports_user_id_media_type"), table_name="content_exports")
