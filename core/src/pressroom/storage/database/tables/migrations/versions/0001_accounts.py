"""Accounts, connections, approvals, quotas, activity and jobs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    op.create_table(
        "oauth_clients",
        sa.Column("id", sa.String(length=500), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("redirect_uris", sa.JSON(), nullable=False),
        sa.Column("auth_method", sa.String(length=32), nullable=False),
        sa.Column("secret_hash", sa.LargeBinary(length=32), nullable=True),
        sa.Column("metadata_hash", sa.LargeBinary(length=32), nullable=True),
        sa.Column("client_metadata", sa.JSON(), nullable=False),
        sa.Column("registered_from", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_oauth_clients")),
        sa.UniqueConstraint("metadata_hash", name=op.f("uq_oauth_clients_metadata_hash")),
    )
    op.create_index(op.f("ix_oauth_clients_created_at"), "oauth_clients", ["created_at"], unique=False)
    op.create_table(
        "oauth_signing_keys",
        sa.Column("kid", sa.String(length=64), nullable=False),
        sa.Column("private_key", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("retired_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("kid", name=op.f("pk_oauth_signing_keys")),
    )
    op.create_table(
        "setup_links",
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_setup_links")),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("plan", sa.String(length=32), nullable=False),
        sa.Column("password_hash", sa.String(length=255), nullable=False),
        sa.Column("disabled", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_sign_in_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("email", name=op.f("uq_users_email")),
    )
    op.create_table(
        "activity",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("connection_id", sa.String(length=32), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("tool", sa.String(length=64), nullable=False),
        sa.Column("code", sa.String(length=32), nullable=False),
        sa.Column("cached", sa.Boolean(), nullable=False),
        sa.Column("duration", sa.Float(), nullable=False),
        sa.Column("address", sa.String(length=64), nullable=False),
        sa.Column("request_id", sa.String(length=128), nullable=False),
        sa.Column("website_id", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_activity_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_activity")),
    )
    op.create_index(op.f("ix_activity_at"), "activity", ["at"], unique=False)
    op.create_index(op.f("ix_activity_user_id_id"), "activity", ["user_id", "id"], unique=False)
    op.create_index(op.f("ix_activity_user_id_tool_id"), "activity", ["user_id", "tool", "id"], unique=False)
    op.create_index(
        op.f("ix_activity_user_id_connection_id_id"), "activity", ["user_id", "connection_id", "id"], unique=False
    )
    for name, columns, condition in (
        ("ix_activity_website", ["user_id", "website_id", "id"], "website_id <> ''"),
        ("ix_activity_errors", ["user_id", "id"], "code <> 'ok'"),
    ):
        where = sa.text(condition)
        op.create_index(name, "activity", columns, unique=False, sqlite_where=where, postgresql_where=where)
    op.create_table(
        "connections",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("disabled_tools", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True),
        sa.Column("last_used_address", sa.String(length=64), nullable=False),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_connections_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_connections")),
    )
    op.create_index(op.f("ix_connections_user_id_created_at"), "connections", ["user_id", "created_at"], unique=False)
    live = sa.text("revoked_at IS NULL")
    op.create_index(
        "ix_connections_live",
        "connections",
        ["user_id", "created_at"],
        unique=False,
        sqlite_where=live,
        postgresql_where=live,
    )
    op.create_table(
        "identities",
        sa.Column("issuer", sa.String(length=500), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_identities_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("issuer", "subject", name=op.f("pk_identities")),
    )
    op.create_index(op.f("ix_identities_user_id"), "identities", ["user_id"], unique=False)
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("key", sa.String(length=200), nullable=True),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("progress", sa.Float(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("lease", sa.String(length=32), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
        sa.UniqueConstraint("kind", "subject", "key", name=op.f("uq_jobs_kind_subject_key")),
    )
    op.create_index(op.f("ix_jobs_due_at"), "jobs", ["due_at"], unique=False)
    op.create_index(op.f("ix_jobs_expires_at"), "jobs", ["expires_at"], unique=False)
    op.create_table(
        "quota_usage",
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("month", sa.String(length=7), nullable=False),
        sa.Column("quota", sa.String(length=32), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_quota_usage_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "month", "quota", name=op.f("pk_quota_usage")),
    )
    op.create_table(
        "sessions",
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("user_id", sa.String(length=32), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("address", sa.String(length=64), nullable=False),
        sa.Column("user_agent", sa.String(length=300), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_sessions_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_sessions")),
    )
    op.create_index(op.f("ix_sessions_expires_at"), "sessions", ["expires_at"], unique=False)
    op.create_index(op.f("ix_sessions_user_id_seen_at"), "sessions", ["user_id", "seen_at"], unique=False)
    op.create_table(
        "api_keys",
        sa.Column("key_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("connection_id", sa.String(length=32), nullable=False),
        sa.Column("hint", sa.String(length=4), nullable=False),
        sa.ForeignKeyConstraint(
            ["connection_id"], ["connections.id"], name=op.f("fk_api_keys_connection_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("key_hash", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("connection_id", name=op.f("uq_api_keys_connection_id")),
    )
    op.create_table(
        "oauth_families",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("connection_id", sa.String(length=32), nullable=False),
        sa.Column("client_id", sa.String(length=500), nullable=False),
        sa.Column("scope", sa.String(length=100), nullable=False),
        sa.Column("resource", sa.String(length=500), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["client_id"], ["oauth_clients.id"], name=op.f("fk_oauth_families_client_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["connection_id"], ["connections.id"], name=op.f("fk_oauth_families_connection_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_oauth_families")),
    )
    op.create_index(op.f("ix_oauth_families_client_id"), "oauth_families", ["client_id"], unique=False)
    op.create_index(op.f("ix_oauth_families_connection_id"), "oauth_families", ["connection_id"], unique=False)
    op.create_table(
        "oauth_codes",
        sa.Column("code_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("family_id", sa.String(length=32), nullable=False),
        sa.Column("redirect_uri", sa.Text(), nullable=False),
        sa.Column("redirect_uri_sent", sa.Boolean(), nullable=False),
        sa.Column("code_challenge", sa.String(length=128), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["family_id"], ["oauth_families.id"], name=op.f("fk_oauth_codes_family_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("code_hash", name=op.f("pk_oauth_codes")),
    )
    op.create_index(op.f("ix_oauth_codes_expires_at"), "oauth_codes", ["expires_at"], unique=False)
    op.create_index(op.f("ix_oauth_codes_family_id"), "oauth_codes", ["family_id"], unique=False)
    op.create_table(
        "oauth_refresh_tokens",
        sa.Column("token_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("family_id", sa.String(length=32), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["family_id"], ["oauth_families.id"], name=op.f("fk_oauth_refresh_tokens_family_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_oauth_refresh_tokens")),
    )
    op.create_index(op.f("ix_oauth_refresh_tokens_expires_at"), "oauth_refresh_tokens", ["expires_at"], unique=False)
    op.create_index(op.f("ix_oauth_refresh_tokens_family_id"), "oauth_refresh_tokens", ["family_id"], unique=False)


def downgrade() -> None:
    """Drop all tables."""
    op.drop_index(op.f("ix_oauth_refresh_tokens_family_id"), table_name="oauth_refresh_tokens")
    op.drop_index(op.f("ix_oauth_refresh_tokens_expires_at"), table_name="oauth_refresh_tokens")
    op.drop_table("oauth_refresh_tokens")
    op.drop_index(op.f("ix_oauth_codes_family_id"), table_name="oauth_codes")
    op.drop_index(op.f("ix_oauth_codes_expires_at"), table_name="oauth_codes")
    op.drop_table("oauth_codes")
    op.drop_index(op.f("ix_oauth_families_connection_id"), table_name="oauth_families")
    op.drop_index(op.f("ix_oauth_families_client_id"), table_name="oauth_families")
    op.drop_table("oauth_families")
    op.drop_table("api_keys")
    op.drop_index(op.f("ix_sessions_user_id_seen_at"), table_name="sessions")
    op.drop_index(op.f("ix_sessions_expires_at"), table_name="sessions")
    op.drop_table("sessions")
    op.drop_table("quota_usage")
    op.drop_index(op.f("ix_jobs_expires_at"), table_name="jobs")
    op.drop_index(op.f("ix_jobs_due_at"), table_name="jobs")
    op.drop_table("jobs")
    op.drop_index(op.f("ix_identities_user_id"), table_name="identities")
    op.drop_table("identities")
    op.drop_index("ix_connections_live", table_name="connections")
    op.drop_index(op.f("ix_connections_user_id_created_at"), table_name="connections")
    op.drop_table("connections")
    op.drop_index("ix_activity_errors", table_name="activity")
    op.drop_index("ix_activity_website", table_name="activity")
    op.drop_index(op.f("ix_activity_user_id_connection_id_id"), table_name="activity")
    op.drop_index(op.f("ix_activity_user_id_tool_id"), table_name="activity")
    op.drop_index(op.f("ix_activity_user_id_id"), table_name="activity")
    op.drop_index(op.f("ix_activity_at"), table_name="activity")
    op.drop_table("activity")
    op.drop_table("users")
    op.drop_table("setup_links")
    op.drop_table("oauth_signing_keys")
    op.drop_index(op.f("ix_oauth_clients_created_at"), table_name="oauth_clients")
    op.drop_table("oauth_clients")
