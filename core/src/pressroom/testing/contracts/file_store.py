"""The contract of a file store (`pressroom.sdk.FileStore`)."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final, TypeAlias

from pressroom.sdk import FileMissing, FileStore, PruneResult
from pressroom.testing.contracts.backends import opened
from pressroom.testing.contracts.suite import (
    ContractSuite,
    ContractTests,
    Finding,
    Promise,
    expect,
    expect_error,
    run_apart,
)

MakeFileStore: TypeAlias = Callable[[], FileStore | AbstractAsyncContextManager[FileStore]]
"""Returns a store that is not open yet, or a context manager of an open one.

All returned stores have the same files, like those of several hosts.
"""

_CLOCK_SKEW: Final = timedelta(seconds=5)
_SIZES: Final = (0, 1, 262_144, 262_145, 5_000_000)
_NO_KEYS: Final = (
    *("", "../secret.key", "/etc/passwd", "qr/../../secret.key", "qr/UPPER.png", "qr/a b.png"),
    f"qr/{'a' * 200}",
)


def _new_key(extension: str = "png") -> str:
    return f"contract-check/{secrets.token_hex(16)}.{extension}"


@dataclass(frozen=True, slots=True)
class FileStorePair:
    """Two open stores of the same files, as on two hosts, and a unique key."""

    store: FileStore
    other: FileStore
    key: str = field(default_factory=_new_key)

    async def write(self, content: bytes) -> None:
        """Write the file with the key through the first store."""
        await self.store.write(self.key, content, media_type="image/png")


def opening_file_stores(make: MakeFileStore) -> Callable[[], AbstractAsyncContextManager[FileStorePair]]:
    """Return a function that opens the subject of `FILE_STORE`."""

    @asynccontextmanager
    async def opening() -> AsyncIterator[FileStorePair]:
        async with opened(make) as store, opened(make) as other:
            yield FileStorePair(store, other)

    return opening


def check_file_store(make: MakeFileStore, *, where: str = "", excluded: Collection[str] = ()) -> list[Finding]:
    """Check a file store against the contract, and return the findings.

    Args:
        make: returns a store of the same files each time, as on another host.
        where: the name of the store in findings.
        excluded: names of promises to skip.
    """
    return run_apart(lambda: FILE_STORE.check(opening_file_stores(make), where=where, excluded=excluded))


class FileStoreContract(ContractTests[FileStorePair]):
    """Runs the contract of a file store with pytest.

    A subclass defines the fixture `make_store`. It returns a function that returns a store that is not open yet, with
    the same files each time, as on another host.
    """

    suite: ClassVar[ContractSuite[Any]]

    def test_file_store(self, promise: Promise[FileStorePair], make_store: MakeFileStore) -> None:
        """Check one promise."""
        self.assert_fulfilled(promise, opening_file_stores(make_store))


FILE_STORE: Final = ContractSuite[FileStorePair]("file store")
FileStoreContract.suite = FILE_STORE


@FILE_STORE.promise("it has every method of FileStore", fix="add the methods that pressroom.sdk.FileStore names")
async def _protocol(stores: FileStorePair) -> None:
    expect(isinstance(stores.store, FileStore), f"{type(stores.store).__name__} without some of them")


@FILE_STORE.promise(
    "a file comes back byte for byte, on every host",
    fix="write and read the complete content, even if it is 0 bytes long",
)
async def _content(stores: FileStorePair) -> None:
    for size in _SIZES:
        written = os.urandom(size)
        await stores.write(written)
        for store in (stores.store, stores.other):
            content = await store.read(stores.key)
            expect(content == written, f"{len(content)} bytes for {size} that were written")


@FILE_STORE.promise(
    "stat returns the key, size, media type and time in UTC of a file",
    fix="return StoredFile with what write() was given, and modified as an aware datetime in UTC",
)
async def _stat(stores: FileStorePair) -> None:
    key, before = _new_key("zip"), datetime.now(UTC) - _CLOCK_SKEW
    await stores.store.write(key, b"12345", media_type="application/zip")
    for store in (stores.store, stores.other):
        stored = await store.stat(key)
        expect((stored.key, stored.size, stored.media_type) == (key, 5, "application/zip"), stored)
        expect(stored.modified.utcoffset() == timedelta(0), f"modified={stored.modified!r}")
        expect(before <= stored.modified <= datetime.now(UTC) + _CLOCK_SKEW, f"modified={stored.modified!r}")


@FILE_STORE.promise("writing a file again replaces it", fix="let write() replace the whole file with the same key")
async def _replaced(stores: FileStorePair) -> None:
    await stores.write(b"the first one, and long")
    await stores.other.write(stores.key, b"the second", media_type="image/png")
    for store in (stores.store, stores.other):
        content = await store.read(stores.key)
        expect(content == b"the second", repr(content))
        expect((await store.stat(stores.key)).size == len(b"the second"), "the size of the first")


@FILE_STORE.promise(
    "nobody can read a partly written file while it is being replaced",
    fix="write to a temporary name and rename, or use an upload that becomes visible as a whole",
)
async def _whole(stores: FileStorePair) -> None:
    versions = [bytes([number]) * (100_000 + 60_000 * number) for number in range(6)]
    await stores.write(versions[0])
    finished = asyncio.Event()

    async def rewrite() -> None:
        try:
            for version in versions * 2:
                await stores.write(version)
        finally:
            finished.set()

    async def read() -> None:
        while not finished.is_set():
            content = await stores.store.read(stores.key)
            expect(content in versions, f"{len(content)} bytes that no write() was given")
            await asyncio.sleep(0)

    await asyncio.gather(rewrite(), read(), read())


@FILE_STORE.promise(
    "many files are written and read at once", fix="do not keep state of one call where another call can change it"
)
async def _many(stores: FileStorePair) -> None:
    files = {_new_key(): os.urandom(2000 + number) for number in range(60)}
    writes = (stores.store.write(key, content, media_type="image/png") for key, content in files.items())
    await asyncio.gather(*writes)
    contents = await asyncio.gather(*(stores.store.read(key) for key in files))
    mismatches = sum(read != written for read, written in zip(contents, files.values(), strict=True))
    expect(not mismatches, f"{mismatches} of {len(files)} files with other bytes")


@FILE_STORE.promise(
    "read and stat raise FileMissing for a file that does not exist, and has returns False",
    fix="raise pressroom.sdk.FileMissing(key) if the storage says that the file does not exist",
)
async def _missing(stores: FileStorePair) -> None:
    exists = await stores.store.has(stores.key)
    expect(exists is False, f"has() returned {exists!r}")
    await expect_error(FileMissing, stores.store.read(stores.key))
    await expect_error(FileMissing, stores.store.stat(stores.key))


@FILE_STORE.promise(
    "every host finds a file as soon as it is written",
    fix="do not return from write() before other hosts can read the file",
)
async def _shared(stores: FileStorePair) -> None:
    expect(not await stores.other.has(stores.key), "has() returned True before the file was written")
    await stores.write(b"png")
    for store in (stores.store, stores.other):
        exists = await store.has(stores.key)
        expect(exists is True, f"has() returned {exists!r}")


@FILE_STORE.promise(
    "a deleted file is gone for the host that deleted it and for hosts that have read it",
    fix="remove the file in delete(), and clear what has() remembers about it",
)
async def _deleted(stores: FileStorePair) -> None:
    await stores.write(b"png")
    await stores.store.delete(stores.key)
    for store in (stores.store, stores.other):
        expect(await store.has(stores.key) is False, "has() returned True")
        await expect_error(FileMissing, store.read(stores.key))


@FILE_STORE.promise(
    "deleting a file that does not exist is not an error", fix="ignore the storage's 'not found' in delete()"
)
async def _deleted_twice(stores: FileStorePair) -> None:
    await stores.store.delete(stores.key)
    await stores.store.delete(stores.key)


@FILE_STORE.promise(
    "reading a file shows that another host deleted it, and it can then be written again",
    fix="clear what has() remembers about a file when read() does not find it",
)
async def _vanished(stores: FileStorePair) -> None:
    await stores.write(b"png")
    expect(await stores.store.has(stores.key), "has() returned False right after write()")
    await stores.other.delete(stores.key)
    await expect_error(FileMissing, stores.store.read(stores.key))
    expect(await stores.store.has(stores.key) is False, "has() returned True after read() had raised FileMissing")
    await stores.write(b"png again")
    expect(await stores.store.has(stores.key), "has() returned False after the file was written again")
    content = await stores.other.read(stores.key)
    expect(content == b"png again", repr(content))


@FILE_STORE.promise(
    "callers that ask for the same file at once do not depend on each other",
    fix="shield shared work, so that cancelling one caller does not cancel it for the others",
)
async def _cancelled(stores: FileStorePair) -> None:
    await stores.write(b"png")
    calls = [asyncio.ensure_future(stores.other.has(stores.key)) for _ in range(50)]
    await asyncio.sleep(0)
    for call in calls[::2]:
        call.cancel()
    results = await asyncio.gather(*calls, return_exceptions=True)
    expect(results[1::2] == [True] * 25, f"{results[1::2]}")


@FILE_STORE.promise(
    "url returns an absolute HTTP URL in ASCII",
    fix="return the full URL with https:// or http://, with other characters percent-encoded",
)
async def _url(stores: FileStorePair) -> None:
    await stores.write(b"png")
    expires = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=3)
    url = await stores.store.url(stores.key, expires=expires)
    expect(url.startswith(("https://", "http://")) and url.isascii(), repr(url))


@FILE_STORE.promise(
    "pruning keeps files that were written after the given time",
    fix="compare the time of the last write with older_than; max_bytes=0 means no limit",
)
async def _pruned(stores: FileStorePair) -> None:
    await stores.write(b"png")
    removed = await stores.other.prune(older_than=datetime.now(UTC) - timedelta(hours=3), max_bytes=0)
    expect(isinstance(removed, PruneResult), f"{removed!r} instead of PruneResult")
    content = await stores.store.read(stores.key)
    expect(content == b"png", repr(content))


@FILE_STORE.promise(
    "every method raises ValueError for anything that is not a key",
    fix="check keys before they become paths: <tool>/<id>.<extension> of [a-z0-9./-], without .., up to 200 characters",
)
async def _keys(stores: FileStorePair) -> None:
    store = stores.store
    expires = datetime.now(UTC) + timedelta(hours=1)
    calls: dict[str, Callable[[str], Awaitable[Any]]] = {
        "write": lambda key: store.write(key, b"x", media_type="image/png"),
        "read": store.read,
        "stat": store.stat,
        "has": store.has,
        "url": lambda key: store.url(key, expires=expires),
        "delete": store.delete,
    }
    for key in _NO_KEYS:
        for name, call in calls.items():
            try:
                await call(key)
            except ValueError:
                continue
            except Exception as error:  # noqa: BLE001 - it is told with the key
                expect(False, f"{type(error).__name__} from {name}({key[:30]!r})")
            expect(False, f"no error from {name}({key[:30]!r})")
