"""The Redis cache index."""

from __future__ import annotations

import orjson
import pytest
import structlog
from hypothesis import given, settings
from hypothesis import strategies as st
from pressroom.sdk import CacheEntry
from pressroom.storage.cache.redis import RedisCacheIndex, decode, encode
from pressroom.storage.redis import RedisConnection
from support.sizes import examples

ENTRY = CacheEntry("qr-code-generator/0123.png", "image/png", 1234, b'{"size":512}', ("Low contrast.",))


async def only_key(connection: RedisConnection) -> bytes:
    [key] = [key async for key in connection.client.scan_iter(f"{connection.prefix}:*", count=1000)]
    return bytes(key)


async def test_an_entry_expires_after_its_lifetime(connection: RedisConnection) -> None:
    cache = RedisCacheIndex(connection)
    await cache.put("id", ENTRY, seconds=75_600)
    key = await only_key(connection)
    assert 75_000_000 < await connection.client.pttl(key) <= 75_600_000
    await connection.client.pexpireat(key, 1)
    assert await cache.get("id") is None


async def test_hosts_share_their_entries(connection: RedisConnection) -> None:
    await RedisCacheIndex(connection).put("id", ENTRY, seconds=60)
    assert await RedisCacheIndex(connection).get("id") == ENTRY


def changed(**members: object) -> bytes:
    return orjson.dumps({**orjson.loads(encode(ENTRY)), **members})


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"{}",
        b'"text"',
        b"12",
        encode(ENTRY)[:-1],
        encode(ENTRY) + b"x",
        changed(key=None),
        changed(size="1234"),
        changed(size=-1),
        changed(size=12.5),
        changed(media_type=["image/png"]),
        changed(details={"size": 512}),
        changed(details="not JSON"),
        changed(details="[]"),
        changed(warnings="text"),
        changed(warnings=[1]),
        changed(warnings=None),
    ],
)
async def test_an_invalid_entry_is_not_found_and_removed(connection: RedisConnection, value: bytes) -> None:
    cache = RedisCacheIndex(connection)
    await cache.put("id", ENTRY, seconds=60)
    key = await only_key(connection)
    await connection.client.set(key, value)

    with structlog.testing.capture_logs() as log:
        assert await cache.get("id") is None
    assert not await connection.client.exists(key)
    assert log == []


async def test_a_value_of_another_type_is_not_found_and_removed(connection: RedisConnection) -> None:
    cache = RedisCacheIndex(connection)
    await cache.put("id", ENTRY, seconds=60)
    key = await only_key(connection)
    await connection.client.delete(key)
    await connection.client.rpush(key, "something", "else")

    with structlog.testing.capture_logs() as log:
        assert await cache.get("id") is None
    assert not await connection.client.exists(key)
    assert log == []


texts = st.text(st.characters(codec="utf-8"))
entries = st.builds(
    CacheEntry,
    key=texts,
    media_type=texts,
    size=st.integers(0, 2**63 - 1),
    details=st.dictionaries(texts, st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts).map(orjson.dumps),
    warnings=st.lists(texts).map(tuple),
)


@settings(max_examples=examples(40))
@given(entries)
def test_any_entry_is_read_as_it_was_written(entry: CacheEntry) -> None:
    assert decode(encode(entry)) == entry


@given(st.binary())
def test_bytes_that_nobody_wrote_are_no_entry(value: bytes) -> None:
    assert decode(value) is None
