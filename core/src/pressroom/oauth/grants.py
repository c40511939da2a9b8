"""Approved grants: authorization codes and families of refresh tokens.

Each step is one transaction that locks the family. If two requests arrive concurrently, the second sees the result of
the first. A refusal that revokes is raised after its transaction, so that the revocation is committed.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import structlog
from sqlalchemy import ColumnElement, and_, delete, exists, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from pressroom.accounts.choices import choice_columns, choice_of
from pressroom.accounts.connections import identity_of
from pressroom.accounts.records import PRESELECTED, AccessChoice
from pressroom.accounts.service import AccountServices
from pressroom.columns import hash_of, new_id, new_secret
from pressroom.errors import InvalidClient, InvalidGrant, InvalidScope, Rejected
from pressroom.oauth.client_connections import abandoned, connection_of, revoke_connections, unused_twins
from pressroom.oauth.metadata import destination, visible
from pressroom.oauth.records import REFRESH_TOKEN, AuthorizationRequest, Client, Clock, CodeExchange, Grant, utc_now
from pressroom.sdk import Identity
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import (
    ClientRow,
    CodeRow,
    ConnectionRow,
    RefreshTokenRow,
    TokenFamilyRow,
    UserRow,
)

log = structlog.get_logger()

CODE_LIFETIME: Final = 60
REFRESH_LIFETIME: Final = 30 * 86_400
"""Lifetimes of codes and refresh tokens, in seconds."""

_CODE_RETENTION: Final = timedelta(days=1)
"""How long a used code is remembered. This has to exceed the lifetime of an access token."""

_MAX_NAME_LENGTH: Final = 100
_VERIFIER: Final = re.compile(r"[A-Za-z0-9._~-]{43,128}", re.ASCII)
_REUSED: Final = "was used before, so everything issued from this approval was revoked; authorize again"


@dataclass(frozen=True, slots=True)
class TokenGrant:
    """An active grant and its new refresh token, which is empty for a client that does not use refresh tokens."""

    grant: Grant
    refresh_token: str


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why a request was refused. `revoked` is the ID of a connection to remove from the credential cache, or empty."""

    reason: str
    revoked: str = ""


