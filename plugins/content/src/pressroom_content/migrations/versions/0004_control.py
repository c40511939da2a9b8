"""Which URL each website was proven to control, and no paths on this server but those of built-in sites."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the columns, and forget paths that other sites claimed."""
    for name, length in (("control_token", 64), ("control_place", 2048), ("control_method", 16)):
        op.add_column("content_websites", sa.Column(name, sa.String(length), nullable=False, server_default=""))
    op.add_column("content_websites", sa.Column("control_at", sa.BigInteger(), nullable=True))
    websites = sa.table("content_websites", sa.column("id"), sa.column("platform"))
    publications = sa.table("content_publications", sa.column("website_id"), sa.column("path"))
    elsewhere = sa.select(websites.c.id).where(websites.c.platform != "builtin")
    op.execute(
        publications.update().where(publications.c.path != "", publications.c.website_id.in_(elsewhere)).values(path="")
    )


def downgrade() -> None:
    """Remove the columns. Paths that were forgotten stay so."""
    for name in ("control_at", "control_method", "control_place", "control_token"):
        op.drop_column("content_websites", name)
