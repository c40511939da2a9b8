"""Approving a client: connections, their names and their access."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pressroom.accounts.records import AccessChoice
from pressroom.errors import InvalidClient, InvalidGrant, InvalidInput
from pressroom.oauth.records import Client
from pressroom.storage.database.tables import CodeRow, ConnectionRow, TokenFamilyRow
from support.oauth_world import World


async def test_approving_again_keeps_the_connections_name_and_disabled_tools(world: World) -> None:
    user, client = await world.user(), await world.client()
    await world.connect(user, client)
    [connection] = await world.accounts.connections.list(user)
    await world.accounts.connections.rename(user, connection.id, "Renamed")
    await world.accounts.connections.set_disabled_tools(user, connection.id, ["generate_qr_code"])
    tokens = await world.connect(user, client)
    identity = await world.identity(tokens.access_token)
    assert identity is not None
    assert (identity.connection, identity.connection_name) == (connection.id, "Renamed")
    assert identity.disabled_tools == {"generate_qr_code"}


async def test_concurrent_approvals_share_a_connection(world: World) -> None:
    user, client = await world.user(), await world.client()
    await asyncio.gather(*(world.approve(user, client) for _ in range(6)))
    assert len(await world.accounts.connections.list(user)) == 1
    assert await world.count(TokenFamilyRow, CodeRow) == [6, 6]


async def test_approving_after_a_revocation_creates_a_new_connection(world: World) -> None:
    user, client = await world.user(), await world.client()
    await world.connect(user, client)
    [before] = await world.accounts.connections.list(user)
    await world.accounts.connections.revoke(user, before.id)
    await world.connect(user, client)
    [after] = await world.accounts.connections.list(user)
    assert after.id != before.id


async def test_two_accounts_have_separate_connections(world: World) -> None:
    client, ada, bob = await world.client(), await world.user(), await world.user()
    hers, his = await world.connect(ada, client), await world.connect(bob, client)
    await world.server.revoke(client, hers.access_token)
    identity = await world.identity(his.access_token)
    assert identity is not None
    assert identity.subject == bob


async def test_a_client_without_a_name_is_named_after_its_redirect_host(world: World) -> None:
    user = await world.user()
    await world.connect(user, await world.client(client_name="", redirect_uris=["https://app.example/callback"]))
    [connection] = await world.accounts.connections.list(user)
    assert (connection.name, connection.redirect_hosts) == ("app.example", ("app.example",))


async def test_an_account_with_the_maximum_number_of_connections_learns_so(world: World) -> None:
    user = await world.user()
    async with world.database.writing() as session:
        for number in range(world.settings.accounts.connections):
            await world.accounts.connections.add(session, user, "api_key", f"Key {number}")
    with pytest.raises(InvalidInput, match="revoke one"):
        await world.approve(user, await world.client())
    assert await world.count(CodeRow, TokenFamilyRow) == [0, 0]


async def test_a_removed_client_cannot_be_approved(world: World) -> None:
    client = await world.client()
    await world.server.clients.revoke(client.id)
    with pytest.raises(InvalidClient):
        await world.approve(await world.user(), client)


async def editor(world: World, port: int, **metadata: Any) -> Client:
    """Register a program that registers again on another port each time it starts, and return the client."""
    default = {"client_name": "My editor", "redirect_uris": [f"http://127.0.0.1:{port}/callback"]}
    return await world.client(**{**default, **metadata})


async def test_a_client_that_registers_again_replaces_its_unused_connection(world: World) -> None:
    user = await world.user()
    first = await editor(world, 1001)
    never_fetched = await world.approve(user, first)
    await world.approve(user, await world.client(client_name="Another program"))
    second = await world.connect(user, await editor(world, 1002))
    assert await connected(world, user) == ["Another program", "My editor"]
    third = await world.connect(user, await editor(world, 1003))
    assert await connected(world, user) == ["Another program", "My editor"]
    assert not await world.is_valid(second.access_token)
    assert await world.is_valid(third.access_token)
    with pytest.raises(InvalidGrant):
        await world.server.exchange_code(first, never_fetched, [])


async def test_a_used_connection_is_never_replaced(world: World) -> None:
    user = await world.user()
    used = await world.connect(user, await editor(world, 1001))
    assert await world.is_valid(used.access_token)  # less than the write interval ago, so this use is not stored yet
    tokens = await world.connect(user, await editor(world, 1002))
    assert await connected(world, user) == ["My editor", "My editor"]
    assert await world.is_valid(used.access_token)
    assert await world.is_valid(tokens.access_token)


async def test_a_refreshed_connection_is_never_replaced(world: World) -> None:
    user, client = await world.user(), await editor(world, 1001)
    tokens = await world.connect(user, client)
    await world.server.refresh(client, tokens.refresh_token, "", [])
    await world.connect(user, await editor(world, 1002))
    assert await connected(world, user) == ["My editor", "My editor"]


@pytest.mark.parametrize(
    "metadata",
    [
        {"client_name": "My other editor"},
        {"redirect_uris": ["http://127.0.0.1:1002/elsewhere"]},
        {"redirect_uris": ["http://localhost:1002/callback"]},
        {"redirect_uris": ["http://127.0.0.1:1002/callback", "https://editor.example/callback"]},
        {"redirect_uris": ["https://127.0.0.1:1002/callback"]},
    ],
)
async def test_a_client_with_another_name_or_redirect_uri_replaces_nothing(
    world: World, metadata: dict[str, Any]
) -> None:
    user = await world.user()
    unused = await world.connect(user, await editor(world, 1001))
    await world.connect(user, await editor(world, 1002, **metadata))
    assert len(await connected(world, user)) == 2
    assert await world.is_valid(unused.access_token)


async def test_a_connection_of_another_account_is_not_replaced(world: World) -> None:
    ada, bob = await world.user(), await world.user()
    hers = await world.connect(ada, await editor(world, 1001))
    await world.connect(bob, await editor(world, 1002))
    assert await world.is_valid(hers.access_token)


async def test_a_client_that_moved_replaces_a_connection_that_never_fetched_a_token(world: World) -> None:
    user = await world.user()
    waiting = await editor(world, 1001, redirect_uris=["http://127.0.0.1:1001/other"])
    code = await world.approve(user, waiting)
    await world.connect(user, await editor(world, 1002))
    assert await connected(world, user) == ["My editor", "My editor"]
    world.clock.advance(seconds=61)  # a code is valid for a minute
    await world.connect(user, await editor(world, 1003, redirect_uris=["http://127.0.0.1:1003/third"]))
    assert await connected(world, user) == ["My editor", "My editor"]
    with pytest.raises(InvalidGrant):
        await world.server.exchange_code(waiting, code, [])


async def test_the_chosen_access_is_the_connections_access(world: World) -> None:
    user, client = await world.user(), await world.client()
    assert await world.server.grants.choice(user, client.id) is None
    choice = AccessChoice("publish", frozenset({"core", "seo"}))
    identity = await world.identity((await world.connect(user, client, choice)).access_token)
    assert identity is not None
    assert AccessChoice(identity.access, identity.toolsets) == choice
    assert await world.server.grants.choice(user, client.id) == choice


async def test_the_default_access_does_not_allow_publishing(world: World) -> None:
    user, client = await world.user(), await world.client()
    identity = await world.identity((await world.connect(user, client)).access_token)
    assert identity is not None
    assert (identity.access, identity.toolsets) == ("drafts", None)


async def test_approving_again_changes_the_access_of_existing_tokens(world: World) -> None:
    user, client = await world.user(), await world.client()
    tokens = await world.connect(user, client, AccessChoice("full"))
    assert (await world.identity(tokens.access_token)).access == "full"  # type: ignore[union-attr]
    await world.connect(user, client, AccessChoice("read"))
    assert (await world.identity(tokens.access_token)).access == "read"  # type: ignore[union-attr]
    await world.connect(user, client)
    assert await world.server.grants.choice(user, client.id) == AccessChoice("read")


async def test_an_invalid_choice_stores_nothing(world: World) -> None:
    user, client = await world.user(), await world.client()
    with pytest.raises(InvalidInput, match="toolsets"):
        await world.approve(user, client, AccessChoice("read", frozenset({"all"})))
    assert await world.count(ConnectionRow, TokenFamilyRow, CodeRow) == [0, 0, 0]


async def connected(world: World, user: str) -> list[str]:
    return sorted(connection.name for connection in await world.accounts.connections.list(user))
