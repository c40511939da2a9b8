"""Accounts, on every database."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from argon2.profiles import CHEAPEST
from pressroom.accounts.sessions import Sessions
from pressroom.accounts.users import Users, password_stamp
from pressroom.config import Settings
from pressroom.errors import InvalidInput, NotFound, SignInFailed
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import IdentityRow, UserRow
from sqlalchemy import select, text, update
from structlog.testing import capture_logs
from support.databases import locked, migrated, settings_with_database

EMAIL = "ada@example.com"
PASSWORD = "four quiet random words"
NEW_PASSWORD = "copper meadow signal thirty"


@pytest.fixture
def users(database: SqlDatabase, database_settings: Settings) -> Users:
    return Users(database, database_settings)


async def stored_hash(database: SqlDatabase, user_id: str) -> str:
    async with database.reading() as session:
        return await session.scalar(select(UserRow.password_hash).where(UserRow.id == user_id)) or ""


async def test_an_account_is_found_however_its_email_address_is_typed(users: Users) -> None:
    assert not await users.any()
    user = await users.add("  Zoë@Example.COM ", name=" Zoë ")
    assert (user.email, user.name, user.plan, user.has_password) == ("zoë@example.com", "Zoë", "free", False)
    assert await users.any()
    assert await users.by_email("ZOË@example.com") == await users.get(user.id) == user
    assert await users.by_email("zoe@example.com") is None
    assert await users.by_email("no address") is None


async def test_an_email_address_belongs_to_one_account(users: Users) -> None:
    await users.add("ada@example.com")
    with pytest.raises(
        InvalidInput, match=r"^email: there is already an account with the e-mail address ada@example.com$"
    ):
        await users.add("ADA@example.com")


async def test_concurrent_additions_of_an_email_address_create_one_account(users: Users) -> None:
    results = await asyncio.gather(*(users.add("ada@example.com") for _ in range(8)), return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["InvalidInput"] * 7 + ["User"]


@pytest.mark.parametrize(
    ("plan", "says"),
    [("fre", 'there is no plan "fre"; did you mean free?'), ("gold", 'there is no plan "gold"; there are free')],
)
async def test_an_unknown_plan_is_refused(users: Users, plan: str, says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        await users.add("ada@example.com", plan=plan)
    assert (refused.value.field, refused.value.problem) == ("plan", says)
    user = await users.add("ada@example.com")
    with pytest.raises(InvalidInput):
        await users.set_plan(user.id, plan)


@pytest.mark.parametrize("name", ["x" * 101, "a\0b", "a\nb", "\x1b[31m"])
async def test_an_invalid_name_is_refused(users: Users, name: str) -> None:
    with pytest.raises(InvalidInput, match=r"^name: must"):
        await users.add("ada@example.com", name=name)


async def test_changes_are_stored(users: Users) -> None:
    user = await users.add("ada@example.com")
    moment = datetime(2026, 11, 21, 12, 0, 0, 5, UTC)
    await users.set_name(user.id, "Ada")
    await users.signed_in(user.id, moment)
    changed = await users.set_disabled(user.id, True)
    assert changed == await users.get(user.id)
    assert (changed.name, changed.last_sign_in_at, changed.disabled) == ("Ada", moment, True)
    assert not (await users.set_disabled(user.id, False)).disabled


async def test_changes_with_an_unknown_id_are_refused(users: Users) -> None:
    for user_id in ("u_x", "", "\0", "\udfff"):
        for change in (users.get(user_id), users.set_name(user_id, "x"), users.set_password(user_id, PASSWORD)):
            with pytest.raises(NotFound):
                await change


async def test_accounts_are_listed_in_pages(users: Users) -> None:
    for number in range(7):
        await users.add(f"p{number}@example.com")
    first = await users.list(limit=3)
    rest = await users.list(limit=10, after=first[-1].email)
    assert [user.email for user in (*first, *rest)] == [f"p{number}@example.com" for number in range(7)]


@pytest.mark.parametrize(
    ("find", "found"),
    [
        ("example.com", ["a_da@example.com", "bob@example.com"]),
        ("EXAMPLE.ORG", ["carl@example.org"]),
        ("lovelace", ["a_da@example.com"]),
        ("ärger", ["bob@example.com"]),
        ("ÖZGÜR", ["bob@example.com"]),
        ("ПЕТРОВ", ["carl@example.org"]),
        ("_", ["a_da@example.com"]),
        ("%", []),
        ("\\", []),
        ("' OR 1=1 --", []),
        ("", ["a_da@example.com", "bob@example.com", "carl@example.org"]),
    ],
)
async def test_accounts_are_found_by_part_of_their_email_address_or_name(
    users: Users, find: str, found: list[str]
) -> None:
    names = {"a_da@example.com": "Ada Lovelace", "bob@example.com": "Ärger Özgür", "carl@example.org": "Карл Петров"}
    for email, name in names.items():
        await users.add(email, name=name)
    assert [user.email for user in await users.list(find=find)] == found
    assert [user.email for user in await users.list(find=find, after="b")] == [email for email in found if email > "b"]


async def test_only_the_right_password_is_accepted(users: Users, database: SqlDatabase) -> None:
    user = await users.add("ada@example.com", password=PASSWORD)
    assert user.has_password
    assert await users.verify_password("ADA@example.com", PASSWORD) == user
    assert (await stored_hash(database, user.id)).startswith("$argon2id$")
    for email, password in (
        ("ada@example.com", PASSWORD + " "),
        ("ada@example.com", ""),
        ("ada@example.com", "\udfff" * 20),
        ("bob@example.com", PASSWORD),
        ("not an address", PASSWORD),
    ):
        assert await users.verify_password(email, password) is None


async def test_passwords_are_compared_after_unicode_normalisation(users: Users) -> None:
    await users.add("ada@example.com", password="cafe\u0301 \ufb01lter quiet")
    assert await users.verify_password("ada@example.com", "caf\u00e9 filter quiet") is not None


async def test_accounts_without_a_password_and_disabled_ones_cannot_sign_in(users: Users) -> None:
    await users.add("bare@example.com")
    locked = await users.add("ada@example.com", password=PASSWORD)
    await users.set_disabled(locked.id, True)
    assert await users.verify_password("bare@example.com", "") is None
    assert await users.verify_password("ada@example.com", PASSWORD) is None


async def test_a_password_may_be_removed(users: Users) -> None:
    user = await users.add("ada@example.com", password=PASSWORD)
    assert not (await users.clear_password(user.id)).has_password
    assert await users.verify_password("ada@example.com", PASSWORD) is None


@pytest.mark.parametrize("password", ["short words", "ada lovelace", "ada@example.com", "pressroom123"])
async def test_an_easy_password_is_refused_and_the_old_one_remains(users: Users, password: str) -> None:
    user = await users.add("ada@example.com", name="Ada Lovelace", password=PASSWORD)
    with pytest.raises(InvalidInput, match=r"^password: "):
        await users.set_password(user.id, password)
    assert await users.verify_password("ada@example.com", PASSWORD) is not None


@pytest.mark.usefixtures("real_hashes")
async def test_a_hash_with_old_parameters_is_renewed_at_the_next_sign_in(users: Users, database: SqlDatabase) -> None:
    user = await users.add("ada@example.com", password=PASSWORD)
    old = PasswordHasher.from_parameters(CHEAPEST).hash(PASSWORD)
    async with database.writing() as session:
        await session.execute(update(UserRow).where(UserRow.id == user.id).values(password_hash=old))
    assert await users.verify_password("ada@example.com", "wrong " + PASSWORD) is None
    assert await stored_hash(database, user.id) == old
    assert await users.verify_password("ada@example.com", PASSWORD) is not None
    renewed = await stored_hash(database, user.id)
    assert "m=65536,t=3,p=4" in renewed
    assert await users.verify_password("ada@example.com", PASSWORD) is not None
    assert await stored_hash(database, user.id) == renewed


@pytest.mark.usefixtures("real_hashes")
async def test_a_hash_that_cannot_be_renewed_still_allows_sign_in(tmp_path: Path) -> None:
    settings = settings_with_database({"database_timeout": 0.3}, tmp_path)
    async with migrated(settings) as database:
        users = Users(database, settings)
        user = await users.add("ada@example.com", password=PASSWORD)
        old = PasswordHasher.from_parameters(CHEAPEST).hash(PASSWORD)
        async with database.writing() as session:
            await session.execute(update(UserRow).where(UserRow.id == user.id).values(password_hash=old))
        with locked(Path(str(database.url.database))), capture_logs() as logs:
            verified = await users.verify_password("ada@example.com", PASSWORD)
        assert verified is not None
        assert verified.password_stamp == password_stamp(old)
        assert [(line["log_level"], line["event"]) for line in logs if line.get("user") == user.id] == [
            ("warning", "a password could not be hashed again with the current parameters")
        ]
        assert await stored_hash(database, user.id) == old


@pytest.mark.parametrize("by", ["disabling", "a new password", "removing the password"])
async def test_sessions_end_on_a_password_change_or_when_disabled(
    users: Users, database: SqlDatabase, database_settings: Settings, by: str
) -> None:
    sessions = Sessions(database, database_settings.accounts)
    user, other = await users.add("ada@example.com"), await users.add("bob@example.com")
    token, other_token = await sessions.start(user.id), await sessions.start(other.id)
    match by:
        case "disabling":
            await users.set_disabled(user.id, True)
            await users.set_disabled(user.id, False)
        case "a new password":
            await users.set_password(user.id, PASSWORD)
        case _:
            await users.clear_password(user.id)
    assert await sessions.find(token) is None
    assert await sessions.find(other_token) is not None


async def test_a_person_who_knew_the_old_password_cannot_replace_the_new_one(users: Users) -> None:
    user = await users.add(EMAIL, password=PASSWORD)
    owner, intruder = [await users.verify_password(EMAIL, PASSWORD) for _ in range(2)]
    await users.set_password(user.id, NEW_PASSWORD, proven=owner)
    with pytest.raises(SignInFailed, match="in the meantime"):
        await users.set_password(user.id, "eight loud herons dive", proven=intruder)
    assert await users.verify_password(EMAIL, NEW_PASSWORD) is not None


async def test_an_identity_belongs_to_one_account(users: Users) -> None:
    ada, bob = await users.add("ada@example.com"), await users.add("bob@example.com")
    await users.link_identity(ada.id, "https://id.example", "7")
    await users.link_identity(ada.id, "https://id.example", "7")
    assert await users.by_identity("https://id.example", "7") == ada
    assert await users.by_identity("https://id.example/", "7") is None
    with pytest.raises(InvalidInput, match="another account"):
        await users.link_identity(bob.id, "https://id.example", "7")
    with pytest.raises(NotFound):
        await users.link_identity("u_x", "https://id.example", "8")


async def test_an_account_and_its_identity_are_created_together_or_not_at_all(
    users: Users, database: SqlDatabase
) -> None:
    await users.add_with_identity("ada@example.com", name="Ada", issuer="https://id.example", subject="7")
    with pytest.raises(InvalidInput, match=r"^identity: this person already signs in to another account$"):
        await users.add_with_identity("bob@example.com", name="Bob", issuer="https://id.example", subject="7")
    with pytest.raises(InvalidInput, match=r"^email: there is already an account"):
        await users.add_with_identity("ada@example.com", name="Ada", issuer="https://id.example", subject="8")
    assert await users.by_email("bob@example.com") is None
    async with database.reading() as session:
        assert len((await session.scalars(select(IdentityRow))).all()) == 1


@pytest.mark.parametrize(
    "found",
    [
        "users WHERE id = 'x'",
        "users WHERE email = 'x'",
        "users WHERE email > 'x' ORDER BY email LIMIT 100",
        "identities WHERE issuer = 'x' AND subject = 'x'",
        "identities WHERE user_id = 'x'",
        "sessions WHERE token_hash = 'x'",
        "sessions WHERE user_id = 'x'",
        "sessions WHERE expires_at <= 1",
    ],
)
async def test_identities_are_found_by_an_index(database: SqlDatabase, found: str) -> None:
    async with database.reading() as session:
        if database.dialect == "postgresql":
            # PostgreSQL scans tables this small sequentially unless told not to.
            await session.execute(text("SET LOCAL enable_seqscan = off"))
            rows = (await session.execute(text(f"EXPLAIN SELECT 1 FROM {found}"))).all()
            assert "Seq Scan" not in str(rows)
        else:
            rows = (await session.execute(text(f"EXPLAIN QUERY PLAN SELECT 1 FROM {found}"))).all()
            assert "SCAN" not in str(rows)
        assert "index" in str(rows).lower()


@pytest.mark.parametrize("name", ["\u0639\u0644\u06cc\u200c\u0631\u0636\u0627", "Ada 👩\u200d💻"])
async def test_names_in_any_script_are_stored(users: Users, name: str) -> None:
    assert (await users.add("ada@example.com", name=name)).name == name


@pytest.mark.parametrize("user_id", ["", "\0", "\ud800", "x" * 5000])
async def test_an_unknown_id_is_not_found(users: Users, user_id: str) -> None:
    with pytest.raises(NotFound):
        await users.get(user_id)
    with pytest.raises(NotFound):
        await users.set_name(user_id, "x")


@pytest.mark.parametrize("after", ["\udcff", "\0"])
async def test_invalid_list_filters_are_refused(users: Users, after: str) -> None:
    with pytest.raises(InvalidInput, match="after: must not contain"):
        await users.list(after=after)
    with pytest.raises(InvalidInput, match="find: must not contain"):
        await users.list(find=after)
