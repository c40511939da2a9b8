"""Know how many bytes articles, versions and built-in sites have."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_INDEXES = (
    ("content_articles", "user_id", "stored"),
    ("content_builtin_posts", "website_id", "size"),
    ("content_builtin_files", "website_id", "size"),
)


def upgrade() -> None:
    """Add the columns, and measure what is stored already."""
    op.add_column("content_articles", sa.Column("stored", sa.BigInteger(), nullable=False, server_default="0"))
    for table in ("content_versions", "content_builtin_posts", "content_builtin_files"):
        op.add_column(table, sa.Column("size", sa.Integer(), nullable=False, server_default="0"))
    versions = sa.table("content_versions", *map(sa.column, ("article_id", "size", "body", "fields")))
    posts = sa.table("content_builtin_posts", *map(sa.column, ("size", "html", "markdown")))
    files = sa.table("content_builtin_files", *map(sa.column, ("size", "content")))
    articles = sa.table("content_articles", *map(sa.column, ("id", "stored", "body")))
    of_versions = sa.select(sa.func.sum(versions.c.size)).where(versions.c.article_id == articles.c.id)
    op.execute(versions.update().values(size=_bytes(versions.c.body) + _bytes(versions.c.fields)))
    op.execute(posts.update().values(size=_bytes(posts.c.html) + _bytes(posts.c.markdown)))
    op.execute(files.update().values(size=sa.func.length(files.c.content)))
    stored = _bytes(articles.c.body) + sa.func.coalesce(of_versions.scalar_subquery(), 0)
    op.execute(articles.update().values(stored=stored))
    for table, *columns in _INDEXES:
        op.create_index(op.f(f"ix_{table}_{'_'.join(columns)}"), table, columns)


def downgrade() -> None:
    """Remove the columns."""
    for table, *columns in _INDEXES:
        op.drop_index(op.f(f"ix_{table}_{'_'.join(columns)}"), table_name=table)
        op.drop_column(table, columns[-1])
    op.drop_column("content_versions", "size")


def _bytes(column: sa.ColumnElement[str]) -> sa.ColumnElement[int]:
    if op.get_bind().dialect.name == "sqlite":
        return sa.func.length(sa.cast(column, sa.LargeBinary))
    return sa.func.octet_length(sa.cast(column, sa.Text))
