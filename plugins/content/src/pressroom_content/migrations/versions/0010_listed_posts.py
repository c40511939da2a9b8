"""Find the posts of a list without reading all posts of the site."""

from __future__ import annotations

from alembic import op

revision = "0010"
down_revision = "0009"

_NAME = "ix_content_builtin_posts_listed"
_COLUMNS = ["website_id", "kind", "published_at", "id", "state", "publish_at"]


def upgrade() -> None:
    """Add the index."""
    op.create_index(_NAME, "content_builtin_posts", _COLUMNS)


def downgrade() -> None:
    """Remove the index."""
    op.drop_index(_NAME, table_name="content_builtin_posts")
