"""Account members, invitations, and the account that a session works in, on every database."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from pressroom.accounts import memberships as bounds
from pressroom.accounts.memberships import Invitations, Memberships
from pressroom.accounts.records import BrowserSession, User
from pressroom.accounts.sessions import Sessions
from pressroom.accounts.users import Users
from pressroom.columns import hash_of
from pressroom.config import Settings
from pressroom.errors import InvalidInput, NotFound
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import InvitationRow, MembershipRow, UserRow
from sqlalchemy import delete, func, select, update

PASSWORD = "four quiet random words"


@pytest.fixture
def users(database: SqlDatabase, database_settings: Settings) -> Users:
    return Users(database, database_settings)


@pytest.fixture
def memberships(database: SqlDatabase) -> Memberships:
    return Memberships(database)


@pytest.fixture
def invitations(database: SqlDatabase, users: Users) -> Invitations:
    return Invitations(database, users)


@pytest.fixture
def sessions(database: SqlDatabase, database_settings: Settings) -> Sessions:
    return Sessions(database, database_settings.accounts)


@pytest.fixture
async def ada(users: Users) -> User:
    return await users.add("ada@example.com", name="Ada")


@pytest.fixture
async def bob(users: Users) -> User:
    return await users.add("bob@example.com", name="Bob")


async def join(invitations: Invitations, account: User, person: User, role: str = "editor") -> None:
    await invitations.accept((await invitations.create(account.id, role))[1], person)


async def working(sessions: Sessions, person: User, account: User) -> str:
    """Return the token of a session that works in an account."""
    token = await sessions.start(person.id)
    await sessions.work_in(await found(sessions, token), account.id)
    return token


async def found(sessions: Sessions, token: str) -> BrowserSession:
    session = await sessions.find(token)
    assert session is not None
    return session


def where(session: BrowserSession) -> tuple[str, str, str, bool]:
    return session.person.email, session.user.email, session.role, session.lost


async def test_an_invitation_creates_one_member(
    invitations: Invitations, memberships: Memberships, ada: User, bob: User, users: Users
) -> None:
    invitation, token = await invitations.create(ada.id, "editor", "  for\tBob ")
    assert (invitation.account, invitation.role, invitation.note) == (ada, "editor", "for Bob")
    assert invitation.expires_at - invitation.created_at == bounds.INVITATION_LIFETIME
    assert await invitations.find(token) == invitation
    assert await invitations.list(ada.id) == [invitation]
    await invitations.accept(token, bob)
    (member,) = await memberships.of_account(ada.id)
    assert (member.account, member.member, member.role) == (ada, bob, "editor")
    assert await memberships.of_member(bob.id) == [member]
    assert await memberships.of_member(ada.id) == []
    assert await invitations.find(token) is None
    with pytest.raises(NotFound, match="was used"):
        await invitations.accept(token, await users.add("eve@example.com"))
    assert await invitations.list(ada.id) == []


async def test_only_a_hash_of_the_link_is_stored(invitations: Invitations, ada: User, database: SqlDatabase) -> None:
    _, token = await invitations.create(ada.id, "reader")
    async with database.reading() as session:
        row = await session.scalar(select(InvitationRow))
    assert row is not None
    assert row.token_hash == hash_of(token)
    assert len(token) >= 43


async def test_concurrent_uses_of_a_link_have_one_winner(
    invitations: Invitations, memberships: Memberships, users: Users, ada: User
) -> None:
    people = [await users.add(f"p{number}@example.com") for number in range(5)]
    _, token = await invitations.create(ada.id, "editor")
    outcomes: list[Any] = await asyncio.gather(
        *(invitations.accept(token, person) for person in people),
        invitations.accept_with_new_account(token, email="new@example.com", name="", password=PASSWORD),
        return_exceptions=True,
    )
    assert sorted(type(outcome).__name__ for outcome in outcomes if isinstance(outcome, Exception)) == ["NotFound"] * 5
    (member,) = await memberships.of_account(ada.id)
    # A person whose invitation was already used leaves no account behind.
    assert await users.by_email("new@example.com") in (None, member.member)


async def test_mutual_invitations_accepted_concurrently_do_not_deadlock(
    invitations: Invitations, memberships: Memberships, ada: User, bob: User
) -> None:
    (_, to_bob), (_, to_ada) = await invitations.create(ada.id, "editor"), await invitations.create(bob.id, "reader")
    await asyncio.gather(invitations.accept(to_bob, bob), invitations.accept(to_ada, ada))
    assert [membership.role for membership in await memberships.of_member(bob.id)] == ["editor"]
    assert [membership.role for membership in await memberships.of_member(ada.id)] == ["reader"]


async def test_a_refused_acceptance_leaves_the_link_valid(
    invitations: Invitations, memberships: Memberships, ada: User, bob: User
) -> None:
    await join(invitations, ada, bob, "reader")
    _, token = await invitations.create(ada.id, "editor")
    with pytest.raises(InvalidInput, match="your own account"):
        await invitations.accept(token, ada)
    with pytest.raises(InvalidInput, match="already a member of this account"):
        await invitations.accept(token, bob)
    for email, password in (("bob@example.com", PASSWORD), ("nobody", PASSWORD), ("eve@example.com", "short")):
        with pytest.raises(InvalidInput):
            await invitations.accept_with_new_account(token, email=email, name="", password=password)
    assert [member.role for member in await memberships.of_account(ada.id)] == ["reader"]
    assert await invitations.find(token) is not None


async def test_a_link_creates_an_account_that_is_a_member(
    invitations: Invitations, memberships: Memberships, users: Users, ada: User
) -> None:
    _, token = await invitations.create(ada.id, "reader")
    user = await invitations.accept_with_new_account(token, email="Eve@Example.com", name="Eve", password=PASSWORD)
    assert await users.verify_password("eve@example.com", PASSWORD) == user
    assert [(member.member, member.role) for member in await memberships.of_account(ada.id)] == [(user, "reader")]
    with pytest.raises(NotFound):
        await invitations.accept_with_new_account(token, email="more@example.com", name="", password=PASSWORD)
    assert await users.by_email("more@example.com") is None


@pytest.mark.parametrize("ends", ["expires", "is revoked", "its account is disabled"])
async def test_a_link_that_is_no_longer_valid_does_nothing(
    ends: str,
    invitations: Invitations,
    memberships: Memberships,
    users: Users,
    ada: User,
    bob: User,
    database: SqlDatabase,
) -> None:
    invitation, token = await invitations.create(ada.id, "editor")
    match ends:
        case "expires":
            async with database.writing() as session:
                await session.execute(update(InvitationRow).values(expires_at=datetime.now(UTC)))
        case "is revoked":
            await invitations.revoke(ada.id, invitation.id)
        case _:
            await users.set_disabled(ada.id, True)
    assert await invitations.find(token) is None
    with pytest.raises(NotFound):
        await invitations.accept(token, bob)
    with pytest.raises(NotFound):
        await invitations.accept_with_new_account(token, email="new@example.com", name="", password=PASSWORD)
    assert await memberships.of_account(ada.id) == []
    assert await users.by_email("new@example.com") is None


@pytest.mark.parametrize("token", ["", "x", "x" * 100_000, "\0\udfff"])
async def test_a_forged_link_is_invalid(invitations: Invitations, ada: User, bob: User, token: str) -> None:
    await invitations.create(ada.id, "editor")
    assert await invitations.find(token) is None
    with pytest.raises(NotFound):
        await invitations.accept(token, bob)


@pytest.mark.parametrize(("role", "note"), [("owner", ""), ("", ""), ("editor", "x" * 101), ("editor", "a\x1bb")])
async def test_an_invalid_role_or_note_is_refused(invitations: Invitations, ada: User, role: str, note: str) -> None:
    with pytest.raises(InvalidInput):
        await invitations.create(ada.id, role, note)
    assert await invitations.list(ada.id) == []


async def test_members_and_invitations_of_another_account_cannot_be_changed(
    invitations: Invitations, memberships: Memberships, users: Users, ada: User, bob: User
) -> None:
    await join(invitations, ada, bob)
    invitation, _ = await invitations.create(ada.id, "editor")
    eve = await users.add("eve@example.com")
    for attempt in (
        invitations.revoke(eve.id, invitation.id),
        memberships.remove(eve.id, bob.id),
        memberships.set_role(eve.id, bob.id, "reader"),
        memberships.set_role(ada.id, ada.id, "reader"),
        memberships.remove(ada.id, "\0"),
    ):
        with pytest.raises(NotFound):
            await attempt
    with pytest.raises(InvalidInput):
        await memberships.set_role(ada.id, bob.id, "owner")
    assert [member.role for member in await memberships.of_account(ada.id)] == ["editor"]
    assert await invitations.list(ada.id) == [invitation]


async def test_members_and_invitations_are_limited_even_concurrently(
    invitations: Invitations, memberships: Memberships, users: Users, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_INVITATIONS", 3)
    monkeypatch.setattr(bounds, "MAX_MEMBERS", 2)
    results: list[Any] = await asyncio.gather(
        *(invitations.create(ada.id, "reader") for _ in range(6)), return_exceptions=True
    )
    errors = [result for result in results if isinstance(result, InvalidInput)]
    assert len(errors) == 3
    assert "revoke one" in errors[0].problem
    tokens = [result[1] for result in results if not isinstance(result, BaseException)]
    people = [await users.add(f"p{number}@example.com") for number in range(3)]
    outcomes: list[Any] = await asyncio.gather(
        *(invitations.accept(token, person) for token, person in zip(tokens, people, strict=True)),
        return_exceptions=True,
    )
    assert sum(isinstance(outcome, InvalidInput) for outcome in outcomes) == 1
    assert len(await memberships.of_account(ada.id)) == 2


async def test_memberships_of_one_person_are_limited(
    invitations: Invitations, users: Users, ada: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_ACCOUNTS", 1)
    await join(invitations, ada, bob)
    other = await users.add("eve@example.com")
    with pytest.raises(InvalidInput, match="leave one first"):
        await join(invitations, other, bob)


async def test_expired_invitations_take_no_slot_and_are_removed(
    invitations: Invitations, ada: User, bob: User, database: SqlDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_INVITATIONS", 1)
    await invitations.create(ada.id, "reader")
    await invitations.create(bob.id, "reader")
    async with database.writing() as session:
        await session.execute(update(InvitationRow).values(expires_at=datetime.now(UTC)))
    await invitations.create(ada.id, "reader")
    await invitations.prune()
    async with database.reading() as session:
        assert await session.scalar(select(func.count()).select_from(InvitationRow)) == 1


async def test_a_session_works_in_its_own_account_or_one_it_is_a_member_of(
    sessions: Sessions, invitations: Invitations, ada: User, bob: User
) -> None:
    token = await sessions.start(bob.id)
    session = await found(sessions, token)
    assert where(session) == (bob.email, bob.email, "owner", False)
    assert not session.is_member
    with pytest.raises(NotFound, match="you have no access"):
        await sessions.work_in(session, ada.id)
    await join(invitations, ada, bob)
    assert (await found(sessions, token)).is_member
    await sessions.work_in(session, ada.id)
    assert where(await found(sessions, token)) == (bob.email, ada.email, "editor", False)
    # Another session of the same person is unaffected.
    assert where(await found(sessions, await sessions.start(bob.id)))[1] == bob.email
    await sessions.work_in(session, "")
    assert where(await found(sessions, token)) == (bob.email, bob.email, "owner", False)


async def test_a_changed_role_applies_from_the_next_request(
    sessions: Sessions, invitations: Invitations, memberships: Memberships, ada: User, bob: User, database: SqlDatabase
) -> None:
    await join(invitations, ada, bob)
    token = await working(sessions, bob, ada)
    await memberships.set_role(ada.id, bob.id, "reader")
    assert (await found(sessions, token)).role == "reader"
    async with database.writing() as session:
        await session.execute(update(MembershipRow).values(role="admin"))
    # A role unknown to this version is treated as read-only.
    assert (await found(sessions, token)).role == "reader"


@pytest.mark.parametrize("how", ["removed", "disabled", "deleted"])
async def test_a_removed_member_returns_to_their_own_account(
    how: str,
    sessions: Sessions,
    invitations: Invitations,
    memberships: Memberships,
    users: Users,
    ada: User,
    bob: User,
    database: SqlDatabase,
) -> None:
    await join(invitations, ada, bob)
    token = await working(sessions, bob, ada)
    match how:
        case "removed":
            await memberships.remove(ada.id, bob.id)
        case "disabled":
            await users.set_disabled(ada.id, True)
        case _:
            async with database.writing() as session:
                await session.execute(delete(UserRow).where(UserRow.id == ada.id))
    back = await found(sessions, token)
    assert where(back) == (bob.email, bob.email, "owner", True)
    with pytest.raises(NotFound):
        await sessions.work_in(back, ada.id)
    await sessions.work_in(back, "")
    assert not (await found(sessions, token)).lost


async def test_a_deleted_account_loses_its_memberships_and_invitations(
    invitations: Invitations, ada: User, bob: User, database: SqlDatabase
) -> None:
    await join(invitations, ada, bob)
    await join(invitations, bob, ada)
    await invitations.create(ada.id, "reader")
    async with database.writing() as session:
        await session.execute(delete(UserRow).where(UserRow.id == ada.id))
    async with database.reading() as session:
        for table in (MembershipRow, InvitationRow):
            assert await session.scalar(select(func.count()).select_from(table)) == 0


async def test_a_disabled_member_is_signed_out(
    sessions: Sessions, invitations: Invitations, users: Users, ada: User, bob: User
) -> None:
    await join(invitations, ada, bob)
    token = await working(sessions, bob, ada)
    await users.set_disabled(bob.id, True)
    assert await sessions.find(token) is None
