"""What every cache index does, wherever it remembers."""

from __future__ import annotations

import asyncio

import pytest
from pressroom.sdk import CacheEntry, CacheIndex

ENTRY = CacheEntry("qr-code-generator/0123.png", "image/png", 1234, b'{"size":512,"format":"png"}', ("Low contrast.",))

ENTRIES = [
    ENTRY,
    CacheEntry("t/0.zip", "application/zip", 0, b"{}"),
    CacheEntry("t/1.svg", "image/svg+xml", 2**53 + 1, b'{ "spaces" : 1.0,\n "kept": 1e2, "big": 123456789012345678 }'),
    CacheEntry("t/2.png", "image/png", 1, '{"title":"Ünïcødé 👩‍👩‍👧 \\u0000 \\"quoted\\""}'.encode()),
    CacheEntry("t/3.png", "image/png", 1, b"{}", ("one", "", 'two "quoted"', "дрова\n\0")),
]


async def test_a_cache_index_keeps_the_protocol(cache: CacheIndex) -> None:
    assert isinstance(cache, CacheIndex)


async def test_what_was_never_put_is_not_found(cache: CacheIndex) -> None:
    assert await cache.get("0" * 64) is None


@pytest.mark.parametrize("entry", ENTRIES)
async def test_an_entry_comes_back_as_it_was(cache: CacheIndex, entry: CacheEntry) -> None:
    await cache.put("id", entry, seconds=60)
    assert await cache.get("id") == entry
    assert await cache.get("id") == entry


async def test_entries_are_kept_apart(cache: CacheIndex) -> None:
    entries = {f"{number:064x}": CacheEntry(f"t/{number}.png", "image/png", number, b"{}") for number in range(50)}
    await asyncio.gather(*(cache.put(content_id, entry, seconds=60) for content_id, entry in entries.items()))
    assert await asyncio.gather(*(cache.get(content_id) for content_id in entries)) == list(entries.values())


async def test_an_entry_of_the_same_id_is_replaced(cache: CacheIndex) -> None:
    await cache.put("id", ENTRY, seconds=60)
    await cache.put("id", ENTRIES[1], seconds=60)
    assert await cache.get("id") == ENTRIES[1]


async def test_a_deleted_entry_is_not_found(cache: CacheIndex) -> None:
    await cache.put("id", ENTRY, seconds=60)
    await cache.delete("id")
    assert await cache.get("id") is None


async def test_deleting_what_is_not_there_is_no_error(cache: CacheIndex) -> None:
    await cache.delete("id")


async def test_an_entry_for_no_time_is_not_remembered(cache: CacheIndex) -> None:
    await cache.put("id", ENTRY, seconds=60)
    await cache.put("id", ENTRY, seconds=0)
    assert await cache.get("id") is None
