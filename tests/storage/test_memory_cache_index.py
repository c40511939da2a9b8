"""The in-memory cache index: expiry and eviction."""

from __future__ import annotations

from pressroom.config.models import Settings
from pressroom.sdk import CacheEntry
from pressroom.storage.cache import memory_cache
from pressroom.storage.cache.memory import MemoryCacheIndex
from pressroom.testing.clock import FrozenClock

ENTRY = CacheEntry("qr-code-generator/0123.png", "image/png", 1234, b'{"size":512}')


async def test_an_entry_expires() -> None:
    clock = FrozenClock()
    cache = MemoryCacheIndex(max_entries=10, clock=clock.seconds)
    await cache.put("id", ENTRY, seconds=60)
    clock.advance(59.9)
    assert await cache.get("id") == ENTRY
    clock.advance(0.1)
    assert await cache.get("id") is None


async def test_reading_an_entry_does_not_prolong_its_time() -> None:
    clock = FrozenClock()
    cache = MemoryCacheIndex(max_entries=10, clock=clock.seconds)
    await cache.put("id", ENTRY, seconds=60)
    entries = []
    for _ in range(3):
        clock.advance(20)
        entries.append(await cache.get("id"))
    assert entries == [ENTRY, ENTRY, None]


async def test_the_least_recently_used_entry_is_evicted_first() -> None:
    cache = MemoryCacheIndex(max_entries=3)
    for content_id in ("a", "b", "c"):
        await cache.put(content_id, ENTRY, seconds=60)
    await cache.get("a")
    await cache.put("d", ENTRY, seconds=60)
    assert [await cache.get(content_id) for content_id in ("a", "b", "c", "d")] == [ENTRY, None, ENTRY, ENTRY]


async def test_replacing_an_entry_evicts_no_other() -> None:
    cache = MemoryCacheIndex(max_entries=2)
    for content_id in ("a", "b", "b", "b"):
        await cache.put(content_id, ENTRY, seconds=60)
    assert await cache.get("a") == ENTRY


async def test_the_bound_is_the_configured_one() -> None:
    cache = memory_cache(Settings.model_validate({"cache": {"max_entries": 2}}))
    assert isinstance(cache, MemoryCacheIndex)
    for content_id in ("a", "b", "c"):
        await cache.put(content_id, ENTRY, seconds=60)
    assert [await cache.get(content_id) for content_id in ("a", "b", "c")] == [None, ENTRY, ENTRY]


async def test_a_closed_index_is_empty() -> None:
    cache = MemoryCacheIndex(max_entries=2)
    await cache.open()
    await cache.put("a", ENTRY, seconds=60)
    await cache.close()
    assert await cache.get("a") is None
