"""Browser sessions, and the one-time links that create the first account."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

import structlog
from sqlalchemy import CursorResult, Delete, Select, and_, bindparam, delete, exists, select, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from pressroom.accounts.memberships import membership_of, role_of
from pressroom.accounts.records import BrowserSession, User
from pressroom.accounts.users import Users, user_of
from pressroom.columns import hash_of, new_secret
from pressroom.config.account_models import AccountsSettings
from pressroom.errors import BackendError, InvalidInput, NotFound, SignInFailed
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import MembershipRow, SessionRow, SetupLinkRow, UserRow
from pressroom.validation.echo import cut, printable

LIFETIME: Final = timedelta(days=1)

_MAX_TOKEN_LENGTH: Final = 100
_LOCK: Final = 0x73657475
"""Key of the PostgreSQL advisory lock that serialises creating and redeeming links across processes."""


class SetupLinks:
    """One-time links, valid for a day and only while there are no accounts. A new link replaces all earlier ones."""

    def __init__(self, database: SqlDatabase, users: Users) -> None:
        self._database = database
        self._users = users

    async def create(self) -> str:
        """Create a link and return its token."""
        token, now = new_secret(), datetime.now(UTC)
        async with self._database.writing() as session:
            await self._take_turns(session)
            await session.execute(delete(SetupLinkRow))
            session.add(SetupLinkRow(token_hash=hash_of(token), created_at=now, expires_at=now + LIFETIME))
        return token

    async def usable(self, token: str) -> bool:
        """Return whether a link can still create an account."""
        if not 0 < len(token) <= _MAX_TOKEN_LENGTH:
            return False
        async with self._database.reading() as session:
            return await _good(session, token)

    async def redeem(self, token: str, *, email: str, name: str, password: str) -> User:
        """Create the first account. If two requests arrive concurrently, only one succeeds.

        Raises:
            NotFound: The link was used, has expired or never existed.
            InvalidInput: The e-mail address or the password is not acceptable; the link stays valid.
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
            raise InvalidInput("email", "an account with this e-mail address already exists") from None
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
        "this link was used, has expired or was replaced",
        hint="restart the server while it has no account: it prints a new link",
    )


log = structlog.get_logger()

SEEN_INTERVAL: Final = timedelta(minutes=1)
"""Minimum interval between updates of a session's `seen_at`."""

MAX_OF_ACCOUNT: Final = 100
"""Maximum number of sessions of an account; a further one ends the least recently used session."""

_ACCOUNT: Final = aliased(UserRow)
"""The other account that a session works in."""

_MAX_IP_LENGTH: Final = 64
_MAX_USER_AGENT_LENGTH: Final = 300


