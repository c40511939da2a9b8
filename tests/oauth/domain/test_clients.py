"""Clients on both databases: registration, secrets, pruning, the operator's commands."""

from __future__ import annotations

import asyncio

import pytest
from pressroom.errors import InvalidClient, NotFound, Rejected
from pressroom.oauth.metadata import check_metadata
from pressroom.sdk import Credentials
from pressroom.storage.database.tables import ClientRow
from sqlalchemy import select
from support.oauth_world import World

PUBLIC = {"client_name": "An editor", "redirect_uris": ["cursor://a", "http://127.0.0.1/b"]}
PUBLIC_METADATA = check_metadata({**PUBLIC, "token_endpoint_auth_method": "none"})
SECRET_METADATA = check_metadata(PUBLIC)
UNUSED_DAYS = 30


async def test_registering_the_same_public_metadata_returns_the_same_client(world: World) -> None:
    first = await world.server.clients.register(PUBLIC_METADATA, "192.0.2.1")
    second = await world.server.clients.register(PUBLIC_METADATA, "192.0.2.2")
    turned = check_metadata(
        {**PUBLIC, "redirect_uris": PUBLIC["redirect_uris"][::-1], "token_endpoint_auth_method": "none"}
    )
    other_order = await world.server.clients.register(turned, "192.0.2.3")
    assert (first.is_new, second.is_new, other_order.is_new) == (True, False, False)
    assert first.client.id == second.client.id == other_order.client.id
    other_name = await world.server.clients.register(
        check_metadata({**PUBLIC, "client_name": "Another", "token_endpoint_auth_method": "none"}), ""
    )
    assert other_name.client.id != first.client.id


async def test_concurrent_registrations_create_one_client(world: World) -> None:
    registrations = await asyncio.gather(*(world.server.clients.register(PUBLIC_METADATA, "") for _ in range(8)))
    assert len({registration.client.id for registration in registrations}) == 1
    assert [registration.is_new for registration in registrations].count(True) == 1


async def test_each_client_with_a_secret_is_separate(world: World) -> None:
    first = await world.server.clients.register(SECRET_METADATA, "")
    other = await world.server.clients.register(SECRET_METADATA, "")
    assert first.client.id != other.client.id
    assert first.secret != other.secret
    async with world.database.reading() as session:
        rows = (await session.scalars(select(ClientRow))).all()
    assert all(row.secret_hash not in (None, first.secret.encode(), other.secret.encode()) for row in rows)


async def test_a_client_is_authenticated(world: World) -> None:
    clients = world.server.clients
    secretive, public = await clients.register(SECRET_METADATA, ""), await clients.register(PUBLIC_METADATA, "")
    assert (await clients.authenticate(secretive.client.id, secretive.secret)).id == secretive.client.id
    assert (await clients.authenticate(public.client.id, "")).id == public.client.id
    for client_id, secret in (
        (secretive.client.id, ""),
        (secretive.client.id, "wrong"),
        (secretive.client.id, secretive.secret + "\ud800"),
        (public.client.id, "anything"),
        ("client_nobody", ""),
        ("", ""),
        ("\x00", ""),
        ("ä" * 10, ""),
        ("x" * 10_000, ""),
    ):
        with pytest.raises(InvalidClient):
            await clients.authenticate(client_id, secret)


async def test_unapproved_clients_are_pruned(world: World) -> None:
    clients = world.server.clients
    approved, renewed, forgotten = [await world.client() for _ in range(3)]
    await world.approve(await world.user(), approved)
    world.clock.advance(days=UNUSED_DAYS - 1)
    await clients.register(renewed.metadata, "")
    world.clock.advance(days=1, seconds=1)
    assert await clients.prune() == 1
    assert await clients.find(approved.id) is not None
    assert await clients.find(renewed.id) is not None
    assert await clients.find(forgotten.id) is None


async def test_an_approved_client_is_never_pruned(world: World) -> None:
    client = await world.client()
    await world.connect(await world.user(), client)
    world.clock.advance(days=1000)
    await world.server.prune()
    assert await world.server.clients.find(client.id) is not None


async def test_clients_can_be_listed_and_removed(world: World) -> None:
    used, unused = await world.client(client_name="Used"), await world.client(client_name="Unused")
    users = [await world.user() for _ in range(2)]
    tokens = [await world.connect(user, used) for user in users]
    await world.connect(users[0], used)
    listed = {client.id: client for client in await world.server.clients.list()}
    assert (listed[used.id].name, listed[used.id].connections) == ("Used", 2)
    assert (listed[unused.id].connections, listed[unused.id].last_approved_at) == (0, None)
    assert await world.server.clients.revoke(used.id) == 2
    assert await world.server.clients.find(used.id) is None
    for token_set in tokens:
        with pytest.raises(Rejected):
            await world.server.authenticate(Credentials(bearer=token_set.access_token, client_ip="", headers={}))
    [connection] = await world.accounts.connections.list(users[0], revoked=True)
    assert connection.revoked_at is not None
    with pytest.raises(NotFound):
        await world.server.clients.revoke(used.id)
