"""Tests of the index without a server."""

import asyncio
from collections.abc import Iterator

import pytest
from pressroom.sdk import CacheEntry

from {{ cookiecutter.package }} import index as module
from {{ cookiecutter.package }}.index import MemoryIndex


@pytest.fixture
def index() -> Iterator[MemoryIndex]:
    """Return an open index."""
    made = MemoryIndex()
    asyncio.run(made.open())
    yield made
    asyncio.run(made.close())


def entry(key: str) -> CacheEntry:
    return CacheEntry(key=key, media_type="text/plain", size=1, details=b"{}")


def test_an_entry_is_found_until_it_is_deleted(index: MemoryIndex) -> None:
    asyncio.run(index.put("a", entry("one"), seconds=60))
    assert asyncio.run(index.get("a")) == entry("one")
    asyncio.run(index.delete("a"))
    assert asyncio.run(index.get("a")) is None
    asyncio.run(index.delete("a"))


def test_an_expired_entry_is_not_found(index: MemoryIndex) -> None:
    asyncio.run(index.put("a", entry("one"), seconds=0))
    assert asyncio.run(index.get("a")) is None


def test_the_oldest_entry_makes_room(index: MemoryIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ENTRIES", 2)
    for name in ("a", "b", "c"):
        asyncio.run(index.put(name, entry(name), seconds=60))
    assert [asyncio.run(index.get(name)) for name in ("a", "b", "c")] == [None, entry("b"), entry("c")]
