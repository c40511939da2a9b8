"""Memberships: people who work in other people's accounts, and the invitations that create them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, Select, delete, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute, aliased

from pressroom.accounts.records import Invitation, Membership, User
from pressroom.accounts.users import Users, user_of
from pressroom.columns import as_id, hash_of, new_id, new_secret
from pressroom.errors import InvalidInput, NotFound
from pressroom.sdk import AccountRole
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import InvitationRow, MembershipRow, UserRow
from pressroom.validation.echo import is_line

ASSIGNABLE_ROLES: Final[tuple[AccountRole, ...]] = ("editor", "reader")
"""Roles that an owner can grant to others."""

MAX_MEMBERS: Final = 50
"""Maximum number of members of an account, not counting its owner."""

MAX_ACCOUNTS: Final = 50
"""Maximum number of other people's accounts that one person can work in."""

MAX_INVITATIONS: Final = 20
"""Maximum number of open invitations of an account."""

INVITATION_LIFETIME: Final = timedelta(days=7)

INVALID_INVITATION: Final = "this invitation was used, was revoked or has expired: ask whoever sent it for a new one"

MAX_NOTE_LENGTH: Final = 100
_MAX_TOKEN_LENGTH: Final = 100
_MEMBER: Final = aliased(UserRow)


class Memberships:
    """Lists and changes account memberships. Changes take effect with the next request."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def of_account(self, account_id: str) -> Sequence[Membership]:
        """Return the members of an account, ordered by when they joined."""
        return await self._list(members_of(account_id))

    async def of_member(self, member_id: str) -> Sequence[Membership]:
        """Return the other accounts in which a person can work, by owner e-mail address, without disabled accounts."""
        return await self._list(accounts_of(member_id))

    async def of_members(self, member_ids: Iterable[str]) -> Mapping[str, Sequence[Membership]]:
        """Return the other accounts in which these people can work, by person ID."""
        by_member: dict[str, list[Membership]] = {}
        statement = _with_people().where(MembershipRow.member_id.in_(list(member_ids))).order_by(UserRow.email)
        for membership in await self._list(statement):
            by_member.setdefault(membership.member.id, []).append(membership)
        return by_member

    async def set_role(self, account_id: str, member_id: str, role: str) -> None:
        """Change a member's role. Raises `NotFound`, or `InvalidInput` for a role that cannot be granted."""
        statement = update(MembershipRow).where(*_pair(account_id, member_id)).values(role=checked_role(role))
        async with self._database.writing() as session:
            if await session.scalar(statement.returning(MembershipRow.member_id)) is None:
                raise _no_member()

    async def remove(self, account_id: str, member_id: str) -> None:
        """End a membership, on behalf of either the owner or the member. Raises `NotFound`."""
        statement = delete(MembershipRow).where(*_pair(account_id, member_id))
        async with self._database.writing() as session:
            if await session.scalar(statement.returning(MembershipRow.member_id)) is None:
                raise _no_member()

    async def _list(self, statement: Select[MembershipRow, UserRow, UserRow]) -> Sequence[Membership]:
        async with self._database.reading() as session:
            rows = (await session.execute(statement)).all()
        return [
            Membership(user_of(account), user_of(member), role_of(row.role), row.created_at)
            for row, account, member in rows
        ]