class Sessions:
    """Opaque server-side sessions; the browser holds only a random token.

    `expires_at` is when a session ends unless it is used again, capped by the operator's `session_lifetime`.
    """

    def __init__(self, database: SqlDatabase, settings: AccountsSettings) -> None:
        self._database = database
        self._lifetime = timedelta(seconds=settings.session_lifetime)
        self._idle = timedelta(seconds=settings.session_idle)

    async def start(
        self, user_id: str, *, client_ip: str = "", user_agent: str = "", proven: User | None = None, works_in: str = ""
    ) -> str:
        """Start a session and return its token.

        Only the `MAX_OF_ACCOUNT` most recently used sessions of an account are kept.

        `proven` is the account as read when the person authenticated. Checking a password takes long enough for it to
        be changed meanwhile; without this check, whoever knew the old password would still get a session. `works_in` is
        the ID of another account to start in; `find` still checks that the person has access to it.

        Raises:
            SignInFailed: The password was changed or the account was disabled in the meantime.
        """
        token, now = new_secret(), _now()
        row = SessionRow(
            token_hash=hash_of(token),
            user_id=user_id,
            created_at=now,
            seen_at=now,
            expires_at=self._ends(now, now),
            address=cut(printable(client_ip), _MAX_IP_LENGTH),
            user_agent=cut(printable(user_agent), _MAX_USER_AGENT_LENGTH),
            account_id=works_in or None,
        )
        async with self._database.writing() as session:
            if proven is not None:
                # The lock orders a password change before this check, or after the session exists and can be ended.
                account = await session.scalar(select(UserRow).where(UserRow.id == user_id).with_for_update())
                if account is None or account.disabled or user_of(account).password_stamp != proven.password_stamp:
                    raise SignInFailed("the account changed while you were signing in: please sign in again")
            session.add(row)
            await session.flush()
            of_account = select(SessionRow.token_hash).where(SessionRow.user_id == user_id)
            excess = of_account.order_by(SessionRow.seen_at.desc()).offset(MAX_OF_ACCOUNT)
            await session.execute(delete(SessionRow).where(SessionRow.token_hash.in_(excess)))
        return token

    async def find(self, token: str) -> BrowserSession | None:
        """Return the session of a token, or `None` if it ended, was idle for too long or its account is disabled.

        If the session works in another account, the membership, role and account are looked up each time.
        """
        if not 0 < len(token) <= _MAX_TOKEN_LENGTH:
            return None
        async with self._database.reading() as session:
            record = (await session.execute(SESSION_OF_TOKEN, {"token_hash": hash_of(token)})).first()
        if record is None:
            return None
        row, user, account, role, is_member = record
        now = _now()
        if user.disabled or now >= min(row.expires_at, self._ends(row.created_at, row.seen_at)):
            return None
        if now - row.seen_at >= SEEN_INTERVAL:
            await self._record_use(row, now)
        return _record(row, user, account, role, is_member=is_member)

    async def work_in(self, session: BrowserSession, account_id: str) -> None:
        """Switch a session to another account, or to the person's own if the ID is theirs or empty.

        Raises:
            NotFound: The person is not a member of that account, or it is disabled.
        """
        is_own_account = account_id in ("", session.person.id)
        async with self._database.writing() as writing:
            if not is_own_account and await writing.scalar(membership_of(account_id, session.person.id)) is None:
                raise NotFound("you have no access to that account: ask its owner for an invitation")
            await writing.execute(
                update(SessionRow)
                .where(SessionRow.token_hash == session.token_hash)
                .values(account_id=None if is_own_account else account_id)
            )

    async def end(self, token: str) -> None:
        """End a session, if it exists."""
        await self._delete(delete(SessionRow).where(SessionRow.token_hash == hash_of(token)))

    async def end_all(self, user_id: str, *, except_token: str = "") -> int:
        """End all sessions of an account except that of `except_token`, and return how many ended."""
        statement = delete(SessionRow).where(SessionRow.user_id == user_id)
        if except_token:
            statement = statement.where(SessionRow.token_hash != hash_of(except_token))
        return await self._delete(statement)

    async def list(self, user_id: str, *, limit: int = 100) -> Sequence[BrowserSession]:
        """Return an account's sessions, most recently used first."""
        async with self._database.reading() as session:
            return await self.list_within(session, user_id, limit=limit)

    async def list_within(self, session: AsyncSession, user_id: str, *, limit: int = 100) -> Sequence[BrowserSession]:
        """Like `list`, using an open database session."""
        now = _now()
        statement = sessions_of(user_id).where(
            SessionRow.expires_at > now,
            # Checked in addition to `expires_at`, since the operator may have shortened sessions since.
            SessionRow.created_at > now - self._lifetime,
            SessionRow.seen_at > now - self._idle,
        )
        rows = (await session.execute(statement.limit(limit))).all()
        return [_record(row, user) for row, user in rows]

    async def prune(self) -> int:
        """Delete expired sessions and return their number."""
        return await self._delete(delete(SessionRow).where(SessionRow.expires_at <= _now()))

    def _ends(self, created_at: datetime, seen_at: datetime) -> datetime:
        return min(created_at + self._lifetime, seen_at + self._idle)

    async def _record_use(self, row: SessionRow, now: datetime) -> None:
        expires_at = self._ends(row.created_at, now)
        statement = (
            update(SessionRow)
            .where(SessionRow.token_hash == row.token_hash, SessionRow.seen_at == row.seen_at)
            .values(seen_at=now, expires_at=expires_at)
        )
        try:
            async with self._database.writing() as session:
                await session.execute(statement)
        except BackendError as error:
            # A full disk should not break reading pages; the next request tries again.
            log.warning("the use of a session could not be written", error=str(error))
            return
        row.seen_at, row.expires_at = now, expires_at

    async def _delete(self, statement: Delete) -> int:
        async with self._database.writing() as session:
            return cast("CursorResult[Any]", await session.execute(statement)).rowcount


def sessions_of(user_id: str) -> Select[SessionRow, UserRow]:
    """Return the statement that lists an account's sessions, most recently used first."""
    return _with_user().where(SessionRow.user_id == user_id).order_by(SessionRow.seen_at.desc())


def _session_of_token() -> Select[SessionRow, UserRow, UserRow, str, bool]:
    joined = and_(MembershipRow.account_id == SessionRow.account_id, MembershipRow.member_id == SessionRow.user_id)
    enabled = and_(_ACCOUNT.id == MembershipRow.account_id, _ACCOUNT.disabled.is_(False))
    is_member = exists().where(MembershipRow.member_id == SessionRow.user_id).correlate(SessionRow)
    return (
        select(SessionRow, UserRow, _ACCOUNT, MembershipRow.role, is_member)
        .join(UserRow, UserRow.id == SessionRow.user_id)
        .outerjoin(MembershipRow, joined)
        .outerjoin(_ACCOUNT, enabled)
        .where(SessionRow.token_hash == bindparam("token_hash"))
    )


SESSION_OF_TOKEN: Final = _session_of_token()
"""The statement that finds the session of `token_hash` with its person, its account and their role there.

It is built only once, since every page executes it.
"""


def _with_user() -> Select[SessionRow, UserRow]:
    return select(SessionRow, UserRow).join(UserRow, UserRow.id == SessionRow.user_id)


def _record(
    row: SessionRow, user: UserRow, account: UserRow | None = None, role: str = "", *, is_member: bool = False
) -> BrowserSession:
    person = user_of(user)
    return BrowserSession(
        token_hash=row.token_hash,
        person=person,
        user=person if account is None else user_of(account),
        role="owner" if account is None else role_of(role),
        is_member=is_member,
        lost=account is None and row.account_id is not None,
        created_at=row.created_at,
        seen_at=row.seen_at,
        expires_at=row.expires_at,
        client_ip=row.address,
        user_agent=row.user_agent,
    )


def _now() -> datetime:
    return datetime.now(UTC)
