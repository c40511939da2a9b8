"""The connections of an account: API keys and OAuth clients."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from pressroom.accounts.records import Connection, User
from pressroom.accounts.service import AccountServices
from pressroom.columns import new_id
from pressroom.config import Settings
from pressroom.config.account_models import AccountsSettings
from pressroom.errors import InvalidInput, NotFound, PressroomError
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import ClientRow, TokenFamilyRow
from sqlalchemy import select


async def key(accounts: AccountServices, user: User, name: str = "laptop") -> Connection:
    connection, _ = await accounts.api_keys.create(user.id, name)
    return connection


async def approve(
    accounts: AccountServices, database: SqlDatabase, user: User, client: str, redirect_uris: list[str]
) -> str:
    """Create the connection of an OAuth client with its token family, as an approval does."""
    async with database.writing() as session:
        connection = await accounts.connections.add(session, user.id, "oauth", client)
        session.add(ClientRow(id=client, redirect_uris=redirect_uris, auth_method="none", created_at=datetime.now(UTC)))
        await session.flush()
        session.add(
            TokenFamilyRow(
                id=new_id("f"),
                connection_id=connection,
                client_id=client,
                scope="mcp",
                resource="https://example.com/api/mcp",
                created_at=datetime.now(UTC),
            )
        )
    return connection


async def test_connections_are_listed_newest_first(accounts: AccountServices, user: User, other: User) -> None:
    for name in ("one", "two", "three"):
        await key(accounts, user, name)
    await key(accounts, other, "not mine")
    assert [connection.name for connection in await accounts.connections.list(user.id)] == ["three", "two", "one"]


async def test_connections_are_listed_in_pages(accounts: AccountServices, database: SqlDatabase, user: User) -> None:
    for name in ("one", "two", "three"):
        await key(accounts, user, name)
    client = await approve(accounts, database, user, "client-1", ["https://a.example/back"])
    listed = accounts.connections.list
    assert [connection.name for connection in await listed(user.id, limit=2, offset=2)] == ["two", "one"]
    assert [connection.id for connection in await listed(user.id, limit=1)] == [client]
    assert [connection.name for connection in await listed(user.id, kind="api_key", limit=2)] == ["three", "two"]
    assert list(await listed(user.id, offset=4)) == []


async def test_a_name_is_in_use_until_its_key_is_revoked(accounts: AccountServices, user: User, other: User) -> None:
    connection = await key(accounts, user, "laptop")
    assert await accounts.connections.has_key(user.id, "laptop")
    assert not await accounts.connections.has_key(user.id, "Laptop")
    assert not await accounts.connections.has_key(user.id, "\0")
    assert not await accounts.connections.has_key(other.id, "laptop")
    await accounts.connections.revoke(user.id, connection.id)
    assert not await accounts.connections.has_key(user.id, "laptop")


async def test_an_oauth_client_shows_its_redirect_hosts(
    accounts: AccountServices, database: SqlDatabase, user: User
) -> None:
    uris = ["https://a.example/back", "https://a.example/other", "http://127.0.0.1:99/x", "cursor://anysphere/cb"]
    connection = await approve(accounts, database, user, "client-1", uris)
    (listed,) = await accounts.connections.list(user.id)
    assert (listed.id, listed.kind, listed.client_id) == (connection, "oauth", "client-1")
    assert listed.redirect_hosts == ("a.example", "127.0.0.1", "anysphere")


async def test_a_connection_is_renamed(accounts: AccountServices, user: User) -> None:
    connection = await key(accounts, user)
    assert (await accounts.connections.rename(user.id, connection.id, "  the big screen ")).name == "the big screen"
    assert (await accounts.connections.get(user.id, connection.id)).name == "the big screen"


@pytest.mark.parametrize("name", ["", "   ", "x" * 101, "two\nlines", "nul\0", "\u202egnp"])
async def test_an_invalid_name_is_refused(accounts: AccountServices, user: User, name: str) -> None:
    connection = await key(accounts, user)
    with pytest.raises(InvalidInput, match="name"):
        await accounts.connections.rename(user.id, connection.id, name)
    with pytest.raises(InvalidInput, match="name"):
        await accounts.api_keys.create(user.id, name)
    assert [connection.name for connection in await accounts.connections.list(user.id)] == ["laptop"]


async def test_tools_are_switched_off_and_on(accounts: AccountServices, user: User) -> None:
    connection = await key(accounts, user)
    off = await accounts.connections.set_disabled_tools(user.id, connection.id, ["b_tool", "a_tool", "b_tool"])
    assert off.disabled_tools == {"a_tool", "b_tool"}
    assert (await accounts.connections.get(user.id, connection.id)).disabled_tools == {"a_tool", "b_tool"}
    assert (await accounts.connections.set_disabled_tools(user.id, connection.id, [])).disabled_tools == frozenset()


@pytest.mark.parametrize("names", [["no spaces"], ["x" * 65], [""], [f"tool_{number}" for number in range(1001)]])
async def test_invalid_tool_names_are_refused(accounts: AccountServices, user: User, names: list[str]) -> None:
    connection = await key(accounts, user)
    with pytest.raises(InvalidInput, match="tools"):
        await accounts.connections.set_disabled_tools(user.id, connection.id, names)
    assert (await accounts.connections.get(user.id, connection.id)).disabled_tools == frozenset()


async def test_a_revoked_connection_remains_on_record(accounts: AccountServices, user: User) -> None:
    old, live = await key(accounts, user, "old"), await key(accounts, user, "kept")
    await accounts.connections.revoke(user.id, old.id)
    first = (await accounts.connections.get(user.id, old.id)).revoked_at
    await accounts.connections.revoke(user.id, old.id)
    assert (await accounts.connections.get(user.id, old.id)).revoked_at == first is not None
    assert [connection.id for connection in await accounts.connections.list(user.id)] == [live.id]
    assert [connection.id for connection in await accounts.connections.list(user.id, revoked=True)] == [live.id, old.id]
    with pytest.raises(NotFound, match="revoked"):
        await accounts.connections.rename(user.id, old.id, "new")


async def test_revoking_a_connection_revokes_the_clients_tokens(
    accounts: AccountServices, database: SqlDatabase, user: User
) -> None:
    connection = await approve(accounts, database, user, "client-1", ["https://a.example/back"])
    await accounts.connections.revoke(user.id, connection)
    async with database.reading() as session:
        family = await session.scalar(select(TokenFamilyRow))
    assert family is not None
    assert family.revoked_at is not None


@pytest.mark.parametrize("id_", ["", "c_unknown", "x" * 5000, "c_\0", "c_ä'--"])
async def test_an_unknown_id_is_not_found(accounts: AccountServices, user: User, id_: str) -> None:
    with pytest.raises(NotFound):
        await accounts.connections.get(user.id, id_)
    with pytest.raises(NotFound):
        await accounts.connections.revoke(user.id, id_)


async def test_connections_of_another_account_are_not_found(accounts: AccountServices, user: User, other: User) -> None:
    connection = await key(accounts, user)
    connections = accounts.connections
    for attempt in (
        connections.get(other.id, connection.id),
        connections.rename(other.id, connection.id, "mine"),
        connections.set_disabled_tools(other.id, connection.id, ["a_tool"]),
        connections.revoke(other.id, connection.id),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert await connections.get(user.id, connection.id) == connection


class TestBound:
    @pytest.fixture
    def accounts(self, database: SqlDatabase, database_settings: Settings) -> AccountServices:
        few = AccountsSettings(connections=3)
        return AccountServices(database_settings.model_copy(update={"accounts": few}), database)

    async def test_concurrent_creations_stay_within_the_bound(self, accounts: AccountServices, user: User) -> None:
        async def make(number: int) -> Connection | PressroomError:
            try:
                return await key(accounts, user, f"key {number}")
            except PressroomError as error:
                return error

        results = await asyncio.gather(*(make(number) for number in range(20)))
        assert sum(isinstance(result, Connection) for result in results) == 3
        assert {str(result) for result in results if isinstance(result, Exception)} == {
            "this account has 3 connections, the maximum; revoke one that is not used"
        }
        total, _, _ = await accounts.connections.page(user.id, 1, 2)
        assert len(await accounts.connections.list(user.id)) == total == 3

    async def test_revoking_a_connection_frees_a_slot(self, accounts: AccountServices, user: User, other: User) -> None:
        connections = [await key(accounts, user, f"key {number}") for number in range(3)]
        await key(accounts, other)
        with pytest.raises(InvalidInput):
            await key(accounts, user)
        await accounts.connections.revoke(user.id, connections[0].id)
        assert (await key(accounts, user, "again")).name == "again"


class TestLastUse:
    async def test_the_last_use_is_shown_before_it_is_written(self, accounts: AccountServices, user: User) -> None:
        connection = await key(accounts, user)
        assert (connection.last_used_at, connection.last_used_address) == (None, "")
        accounts.credentials.note_use(connection.id, "203.0.113.7")
        current = await accounts.connections.get(user.id, connection.id)
        assert current.last_used_address == "203.0.113.7"
        assert current.last_used_at is not None

    async def test_other_processes_see_the_last_use_once_written(
        self, accounts: AccountServices, database: SqlDatabase, database_settings: Settings, user: User
    ) -> None:
        other_services = AccountServices(database_settings, database)
        connection = await key(accounts, user)
        accounts.credentials.note_use(connection.id, "203.0.113.7")
        assert (await other_services.connections.get(user.id, connection.id)).last_used_at is None
        await accounts.connections.flush()
        assert (await other_services.connections.get(user.id, connection.id)).last_used_address == "203.0.113.7"

    async def test_closing_writes_the_last_use(
        self, accounts: AccountServices, database: SqlDatabase, database_settings: Settings, user: User
    ) -> None:
        connection = await key(accounts, user)
        await accounts.open()
        accounts.credentials.note_use(connection.id, "203.0.113.7")
        await accounts.close()
        other_services = AccountServices(database_settings, database)
        assert (await other_services.connections.get(user.id, connection.id)).last_used_address == "203.0.113.7"

    async def test_an_older_use_does_not_replace_a_newer_one(
        self, accounts: AccountServices, database: SqlDatabase, database_settings: Settings, user: User
    ) -> None:
        other_services = AccountServices(database_settings, database)
        connection = await key(accounts, user)
        accounts.credentials.note_use(connection.id, "203.0.113.1")
        other_services.credentials.note_use(connection.id, "203.0.113.2")
        await other_services.connections.flush()
        await accounts.connections.flush()
        assert (await accounts.connections.get(user.id, connection.id)).last_used_address == "203.0.113.2"

    async def test_many_uses_are_combined_into_one_write(
        self, accounts: AccountServices, database: SqlDatabase, user: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        connections = [await key(accounts, user, f"key {number}") for number in range(3)]
        writes = 0
        writing = database.writing

        def counted() -> Any:
            nonlocal writes
            writes += 1
            return writing()

        monkeypatch.setattr(database, "writing", counted)
        for _ in range(1000):
            for connection in connections:
                accounts.credentials.note_use(connection.id, "203.0.113.7")
        await accounts.connections.flush()
        await accounts.connections.flush()
        assert writes == 1

    async def test_an_outage_loses_nothing(self, accounts: AccountServices, database: SqlDatabase, user: User) -> None:
        connection = await key(accounts, user)
        accounts.credentials.note_use(connection.id, "203.0.113.7")
        await database.close()
        with pytest.raises(PressroomError):
            await accounts.connections.flush()
        await database.open()
        await accounts.connections.flush()
        assert (await accounts.connections.get(user.id, connection.id)).last_used_address == "203.0.113.7"