class Invitations:
    """Invitation links, each of which makes one person a member of an account. A link works once, within seven days.

    Only a hash of the link is stored. `revoke` and `accept` raise `NotFound` for an invitation that was used or has
    expired.
    """

    def __init__(self, database: SqlDatabase, users: Users) -> None:
        self._database = database
        self._users = users

    async def create(self, account_id: str, role: str, note: str = "") -> tuple[Invitation, str]:
        """Return a new invitation and its link's token.

        Raises:
            InvalidInput: The role or note is not acceptable, or the account has too many members or open invitations.
        """
        token, now = new_secret(), _now()
        row = InvitationRow(
            id=new_id("i"),
            token_hash=hash_of(token),
            account_id=account_id,
            role=checked_role(role),
            note=_checked_note(note),
            created_at=now,
            expires_at=now + INVITATION_LIFETIME,
        )
        delete_expired = delete(InvitationRow).where(
            InvitationRow.account_id == account_id, InvitationRow.expires_at <= now
        )
        async with self._database.writing() as session:
            account = await _locked(session, account_id)
            await session.execute(delete_expired)
            if await _count(session, InvitationRow.account_id, account_id) >= MAX_INVITATIONS:
                raise InvalidInput("", f"{MAX_INVITATIONS} invitations are already open; revoke one that is not needed")
            await _check_capacity(session, account_id)
            session.add(row)
        return _invitation(row, account), token

    async def list(self, account_id: str) -> Sequence[Invitation]:
        """Return the open invitations of an account, newest first."""
        async with self._database.reading() as session:
            rows = (await session.execute(invitations_of(account_id))).all()
        return [_invitation(row, account) for row, account in rows]

    async def revoke(self, account_id: str, invitation_id: str) -> None:
        """Revoke an invitation. Raises `NotFound` if it was used or has expired."""
        statement = delete(InvitationRow).where(
            InvitationRow.id == as_id(invitation_id), InvitationRow.account_id == account_id
        )
        async with self._database.writing() as session:
            if await session.scalar(statement.returning(InvitationRow.id)) is None:
                raise NotFound("there is no such invitation: it was used, or has expired")

    async def find(self, token: str) -> Invitation | None:
        """Return the invitation that a token belongs to, or `None` if it is not valid."""
        if not 0 < len(token) <= _MAX_TOKEN_LENGTH:
            return None
        statement = _with_account().where(InvitationRow.token_hash == hash_of(token), UserRow.disabled.is_(False))
        async with self._database.reading() as session:
            row = (await session.execute(statement)).first()
        return None if row is None else _invitation(*row)

    async def accept(self, token: str, person: User) -> Invitation:
        """Make a person a member and return the invitation. If two people accept concurrently, only one succeeds.

        Raises:
            NotFound: The invitation was used, was revoked, has expired or never existed.
            InvalidInput: The person is the owner or already a member, the account has too many members, or the person
                works in too many accounts. The invitation stays valid.
        """
        async with self._database.writing() as session:
            return await _redeemed(session, token, person.id)

    async def accept_with_new_account(self, token: str, *, email: str, name: str, password: str) -> User:
        """Create an account for a new user and make it a member, in one transaction.

        Raises the exceptions of `accept`, and `InvalidInput` for an unacceptable e-mail address or password.
        """
        if await self.find(token) is None:
            raise _used()
        row = await self._users.prepare(email, name=name, password=password)
        try:
            async with self._database.writing() as session:
                session.add(row)
                await session.flush()
                await _redeemed(session, token, row.id)
        except IntegrityError:
            raise InvalidInput(
                "email", "an account with this e-mail address already exists; sign in to it instead"
            ) from None
        return user_of(row)

    async def prune(self) -> None:
        """Delete expired invitations."""
        async with self._database.writing() as session:
            await session.execute(delete(InvitationRow).where(InvitationRow.expires_at <= _now()))


def members_of(account_id: str) -> Select[MembershipRow, UserRow, UserRow]:
    """Return the statement that lists the members of an account."""
    return (
        _with_people()
        .where(MembershipRow.account_id == account_id)
        .order_by(MembershipRow.created_at, MembershipRow.member_id)
        .limit(MAX_MEMBERS)
    )


def accounts_of(member_id: str) -> Select[MembershipRow, UserRow, UserRow]:
    """Return the statement that lists the other accounts in which a person can work."""
    return (
        _with_people()
        .where(MembershipRow.member_id == member_id, UserRow.disabled.is_(False))
        .order_by(UserRow.email)
        .limit(MAX_ACCOUNTS)
    )


def membership_of(account_id: str, member_id: str) -> Select[str]:
    """Return the statement that finds a person's role in an account that is not disabled."""
    return (
        select(MembershipRow.role)
        .join(UserRow, UserRow.id == MembershipRow.account_id)
        .where(*_pair(account_id, member_id), UserRow.disabled.is_(False))
    )


def invitations_of(account_id: str) -> Select[InvitationRow, UserRow]:
    """Return the statement that lists the open invitations of an account."""
    return (
        _with_account()
        .where(InvitationRow.account_id == account_id)
        .order_by(InvitationRow.created_at.desc())
        .limit(MAX_INVITATIONS)
    )


