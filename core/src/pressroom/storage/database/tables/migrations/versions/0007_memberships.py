"""Add memberships, which let users work in the accounts of others."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add memberships, invitations, and the account that a session works in."""
    op.create_table(
        "memberships",
        sa.Column("account_id", sa.String(32), nullable=False),
        sa.Column("member_id", sa.String(32), nullable=False),
        sa.Column("role", sa.String(8), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["users.id"], name=op.f("fk_memberships_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["member_id"], ["users.id"], name=op.f("fk_memberships_member_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("account_id", "member_id", name=op.f("pk_memberships")),
    )
    op.create_index(op.f("ix_memberships_member_id"), "memberships", ["member_id"])
    op.create_table(
        "invitations",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(32), nullable=False),
        sa.Column("account_id", sa.String(32), nullable=False),
        sa.Column("role", sa.String(8), nullable=False),
        sa.Column("note", sa.String(100), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["users.id"], name=op.f("fk_invitations_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_invitations_token_hash")),
    )
    op.create_index(op.f("ix_invitations_account_id_created_at"), "invitations", ["account_id", "created_at"])
    op.create_index(op.f("ix_invitations_expires_at"), "invitations", ["expires_at"])
    op.add_column("sessions", sa.Column("account_id", sa.String(32), nullable=True))


def downgrade() -> None:
    """Drop the column and both tables."""
    op.drop_column("sessions", "account_id")
    op.drop_table("invitations")
    op.drop_table("memberships")
