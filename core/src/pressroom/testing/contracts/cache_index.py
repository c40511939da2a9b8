"""The contract of a cache index (`pressroom.sdk.CacheIndex`)."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, ClassVar, Final, TypeAlias

from pressroom.sdk import CacheEntry, CacheIndex
from pressroom.testing.contracts.backends import opened
from pressroom.testing.contracts.suite import ContractSuite, ContractTests, Finding, Promise, expect, run_apart

MakeCacheIndex: TypeAlias = Callable[[], CacheIndex | AbstractAsyncContextManager[CacheIndex]]
"""Returns a cache index that is not open yet, or a context manager of an open one."""

REMEMBERS: Final = "remembers"

_ENTRIES: Final = (
    CacheEntry("qr-code-generator/0123.png", "image/png", 1234, b'{"size":512,"format":"png"}', ("Low contrast.",)),
    CacheEntry("t/0.zip", "application/zip", 0, b"{}"),
    CacheEntry("t/1.svg", "image/svg+xml", 2**53 + 1, b'{ "spaces" : 1.0,\n "kept": 1e2, "big": 123456789012345678 }'),
    CacheEntry("t/2.png", "image/png", 1, '{"title":"Ünïcødé 👩‍👩‍👧 \\u0000 \\"quoted\\""}'.encode()),
    CacheEntry("t/3.png", "image/png", 1, b"{}", ("one", "", 'two "quoted"', "дрова\n\0"), "t/3-preview.png"),
)


def opening_cache_index(make: MakeCacheIndex) -> Callable[[], AbstractAsyncContextManager[CacheIndex]]:
    """Return a function that opens the subject of `CACHE_INDEX`."""

    @asynccontextmanager
    async def opening() -> AsyncIterator[CacheIndex]:
        async with opened(make) as cache:
            yield cache

    return opening


def check_cache_index(
    make: MakeCacheIndex, *, remembers: bool = True, where: str = "", excluded: Collection[str] = ()
) -> list[Finding]:
    """Check a cache index against the contract, and return the findings.

    Args:
        make: returns a cache index that is not open yet.
        remembers: whether it must find entries right after they were put. The server also works with an index that
            drops entries, such as under memory pressure.
        where: the name of the index in findings.
        excluded: names of promises to skip.
    """
    has = (REMEMBERS,) if remembers else ()
    return run_apart(lambda: CACHE_INDEX.check(opening_cache_index(make), where=where, has=has, excluded=excluded))


class CacheIndexContract(ContractTests[CacheIndex]):
    """Runs the contract of a cache index with pytest.

    A subclass defines the fixture `make_cache_index`, which returns a function that returns an index. With `has = ()`,
    the index is allowed to drop entries right after they were put.
    """

    suite: ClassVar[ContractSuite[Any]]
    has = (REMEMBERS,)

    def test_cache_index(self, promise: Promise[CacheIndex], make_cache_index: MakeCacheIndex) -> None:
        """Check one promise."""
        self.assert_fulfilled(promise, opening_cache_index(make_cache_index))


CACHE_INDEX: Final = ContractSuite[CacheIndex]("cache index")
CacheIndexContract.suite = CACHE_INDEX


def _new_id() -> str:
    return secrets.token_hex(32)


@CACHE_INDEX.promise("it has every method of CacheIndex", fix="add the methods that pressroom.sdk.CacheIndex names")
async def _protocol(cache: CacheIndex) -> None:
    expect(isinstance(cache, CacheIndex), f"{type(cache).__name__} without some of them")


@CACHE_INDEX.promise("get returns None for an id that was never put", fix="return None; do not raise")
async def _unknown(cache: CacheIndex) -> None:
    stored = await cache.get(_new_id())
    expect(stored is None, repr(stored))


@CACHE_INDEX.promise(
    "an entry is always returned exactly as it was put",
    fix="keep all fields of CacheEntry, and do not change the bytes of details",
)
async def _content(cache: CacheIndex) -> None:
    for entry in _ENTRIES:
        content_id = _new_id()
        await cache.put(content_id, entry, seconds=60)
        for _ in range(2):
            stored = await cache.get(content_id)
            expect(stored is None or stored == entry, f"{stored!r} for {entry!r}")


@CACHE_INDEX.promise(
    "entries with different ids do not mix, even when many are put at once",
    fix="use the whole content id as the key, and do not keep state of one call where another call can change it",
)
async def _apart(cache: CacheIndex) -> None:
    entries = {_new_id(): CacheEntry(f"t/{number}.png", "image/png", number, b"{}") for number in range(50)}
    await asyncio.gather(*(cache.put(content_id, entry, seconds=60) for content_id, entry in entries.items()))
    stored = await asyncio.gather(*(cache.get(content_id) for content_id in entries))
    mismatches = sum(got is not None and got != put for got, put in zip(stored, entries.values(), strict=True))
    expect(not mismatches, f"{mismatches} of {len(entries)} entries wrong")


@CACHE_INDEX.promise(
    "entries can be found right after they were put",
    fix="keep entries for `seconds`, as long as there is space",
    needs=[REMEMBERS],
)
async def _remembered(cache: CacheIndex) -> None:
    ids = [_new_id() for _ in range(50)]
    await asyncio.gather(*(cache.put(content_id, _ENTRIES[0], seconds=60) for content_id in ids))
    missing = sum([await cache.get(content_id) is None for content_id in ids])
    expect(not missing, f"{missing} of {len(ids)} entries missing")


@CACHE_INDEX.promise("an entry replaces the one with the same id", fix="let put() overwrite the entry with the same id")
async def _replaced(cache: CacheIndex) -> None:
    content_id = _new_id()
    for entry in _ENTRIES[:2]:
        await cache.put(content_id, entry, seconds=60)
    stored = await cache.get(content_id)
    expect(stored is None or stored == _ENTRIES[1], repr(stored))


@CACHE_INDEX.promise("a deleted entry is not found", fix="remove the entry in delete()")
async def _deleted(cache: CacheIndex) -> None:
    content_id = _new_id()
    await cache.put(content_id, _ENTRIES[0], seconds=60)
    await cache.delete(content_id)
    stored = await cache.get(content_id)
    expect(stored is None, repr(stored))


@CACHE_INDEX.promise("deleting an entry that does not exist is not an error", fix="ignore 'not found' in delete()")
async def _deleted_twice(cache: CacheIndex) -> None:
    await cache.delete(_new_id())


@CACHE_INDEX.promise(
    "an entry that is put for 0 seconds is not stored, and removes any earlier one",
    fix="treat seconds=0 as delete(); many stores take 0 to mean 'for ever', or refuse it",
)
async def _no_time(cache: CacheIndex) -> None:
    content_id = _new_id()
    await cache.put(content_id, _ENTRIES[0], seconds=60)
    await cache.put(content_id, _ENTRIES[0], seconds=0)
    stored = await cache.get(content_id)
    expect(stored is None, repr(stored))


@CACHE_INDEX.promise(
    "an entry expires after its time, even if it was read in the meantime",
    fix="set the time to live in put() to `seconds`, and do not renew it in get()",
)
async def _forgotten(cache: CacheIndex) -> None:
    content_id = _new_id()
    await cache.put(content_id, _ENTRIES[0], seconds=1)
    end = asyncio.get_running_loop().time() + 5
    while await cache.get(content_id) is not None:
        expect(asyncio.get_running_loop().time() < end, "the entry still there, 5 s after it was put for 1 s")
        await asyncio.sleep(0.1)
