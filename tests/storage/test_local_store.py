import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.errors import BackendError, FileMissing
from pressroom.storage.files import LocalFileStore, UrlSigner, UrlStatus
from pressroom.storage.files.local import INLINE_BYTES, _read_range
from support.disks import run_on_small_disk

SIGNER = UrlSigner(b"0123456789abcdef")


def make(folder: Path) -> LocalFileStore:
    return LocalFileStore(folder, SIGNER, "https://example.org/press")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[LocalFileStore]:
    store = make(tmp_path / "files")
    await store.open()
    yield store
    await store.close()


def names(store: LocalFileStore) -> set[str]:
    return {str(path.relative_to(store.folder)) for path in store.folder.rglob("*") if path.is_file()}


async def test_a_file_is_stored_at_its_path(store: LocalFileStore) -> None:
    await store.write("qr/0123.png", b"png", media_type="image/png")
    assert store.path_of("qr/0123.png") == store.folder / "qr" / "0123.png"
    assert store.path_of("qr/0123.png").read_bytes() == b"png"
    assert names(store) == {"qr/0123.png"}


async def test_a_url_has_a_valid_expiry_and_signature(store: LocalFileStore) -> None:
    expires = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=3)
    parts = urlsplit(await store.url("qr/0123.png", expires=expires))
    query = parse_qs(parts.query, strict_parsing=True)
    assert f"{parts.scheme}://{parts.netloc}{parts.path}" == "https://example.org/press/files/qr/0123.png"
    assert query["expires"] == [str(int(expires.timestamp()))]
    verdict = SIGNER.verify("/files/qr/0123.png", query["expires"][0], query["signature"][0], expires.timestamp() - 1)
    assert verdict is UrlStatus.VALID


@pytest.mark.parametrize("size", [0, 1, INLINE_BYTES, INLINE_BYTES + 1, 3_000_000])
async def test_ranges_of_the_file_are_returned(store: LocalFileStore, size: int) -> None:
    content = bytes(range(256)) * (size // 256 + 1)
    content = content[:size]
    await store.write("qr/0123.png", content, media_type="image/png")
    for start, end in ((0, size), (0, 0), (0, 10), (size // 2, size), (size - 1, size), (size, size + 5), (7, 10**9)):
        if start >= 0:
            assert await store.read_range("qr/0123.png", start, end) == content[start:end]


@given(st.binary(max_size=60), st.integers(0, 80), st.integers(0, 80))
def test_a_range_is_what_a_slice_gives(content: bytes, start: int, length: int) -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        assert _read_range(file.name, start, start + length) == content[start : start + length]


async def test_a_range_that_ends_before_it_starts_is_refused(store: LocalFileStore) -> None:
    for start, end in ((5, 4), (-1, 4)):
        with pytest.raises(ValueError, match="range"):
            await store.read_range("qr/0123.png", start, end)


async def test_a_range_of_a_missing_file_is_not_found(store: LocalFileStore) -> None:
    for end in (10, INLINE_BYTES + 1):
        with pytest.raises(FileMissing):
            await store.read_range("qr/0123.png", 0, end)


async def test_the_folder_is_recreated_if_it_is_removed(store: LocalFileStore) -> None:
    await store.write("qr/0123.png", b"one", media_type="image/png")
    shutil.rmtree(store.folder)
    assert not await store.has("qr/0123.png")
    pruned = await store.prune(older_than=datetime.now(UTC), max_bytes=0)
    assert pruned.kept_files == 0
    await store.write("qr/0123.png", b"two", media_type="image/png")
    assert await store.read("qr/0123.png") == b"two"


async def test_a_folder_that_is_a_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "files").touch()
    with pytest.raises(BackendError) as raised:
        await make(tmp_path / "files").open()
    assert str(tmp_path / "files") in raised.value.message
    assert "[storage] path" in raised.value.hint


async def test_a_file_that_cannot_be_read_is_an_outage_and_not_missing(store: LocalFileStore) -> None:
    store.path_of("qr/0123.png").mkdir(parents=True)
    with pytest.raises(BackendError, match="cannot be read: Is a directory") as raised:
        await store.read("qr/0123.png")
    assert not isinstance(raised.value, FileMissing)


async def test_a_cancelled_write_leaves_a_complete_file_or_none(store: LocalFileStore) -> None:
    content = os.urandom(2_000_000)
    writes = [
        asyncio.create_task(store.write(f"qr/{number}.png", content, media_type="image/png")) for number in range(20)
    ]
    await asyncio.sleep(0)
    for write in writes:
        write.cancel()
    await asyncio.gather(*writes, return_exceptions=True)
    await store.close()
    assert all(name.startswith("qr/") for name in names(store))
    assert all((store.folder / name).read_bytes() == content for name in names(store))


async def test_a_closed_store_can_be_opened_again(tmp_path: Path) -> None:
    store = make(tmp_path / "files")
    for content in (b"one", b"two"):
        await store.open()
        await store.write("qr/0123.png", content, media_type="image/png")
        await store.close()
    await store.open()
    assert await store.read("qr/0123.png") == b"two"
    await store.close()


def test_a_process_killed_while_writing_leaves_only_complete_files(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    script = """
        import asyncio, sys
        from pathlib import Path
        from pressroom.storage.files import LocalFileStore, UrlSigner

        async def main():
            store = LocalFileStore(Path(sys.argv[1]), UrlSigner(b"0123456789abcdef"), "")
            await store.open()
            number = 0
            while True:
                names = [f"qr/{number + one}.png" for one in range(8)]
                writing = (store.write(name, b"x" * 3_000_000, media_type="image/png") for name in names)
                await asyncio.gather(*writing)
                number = (number + 8) % 40
                print("written", flush=True)

        asyncio.run(main())
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"written\n"
        process.send_signal(signal.SIGKILL)
    strays = list((folder / ".tmp").iterdir())
    long_ago = datetime.now(UTC).timestamp() - 7200
    for stray in strays:
        os.utime(stray, (long_ago, long_ago))
    store = make(folder)
    asyncio.run(store.open())
    complete = names(store)
    assert len(complete) >= 8
    assert all(name.startswith("qr/") for name in complete)
    assert {store.path_of(name).stat().st_size for name in complete} == {3_000_000}
    asyncio.run(store.close())


@pytest.mark.services
def test_a_write_on_a_full_disk_is_reported_and_leaves_nothing_behind(tmp_path: Path) -> None:
    run_on_small_disk("full_disk", tmp_path / "disk", size="256k")


@pytest.mark.services
def test_a_server_starts_on_a_full_disk_and_makes_room(tmp_path: Path) -> None:
    run_on_small_disk("start_on_full_disk", tmp_path / "disk", size="256k")


@pytest.mark.services
def test_on_a_read_only_disk_files_are_still_served(tmp_path: Path) -> None:
    run_on_small_disk("read_only_disk", tmp_path / "disk", size="256k")