class Grants:
    """Approves clients, exchanges codes, and rotates and revokes tokens.

    Args:
        database: Stores the grants.
        accounts: Creates the connection of a client that is approved for the first time.
        prefix: The prefix of refresh tokens.
        grace: Number of seconds for which a rotated refresh token can be sent again.
        clock: Returns the current time.
    """

    def __init__(
        self, database: SqlDatabase, accounts: AccountServices, prefix: str, grace: float, *, clock: Clock = utc_now
    ) -> None:
        self._database = database
        self._connections = accounts.connections
        self._credentials = accounts.credentials
        self._beginning = f"{prefix}_ort_"
        self._grace = timedelta(seconds=grace)
        self._clock = clock

    async def has_approved(self, user_id: str, client_id: str) -> bool:
        """Return whether an account has an active connection to a client."""
        async with self._database.reading() as session:
            return await session.scalar(connection_of(user_id, client_id)) is not None

    async def choice(self, user_id: str, client_id: str) -> AccessChoice | None:
        """Return the choice for a client's active connection, or `None` without one."""
        statement = select(ConnectionRow).where(ConnectionRow.id == connection_of(user_id, client_id).scalar_subquery())
        async with self._database.reading() as session:
            row = await session.scalar(statement)
        return None if row is None else choice_of(row)

    async def approve(self, user_id: str, request: AuthorizationRequest, choice: AccessChoice | None = None) -> str:
        """Record that a person approved a client, and return the authorization code.

        A client has one connection in each account; approving it again keeps the connection's name and disabled tools.
        If a program registers anew for each attempt, its unused connections are revoked. `choice` sets what the
        connection can do; with `None`, an existing choice is kept and a new connection gets `PRESELECTED`.

        Raises:
            InvalidInput: The account has reached its maximum number of connections, or the choice contains an invalid
                toolset name.
            InvalidClient: The client was removed in the meantime.
        """
        now = self._clock()
        code = new_secret()
        # Without a flush, a use not yet written would make its connection look unused.
        await self._connections.flush()
        replaced: Sequence[str] = ()
        async with self._database.writing() as session:
            # Lock the account, so that two concurrent approvals of a client share a connection.
            await session.execute(select(UserRow.id).where(UserRow.id == user_id).with_for_update())
            used = update(ClientRow).where(ClientRow.id == request.client.id).values(last_used_at=now)
            if (await session.execute(used.returning(ClientRow.id))).first() is None:
                raise InvalidClient("the client was removed while it was approved; connect again from the program")
            connection_id = await session.scalar(connection_of(user_id, request.client.id))
            if connection_id is None:
                name = connection_name(request)
                replaced = await unused_twins(session, user_id, request.client)
                await revoke_connections(session, replaced, now)
                await session.execute(abandoned(user_id, name, now).values(revoked_at=now))
                connection_id = await self._connections.add(session, user_id, "oauth", name, choice or PRESELECTED)
            elif choice is not None:
                update_access = update(ConnectionRow).where(ConnectionRow.id == connection_id)
                await session.execute(update_access.values(**choice_columns(choice)))
            family = TokenFamilyRow(
                id=new_id("f"),
                connection_id=connection_id,
                client_id=request.client.id,
                scope=request.scope,
                resource=request.resource,
                created_at=now,
                revoked_at=None,
            )
            session.add(family)
            await session.flush()
            session.add(
                CodeRow(
                    code_hash=hash_of(code),
                    family_id=family.id,
                    redirect_uri=request.redirect_uri,
                    redirect_uri_sent=request.redirect_uri_sent,
                    code_challenge=request.code_challenge,
                    expires_at=now + timedelta(seconds=CODE_LIFETIME),
                    used_at=None,
                )
            )
        for affected_id in (connection_id, *replaced):
            self._credentials.forget_connection(affected_id)
        access_columns = choice_columns(choice) if choice is not None else {}
        log.info("a client was approved", client=request.client.id, connection=connection_id, **access_columns)
        if replaced:
            log.info("connections were replaced that were never used", connections=replaced, by=connection_id)
        return code

    async def exchange(self, client: Client, request: CodeExchange) -> TokenGrant:
        """Exchange a code for a grant (RFC 6749, section 4.1.3; RFC 7636, section 4.6).

        Only a valid request uses up the code. If the same client sends a used code again, everything issued from it is
        revoked (RFC 6749, section 4.1.2). Of two concurrent requests, one gets tokens, which are revoked when the other
        is refused.

        Raises:
            InvalidGrant: The code is not valid, or does not belong to this request.
        """
        async with self._database.writing() as session:
            record = await _locked_row(session, CodeRow, CodeRow.code_hash == hash_of(request.code))
            refused = await self._judge_code(session, client, request, record)
            if refused is None:
                code, family, connection, _ = record
                code.used_at = self._clock()
                refresh_token = self._new_refresh_token(session, family, client)
                return TokenGrant(_grant(family, connection), refresh_token)
        raise self._refusal(refused, client, "code")

    async def refresh(self, client: Client, token: str, scope: str) -> TokenGrant:
        """Rotate a refresh token (RFC 9700, section 4.14.2). `scope` is the narrowed scope, or empty.

        Reusing a token revokes its family, even if the two requests are concurrent. Within the operator's grace period,
        a reused token gets new tokens instead.

        Raises:
            InvalidGrant: The token is not valid, or belongs to another client.
            InvalidScope: The scope exceeds what was approved.
        """
        async with self._database.writing() as session:
            record = await _locked_row(session, RefreshTokenRow, RefreshTokenRow.token_hash == hash_of(token))
            refused = await self._judge_refresh_token(session, client, record)
            if refused is None:
                row, family, connection, _ = record
                if not set(scope.split()) <= set(family.scope.split()):
                    raise InvalidScope(f"the scope may be narrowed, not widened; {family.scope} was approved")
                row.used_at = row.used_at or self._clock()
                return TokenGrant(_grant(family, connection), self._new_refresh_token(session, family, client))
        raise self._refusal(refused, client, "refresh token")

    async def revoke_refresh_token(self, client: Client, token: str) -> bool:
        """Revoke the family of a refresh token, and return whether there was one.

        Raises:
            InvalidGrant: The token belongs to another client.
        """
        if not token.startswith(self._beginning):
            return False
        statement = select(RefreshTokenRow.family_id).where(RefreshTokenRow.token_hash == hash_of(token))
        async with self._database.reading() as session:
            family_id = await session.scalar(statement)
        return family_id is not None and await self.revoke_family(client, family_id)

    async def revoke_family(self, client: Client, family_id: str) -> bool:
        """Revoke a family, and return whether it exists. Raises `InvalidGrant` if it belongs to another client."""
        async with self._database.writing() as session:
            family = await session.get(TokenFamilyRow, family_id, with_for_update=True)
            if family is None:
                return False
            if family.client_id != client.id:
                raise InvalidGrant("the token was issued to another client")
            family.revoked_at = family.revoked_at or self._clock()
            connection_id = family.connection_id
        self._credentials.forget_connection(connection_id)
        return True

    async def identity(self, family_id: str) -> Identity:
        """Return the identity of a family's tokens.

        Raises `Rejected` if the family or its connection was revoked, or the account is disabled.
        """
        statement = (
            select(TokenFamilyRow.revoked_at, ConnectionRow, UserRow)
            .join(ConnectionRow, ConnectionRow.id == TokenFamilyRow.connection_id)
            .join(UserRow, UserRow.id == ConnectionRow.user_id)
            .where(TokenFamilyRow.id == family_id)
        )
        async with self._database.reading() as session:
            row = (await session.execute(statement)).one_or_none()
        if row is None or row[0] is not None:
            raise Rejected("the access token was revoked; authorize again", reauthorize=True)
        try:
            return identity_of(row[1], row[2])
        except Rejected as error:
            raise Rejected(error.message, reauthorize=True) from None

    async def prune(self) -> None:
        """Delete expired codes and refresh tokens, and families that have neither.

        The newest family of a connection is kept, since it links the connection to its client.
        """
        now = self._clock()
        newer = aliased(TokenFamilyRow)
        superseded = exists().where(
            newer.connection_id == TokenFamilyRow.connection_id, newer.created_at > TokenFamilyRow.created_at
        )
        empty = and_(
            TokenFamilyRow.created_at < now - _CODE_RETENTION,
            ~exists().where(CodeRow.family_id == TokenFamilyRow.id),
            ~exists().where(RefreshTokenRow.family_id == TokenFamilyRow.id),
        )
        async with self._database.writing() as session:
            await session.execute(delete(CodeRow).where(CodeRow.expires_at < now - _CODE_RETENTION))
            await session.execute(delete(RefreshTokenRow).where(RefreshTokenRow.expires_at < now))
            await session.execute(
                delete(TokenFamilyRow).where(empty, superseded).execution_options(synchronize_session=False)
            )

    async def _judge_code(
        self, session: AsyncSession, client: Client, request: CodeExchange, record: Any
    ) -> _Refusal | None:
        if record is None or record[1].client_id != client.id:
            return _Refusal("the code is not known, or was issued to another client")
        code, family, connection, user = record
        if code.used_at is not None:
            return await self._reused(session, family, "the code")
        if self._clock() >= code.expires_at:
            return _Refusal(f"the code has expired: it is valid for {CODE_LIFETIME} seconds; authorize again")
        if _ended(family, connection, user):
            return _Refusal("the approval was revoked; authorize again")
        if (request.redirect_uri or code.redirect_uri_sent) and request.redirect_uri != code.redirect_uri:
            return _Refusal("redirect_uri must be the one of the authorization request")
        if not _proves(request.code_verifier, code.code_challenge):
            return _Refusal("code_verifier does not belong to the code_challenge of the authorization request")
        return None

    async def _judge_refresh_token(self, session: AsyncSession, client: Client, record: Any) -> _Refusal | None:
        if record is None or record[1].client_id != client.id:
            return _Refusal("the refresh token is not known, or was issued to another client; authorize again")
        row, family, connection, user = record
        now = self._clock()
        if _ended(family, connection, user):
            return _Refusal("the approval was revoked; authorize again")
        if now >= row.expires_at:
            return _Refusal("the refresh token has expired; authorize again")
        if row.used_at is not None and not (self._grace and now - row.used_at <= self._grace):
            return await self._reused(session, family, "the refresh token")
        return None

    async def _reused(self, session: AsyncSession, family: TokenFamilyRow, description: str) -> _Refusal:
        family.revoked_at = family.revoked_at or self._clock()
        await session.flush()
        return _Refusal(f"{description} {_REUSED}", family.connection_id)

    def _refusal(self, refused: _Refusal, client: Client, description: str) -> InvalidGrant:
        if refused.revoked:
            log.warning(
                "what was issued from an approval was revoked: one of its secrets was used twice",
                kind=description,
                client=client.id,
                connection=refused.revoked,
            )
            self._credentials.forget_connection(refused.revoked)
        return InvalidGrant(refused.reason)

    def _new_refresh_token(self, session: AsyncSession, family: TokenFamilyRow, client: Client) -> str:
        if REFRESH_TOKEN not in client.metadata.grant_types:
            return ""
        token, now = self._beginning + new_secret(), self._clock()
        session.add(
            RefreshTokenRow(
                token_hash=hash_of(token),
                family_id=family.id,
                created_at=now,
                expires_at=now + timedelta(seconds=REFRESH_LIFETIME),
                used_at=None,
            )
        )
        return token


