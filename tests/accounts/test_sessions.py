"""Browser sessions, on every database."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from pressroom.accounts import service
from pressroom.accounts.records import User
from pressroom.accounts.service import AccountServices
from pressroom.accounts.sessions import MAX_OF_ACCOUNT, Sessions
from pressroom.accounts.users import Users
from pressroom.columns import hash_of
from pressroom.config import Settings
from pressroom.errors import SignInFailed
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import SessionRow
from sqlalchemy import func, select, update


@pytest.fixture
def sessions(database: SqlDatabase, database_settings: Settings) -> Sessions:
    accounts = database_settings.accounts.model_copy(update={"session_lifetime": 86_400.0, "session_idle": 3600.0})
    return Sessions(database, accounts)


@pytest.fixture
async def user(database: SqlDatabase, database_settings: Settings) -> User:
    return await Users(database, database_settings).add("ada@example.com")


async def age(database: SqlDatabase, token: str, *, created: timedelta, seen: timedelta) -> None:
    """Backdate a session's creation and last use by `created` and `seen`."""
    now = datetime.now(UTC)
    values = {"created_at": now - created, "seen_at": now - seen}
    async with database.writing() as session:
        await session.execute(update(SessionRow).where(SessionRow.token_hash == hash_of(token)).values(values))


async def test_a_session_has_its_user_and_origin(sessions: Sessions, user: User) -> None:
    token = await sessions.start(user.id, client_ip="192.0.2.7", user_agent="Browser/1 \0\x1b[31m" + "x" * 500)
    session = await sessions.find(token)
    assert session is not None
    assert (session.user, session.client_ip, len(session.user_agent)) == (user, "192.0.2.7", 300)
    assert session.user_agent.isprintable()
    assert session.expires_at - session.created_at == timedelta(hours=1)


async def test_only_a_hash_of_the_token_is_stored(sessions: Sessions, user: User, database: SqlDatabase) -> None:
    token = await sessions.start(user.id)
    async with database.reading() as session:
        assert await session.scalar(select(SessionRow.token_hash)) == hash_of(token)
    assert len(token) >= 43
    assert token != await sessions.start(user.id)


@pytest.mark.parametrize("token", ["", "x", "x" * 10_000, "\0", "\udfff", "ä"])
async def test_an_unknown_token_has_no_session(sessions: Sessions, user: User, token: str) -> None:
    await sessions.start(user.id)
    assert await sessions.find(token) is None
    await sessions.end(token)
    assert len(await sessions.list(user.id)) == 1


@pytest.mark.parametrize(
    ("created", "seen", "good"),
    [
        (timedelta(hours=23), timedelta(minutes=59), True),
        (timedelta(hours=23), timedelta(minutes=61), False),
        (timedelta(hours=25), timedelta(minutes=1), False),
    ],
)
async def test_a_session_ends_after_its_lifetime_or_when_idle(
    sessions: Sessions, user: User, database: SqlDatabase, created: timedelta, seen: timedelta, good: bool
) -> None:
    token = await sessions.start(user.id)
    await age(database, token, created=created, seen=seen)
    listed = await sessions.list(user.id)
    session = await sessions.find(token)
    assert (session is not None, len(listed)) == (good, int(good))


async def test_use_extends_a_session_within_its_lifetime(sessions: Sessions, user: User, database: SqlDatabase) -> None:
    token = await sessions.start(user.id)
    await age(database, token, created=timedelta(hours=23, minutes=30), seen=timedelta(minutes=50))
    first = await sessions.find(token)
    assert first is not None
    assert first.expires_at == first.created_at + timedelta(hours=24)
    second = await sessions.find(token)
    assert second is not None
    assert second.seen_at == first.seen_at


async def test_use_is_written_once_a_minute(sessions: Sessions, user: User, database: SqlDatabase) -> None:
    token = await sessions.start(user.id)
    before = await sessions.find(token)
    await age(database, token, created=timedelta(minutes=30), seen=timedelta(seconds=50))
    unchanged = await sessions.find(token)
    await age(database, token, created=timedelta(minutes=30), seen=timedelta(seconds=70))
    written = await sessions.find(token)
    assert before is not None
    assert unchanged is not None
    assert written is not None
    assert unchanged.seen_at < before.seen_at < written.seen_at


async def test_concurrent_requests_of_one_session_are_accepted(
    sessions: Sessions, user: User, database: SqlDatabase
) -> None:
    token = await sessions.start(user.id)
    await age(database, token, created=timedelta(minutes=30), seen=timedelta(minutes=10))
    results = await asyncio.gather(*(sessions.find(token) for _ in range(20)))
    assert all(session is not None and session.user == user for session in results)


