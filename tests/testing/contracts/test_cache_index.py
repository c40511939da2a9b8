"""The cache index contract detects each violation, and reports the promise, its location and the fix."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from time import monotonic
from typing import Any, Final

import pytest
from pressroom.sdk import CacheEntry
from pressroom.testing.contracts import check_cache_index
from pressroom.testing.contracts.cache_index import CACHE_INDEX
from support.contracts import assert_broken


class DictIndex:
    """A cache index that fulfils the contract."""

    def __init__(self) -> None:
        self.entries: dict[str, tuple[CacheEntry, float]] = {}

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def get(self, content_id: str) -> CacheEntry | None:
        entry, until = self.entries.get(content_id, (None, 0.0))
        return entry if monotonic() < until else None

    async def put(self, content_id: str, entry: CacheEntry, *, seconds: int) -> None:
        self.entries[content_id] = (entry, monotonic() + seconds)

    async def delete(self, content_id: str) -> None:
        self.entries.pop(content_id, None)


class Raises(DictIndex):
    async def get(self, content_id: str) -> CacheEntry | None:
        if content_id not in self.entries:
            raise KeyError(content_id)
        return await super().get(content_id)


class ForgetsPreviews(DictIndex):
    async def put(self, content_id: str, entry: CacheEntry, *, seconds: int) -> None:
        await super().put(content_id, replace(entry, preview=""), seconds=seconds)


class Mixes(DictIndex):
    entry: CacheEntry

    async def put(self, content_id: str, entry: CacheEntry, *, seconds: int) -> None:
        self.entry = entry
        await asyncio.sleep(0)
        await super().put(content_id, self.entry, seconds=seconds)


class Forgets(DictIndex):
    async def put(self, content_id: str, entry: CacheEntry, *, seconds: int) -> None: ...


class KeepsTheFirst(DictIndex):
    async def put(self, content_id: str, entry: CacheEntry, *, seconds: int) -> None:
        self.entries.setdefault(content_id, (entry, monotonic() + seconds))


class KeepsDeleted(DictIndex):
    async def delete(self, content_id: str) -> None: ...


class RaisesForDeleted(DictIndex):
    async def delete(self, content_id: str) -> None:
        del self.entries[content_id]


class ZeroIsForEver(DictIndex):
    async def put(self, content_id: str, entry: CacheEntry, *, seconds: int) -> None:
        await super().put(content_id, entry, seconds=seconds or 10**9)


class NeverForgets(DictIndex):
    async def put(self, content_id: str, entry: CacheEntry, *, seconds: int) -> None:
        await super().put(content_id, entry, seconds=seconds and 10**9)


class NoDelete(DictIndex):
    delete: Any = None


BROKEN: Final[dict[str, type[DictIndex]]] = {
    "protocol": NoDelete,
    "unknown": Raises,
    "content": ForgetsPreviews,
    "apart": Mixes,
    "remembered": Forgets,
    "replaced": KeepsTheFirst,
    "deleted": KeepsDeleted,
    "deleted_twice": RaisesForDeleted,
    "no_time": ZeroIsForEver,
    "forgotten": NeverForgets,
}


def test_an_index_that_keeps_every_promise_gets_no_findings() -> None:
    assert check_cache_index(DictIndex) == []


def test_an_index_may_forget() -> None:
    assert check_cache_index(Forgets, remembers=False) == []


@pytest.mark.parametrize("promise", CACHE_INDEX.promises, ids=str)
def test_an_index_that_breaks_a_promise_gets_a_finding(promise: Any) -> None:
    excluded = {other.name for other in CACHE_INDEX.promises} - {promise.name}
    findings = check_cache_index(BROKEN[promise.name], where="dict", excluded=excluded)
    assert_broken(promise, findings, contract="cache index")
