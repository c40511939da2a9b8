"""Users, their identities, sessions, connections, approvals and activity, and the clients with access to accounts.

Secrets are never stored in plain text: passwords are Argon2id hashes; keys, cookies and links are SHA-256 hashes of at
least 160 random bits.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, Float, ForeignKey, Index, Integer, LargeBinary, MetaData, String, Text, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from pressroom.columns import MAX_ID_LENGTH, NAMING, Timestamp


class Base(DeclarativeBase):
    """The host's tables."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {datetime: Timestamp}  # noqa: RUF012 - declared so by SQLAlchemy


ID = String(MAX_ID_LENGTH)
"""A random id: 22 base62 characters after a prefix with a letter for the type, such as `u_`."""


def _where(condition: str) -> dict[str, Any]:
    """Return the options of a partial index, which only contains the rows that meet a condition."""
    return {f"{dialect}_where": text(condition) for dialect in ("sqlite", "postgresql")}


class UserRow(Base):
    """An account. `email` is normalised for comparison; `password_hash` is empty if no password is set."""

    __tablename__ = "users"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    email: Mapped[str] = mapped_column(String(254), unique=True)
    name: Mapped[str] = mapped_column(String(100), default="")
    plan: Mapped[str] = mapped_column(String(32))
    password_hash: Mapped[str] = mapped_column(String(255), default="")
    disabled: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime]
    last_sign_in_at: Mapped[datetime | None]


class IdentityRow(Base):
    """A user at an identity provider, and the account that this identity signs in to."""

    __tablename__ = "identities"

    issuer: Mapped[str] = mapped_column(String(500), primary_key=True)
    subject: Mapped[str] = mapped_column(String(255), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime]


class SessionRow(Base):
    """A signed-in browser.

    `account_id` is the other account that the session works in, or NULL for the user's own. It is kept when the
    membership ends or the account is deleted, so that the user can be told: it grants access only together with a row
    of `memberships`.
    """

    __tablename__ = "sessions"
    __table_args__ = (Index(None, "user_id", "seen_at"),)

    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    created_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    address: Mapped[str] = mapped_column(String(64), default="")
    user_agent: Mapped[str] = mapped_column(String(300), default="")
    account_id: Mapped[str | None] = mapped_column(ID)


class SetupLinkRow(Base):
    """A link that creates one account, once."""

    __tablename__ = "setup_links"

    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class ConnectionRow(Base):
    """A program that acts for an account: an API key, or an OAuth client that the user approved.

    `disabled_tools` holds MCP names, `access` the access level (`pressroom.sdk.declaration.Access`), and `toolsets`
    the toolsets to list unless a request overrides them; NULL means the server's default. A revoked connection is
    kept, so that its past activity still has a name.
    """

    __tablename__ = "connections"
    __table_args__ = (
        Index(None, "user_id", "created_at"),
        Index("ix_connections_live", "user_id", "created_at", **_where("revoked_at IS NULL")),
    )

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(8))
    name: Mapped[str] = mapped_column(String(100))
    disabled_tools: Mapped[list[Any]] = mapped_column(JSON, default=list)
    access: Mapped[str] = mapped_column(String(8), default="full", server_default="full")
    toolsets: Mapped[list[Any] | None] = mapped_column(JSON(none_as_null=True))
    created_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]
    last_used_address: Mapped[str] = mapped_column(String(64), default="")
    revoked_at: Mapped[datetime | None]


class ApiKeyRow(Base):
    """The API key of a connection. `hint` is its last four characters, for users to tell keys apart."""

    __tablename__ = "api_keys"

    key_hash: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    connection_id: Mapped[str] = mapped_column(ForeignKey("connections.id", ondelete="CASCADE"), unique=True)
    hint: Mapped[str] = mapped_column(String(4))


class QuotaRow(Base):
    """An account's use of a quota class in a calendar month (UTC, `YYYY-MM`)."""

    __tablename__ = "quota_usage"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    month: Mapped[str] = mapped_column(String(7), primary_key=True)
    quota: Mapped[str] = mapped_column(String(32), primary_key=True)
    used: Mapped[int] = mapped_column(Integer, default=0)


