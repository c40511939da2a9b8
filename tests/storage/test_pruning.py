import asyncio
import os
import tempfile
import threading
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pressroom.sdk import PruneResult
from pressroom.storage.files import LocalFileStore, UrlSigner
from pressroom.storage.files.pruning import _remove, prune_folder
from support.sizes import examples

NOW = 1_800_000_000


def put(folder: Path, name: str, size: int, age: float) -> Path:
    """Write a file that is `age` seconds old at `NOW`."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    os.utime(path, ns=((NOW * 10**9 - round(age * 1e9)),) * 2)
    return path


def prune(folder: Path, *, max_age: float = 86_400, max_bytes: int = 0) -> PruneResult:
    (folder / ".tmp").mkdir(exist_ok=True)
    limit = NOW * 10**9 - round(max_age * 1e9)
    return prune_folder(str(folder), str(folder / ".tmp"), older_than_ns=limit, max_bytes=max_bytes)


def left(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_files_beyond_the_age_are_removed_and_younger_ones_stay(tmp_path: Path) -> None:
    put(tmp_path, "qr/old.png", 10, 86_401)
    put(tmp_path, "qr/edge.png", 20, 86_400)
    put(tmp_path, "og/old.jpg", 30, 10**7)
    put(tmp_path, "og/young.jpg", 40, 5)
    assert prune(tmp_path) == PruneResult(removed_files=2, removed_bytes=40, kept_files=2, kept_bytes=60)
    assert left(tmp_path) == {"qr/edge.png", "og/young.jpg"}


def test_above_the_size_the_oldest_of_all_tools_are_removed(tmp_path: Path) -> None:
    for age in range(10):
        put(tmp_path, f"tool{age % 3}/{age}.png", 100, age * 3600)
    assert prune(tmp_path, max_bytes=450) == PruneResult(
        removed_files=6, removed_bytes=600, kept_files=4, kept_bytes=400
    )
    assert left(tmp_path) == {"tool0/0.png", "tool1/1.png", "tool2/2.png", "tool0/3.png"}


def test_files_of_the_same_minute_are_removed_in_order_too(tmp_path: Path) -> None:
    for age in range(10):
        put(tmp_path, f"qr/{age}.png", 100, age / 1000)
    prune(tmp_path, max_bytes=350)
    assert left(tmp_path) == {"qr/0.png", "qr/1.png", "qr/2.png"}


def test_within_the_size_nothing_is_removed(tmp_path: Path) -> None:
    put(tmp_path, "qr/one.png", 100, 50)
    assert prune(tmp_path, max_bytes=100) == PruneResult(0, 0, 1, 100)
    assert prune(tmp_path, max_bytes=0) == PruneResult(0, 0, 1, 100)


@settings(max_examples=examples(30))
@given(
    st.lists(st.tuples(st.integers(0, 500), st.integers(0, 400)), max_size=25, unique_by=lambda file: file[1]),
    st.integers(0, 4000),
    st.integers(0, 400),
)
def test_what_is_left_are_the_youngest_that_fit(files: list[tuple[int, int]], max_bytes: int, max_age: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for size, age in files:
            put(Path(folder), f"tool{age % 4}/{age}.png", size, age)
        pruned = prune(Path(folder), max_age=max_age, max_bytes=max_bytes)
        expected: list[tuple[int, int]] = sorted(
            (file for file in files if file[1] <= max_age), key=lambda file: file[1]
        )
        while max_bytes and sum(size for size, _ in expected) > max_bytes:
            expected.pop()
        assert left(Path(folder)) == {f"tool{age % 4}/{age}.png" for _, age in expected}
        assert pruned.kept_files == len(expected)
        assert pruned.kept_bytes == sum(size for size, _ in expected)
        assert pruned.removed_files == len(files) - len(expected)
        assert pruned.removed_bytes + pruned.kept_bytes == sum(size for size, _ in files)


def test_foreign_files_are_left_alone(tmp_path: Path) -> None:
    store = tmp_path / "files"
    outside = put(tmp_path, "outside/0123.png", 100, 10**7)
    for name in ("README.txt", "qr/Notes.TXT", "qr/deep/0123.png", ".hidden/0123.png"):
        put(store, name, 100, 10**7)
    (store / "link").symlink_to(outside.parent)
    (store / "qr" / "link.png").symlink_to(outside)
    before = left(store)
    assert prune(store, max_bytes=1) == PruneResult(0, 0, 0, 0)
    assert left(store) == before
    assert outside.exists()


def test_leftovers_of_a_crash_are_removed_but_not_files_being_written(tmp_path: Path) -> None:
    (tmp_path / ".tmp").mkdir()
    now = time.time()
    for name, age in (("stray", 3700), ("fresh", 10)):
        path = tmp_path / ".tmp" / name
        path.write_bytes(b"half")
        os.utime(path, (now - age, now - age))
    prune(tmp_path)
    assert left(tmp_path) == {".tmp/fresh"}


def test_a_file_rewritten_since_it_was_listed_stays(tmp_path: Path) -> None:
    (tmp_path / ".tmp").mkdir()
    path = put(tmp_path, "qr/0123.png", 3, 10**7)
    old_stat = path.stat()
    assert not _remove(str(put(tmp_path, "qr/0123.png", 5, 0)), old_stat, str(tmp_path / ".tmp"))
    assert path.read_bytes() == b"xxxxx"
    assert _remove(str(path), path.stat(), str(tmp_path / ".tmp"))
    assert not _remove(str(path), old_stat, str(tmp_path / ".tmp"))
    assert left(tmp_path) == set()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[LocalFileStore]:
    store = LocalFileStore(tmp_path / "files", UrlSigner(b"0123456789abcdef"), "")
    await store.open()
    yield store
    await store.close()


async def test_the_event_loop_runs_on_while_a_large_folder_is_pruned(store: LocalFileStore) -> None:
    for number in range(1500):
        put(store.folder, f"qr/{number}.png", 1, 10**8)
    pruning = asyncio.create_task(store.prune(older_than=datetime.now(UTC), max_bytes=0))
    rounds = 0
    while not pruning.done():
        await asyncio.sleep(0)
        rounds += 1
    assert pruning.result().removed_files == 1500
    assert rounds > 10


async def test_a_file_that_is_rewritten_while_old_ones_are_pruned_is_never_lost(store: LocalFileStore) -> None:
    keys = [f"qr/{number}.png" for number in range(40)]
    long_ago = time.time() - 10**6

    def age_all() -> None:
        for key in keys:
            path = store.path_of(key)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"old")
            os.utime(path, (long_ago, long_ago))

    for number in range(30):
        age_all()
        started = threading.Barrier(3)

        def prune_now(started: threading.Barrier = started) -> PruneResult:
            started.wait()
            limit = (datetime.now(UTC) - timedelta(hours=3)).timestamp()
            return prune_folder(
                str(store.folder), str(store.folder / ".tmp"), older_than_ns=round(limit * 1e9), max_bytes=0
            )

        def rewrite(content: bytes = b"new %d" % number, started: threading.Barrier = started) -> None:
            started.wait()
            for key in keys:
                store._write(key, content)

        await asyncio.gather(asyncio.to_thread(prune_now), asyncio.to_thread(prune_now), asyncio.to_thread(rewrite))
        for key in keys:
            assert await store.read(key) == b"new %d" % number
    assert list((store.folder / ".tmp").iterdir()) == []
