"""Store calls that have a `client_request_id`."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "client_requests",
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("tool", sa.String(64), nullable=False),
        sa.Column("request_id", sa.String(200), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("token", sa.String(32), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_client_requests_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "tool", "request_id", name=op.f("pk_client_requests")),
    )
    op.create_index(op.f("ix_client_requests_created_at"), "client_requests", ["created_at"])


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("client_requests")