class ActivityRow(Base):
    """A call of an account over MCP. `code` is `ok` or an error code; `duration` is in seconds.

    `website_id` is taken from the call's arguments, and may be empty. Each index serves one filter of the list.
    """

    __tablename__ = "activity"
    __table_args__ = (
        Index(None, "user_id", "id"),
        Index(None, "user_id", "tool", "id"),
        Index(None, "user_id", "connection_id", "id"),
        Index("ix_activity_website", "user_id", "website_id", "id", **_where("website_id <> ''")),
        Index("ix_activity_errors", "user_id", "id", **_where("code <> 'ok'")),
        Index(None, "at"),
    )

    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    connection_id: Mapped[str] = mapped_column(ID, default="")
    at: Mapped[datetime]
    tool: Mapped[str] = mapped_column(String(64))
    code: Mapped[str] = mapped_column(String(32))
    cached: Mapped[bool] = mapped_column(default=False)
    duration: Mapped[float] = mapped_column(Float)
    address: Mapped[str] = mapped_column(String(64), default="")
    request_id: Mapped[str] = mapped_column(String(128), default="")
    website_id: Mapped[str] = mapped_column(String(64), default="")


class MembershipRow(Base):
    """A user who works in another user's account. `role` is `editor` or `reader`."""

    __tablename__ = "memberships"

    account_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    member_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    role: Mapped[str] = mapped_column(String(8))
    created_at: Mapped[datetime]


class InvitationRow(Base):
    """A link that makes one user a member of an account, once. `note` is the owner's reminder of who it is for."""

    __tablename__ = "invitations"
    __table_args__ = (Index(None, "account_id", "created_at"),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    role: Mapped[str] = mapped_column(String(8))
    note: Mapped[str] = mapped_column(String(100), default="")
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class ClientRequestRow(Base):
    """A call that its client can repeat.

    `fingerprint` is a JSON object with a keyed digest of each argument. While the call runs, `token` identifies the
    attempt and `until` is the end of its lease. After it has succeeded, `until` is NULL and `answer` holds the
    encrypted result, or NULL if the result was too large to keep.
    """

    __tablename__ = "client_requests"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    tool: Mapped[str] = mapped_column(String(64), primary_key=True)
    request_id: Mapped[str] = mapped_column(String(200), primary_key=True)
    fingerprint: Mapped[str] = mapped_column(Text)
    token: Mapped[str] = mapped_column(ID)
    until: Mapped[datetime | None]
    answer: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(index=True)


class ClientRow(Base):
    """An OAuth client (RFC 7591). `id` is assigned here, or the https URL of a Client ID Metadata Document.

    `metadata_hash` makes registration idempotent: it is unique among public clients, and NULL for confidential ones.
    """

    __tablename__ = "oauth_clients"

    id: Mapped[str] = mapped_column(String(500), primary_key=True)
    name: Mapped[str] = mapped_column(String(200), default="")
    redirect_uris: Mapped[list[Any]] = mapped_column(JSON)
    auth_method: Mapped[str] = mapped_column(String(32))
    secret_hash: Mapped[bytes | None] = mapped_column(LargeBinary(32))
    metadata_hash: Mapped[bytes | None] = mapped_column(LargeBinary(32), unique=True)
    client_metadata: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    registered_from: Mapped[str] = mapped_column(String(64), default="")
    created_at: Mapped[datetime] = mapped_column(index=True)
    last_used_at: Mapped[datetime | None]


class TokenFamilyRow(Base):
    """One user's approval of one client. All codes and tokens from it are revoked together.

    Several families of one client and user share a connection.
    """

    __tablename__ = "oauth_families"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    connection_id: Mapped[str] = mapped_column(ForeignKey("connections.id", ondelete="CASCADE"), index=True)
    client_id: Mapped[str] = mapped_column(ForeignKey("oauth_clients.id", ondelete="CASCADE"), index=True)
    scope: Mapped[str] = mapped_column(String(100))
    resource: Mapped[str] = mapped_column(String(500))
    created_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]


class CodeRow(Base):
    """An authorization code. `redirect_uri_sent` records whether the authorization request had a `redirect_uri`."""

    __tablename__ = "oauth_codes"

    code_hash: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    family_id: Mapped[str] = mapped_column(ForeignKey("oauth_families.id", ondelete="CASCADE"), index=True)
    redirect_uri: Mapped[str] = mapped_column(Text)
    redirect_uri_sent: Mapped[bool]
    code_challenge: Mapped[str] = mapped_column(String(128))
    expires_at: Mapped[datetime] = mapped_column(index=True)
    used_at: Mapped[datetime | None]


class RefreshTokenRow(Base):
    """A refresh token. `used_at` is the time of its rotation."""

    __tablename__ = "oauth_refresh_tokens"

    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    family_id: Mapped[str] = mapped_column(ForeignKey("oauth_families.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    used_at: Mapped[datetime | None]


class SigningKeyRow(Base):
    """A key that signs access tokens. `private_key` is a JWE encrypted with the server's secret key."""

    __tablename__ = "oauth_signing_keys"

    kid: Mapped[str] = mapped_column(String(64), primary_key=True)
    private_key: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime]
    retired_at: Mapped[datetime | None]
