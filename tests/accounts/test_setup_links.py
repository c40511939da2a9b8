"""One-time links for the first account, on every database."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from pressroom.accounts.sessions import SetupLinks
from pressroom.accounts.users import Users
from pressroom.config import Settings
from pressroom.errors import InvalidInput, NotFound
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import SetupLinkRow
from sqlalchemy import func, select, update

PASSWORD = "four quiet random words"


@pytest.fixture
def users(database: SqlDatabase, database_settings: Settings) -> Users:
    return Users(database, database_settings)


@pytest.fixture
def links(database: SqlDatabase, users: Users) -> SetupLinks:
    return SetupLinks(database, users)


async def test_a_link_creates_the_first_account_and_no_second(links: SetupLinks, users: Users) -> None:
    token = await links.create()
    assert await links.usable(token)
    user = await links.redeem(token, email="Ada@example.com", name="Ada", password=PASSWORD)
    assert await users.verify_password("ada@example.com", PASSWORD) == user
    assert not await links.usable(token)
    with pytest.raises(NotFound, match="was used"):
        await links.redeem(token, email="bob@example.com", name="", password=PASSWORD)


async def test_a_new_link_replaces_the_previous_one(links: SetupLinks) -> None:
    old, new = await links.create(), await links.create()
    assert (await links.usable(old), await links.usable(new)) == (False, True)


async def test_one_of_many_concurrently_created_links_is_valid(links: SetupLinks, database: SqlDatabase) -> None:
    tokens = await asyncio.gather(*(links.create() for _ in range(8)))
    assert [await links.usable(token) for token in tokens].count(True) == 1
    async with database.reading() as session:
        assert await session.scalar(select(func.count()).select_from(SetupLinkRow)) == 1


async def test_concurrent_uses_of_a_link_have_one_winner(links: SetupLinks, users: Users) -> None:
    token = await links.create()
    results = await asyncio.gather(
        *(links.redeem(token, email=f"p{number}@example.com", name="", password=PASSWORD) for number in range(6)),
        return_exceptions=True,
    )
    assert sorted(type(result).__name__ for result in results) == ["NotFound"] * 5 + ["User"]
    assert len(await users.list()) == 1


@pytest.mark.parametrize(("email", "password"), [("nobody", PASSWORD), ("ada@example.com", "short")])
async def test_the_link_remains_valid_after_a_mistake(links: SetupLinks, email: str, password: str) -> None:
    token = await links.create()
    with pytest.raises(InvalidInput):
        await links.redeem(token, email=email, name="", password=password)
    assert await links.usable(token)


async def test_a_link_is_invalid_once_the_operator_creates_an_account(links: SetupLinks, users: Users) -> None:
    token = await links.create()
    await users.add("ada@example.com")
    assert not await links.usable(token)
    with pytest.raises(NotFound):
        await links.redeem(token, email="bob@example.com", name="", password=PASSWORD)


async def test_a_link_expires_after_a_day(links: SetupLinks, database: SqlDatabase) -> None:
    token = await links.create()
    async with database.reading() as session:
        row = await session.scalar(select(SetupLinkRow))
    assert row is not None
    assert row.expires_at - row.created_at == timedelta(days=1)
    async with database.writing() as session:
        await session.execute(update(SetupLinkRow).values(expires_at=datetime.now(UTC)))
    assert not await links.usable(token)


@pytest.mark.parametrize("token", ["", "x", "x" * 100_000, "\0\udfff"])
async def test_a_forged_link_is_invalid(links: SetupLinks, token: str) -> None:
    await links.create()
    assert not await links.usable(token)
    with pytest.raises(NotFound):
        await links.redeem(token, email="ada@example.com", name="", password=PASSWORD)