def role_of(text: str) -> AccountRole:
    """Return the role stored in a row; a role unknown to this version is treated as `reader`."""
    return "editor" if text == "editor" else "reader"


def checked_role(text: str) -> AccountRole:
    """Return the text as a role that an owner can grant. Raises `InvalidInput` for any other text."""
    for role in ASSIGNABLE_ROLES:
        if text == role:
            return role
    raise InvalidInput("role", f"must be {' or '.join(ASSIGNABLE_ROLES)}")


def _with_people() -> Select[MembershipRow, UserRow, UserRow]:
    return (
        select(MembershipRow, UserRow, _MEMBER)
        .join(UserRow, UserRow.id == MembershipRow.account_id)
        .join(_MEMBER, _MEMBER.id == MembershipRow.member_id)
    )


def _with_account() -> Select[InvitationRow, UserRow]:
    return (
        select(InvitationRow, UserRow)
        .join(UserRow, UserRow.id == InvitationRow.account_id)
        .where(InvitationRow.expires_at > _now())
    )


async def _redeemed(session: AsyncSession, token: str, person_id: str) -> Invitation:
    """Redeem an invitation within a transaction, whose rollback on an exception keeps the invitation valid."""
    if not 0 < len(token) <= _MAX_TOKEN_LENGTH:
        raise _used()
    statement = delete(InvitationRow).where(
        InvitationRow.token_hash == hash_of(token), InvitationRow.expires_at > _now()
    )
    row = await session.scalar(statement.returning(InvitationRow))
    if row is None:
        raise _used()
    account = await _locked(session, row.account_id)
    if account.disabled:
        raise _used()
    if person_id == account.id:
        raise InvalidInput("", "this is your own account; send the link to the person it is for")
    if await session.scalar(select(MembershipRow.role).where(*_pair(account.id, person_id))) is not None:
        raise InvalidInput("", "you are already a member of this account; its owner can change your role")
    await _check_capacity(session, account.id)
    if await _count(session, MembershipRow.member_id, person_id) >= MAX_ACCOUNTS:
        raise InvalidInput("", f"you work in {MAX_ACCOUNTS} accounts of others; leave one first")
    session.add(MembershipRow(account_id=account.id, member_id=person_id, role=row.role, created_at=_now()))
    return _invitation(row, account)


async def _locked(session: AsyncSession, account_id: str) -> UserRow:
    """Lock an account's row and return it, so that concurrent changes cannot exceed its limits."""
    # `FOR NO KEY UPDATE`: inserts with a foreign key to this row, such as memberships, need not wait.
    statement = select(UserRow).where(UserRow.id == account_id).with_for_update(key_share=True)
    account = await session.scalar(statement)
    if account is None:
        raise NotFound("there is no such account")
    return account


async def _check_capacity(session: AsyncSession, account_id: str) -> None:
    if await _count(session, MembershipRow.account_id, account_id) >= MAX_MEMBERS:
        raise InvalidInput("", f"an account may have {MAX_MEMBERS} members at most; its owner has to remove one first")


async def _count(session: AsyncSession, column: InstrumentedAttribute[str], value: str) -> int:
    return await session.scalar(select(func.count()).where(column == value)) or 0


def _pair(account_id: str, member_id: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return MembershipRow.account_id == as_id(account_id), MembershipRow.member_id == as_id(member_id)


def _invitation(row: InvitationRow, account: UserRow) -> Invitation:
    return Invitation(
        id=row.id,
        account=user_of(account),
        role=role_of(row.role),
        note=row.note,
        created_at=row.created_at,
        expires_at=row.expires_at,
    )


def _checked_note(note: str) -> str:
    trimmed = " ".join(note.split())
    if len(trimmed) > MAX_NOTE_LENGTH:
        raise InvalidInput("note", f"must have at most {MAX_NOTE_LENGTH} characters")
    if not is_line(trimmed):
        raise InvalidInput("note", "must not contain control characters")
    return trimmed


def _used() -> NotFound:
    return NotFound(INVALID_INVITATION)


def _no_member() -> NotFound:
    return NotFound("there is no such member of this account; reload the page")


def _now() -> datetime:
    return datetime.now(UTC)
