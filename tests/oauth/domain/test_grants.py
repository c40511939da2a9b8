"""Authorisation codes and refresh tokens on both databases: single use, rotation, reuse, revocation."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace

import pytest
from pressroom.errors import InvalidGrant, InvalidTarget, Rejected, UnauthorizedClient
from pressroom.oauth.records import EndpointUrls, TokenSet
from pressroom.storage.database.tables import CodeRow, RefreshTokenRow, TokenFamilyRow
from support.oauth_world import MakeWorld, World

REFRESH_DAYS = 30


def won(results: Iterable[TokenSet | BaseException]) -> list[TokenSet]:
    """Return the successful responses; all others must be `InvalidGrant`."""
    results = list(results)
    assert all(isinstance(result, TokenSet | InvalidGrant) for result in results), results
    return [result for result in results if isinstance(result, TokenSet)]


async def test_exchanged_tokens_act_for_the_approving_account(world: World) -> None:
    user, client = await world.user(), await world.client(client_name="My editor")
    tokens = await world.connect(user, client)
    identity = await world.identity(tokens.access_token)
    assert identity is not None
    assert (identity.subject, identity.plan, identity.connection_name) == (user, "free", "My editor")
    assert (tokens.expires_in, tokens.scope) == (3600, "mcp")


async def test_other_bearer_tokens_are_ignored(world: World) -> None:
    assert await world.identity("prk_key_something") is None
    assert await world.identity("") is None
    tokens = await world.connect(await world.user(), await world.client())
    assert await world.identity(tokens.refresh_token) is None


async def test_of_many_concurrent_exchanges_of_one_code_one_succeeds(world: World) -> None:
    user, client = await world.user(), await world.client()
    request = await world.approve(user, client)
    exchanges = (world.server.exchange_code(client, request, []) for _ in range(10))
    assert len(won(await asyncio.gather(*exchanges, return_exceptions=True))) == 1
    assert await world.count(RefreshTokenRow) == [1]


async def test_reusing_a_code_revokes_its_tokens(world: World) -> None:
    user, client = await world.user(), await world.client()
    request = await world.approve(user, client)
    tokens = await world.server.exchange_code(client, request, [])
    with pytest.raises(InvalidGrant, match="used before"):
        await world.server.exchange_code(client, request, [])
    assert not await world.is_valid(tokens.access_token)
    with pytest.raises(InvalidGrant, match="revoked"):
        await world.server.refresh(client, tokens.refresh_token, "", [])


async def test_a_used_code_sent_by_another_client_revokes_nothing(world: World) -> None:
    user, client, other = await world.user(), await world.client(), await world.client()
    request = await world.approve(user, client)
    tokens = await world.server.exchange_code(client, request, [])
    with pytest.raises(InvalidGrant):
        await world.server.exchange_code(other, request, [])
    assert await world.is_valid(tokens.access_token)


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
    third = await world.server.refresh(client, second.refresh_token, "mcp", [world.server.urls.resource])
    assert len({first.refresh_token, second.refresh_token, third.refresh_token}) == 3
    assert all([await world.is_valid(tokens.access_token) for tokens in (first, second, third)])


async def test_without_a_grace_period_concurrent_refreshes_revoke_the_family(world: World) -> None:
    client = await world.client()
    tokens = await world.connect(await world.user(), client)
    refreshes = (world.server.refresh(client, tokens.refresh_token, "", []) for _ in range(10))
    winners = won(await asyncio.gather(*refreshes, return_exceptions=True))
    assert len(winners) == 1
    assert not await world.is_valid(winners[0].access_token)
    assert not await world.is_valid(tokens.access_token)


async def test_within_the_grace_period_a_refresh_token_can_be_reused(make_world: MakeWorld) -> None:
    world = make_world(refresh_grace=30.0)
    client = await world.client()
    tokens = await world.connect(await world.user(), client)
    refreshes = (world.server.refresh(client, tokens.refresh_token, "", []) for _ in range(10))
    token_sets = won(await asyncio.gather(*refreshes, return_exceptions=True))
    assert len({token_set.refresh_token for token_set in token_sets}) == 10
    world.clock.advance(seconds=30)
    late_tokens = await world.server.refresh(client, tokens.refresh_token, "", [])
    assert all([await world.is_valid(token_set.access_token) for token_set in (*token_sets, late_tokens)])


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
    assert not await world.is_valid(second.access_token)


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
    assert await world.is_valid(tokens.access_token) is valid


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
    assert not await world.is_valid(tokens.access_token)
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
    assert await world.is_valid(tokens.access_token)


async def test_revoking_a_connection_revokes_all_its_families(world: World) -> None:
    user, client = await world.user(), await world.client()
    first, second = await world.connect(user, client), await world.connect(user, client)
    [connection] = await world.accounts.connections.list(user)
    await world.accounts.connections.revoke(user, connection.id)
    for tokens in (first, second):
        assert not await world.is_valid(tokens.access_token)
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
        await world.identity(tokens.access_token)
    assert refused.value.reauthorize
    with pytest.raises(InvalidGrant):
        await world.server.refresh(client, tokens.refresh_token, "", [])
    with pytest.raises(InvalidGrant):
        await world.server.exchange_code(client, request, [])


async def test_expired_rows_are_pruned_and_connections_are_kept(world: World) -> None:
    user, client = await world.user(), await world.client()
    for _ in range(3):
        await world.connect(user, client)
        world.clock.advance(seconds=1)
    await world.server.prune()
    assert await world.count(CodeRow, RefreshTokenRow, TokenFamilyRow) == [3, 3, 3]
    world.clock.advance(days=2)
    await world.server.prune()
    assert await world.count(CodeRow, RefreshTokenRow, TokenFamilyRow) == [0, 3, 3]
    world.clock.advance(days=REFRESH_DAYS)
    await world.server.prune()
    assert await world.count(CodeRow, RefreshTokenRow, TokenFamilyRow) == [0, 0, 1]
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
    assert not await world.is_valid(second.access_token)
