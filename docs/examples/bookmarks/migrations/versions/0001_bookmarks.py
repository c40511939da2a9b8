"""The table of bookmarks."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "bookmarks_bookmark",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("url", sa.String(2000), nullable=False),
        sa.Column("note", sa.String(500), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("kept_at", sa.BigInteger(), nullable=False),
        sa.UniqueConstraint("subject", "url", name="uq_bookmarks_bookmark_subject_url"),
    )


def downgrade() -> None:
    """Remove the table."""
    op.drop_table("bookmarks_bookmark")
