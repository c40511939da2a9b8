"""Authorisation codes and refresh tokens on both databases: single use, rotation, reuse, revocation."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from pressroom.accounts.records import AccessChoice
from pressroom.errors import InvalidClient, InvalidGrant, InvalidInput, InvalidTarget, Rejected, UnauthorizedClient
from pressroom.oauth.records import Client, EndpointUrls, TokenSet
from pressroom.sdk import Credentials, Identity
from pressroom.storage.database.tables import CodeRow, ConnectionRow, RefreshTokenRow, TokenFamilyRow
from sqlalchemy import func, select
from support.oauth_world import MakeWorld, World

REFRESH_DAYS = 30


async def whose(world: World, token: str) -> Identity | None:
    return await world.server.authenticate(Credentials(bearer=token, client_ip="192.0.2.1", headers={}))


async def is_valid(world: World, token: str) -> bool:
    try:
        return await whose(world, token) is not None
    except Rejected:
        return False


async def count(world: World, *tables: type[CodeRow | RefreshTokenRow | TokenFamilyRow | ConnectionRow]) -> list[int]:
    async with world.database.reading() as session:
        return [await session.scalar(select(func.count()).select_from(table)) or 0 for table in tables]


def won(results: Iterable[TokenSet | BaseException]) -> list[TokenSet]:
    """Return the successful responses; all others must be `InvalidGrant`."""
    results = list(results)
    assert all(isinstance(result, TokenSet | InvalidGrant) for result in results), results
    return [result for result in results if isinstance(result, TokenSet)]


async def test_exchanged_tokens_act_for_the_approving_account(world: World) -> None:
    user, client = await world.user(), await world.client(client_name="My editor")
    tokens = await world.connect(user, client)
    identity = await whose(world, tokens.access_token)
    assert identity is not None
    assert (identity.subject, identity.plan, identity.connection_name) == (user, "free", "My editor")
    assert (tokens.expires_in, tokens.scope) == (3600, "mcp")


async def test_other_bearer_tokens_are_ignored(world: World) -> None:
    assert await whose(world, "prk_key_something") is None
    assert await whose(world, "") is None
    tokens = await world.connect(await world.user(), await world.client())
    assert await whose(world, tokens.refresh_token) is None


async def test_of_many_concurrent_exchanges_of_one_code_one_succeeds(world: World) -> None:
    user, client = await world.user(), await world.client()
    request = await world.approve(user, client)
    exchanges = (world.server.exchange_code(client, request, []) for _ in range(10))
    assert len(won(await asyncio.gather(*exchanges, return_exceptions=True))) == 1
    assert await count(world, RefreshTokenRow) == [1]


async def test_reusing_a_code_revokes_its_tokens(world: World) -> None:
    user, client = await world.user(), await world.client()
    request = await world.approve(user, client)
    tokens = await world.server.exchange_code(client, request, [])
    with pytest.raises(InvalidGrant, match="used before"):
        await world.server.exchange_code(client, request, [])
    assert not await is_valid(world, tokens.access_token)
    with pytest.raises(InvalidGrant, match="revoked"):
        await world.server.refresh(client, tokens.refresh_token, "", [])


async def test_a_used_code_sent_by_another_client_revokes_nothing(world: World) -> None:
    user, client, other = await world.user(), await world.client(), await world.client()
    request = await world.approve(user, client)
    tokens = await world.server.exchange_code(client, request, [])
    with pytest.raises(InvalidGrant):
        await world.server.exchange_code(other, request, [])
    assert await is_valid(world, tokens.access_token)


async def test_an_invalid_request_does_not_use_up_the_code(world: World) -> None:
    user, client = await world.user(), await world.client()
    request = await world.approve(user, client)
    for wrong in (
        replace(request, code_verifier="x" * 43),
        replace(request, code_verifier="short"),
        replace(request, redirect_uri="http://127.0.0.1:9/callback"),
        replace(request, redirect_uri=""),
        replace(request, code="nobody's"),
    ):
        with pytest.raises(InvalidGrant):
            await world.server.exchange_code(client, wrong, [])
    with pytest.raises(InvalidTarget):
        await world.server.exchange_code(client, request, ["https://other.example/"])
    assert (await world.server.exchange_code(client, request, [])).access_token


@pytest.mark.parametrize("base_url", ["https://press.example", "https://bücher.example"])
@pytest.mark.parametrize("resource", ["nonsense", "https://other.example/ä", "https://[", "https://a@press.example"])
def test_a_malformed_resource_is_refused_on_any_server(base_url: str, resource: str) -> None:
    with pytest.raises(InvalidTarget):
        EndpointUrls(base_url).audience([resource])


@pytest.mark.parametrize(("seconds", "valid"), [(59, True), (60, False)])
async def test_a_code_is_valid_for_a_minute(world: World, seconds: int, valid: bool) -> None:
    user, client = await world.user(), await world.client()
    request = await world.approve(user, client)
    world.clock.advance(seconds=seconds)
    results = await asyncio.gather(world.server.exchange_code(client, request, []), return_exceptions=True)
    assert bool(won(results)) is valid


async def test_a_refresh_token_is_rotated(world: World) -> None:
    client = await world.client()
    first = await world.connect(await world.user(), client)
    second = await world.server.refresh(client, first.refresh_token, "", [])
    third = await world.server.refresh(client, second.refresh_token, "mcp", [world.server.addresses.resource])
    assert len({first.refresh_token, second.refresh_token, third.refresh_token}) == 3
    assert all([await is_valid(world, tokens.access_token) for tokens in (first, second, third)])


async def test_without_a_grace_period_concurrent_refreshes_revoke_the_family(world: World) -> None:
    client = await world.client()
    tokens = await world.connect(await world.user(), client)
    refreshes = (world.server.refresh(client, tokens.refresh_token, "", []) for _ in range(10))
    winners = won(await asyncio.gather(*refreshes, return_exceptions=True))
    assert len(winners) == 1
    assert not await is_valid(world, winners[0].access_token)
    assert not await is_valid(world, tokens.access_token)


async def test_within_the_grace_period_a_refresh_token_can_be_reused(make_world: MakeWorld) -> None:
    world = make_world(refresh_grace=30.0)
    client = await world.client()
    tokens = await world.connect(await world.user(), client)
    refreshes = (world.server.refresh(client, tokens.refresh_token, "", []) for _ in range(10))
    token_sets = won(await asyncio.gather(*refreshes, return_exceptions=True))
    assert len({token_set.refresh_token for token_set in token_sets}) == 10
    world.clock.advance(seconds=30)
    late_tokens = await world.server.refresh(client, tokens.refresh_token, "", [])
    assert all([await is_valid(world, token_set.access_token) for token_set in (*token_sets, late_tokens)])


async def test_reuse_after_the_grace_period_revokes_the_family(make_world: MakeWorld) -> None:
    world = make_world(refresh_grace=30.0)
    client = await world.client()
    first = await world.connect(await world.user(), client)
    second = await world.server.refresh(client, first.refresh_token, "", [])
    world.clock.advance(seconds=20)
    await world.server.refresh(client, first.refresh_token, "", [])
    world.clock.advance(seconds=11)
    with pytest.raises(InvalidGrant, match="used before"):
        await world.server.refresh(client, first.refresh_token, "", [])
    assert not await is_valid(world, second.access_token)


async def test_the_grace_period_is_for_the_same_client_only(make_world: MakeWorld) -> None:
    world = make_world(refresh_grace=30.0)
    client, other = await world.client(), await world.client()
    tokens = await world.connect(await world.user(), client)
    await world.server.refresh(client, tokens.refresh_token, "", [])
    with pytest.raises(InvalidGrant, match="another client"):
        await world.server.refresh(other, tokens.refresh_token, "", [])


@pytest.mark.parametrize(("seconds", "valid"), [(-1, True), (0, False)])
async def test_a_refresh_token_is_valid_for_thirty_days(world: World, seconds: int, valid: bool) -> None:
    client = await world.client()
    tokens = await world.connect(await world.user(), client)
    world.clock.advance(days=REFRESH_DAYS, seconds=seconds)
    results = await asyncio.gather(world.server.refresh(client, tokens.refresh_token, "", []), return_exceptions=True)
    assert bool(won(results)) is valid


@pytest.mark.parametrize(("seconds", "valid"), [(3599, True), (3604, True), (3605, False)])
async def test_an_access_token_is_valid_for_an_hour_plus_leeway(world: World, seconds: int, valid: bool) -> None:
    tokens = await world.connect(await world.user(), await world.client())
    world.clock.advance(seconds=seconds)
    assert await is_valid(world, tokens.access_token) is valid


async def test_a_client_without_the_grant_type_cannot_refresh(world: World) -> None:
    client = await world.client(grant_types=["authorization_code"])
    tokens = await world.connect(await world.user(), client)
    assert tokens.refresh_token == ""
    with pytest.raises(UnauthorizedClient):
        await world.server.refresh(client, "prk_ort_anything", "", [])


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
async def test_revoking_either_token_revokes_the_family(world: World, kind: str) -> None:
    client = await world.client()
    tokens = await world.connect(await world.user(), client)
    await world.server.revoke(client, getattr(tokens, kind))
    assert not await is_valid(world, tokens.access_token)
    with pytest.raises(InvalidGrant):
        await world.server.refresh(client, tokens.refresh_token, "", [])


async def test_an_expired_access_token_can_be_revoked(world: World) -> None:
    client = await world.client()
    tokens = await world.connect(await world.user(), client)
    world.clock.advance(days=1)
    await world.server.revoke(client, tokens.access_token)
    with pytest.raises(InvalidGrant):
        await world.server.refresh(client, tokens.refresh_token, "", [])


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
async def test_a_client_cannot_revoke_the_tokens_of_another(world: World, kind: str) -> None:
    client, other = await world.client(), await world.client()
    tokens = await world.connect(await world.user(), client)
    with pytest.raises(InvalidGrant):
        await world.server.revoke(other, getattr(tokens, kind))
    assert await is_valid(world, tokens.access_token)


async def test_revoking_a_connection_revokes_all_its_families(world: World) -> None:
    user, client = await world.user(), await world.client()
    first, second = await world.connect(user, client), await world.connect(user, client)
    [connection] = await world.accounts.connections.list(user)
    await world.accounts.connections.revoke(user, connection.id)
    for tokens in (first, second):
        assert not await is_valid(world, tokens.access_token)
        with pytest.raises(InvalidGrant):
            await world.server.refresh(client, tokens.refresh_token, "", [])


async def test_a_code_of_a_revoked_connection_is_refused(world: World) -> None:
    user, client = await world.user(), await world.client()
    request = await world.approve(user, client)
    [connection] = await world.accounts.connections.list(user)
    await world.accounts.connections.revoke(user, connection.id)
    with pytest.raises(InvalidGrant, match="revoked"):
        await world.server.exchange_code(client, request, [])


async def test_the_tokens_and_codes_of_a_disabled_account_are_refused(world: World) -> None:
    user, client = await world.user(), await world.client()
    tokens, request = await world.connect(user, client), await world.approve(user, client)
    await world.accounts.users.set_disabled(user, True)
    with pytest.raises(Rejected, match="disabled") as refused:
        await whose(world, tokens.access_token)
    assert refused.value.reauthorize
    with pytest.raises(InvalidGrant):
        await world.server.refresh(client, tokens.refresh_token, "", [])
    with pytest.raises(InvalidGrant):
        await world.server.exchange_code(client, request, [])


async def test_approving_again_keeps_the_connections_name_and_disabled_tools(world: World) -> None:
    user, client = await world.user(), await world.client()
    await world.connect(user, client)
    [connection] = await world.accounts.connections.list(user)
    await world.accounts.connections.rename(user, connection.id, "Renamed")
    await world.accounts.connections.set_disabled_tools(user, connection.id, ["generate_qr_code"])
    tokens = await world.connect(user, client)
    identity = await whose(world, tokens.access_token)
    assert identity is not None
    assert (identity.connection, identity.connection_name) == (connection.id, "Renamed")
    assert identity.disabled_tools == {"generate_qr_code"}


async def test_concurrent_approvals_share_a_connection(world: World) -> None:
    user, client = await world.user(), await world.client()
    await asyncio.gather(*(world.approve(user, client) for _ in range(6)))
    assert len(await world.accounts.connections.list(user)) == 1
    assert await count(world, TokenFamilyRow, CodeRow) == [6, 6]


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
    identity = await whose(world, his.access_token)
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
    assert await count(world, CodeRow, TokenFamilyRow) == [0, 0]


async def test_a_removed_client_cannot_be_approved(world: World) -> None:
    client = await world.client()
    await world.server.clients.revoke(client.id)
    with pytest.raises(InvalidClient):
        await world.approve(await world.user(), client)


async def test_expired_rows_are_pruned_and_connections_are_kept(world: World) -> None:
    user, client = await world.user(), await world.client()
    for _ in range(3):
        await world.connect(user, client)
        world.clock.advance(seconds=1)
    await world.server.prune()
    assert await count(world, CodeRow, RefreshTokenRow, TokenFamilyRow) == [3, 3, 3]
    world.clock.advance(days=2)
    await world.server.prune()
    assert await count(world, CodeRow, RefreshTokenRow, TokenFamilyRow) == [0, 3, 3]
    world.clock.advance(days=REFRESH_DAYS)
    await world.server.prune()
    assert await count(world, CodeRow, RefreshTokenRow, TokenFamilyRow) == [0, 0, 1]
    [connection] = await world.accounts.connections.list(user)
    assert connection.client_id == client.id


async def test_used_tokens_are_remembered_until_they_expire(world: World) -> None:
    client = await world.client()
    first = await world.connect(await world.user(), client)
    world.clock.advance(days=REFRESH_DAYS - 1)
    second = await world.server.refresh(client, first.refresh_token, "", [])
    await world.server.prune()
    with pytest.raises(InvalidGrant, match="used before"):
        await world.server.refresh(client, first.refresh_token, "", [])
    assert not await is_valid(world, second.access_token)


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
    assert not await is_valid(world, second.access_token)
    assert await is_valid(world, third.access_token)
    with pytest.raises(InvalidGrant):
        await world.server.exchange_code(first, never_fetched, [])


async def test_a_used_connection_is_never_replaced(world: World) -> None:
    user = await world.user()
    used = await world.connect(user, await editor(world, 1001))
    assert await is_valid(world, used.access_token)  # less than the write interval ago, so this use is not stored yet
    tokens = await world.connect(user, await editor(world, 1002))
    assert await connected(world, user) == ["My editor", "My editor"]
    assert await is_valid(world, used.access_token)
    assert await is_valid(world, tokens.access_token)


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
    assert await is_valid(world, unused.access_token)


async def test_a_connection_of_another_account_is_not_replaced(world: World) -> None:
    ada, bob = await world.user(), await world.user()
    hers = await world.connect(ada, await editor(world, 1001))
    await world.connect(bob, await editor(world, 1002))
    assert await is_valid(world, hers.access_token)


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
    identity = await whose(world, (await world.connect(user, client, choice)).access_token)
    assert identity is not None
    assert AccessChoice(identity.access, identity.toolsets) == choice
    assert await world.server.grants.choice(user, client.id) == choice


async def test_the_default_access_does_not_allow_publishing(world: World) -> None:
    user, client = await world.user(), await world.client()
    identity = await whose(world, (await world.connect(user, client)).access_token)
    assert identity is not None
    assert (identity.access, identity.toolsets) == ("drafts", None)


async def test_approving_again_changes_the_access_of_existing_tokens(world: World) -> None:
    user, client = await world.user(), await world.client()
    tokens = await world.connect(user, client, AccessChoice("full"))
    assert (await whose(world, tokens.access_token)).access == "full"  # type: ignore[union-attr]
    await world.connect(user, client, AccessChoice("read"))
    assert (await whose(world, tokens.access_token)).access == "read"  # type: ignore[union-attr]
    await world.connect(user, client)
    assert await world.server.grants.choice(user, client.id) == AccessChoice("read")


async def test_an_invalid_choice_stores_nothing(world: World) -> None:
    user, client = await world.user(), await world.client()
    with pytest.raises(InvalidInput, match="toolsets"):
        await world.approve(user, client, AccessChoice("read", frozenset({"all"})))
    assert await count(world, ConnectionRow, TokenFamilyRow, CodeRow) == [0, 0, 0]


async def connected(world: World, user: str) -> list[str]:
    return sorted(connection.name for connection in await world.accounts.connections.list(user))
