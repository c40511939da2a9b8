"""The table of notes."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

TABLE = "{{ cookiecutter.plugin_id }}_note"


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("text", sa.String(1000), nullable=False),
        sa.Column("added_at", sa.BigInteger(), nullable=False),
    )
    op.create_index(f"ix_{TABLE}_subject", TABLE, ["subject"])


def downgrade() -> None:
    op.drop_table(TABLE)
