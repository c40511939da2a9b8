"""What every file store promises, local or in a bucket."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pressroom.errors import FileMissing
from pressroom.sdk import FileStore

KEY = "qr-code-generator/0123456789abcdef0123456789abcdef.png"


async def put(store: FileStore, content: bytes, key: str = KEY) -> None:
    await store.write(key, content, media_type="image/png")


@pytest.mark.parametrize("size", [0, 1, 262_144, 262_145, 5_000_000])
async def test_a_file_comes_back_byte_for_byte(stores: tuple[FileStore, FileStore], size: int) -> None:
    content = os.urandom(size)
    await put(stores[0], content)
    assert await stores[0].read(KEY) == content
    assert await stores[1].read(KEY) == content


async def test_what_is_known_of_a_file(stores: tuple[FileStore, FileStore]) -> None:
    before = datetime.now(UTC) - timedelta(seconds=2)
    await stores[0].write("favicon-generator/0123.zip", b"12345", media_type="application/zip")
    for store in stores:
        found = await store.stat("favicon-generator/0123.zip")
        assert (found.key, found.size, found.media_type) == ("favicon-generator/0123.zip", 5, "application/zip")
        assert found.modified.utcoffset() == timedelta(0)
        assert before <= found.modified <= datetime.now(UTC) + timedelta(seconds=2)


async def test_a_file_that_is_written_again_is_replaced(stores: tuple[FileStore, FileStore]) -> None:
    await put(stores[0], b"the first one, and long")
    await put(stores[1], b"the second")
    for store in stores:
        assert await store.read(KEY) == b"the second"
        assert (await store.stat(KEY)).size == len(b"the second")


# rclone writes into the file that others read.
@pytest.mark.parametrize("make_store", ["local", "swift"], indirect=True)
async def test_readers_never_see_a_part_of_a_file_that_is_being_replaced(store: FileStore) -> None:
    versions = [bytes([number]) * (100_000 + 60_000 * number) for number in range(6)]
    await put(store, versions[0])
    finished = asyncio.Event()

    async def rewrite() -> None:
        for version in versions * 2:
            await put(store, version)
        finished.set()

    async def read() -> int:
        reads = 0
        while not finished.is_set():
            assert await store.read(KEY) in versions
            reads += 1
            await asyncio.sleep(0)  # a small local file is read without giving way
        return reads

    _, *reads = await asyncio.gather(rewrite(), read(), read())
    assert all(reads)


async def test_many_files_are_written_and_read_at_once(store: FileStore) -> None:
    files = {f"qr-code-generator/{number:032x}.png": os.urandom(2000 + number) for number in range(60)}
    await asyncio.gather(*(put(store, content, key) for key, content in files.items()))
    found = await asyncio.gather(*(store.read(key) for key in files))
    assert found == list(files.values())


async def test_a_missing_file_is_missing(store: FileStore) -> None:
    assert not await store.has(KEY)
    for look in (store.read, store.stat):
        with pytest.raises(FileMissing, match="0123456789abcdef"):
            await look(KEY)


async def test_a_file_is_there_for_all_hosts_once_it_is_written(stores: tuple[FileStore, FileStore]) -> None:
    await put(stores[0], b"png")
    assert await stores[0].has(KEY)
    assert await stores[1].has(KEY)


async def test_a_removed_file_is_gone(stores: tuple[FileStore, FileStore]) -> None:
    await put(stores[0], b"png")
    await stores[0].delete(KEY)
    for store in stores:
        assert not await store.has(KEY)
        with pytest.raises(FileMissing):
            await store.read(KEY)


async def test_removing_a_file_that_is_not_there_is_no_error(store: FileStore) -> None:
    await store.delete(KEY)
    assert not await store.has(KEY)


async def test_a_file_that_vanished_is_noticed_when_it_is_read_and_can_be_written_again(
    stores: tuple[FileStore, FileStore],
) -> None:
    store, other = stores
    await put(store, b"png")
    assert await store.has(KEY)
    await other.delete(KEY)
    with pytest.raises(FileMissing):
        await store.read(KEY)
    assert not await store.has(KEY)
    await put(store, b"png again")
    assert await store.has(KEY)
    assert await other.read(KEY) == b"png again"


async def test_many_may_ask_for_the_same_file_and_some_may_leave(stores: tuple[FileStore, FileStore]) -> None:
    await put(stores[0], b"png")
    questions = [asyncio.create_task(stores[1].has(KEY)) for _ in range(50)]
    await asyncio.sleep(0)
    for question in questions[::2]:
        question.cancel()
    answers = await asyncio.gather(*questions, return_exceptions=True)
    assert answers[1::2] == [True] * 25


async def test_an_address_names_the_file(store: FileStore) -> None:
    await put(store, b"png")
    address = await store.url(KEY, expires=datetime.now(UTC).replace(microsecond=0) + timedelta(hours=3))
    assert address.partition("?")[0].endswith(f"/{KEY}")
    assert address.isascii()


async def test_files_younger_than_an_address_lives_survive_pruning(stores: tuple[FileStore, FileStore]) -> None:
    await put(stores[0], b"png")
    pruned = await stores[1].prune(older_than=datetime.now(UTC) - timedelta(hours=3), max_bytes=0)
    assert (pruned.removed_files, pruned.removed_bytes) == (0, 0)
    assert await stores[0].read(KEY) == b"png"


BAD_KEYS = ["", "../secret.key", "/etc/passwd", "qr/../../secret.key", "qr/UPPER.png", "qr/a b.png", "qr/" + "a" * 200]


async def test_what_is_no_key_is_refused_everywhere(store: FileStore) -> None:
    calls: list[Callable[[str], Coroutine[Any, Any, object]]] = [
        lambda key: store.write(key, b"x", media_type="image/png"),
        store.read,
        store.stat,
        store.has,
        lambda key: store.url(key, expires=datetime.now(UTC) + timedelta(hours=1)),
        store.delete,
    ]
    for key in BAD_KEYS:
        for call in calls:
            with pytest.raises(ValueError, match="is not a key"):
                await call(key)


async def test_a_media_type_that_the_extension_does_not_stand_for_is_refused(store: FileStore) -> None:
    with pytest.raises(ValueError, match="image/png, but it is text/html"):
        await store.write(KEY, b"<script>", media_type="text/html")
    assert not await store.has(KEY)
