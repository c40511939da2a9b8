"""Write the Turkish dotted and dotless i as i in the index of words, as searches now do."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql, sqlite

revision = "0012"
down_revision = "0011"

_FOLDED = ("i\u0307", "\u0131")
"""The case-folded dotted I, of two characters, and the dotless i."""


def upgrade() -> None:
    """Replace the letters. Stems of a document that become the same are one row."""
    connection = op.get_bind()
    names = ("user_id", "stem", "document_id", "count", "in_title")
    words = sa.table("content_words", *map(sa.column, names[:-1]), sa.column(names[-1], sa.Boolean()))
    outdated = sa.or_(*(words.c.stem.contains(letters) for letters in _FOLDED))
    stem: sa.ColumnElement[str] = words.c.stem
    for letters in _FOLDED:
        stem = sa.func.replace(stem, letters, "i")
    columns = (words.c.user_id, stem.label("stem"), words.c.document_id, words.c.count, words.c.in_title)
    rows = sa.select(*columns).where(outdated).subquery()
    key = (rows.c.user_id, rows.c.stem, rows.c.document_id)
    in_title = sa.func.max(sa.case((rows.c.in_title, 1), else_=0)) == 1
    folded = sa.select(*key, sa.func.sum(rows.c.count), in_title).group_by(*key)
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    adding = insert(words).from_select(list(names), folded)
    both = {
        "count": words.c.count + adding.excluded.count,
        "in_title": sa.or_(words.c.in_title, adding.excluded.in_title),
    }
    connection.execute(adding.on_conflict_do_update(index_elements=["user_id", "stem", "document_id"], set_=both))
    connection.execute(sa.delete(words).where(outdated))


def downgrade() -> None:
    """Leave the index as it is: articles are found by the words that they have without those letters."""
