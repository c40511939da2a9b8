"""The file store contract detects each violation, and reports the promise, its location and the fix."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from pressroom.sdk import FileMissing, PruneResult, StoredFile
from pressroom.testing.contracts import FileStoreContract, check_file_store
from pressroom.testing.contracts.file_store import FILE_STORE
from support.contracts import assert_broken

Files = dict[str, tuple[bytes, str, datetime]]


class DictStore:
    """A store that fulfils the contract: its files are in a dictionary shared by all hosts."""

    def __init__(self, files: Files) -> None:
        self.files = files

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    def checked(self, key: str) -> str:
        plain = key.replace("/", "").replace(".", "").replace("-", "")
        if not plain.isalnum() or key != key.lower() or ".." in key or key.startswith("/") or len(key) > 200:
            raise ValueError(f"{key!r} is not a key")
        return key

    async def write(self, key: str, content: bytes, *, media_type: str) -> None:
        self.files[self.checked(key)] = (content, media_type, datetime.now(UTC))

    async def read(self, key: str) -> bytes:
        return self.found(key)[0]

    def found(self, key: str) -> tuple[bytes, str, datetime]:
        if self.checked(key) not in self.files:
            raise FileMissing(key)
        return self.files[key]

    async def stat(self, key: str) -> StoredFile:
        content, media_type, modified = self.found(key)
        return StoredFile(key, len(content), media_type, modified)

    async def has(self, key: str) -> bool:
        return self.checked(key) in self.files

    async def url(self, key: str, *, expires: datetime) -> str:
        return f"https://files.example/{self.checked(key)}?expires={expires:%s}"

    async def delete(self, key: str) -> None:
        self.files.pop(self.checked(key), None)

    async def prune(self, *, older_than: datetime, max_bytes: int) -> PruneResult:
        old = [key for key, (_, _, modified) in self.files.items() if modified < older_than]
        for key in old:
            del self.files[key]
        return PruneResult(len(old), 0, len(self.files), max_bytes)


class Cuts(DictStore):
    async def read(self, key: str) -> bytes:
        return (await super().read(key))[:262_144]


class ReturnsLocalTime(DictStore):
    async def stat(self, key: str) -> StoredFile:
        stored = await super().stat(key)
        return StoredFile(stored.key, stored.size, stored.media_type, stored.modified.replace(tzinfo=None))


class KeepsTheFirst(DictStore):
    async def write(self, key: str, content: bytes, *, media_type: str) -> None:
        if key not in self.files or len(content) > 100:
            await super().write(key, content, media_type=media_type)


class WritesInPlace(DictStore):
    async def write(self, key: str, content: bytes, *, media_type: str) -> None:
        await super().write(key, content[: len(content) // 2], media_type=media_type)
        await asyncio.sleep(0)
        await super().write(key, content, media_type=media_type)


class Mixes(DictStore):
    content = b""

    async def write(self, key: str, content: bytes, *, media_type: str) -> None:
        self.content = content
        await asyncio.sleep(0)
        await super().write(key, self.content, media_type=media_type)


class ReturnsNothingForMissing(DictStore):
    async def read(self, key: str) -> bytes:
        return self.files.get(self.checked(key), (b"", "", datetime.now(UTC)))[0]


class OneHostOnly(DictStore):
    def __init__(self, files: Files) -> None:
        super().__init__({})


class KeepsDeleted(DictStore):
    async def delete(self, key: str) -> None:
        self.checked(key)


class RaisesForDeleted(DictStore):
    async def delete(self, key: str) -> None:
        self.found(key)
        await super().delete(key)


class RemembersVanished(DictStore):
    def __init__(self, files: Files) -> None:
        super().__init__(files)
        self.seen: set[str] = set()

    async def has(self, key: str) -> bool:
        if await super().has(key):
            self.seen.add(key)
        return key in self.seen

    async def delete(self, key: str) -> None:
        self.seen.discard(key)
        await super().delete(key)


class SharesOneLook(DictStore):
    looking: asyncio.Future[bool] | None = None

    async def has(self, key: str) -> bool:
        self.checked(key)
        if self.looking is None:
            self.looking = asyncio.ensure_future(self.look(key))
        try:
            return await self.looking
        finally:
            self.looking = None

    async def look(self, key: str) -> bool:
        await asyncio.sleep(0.01)
        return key in self.files


class RelativeUrl(DictStore):
    async def url(self, key: str, *, expires: datetime) -> str:
        return f"/files/{self.checked(key)}"


class PrunesAll(DictStore):
    async def prune(self, *, older_than: datetime, max_bytes: int) -> PruneResult:
        return await super().prune(older_than=datetime.now(UTC) + timedelta(days=1), max_bytes=max_bytes)


class TakesAnyKey(DictStore):
    def checked(self, key: str) -> str:
        return key


class NoPrune(DictStore):
    prune: Any = None


BROKEN: Final[dict[str, type[DictStore]]] = {
    "protocol": NoPrune,
    "content": Cuts,
    "stat": ReturnsLocalTime,
    "replaced": KeepsTheFirst,
    "whole": WritesInPlace,
    "many": Mixes,
    "missing": ReturnsNothingForMissing,
    "shared": OneHostOnly,
    "deleted": KeepsDeleted,
    "deleted_twice": RaisesForDeleted,
    "vanished": RemembersVanished,
    "cancelled": SharesOneLook,
    "url": RelativeUrl,
    "pruned": PrunesAll,
    "keys": TakesAnyKey,
}


def maker(kind: type[DictStore]) -> Callable[[], DictStore]:
    files: Files = {}
    return lambda: kind(files)


class TestDictStore(FileStoreContract):
    """The contract as an author runs it."""

    @pytest.fixture
    def make_store(self) -> Callable[[], DictStore]:
        return maker(DictStore)


@pytest.mark.parametrize("promise", FILE_STORE.promises, ids=str)
def test_a_store_that_breaks_a_promise_gets_a_finding(promise: Any) -> None:
    assert_broken(promise, check_file_store(maker(BROKEN[promise.name]), where="dict"), contract="file store")
