"""Find the articles of one website, the last changed first, without reading all articles of the account."""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"

_NAME = "ix_content_articles_user_id_website_id_updated_at_id"
_COLUMNS = ["user_id", "website_id", "updated_at", "id"]


def upgrade() -> None:
    """Add the index."""
    op.create_index(_NAME, "content_articles", _COLUMNS)


def downgrade() -> None:
    """Remove the index."""
    op.drop_index(_NAME, table_name="content_articles")
