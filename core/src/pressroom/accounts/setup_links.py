"""One-time links with which the first account is made."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import delete, exists, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom.accounts.records import User
from pressroom.accounts.users import Users, user_of
from pressroom.columns import hash_of, new_secret
from pressroom.errors import InvalidInput, NotFound
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import SetupLinkRow, UserRow

LIFETIME: Final = timedelta(days=1)

_MAX_TOKEN_LENGTH: Final = 100
_LOCK: Final = 0x73657475
"""The key of the PostgreSQL advisory lock under which one process makes or redeems a link at a time."""


class SetupLinks:
    """Links are good once, for a day, and only while there is no account. A new one replaces all before it."""

    def __init__(self, database: SqlDatabase, users: Users) -> None:
        self._database = database
        self._users = users

    async def create(self) -> str:
        """Return the token of a new link."""
        token, now = new_secret(), datetime.now(UTC)
        async with self._database.writing() as session:
            await self._take_turns(session)
            await session.execute(delete(SetupLinkRow))
            session.add(SetupLinkRow(token_hash=hash_of(token), created_at=now, expires_at=now + LIFETIME))
        return token

    async def usable(self, token: str) -> bool:
        """Tell whether the link would still make an account."""
        if not 0 < len(token) <= _MAX_TOKEN_LENGTH:
            return False
        async with self._database.reading() as session:
            return await _good(session, token)

    async def redeem(self, token: str, *, email: str, name: str, password: str) -> User:
        """Make the first account. Of two at the same moment one wins.

        Raises:
            NotFound: the link was used, expired or never existed.
            InvalidInput: the e-mail address or the password is not acceptable; the link stays good.
        """
        if not await self.usable(token):
            raise _used()
        row = await self._users.prepare(email, name=name, password=password)
        try:
            async with self._database.writing() as session:
                await self._take_turns(session)
                if not await _good(session, token):
                    raise _used()
                await session.execute(delete(SetupLinkRow))
                session.add(row)
        except IntegrityError:
            raise InvalidInput("email", "there is an account with this e-mail address already") from None
        return user_of(row)

    async def _take_turns(self, session: AsyncSession) -> None:
        if self._database.dialect == "postgresql":
            await session.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))


async def _good(session: AsyncSession, token: str) -> bool:
    link = select(SetupLinkRow).where(
        SetupLinkRow.token_hash == hash_of(token),
        SetupLinkRow.expires_at > datetime.now(UTC),
        SetupLinkRow.used_at.is_(None),
    )
    return bool(
        await session.scalar(
            select(exists(link.with_only_columns(SetupLinkRow.token_hash)) & ~exists(select(UserRow.id)))
        )
    )


def _used() -> NotFound:
    return NotFound(
        "this link was used, has expired or was replaced", hint="start the server again while it has no account"
    )
