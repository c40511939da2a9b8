"""A program's connections in an account: the current one, and unused ones that it left behind."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Select, Update, exists, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom.oauth.metadata import same_redirects
from pressroom.oauth.records import Client
from pressroom.storage.database.tables import ClientRow, CodeRow, ConnectionRow, RefreshTokenRow, TokenFamilyRow


def connection_of(user_id: str, client_id: str) -> Select[str]:
    """Return the statement that finds a client's active connection."""
    return (
        select(ConnectionRow.id)
        .join(TokenFamilyRow, TokenFamilyRow.connection_id == ConnectionRow.id)
        .where(
            ConnectionRow.user_id == user_id,
            ConnectionRow.revoked_at.is_(None),
            TokenFamilyRow.client_id == client_id,
        )
        .order_by(TokenFamilyRow.created_at.desc())
        .limit(1)
    )


async def unused_twins(session: AsyncSession, user_id: str, client: Client) -> Sequence[str]:
    """Return IDs of active but never used connections that the same program has under other client IDs.

    The same program has the same name and redirect URIs. A connection counts as used if its refresh token was rotated.
    A client identified by the URL of its metadata document has only one ID, so the result is empty for it.
    """
    if client.from_document:
        return ()
    rotated = exists().where(RefreshTokenRow.family_id == TokenFamilyRow.id, RefreshTokenRow.used_at.is_not(None))
    statement = (
        select(ConnectionRow.id, ClientRow.id, ClientRow.redirect_uris, rotated)
        .join(TokenFamilyRow, TokenFamilyRow.connection_id == ConnectionRow.id)
        .join(ClientRow, ClientRow.id == TokenFamilyRow.client_id)
        .where(
            ConnectionRow.user_id == user_id,
            ConnectionRow.kind == "oauth",
            ConnectionRow.revoked_at.is_(None),
            ConnectionRow.last_used_at.is_(None),
            ClientRow.name == client.metadata.name,
        )
    )
    unused, in_use = set[str](), set[str]()
    for connection_id, client_id, redirect_uris, is_rotated in (await session.execute(statement)).all():
        if is_rotated:
            in_use.add(connection_id)
        elif not client_id.startswith("https://") and same_redirects(redirect_uris, client.redirect_uris):
            unused.add(connection_id)
    return sorted(unused - in_use)


async def revoke_connections(session: AsyncSession, connection_ids: Sequence[str], now: datetime) -> None:
    """Revoke connections and their token families, in the caller's transaction."""
    if not connection_ids:
        return
    families = update(TokenFamilyRow).where(
        TokenFamilyRow.connection_id.in_(connection_ids), TokenFamilyRow.revoked_at.is_(None)
    )
    await session.execute(families.values(revoked_at=now))
    await session.execute(update(ConnectionRow).where(ConnectionRow.id.in_(connection_ids)).values(revoked_at=now))


def abandoned(user_id: str, name: str, now: datetime) -> Update:
    """Return an update of the connections with that name that never got tokens and cannot get any."""
    of_family = exists().where(TokenFamilyRow.connection_id == ConnectionRow.id).correlate(ConnectionRow)
    code = of_family.where(
        CodeRow.family_id == TokenFamilyRow.id, or_(CodeRow.used_at.is_not(None), CodeRow.expires_at > now)
    )
    return update(ConnectionRow).where(
        ConnectionRow.user_id == user_id,
        ConnectionRow.kind == "oauth",
        ConnectionRow.name == name,
        ConnectionRow.revoked_at.is_(None),
        ConnectionRow.last_used_at.is_(None),
        ~code,
        ~of_family.where(RefreshTokenRow.family_id == TokenFamilyRow.id),
    )