async def test_signing_out_one_session_and_all_others(sessions: Sessions, user: User) -> None:
    tokens = [await sessions.start(user.id) for _ in range(4)]
    await sessions.end(tokens[0])
    await sessions.end(tokens[0])
    assert await sessions.find(tokens[0]) is None
    assert await sessions.end_all(user.id, except_token=tokens[3]) == 2
    assert [await sessions.find(token) is not None for token in tokens] == [False, False, False, True]
    assert await sessions.end_all(user.id) == 1


async def test_sessions_are_listed_by_their_last_use(sessions: Sessions, user: User, database: SqlDatabase) -> None:
    tokens = [await sessions.start(user.id, user_agent=str(number)) for number in range(3)]
    for token, minutes in zip(tokens, (5, 1, 9), strict=True):
        await age(database, token, created=timedelta(hours=1), seen=timedelta(minutes=minutes))
    assert [session.user_agent for session in await sessions.list(user.id)] == ["1", "0", "2"]


async def test_pruning_removes_only_expired_sessions(sessions: Sessions, user: User, database: SqlDatabase) -> None:
    ended, good = await sessions.start(user.id), await sessions.start(user.id)
    async with database.writing() as session:
        await session.execute(
            update(SessionRow)
            .where(SessionRow.token_hash == hash_of(ended))
            .values(expires_at=datetime.now(UTC) - timedelta(seconds=1))
        )
    assert await sessions.prune() == 1
    assert await sessions.prune() == 0
    assert await sessions.find(good) is not None
    async with database.reading() as session:
        assert await session.scalar(select(func.count()).select_from(SessionRow)) == 1


async def test_a_shorter_lifetime_applies_to_existing_sessions(
    sessions: Sessions, user: User, database: SqlDatabase, database_settings: Settings
) -> None:
    token = await sessions.start(user.id)
    await age(database, token, created=timedelta(minutes=30), seen=timedelta(minutes=10))
    strict = Sessions(database, database_settings.accounts.model_copy(update={"session_idle": 300.0}))
    assert await strict.find(token) is None


async def test_a_server_prunes_by_itself(
    sessions: Sessions,
    user: User,
    database: SqlDatabase,
    database_settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(service, "PRUNE_SECONDS", 0.0)
    await sessions.start(user.id)
    async with database.writing() as session:
        await session.execute(update(SessionRow).values(expires_at=datetime.now(UTC)))
    services = AccountServices(database_settings, database)
    await services.open()
    await services.close()
    async with database.reading() as session:
        assert await session.scalar(select(func.count()).select_from(SessionRow)) == 0


async def test_the_most_recently_used_sessions_of_an_account_remain(
    sessions: Sessions, user: User, database: SqlDatabase
) -> None:
    first, second, *_ = [await sessions.start(user.id) for _ in range(MAX_OF_ACCOUNT)]
    await age(database, first, created=timedelta(hours=2), seen=timedelta(0))
    await age(database, second, created=timedelta(hours=1), seen=timedelta(hours=1))
    newest = await sessions.start(user.id)
    assert await sessions.find(second) is None
    assert await sessions.find(first) is not None
    assert await sessions.find(newest) is not None
    assert len(await sessions.list(user.id, limit=2 * MAX_OF_ACCOUNT)) == MAX_OF_ACCOUNT


async def test_a_list_can_be_limited(sessions: Sessions, user: User) -> None:
    for number in range(4):
        await sessions.start(user.id, user_agent=str(number))
    assert len(await sessions.list(user.id, limit=3)) == 3


async def test_a_pending_sign_in_fails_after_a_password_change(
    sessions: Sessions, database: SqlDatabase, database_settings: Settings, user: User
) -> None:
    users = Users(database, database_settings)
    before = await users.set_password(user.id, "violet harbour lantern moss")
    assert await sessions.start(user.id, proven=before)
    after = await users.set_password(user.id, "copper meadow signal thirty")
    with pytest.raises(SignInFailed, match="sign in again"):
        await sessions.start(user.id, proven=before)
    assert await sessions.list(user.id) == []
    assert await sessions.start(user.id, proven=after)


async def test_a_pending_sign_in_fails_for_a_disabled_account(
    sessions: Sessions, database: SqlDatabase, database_settings: Settings, user: User
) -> None:
    users = Users(database, database_settings)
    await users.set_disabled(user.id, True)
    with pytest.raises(SignInFailed):
        await sessions.start(user.id, proven=user)
    await users.set_disabled(user.id, False)
    assert await sessions.list(user.id) == []
