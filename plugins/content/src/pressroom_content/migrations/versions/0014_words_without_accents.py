"""Write the words in the index without accents, as searches now do."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql, sqlite

from pressroom_content.language import searchable

revision = "0014"
down_revision = "0013"

_AT_ONCE = 1000


def upgrade() -> None:
    """Replace the stems with accents. Stems of a document that become the same are one row."""
    connection = op.get_bind()
    names = ("user_id", "stem", "document_id", "count", "in_title")
    words = sa.table("content_words", *map(sa.column, names[:-1]), sa.column(names[-1], sa.Boolean()))
    plain = op.create_table(
        "content_plain_stems",
        sa.Column("stem", sa.String(64), primary_key=True),
        sa.Column("plain", sa.String(64), nullable=False),
        prefixes=["TEMPORARY"],
    )
    stems = connection.execute(sa.select(words.c.stem).distinct()).scalars().all()
    outdated = [
        {"stem": stem, "plain": searchable(stem)[:64]}
        for stem in stems
        if not stem.isascii() and searchable(stem) != stem
    ]
    for start in range(0, len(outdated), _AT_ONCE):
        connection.execute(plain.insert(), outdated[start : start + _AT_ONCE])
    columns = (words.c.user_id, plain.c.plain.label("stem"), words.c.document_id, words.c.count, words.c.in_title)
    rows = sa.select(*columns).join_from(words, plain, words.c.stem == plain.c.stem).subquery()
    key = (rows.c.user_id, rows.c.stem, rows.c.document_id)
    in_title = sa.func.max(sa.case((rows.c.in_title, 1), else_=0)) == 1
    merged = sa.select(*key, sa.func.sum(rows.c.count), in_title).group_by(*key)
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    adding = insert(words).from_select(list(names), merged)
    both = {
        "count": words.c.count + adding.excluded.count,
        "in_title": sa.or_(words.c.in_title, adding.excluded.in_title),
    }
    connection.execute(adding.on_conflict_do_update(index_elements=["user_id", "stem", "document_id"], set_=both))
    connection.execute(sa.delete(words).where(words.c.stem.in_(sa.select(plain.c.stem))))
    op.drop_table("content_plain_stems")


def downgrade() -> None:
    """Leave the index as it is: articles are found by the words that they have without accents."""
