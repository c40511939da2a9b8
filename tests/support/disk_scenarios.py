"""Behaviour of files, database and test downloads on a full or read-only disk; run by `support.disks`."""

import asyncio
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from pressroom.backup import make_backup, restore_backup
from pressroom.errors import BackendError, FileMissing
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import HOST_MODELS, SetupLinkRow
from pressroom.storage.files import LocalFileStore, UrlSigner
from pressroom.testing.running import settings_for_test
from sqlalchemy import select

from support import downloads
from support.databases import migrated


def _store(disk: Path) -> LocalFileStore:
    return LocalFileStore(disk / "files", UrlSigner(b"0123456789abcdef"), "https://example.org")


def _files(disk: Path) -> set[str]:
    return {str(path.relative_to(disk / "files")) for path in (disk / "files").rglob("*") if path.is_file()}


def _fill(disk: Path) -> None:
    with (disk / "filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(b"f" * 4096)


async def full_disk(disk: Path) -> None:
    store = _store(disk)
    await store.open()
    await store.write("qr/small.png", b"s" * 1000, media_type="image/png")
    for key in ("qr/large.png", "qr/small.png"):
        with pytest.raises(BackendError) as raised:
            await store.write(key, b"l" * 1_000_000, media_type="image/png")
        assert str(disk / "files") in raised.value.message
        assert "full" in raised.value.message
        assert "max_total_bytes" in raised.value.hint
    assert _files(disk) == {"qr/small.png"}
    assert await store.read("qr/small.png") == b"s" * 1000
    with pytest.raises(FileMissing):
        await store.read("qr/large.png")
    await store.write("qr/next.png", b"n" * 1000, media_type="image/png")
    assert await store.read("qr/next.png") == b"n" * 1000
    await store.close()


async def start_on_full_disk(disk: Path) -> None:
    store = _store(disk)
    await store.open()
    await store.write("qr/old.png", b"o" * 50_000, media_type="image/png")
    await store.close()
    with pytest.raises(OSError, match="No space"):
        _fill(disk)
    store = _store(disk)
    await store.open()
    assert await store.read("qr/old.png") == b"o" * 50_000
    with pytest.raises(BackendError, match="full"):
        await store.write("qr/new.png", b"n" * 50_000, media_type="image/png")
    pruned = await store.prune(older_than=datetime.now(UTC), max_bytes=0)
    assert (pruned.removed_files, pruned.removed_bytes) == (1, 50_000)
    await store.write("qr/new.png", b"n" * 50_000, media_type="image/png")
    await store.close()


async def read_only_disk(disk: Path) -> None:
    store = _store(disk)
    await store.open()
    await store.write("qr/old.png", b"old", media_type="image/png")
    remount = await asyncio.create_subprocess_exec("mount", "-o", "remount,ro", str(disk))
    assert await remount.wait() == 0
    for attempt in (
        store.write("qr/new.png", b"new", media_type="image/png"),
        store.delete("qr/old.png"),
        store.prune(older_than=datetime.now(UTC), max_bytes=0),
        _store(disk).open(),
    ):
        with pytest.raises(BackendError) as raised:
            await attempt
        assert f"{disk / 'files'} cannot be written: Read-only file system" in raised.value.message
        assert "[storage] path" in raised.value.hint
    assert await store.read("qr/old.png") == b"old"
    assert await store.has("qr/old.png")
    assert not await store.has("qr/new.png")
    await store.close()


async def full_disk_for_the_database(disk: Path) -> None:
    (disk / "ballast").write_bytes(b"b" * 65_536)
    settings = settings_for_test({}, disk)
    async with migrated(settings) as database:
        await _write_link(database, 1)
        with pytest.raises(OSError, match="No space"):
            _fill(disk)
        with pytest.raises(BackendError, match="full") as raised:
            await _write_links(database, range(2, 10_000))
        assert "make room" in raised.value.hint
        async with database.reading() as session:
            before = len((await session.scalars(select(SetupLinkRow))).all())
        (disk / "ballast").unlink()
        await _write_link(database, 10_000)
        async with database.reading() as session:
            assert len((await session.scalars(select(SetupLinkRow))).all()) == before + 1


async def start_on_full_disk_with_a_database(disk: Path) -> None:
    with pytest.raises(OSError, match="No space"):
        _fill(disk)
    with pytest.raises(BackendError) as raised:
        async with migrated(settings_for_test({}, disk)):
            pass
    assert "make room" in raised.value.hint


async def backup_on_full_disk(disk: Path) -> None:
    settings = settings_for_test({}, disk / "data")
    async with migrated(settings) as database:
        await _write_link(database, 1)
    (disk / "data" / "secret.key").write_text("5a" * 32)
    (disk / "backups").mkdir()
    with pytest.raises(OSError, match="No space"):
        _fill(disk)
    os.truncate(disk / "filler", (disk / "filler").stat().st_size - 300_000)
    with pytest.raises(BackendError) as raised:
        await asyncio.to_thread(make_backup, settings, disk / "backups", advance=lambda _: None)
    assert f"the disk of {disk / 'backups'} is full" in raised.value.message
    assert list((disk / "backups").iterdir()) == []
    (disk / "filler").unlink()
    await asyncio.to_thread(make_backup, settings, disk / "backups", advance=lambda _: None)
    assert len(list((disk / "backups").iterdir())) == 1


async def restore_on_full_disk(disk: Path) -> None:
    models = [("pressroom", HOST_MODELS)]
    with TemporaryDirectory() as folder:
        source = settings_for_test({}, Path(folder) / "data")
        archive = Path(folder) / "backup.tar"
        async with migrated(source) as database:
            await _write_link(database, 1)
        await asyncio.to_thread(make_backup, source, archive, advance=lambda _: None)
        settings = settings_for_test({}, disk / "data")
        async with migrated(settings):
            pass
        before = (disk / "data" / "pressroom.sqlite").read_bytes()
        with pytest.raises(OSError, match="No space"):
            _fill(disk)

        async def restore() -> None:
            await asyncio.to_thread(restore_backup, settings, models, archive, force=True, advance=lambda _: None)

        with pytest.raises(BackendError) as raised:
            await restore()
        assert f"the disk of {disk / 'data'} is full" in raised.value.message
        assert [path.name for path in (disk / "data").iterdir()] == ["pressroom.sqlite"]
        assert (disk / "data" / "pressroom.sqlite").read_bytes() == before
        (disk / "filler").unlink()
        await restore()
        async with migrated(settings) as database, database.reading() as session:
            assert len((await session.scalars(select(SetupLinkRow))).all()) == 1


async def cache_on_full_disk(disk: Path) -> None:
    installs = [_program_that_fills, _fill]
    for install in installs:
        reason = _reason(disk, install)
        assert "No space left on device" in reason
        assert "free space" in reason
        assert "XDG_CACHE_HOME" in reason
        assert _left(disk) == [".lock"]


async def cache_on_read_only_disk(disk: Path) -> None:
    remount = await asyncio.create_subprocess_exec("mount", "-o", "remount,ro", str(disk))
    assert await remount.wait() == 0
    reason = _reason(disk, _fill)
    assert f"thing cannot be installed in {disk / 'cache'}: Read-only file system" in reason
    assert "XDG_CACHE_HOME" in reason


def _program_that_fills(folder: Path) -> None:
    downloads.run(["cp", "/dev/zero", str(folder / "filler")], environment={**os.environ, "LC_ALL": "C"})


def _reason(disk: Path, install: Callable[[Path], None]) -> str:
    """Return why a test whose dependency cannot be installed is skipped or fails."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(downloads, "CACHE", disk / "cache")
        with pytest.raises((pytest.skip.Exception, pytest.fail.Exception)) as refused:
            downloads.installed("thing", "1", install)
    return str(refused.value)


def _left(disk: Path) -> list[str]:
    return [path.suffix for path in disk.glob("cache/*")]


async def _write_links(database: SqlDatabase, numbers: range) -> None:
    for number in numbers:
        await _write_link(database, number)


async def _write_link(database: SqlDatabase, number: int) -> None:
    now = datetime.now(UTC)
    async with database.writing() as session:
        session.add(SetupLinkRow(token_hash=number.to_bytes(32, "big"), created_at=now, expires_at=now))


if __name__ == "__main__":
    asyncio.run(globals()[sys.argv[1]](Path(sys.argv[2])))
