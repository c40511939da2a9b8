"""Keep the terms of posts where lists find them, tell pages from posts, and know smaller copies of images."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from pressroom_content.builtin_site.post_lists import terms_of

revision = "0008"
down_revision = "0007"

_AT_ONCE = 500


def upgrade() -> None:
    """Create the table, and fill it from the posts that exist. All of them are posts."""
    op.add_column(
        "content_builtin_posts", sa.Column("kind", sa.String(length=8), server_default="post", nullable=False)
    )
    column = sa.Column("parent", sa.String(length=200), server_default="", nullable=False)
    op.add_column("content_builtin_files", column)
    for name in ("name", "parent"):
        op.create_index(
            op.f(f"ix_content_builtin_files_website_id_{name}"), "content_builtin_files", ["website_id", name]
        )
    op.create_table(
        "content_builtin_terms",
        sa.Column("post_id", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("slug", sa.String(length=200), nullable=False),
        sa.Column("website_id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=500), nullable=False),
        sa.ForeignKeyConstraint(
            ["post_id"],
            ["content_builtin_posts.id"],
            name=op.f("fk_content_builtin_terms_post_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("post_id", "kind", "slug", name=op.f("pk_content_builtin_terms")),
    )
    op.create_index(
        op.f("ix_content_builtin_terms_website_id_kind_slug"), "content_builtin_terms", ["website_id", "kind", "slug"]
    )
    posts = sa.table("content_builtin_posts", sa.column("id"), sa.column("website_id"), sa.column("fields", sa.JSON()))
    names = ("post_id", "kind", "slug", "website_id", "name")
    terms = sa.table("content_builtin_terms", *map(sa.column, names))
    connection, last = op.get_bind(), ""
    while True:
        wanted = sa.select(posts).where(posts.c.id > last).order_by(posts.c.id).limit(_AT_ONCE)
        rows = connection.execute(wanted).all()
        if not rows:
            break
        found = [
            dict(zip(names, (row.id, kind, slug, row.website_id, name), strict=True))
            for row in rows
            for kind, slug, name in terms_of(row.fields or {})
        ]
        if found:
            connection.execute(terms.insert(), found)
        last = rows[-1].id


def downgrade() -> None:
    """Drop the table and the column: pages are posts again."""
    op.drop_index(op.f("ix_content_builtin_terms_website_id_kind_slug"), table_name="content_builtin_terms")
    op.drop_table("content_builtin_terms")
    for name in ("parent", "name"):
        op.drop_index(op.f(f"ix_content_builtin_files_website_id_{name}"), table_name="content_builtin_files")
    op.drop_column("content_builtin_files", "parent")
    op.drop_column("content_builtin_posts", "kind")
