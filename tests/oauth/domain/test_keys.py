"""Signing keys on both databases: encrypted, shared, and rotated in time."""

from __future__ import annotations

import asyncio
import hmac

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pressroom.errors import BackendError
from pressroom.oauth.access_tokens import encryption_key
from pressroom.oauth.service import AuthorizationServer
from pressroom.storage.database.tables import SigningKeyRow
from sqlalchemy import select
from structlog.testing import capture_logs
from support.oauth_world import SECRET, MakeWorld, World

DAYS = 90


async def kids(server: AuthorizationServer) -> list[str]:
    return [str(key["kid"]) for key in await server.keys.public()]


async def test_only_public_key_members_are_published(world: World) -> None:
    [key] = await world.server.keys.public()
    assert key.keys() == {"kty", "crv", "x", "y", "kid", "use", "alg"}
    assert (key["kty"], key["crv"], key["alg"], key["use"]) == ("EC", "P-256", "ES256", "sig")


async def test_private_keys_are_stored_encrypted(world: World) -> None:
    key = await world.server.keys.current()
    async with world.database.reading() as session:
        row = await session.scalar(select(SigningKeyRow))
    assert row is not None
    assert row.private_key.count(".") == 4
    assert str(key.as_dict(private=True)["d"]) not in row.private_key


def test_the_encryption_key_is_derived_from_the_secret_with_hkdf() -> None:
    expected = HKDF(SHA256(), 32, salt=None, info=b"pressroom oauth signing keys").derive(SECRET)
    assert hmac.compare_digest(encryption_key(SECRET).raw_value, expected)


async def test_servers_with_a_shared_database_share_their_key(make_world: MakeWorld) -> None:
    worlds = [make_world() for _ in range(5)]
    await asyncio.gather(*(world.server.keys.current() for world in worlds))
    assert len({tuple(await kids(world.server)) for world in worlds}) == 1
    assert len(await kids(worlds[0].server)) == 1


async def test_a_key_is_rotated_on_time_and_published_while_it_is_needed(world: World) -> None:
    client = await world.client()
    tokens = await world.connect(await world.user(), client)
    [first] = await kids(world.server)
    world.clock.advance(days=DAYS, seconds=-1)
    late_tokens = await world.server.refresh(
        client, (await world.connect(await world.user(), client)).refresh_token, "", []
    )
    assert await kids(world.server) == [first]
    world.clock.advance(seconds=1)
    second, *remaining = await kids(world.server)
    assert second != first
    assert remaining == [first]
    assert await world.is_valid(late_tokens.access_token)
    assert not await world.is_valid(tokens.access_token)
    world.clock.advance(days=1, hours=1, seconds=1)
    await world.server.prune()
    assert await kids(world.server) == [second]


async def test_a_key_is_kept_until_its_last_token_expires_after_the_lifetime_is_shortened(
    make_world: MakeWorld,
) -> None:
    before = make_world()
    user, client = await before.user(), await before.client()
    [first] = await kids(before.server)
    before.clock.advance(days=DAYS - 1)
    tokens = await before.connect(user, client)
    after = make_world(key_lifetime=30 * 86_400)
    await after.server.prune()
    assert await after.is_valid(tokens.access_token)
    second, *remaining = await kids(after.server)
    assert remaining == [first]
    await after.server.prune()
    assert await after.is_valid(tokens.access_token)
    after.clock.advance(days=1, hours=1, seconds=1)
    await after.server.prune()
    assert await kids(after.server) == [second]


async def test_keys_encrypted_with_another_secret_are_eventually_deleted(make_world: MakeWorld) -> None:
    before, after = make_world(), make_world(b"another secret key, long enough")
    await before.server.keys.current()
    before.clock.advance(days=DAYS + 1, hours=1, seconds=1)
    [kid] = await kids(after.server)
    await after.server.prune()
    async with after.database.reading() as session:
        assert list(await session.scalars(select(SigningKeyRow.kid))) == [kid]


async def test_another_server_picks_up_a_new_key(make_world: MakeWorld) -> None:
    first, other = make_world(), make_world()
    await first.server.keys.current()
    assert await kids(first.server) == await kids(other.server)
    first.clock.advance(days=DAYS)
    tokens = await first.connect(await first.user(), await first.client())
    other.server.keys._loaded_at -= 60  # as if it had loaded the keys a minute ago
    assert await other.is_valid(tokens.access_token)
    assert await kids(other.server) == await kids(first.server)


async def test_a_changed_secret_key_creates_a_new_signing_key_and_a_warning(make_world: MakeWorld) -> None:
    before = make_world()
    client = await before.client()
    tokens = await before.connect(await before.user(), client)
    with capture_logs() as logs:
        after = make_world(b"another secret key, long enough")
        await after.server.keys.current()
        await after.server.keys.current()
    assert [entry["log_level"] for entry in logs] == ["warning", "info"]
    assert "secret_key" in logs[0]["event"]
    assert await kids(after.server) != await kids(before.server)
    assert not await after.is_valid(tokens.access_token)
    new_tokens = await after.server.refresh(client, tokens.refresh_token, "", [])
    assert await after.is_valid(new_tokens.access_token)


async def test_a_damaged_key_is_skipped(make_world: MakeWorld) -> None:
    await make_world().server.keys.current()
    for damaged in ("", "a.b.c.d.e", "nonsense"):
        async with make_world().database.writing() as session:
            rows = (await session.scalars(select(SigningKeyRow))).all()
            for row in rows:
                row.private_key = damaged
        assert len(await kids(make_world().server)) == 1


@pytest.mark.parametrize("kid", ["", "unknown", "x" * 5000])
async def test_an_unknown_key_is_not_found(world: World, kid: str) -> None:
    await world.server.keys.current()
    assert await world.server.keys.find(kid) is None


async def test_a_code_is_not_used_up_if_no_token_can_be_issued(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, restarted = make_world(), make_world()
    user, client = await before.user(), await before.client()
    tokens = await before.connect(user, client)
    exchange = await before.approve(user, client)

    async def outage() -> None:
        raise BackendError("the database does not respond")

    with monkeypatch.context() as patched:
        patched.setattr(restarted.server.keys, "_replace", outage)
        with pytest.raises(BackendError):
            await restarted.server.exchange_code(client, exchange, [])
        with pytest.raises(BackendError):
            await restarted.server.refresh(client, tokens.refresh_token, "", [])
    assert await restarted.is_valid((await restarted.server.exchange_code(client, exchange, [])).access_token)
    new_tokens = await restarted.server.refresh(client, tokens.refresh_token, "", [])
    assert await restarted.is_valid(new_tokens.access_token)