def connection_name(request: AuthorizationRequest) -> str:
    """Return the name for a client's connection: the client's name, else its redirect destination."""
    return (request.client.metadata.name or visible(destination(request.redirect_uri)))[:_MAX_NAME_LENGTH].strip()


async def _locked_row(
    session: AsyncSession, row: type[CodeRow | RefreshTokenRow], condition: ColumnElement[bool]
) -> Any:
    """Return a code or refresh token with its family, connection and account, locking it and the family."""
    statement = (
        select(row, TokenFamilyRow, ConnectionRow, UserRow)
        .join(TokenFamilyRow, TokenFamilyRow.id == row.family_id)
        .join(ConnectionRow, ConnectionRow.id == TokenFamilyRow.connection_id)
        .join(UserRow, UserRow.id == ConnectionRow.user_id)
        .where(condition)
        .with_for_update(of=(row, TokenFamilyRow))
    )
    return (await session.execute(statement)).one_or_none()


def _ended(family: TokenFamilyRow, connection: ConnectionRow, user: UserRow) -> bool:
    return family.revoked_at is not None or connection.revoked_at is not None or user.disabled


def _grant(family: TokenFamilyRow, connection: ConnectionRow) -> Grant:
    return Grant(
        family_id=family.id,
        connection_id=connection.id,
        user_id=connection.user_id,
        client_id=family.client_id,
        scope=family.scope,
        resource=family.resource,
    )


def _proves(verifier: str, challenge: str) -> bool:
    """Return whether a code verifier matches an S256 challenge (RFC 7636, section 4.6)."""
    if not _VERIFIER.fullmatch(verifier):
        return False
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return hmac.compare_digest(base64.urlsafe_b64encode(digest).rstrip(b"="), challenge.encode("ascii"))
