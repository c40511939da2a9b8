"""Store credits as plain text: those written by users contained HTML entities."""

from __future__ import annotations

from html import unescape

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_MEDIA = sa.table(
    "images_media", sa.column("id", sa.String), sa.column("credit", sa.JSON), sa.column("license", sa.JSON)
)


def upgrade() -> None:
    """Unescape the credits written by users; those of licences are already plain."""
    connection = op.get_bind()
    for row in connection.execute(sa.select(_MEDIA.c.id, _MEDIA.c.credit, _MEDIA.c.license)).all():
        text = (row.credit or {}).get("text", "")
        if row.license or "&" not in text:
            continue
        plain = unescape(unescape(text))  # escaped twice: as HTML and as an attribute
        kept = {**row.credit, "text": plain, "markdown": plain}
        connection.execute(sa.update(_MEDIA).where(_MEDIA.c.id == row.id).values(credit=kept))


def downgrade() -> None:
    """Do nothing: the earlier version displays plain credits correctly."""
