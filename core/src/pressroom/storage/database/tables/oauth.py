"""Clients that were registered, what people approved, and the tokens that came of it. Only hashes of secrets."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, LargeBinary, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from pressroom.storage.database.tables.accounts import ID
from pressroom.storage.database.tables.base import Base


class ClientRow(Base):
    """An OAuth client (RFC 7591). `id` is ours, or the https URL of a Client ID Metadata Document.

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
    """One approval of one client by one person: all codes and tokens that came of it live and die together.

    Several families of one client and person share a connection.
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
    """An authorization code. `redirect_uri_sent` tells whether the authorization request named the URL."""

    __tablename__ = "oauth_codes"

    code_hash: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    family_id: Mapped[str] = mapped_column(ForeignKey("oauth_families.id", ondelete="CASCADE"), index=True)
    redirect_uri: Mapped[str] = mapped_column(Text)
    redirect_uri_sent: Mapped[bool]
    code_challenge: Mapped[str] = mapped_column(String(128))
    expires_at: Mapped[datetime] = mapped_column(index=True)
    used_at: Mapped[datetime | None]


class RefreshTokenRow(Base):
    """A refresh token; `used_at` is when it was rotated."""

    __tablename__ = "oauth_refresh_tokens"

    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    family_id: Mapped[str] = mapped_column(ForeignKey("oauth_families.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    used_at: Mapped[datetime | None]


class SigningKeyRow(Base):
    """A key that access tokens are signed with. `private_key` is a JWE under the server's secret key."""

    __tablename__ = "oauth_signing_keys"

    kid: Mapped[str] = mapped_column(String(64), primary_key=True)
    private_key: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime]
    retired_at: Mapped[datetime | None]
