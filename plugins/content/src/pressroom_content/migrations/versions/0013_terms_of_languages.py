"""Give tags such as C++ and C# of built-in sites other URLs than C."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from pressroom_content.builtin_site.post_lists import terms_of

revision = "0013"
down_revision = "0012"

_AT_ONCE = 500
_SPELLED = ("++", "#")


def upgrade() -> None:
    """Write the terms of the posts that have such a name again."""
    posts = sa.table("content_builtin_posts", sa.column("id"), sa.column("website_id"), sa.column("fields", sa.JSON()))
    names = ("post_id", "kind", "slug", "website_id", "name")
    terms = sa.table("content_builtin_terms", *map(sa.column, names))
    connection, last = op.get_bind(), ""
    while rows := connection.execute(
        sa.select(posts).where(posts.c.id > last).order_by(posts.c.id).limit(_AT_ONCE)
    ).all():
        for row in rows:
            terms_of_post = list(terms_of(row.fields or {}))
            if any(part in name for _, _, name in terms_of_post for part in _SPELLED):
                connection.execute(sa.delete(terms).where(terms.c.post_id == row.id))
                values = [
                    dict(zip(names, (row.id, kind, slug, row.website_id, name), strict=True))
                    for kind, slug, name in terms_of_post
                ]
                connection.execute(terms.insert(), values)
        last = rows[-1].id


def downgrade() -> None:
    """Leave the terms as they are: the next change of a post writes them again."""
