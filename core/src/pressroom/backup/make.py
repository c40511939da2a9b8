"""Make a backup while the server runs."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pressroom.backup import databases as postgresql
from pressroom.backup import databases as sqlite
from pressroom.backup.archive import (
    DATA,
    POSTGRESQL,
    SQLITE,
    Advance,
    ArchiveWriter,
    Manifest,
    disk_failures,
    fingerprint,
    is_member_name,
)
from pressroom.backup.databases import DatabaseFacts
from pressroom.config import Settings
from pressroom.errors import BackendError
from pressroom.storage.database import SqlDatabase
from pressroom.storage.files.signing import FILE_NAME as SECRET_FILE
from pressroom.storage.files.signing import signing_secret
from pressroom.version import VERSION

_FOLDERS: Final = ("plugins", "files")


@dataclass(frozen=True, slots=True)
class CompletedBackup:
    """A completed backup."""

    path: Path
    size: int
    manifest: Manifest
    skipped: tuple[str, ...]
    """Files of the data folder that were left out: links, and files whose names the server never uses."""


def make_backup(
    settings: Settings, destination: Path, *, force: bool = False, with_files: bool = True, advance: Advance
) -> CompletedBackup:
    """Write a backup to a new file, or to a file named after the date in a folder. It appears complete, or not at all.

    Args:
        settings: the server's settings.
        destination: a path that does not exist, or a folder.
        force: whether an existing file can be replaced.
        with_files: whether to include the stored files of the data folder.
        advance: called with the number of bytes processed since the last call.

    Raises `BackendError`.
    """
    now = datetime.now(UTC)
    with disk_failures("the backup was not made", destination):
        target = destination / f"pressroom-{now:%Y%m%dT%H%M%SZ}.tar" if destination.is_dir() else destination
        _check_target(settings, target, force=force)
    with disk_failures("the backup was not made", target.parent):
        work_folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent))
        try:
            partial = work_folder / "archive.tar"
            with os.fdopen(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
                writer = ArchiveWriter(file, advance)
                manifest, skipped = _fill(settings, writer, work_folder, now, with_files=with_files, advance=advance)
                file.flush()
                os.fsync(file.fileno())
                size = file.tell()
            _publish(partial, target, force=force)
        finally:
            shutil.rmtree(work_folder, ignore_errors=True)
    return CompletedBackup(target, size, manifest, tuple(skipped))


def _check_target(settings: Settings, target: Path, *, force: bool) -> None:
    if not target.parent.is_dir():
        raise BackendError(f"the folder {target.parent} does not exist", hint="Create it, or name another destination.")
    folder = target.parent.resolve()
    for name in _FOLDERS:
        if folder.is_relative_to((settings.storage.path / name).resolve()):
            raise BackendError(
                f"{target} is in a folder that is part of the backup",
                hint="Name a destination outside of the data folder.",
            )
    if not target.exists():
        return
    if not target.is_file():
        raise BackendError(f"{target} is not a file", hint="Name a new file, or a folder.")
    if target.resolve() in _single_files(settings):
        raise BackendError(f"{target} is a part of the server's data", hint="Name another destination.")
    if not force:
        raise _exists(target)


def _single_files(settings: Settings) -> list[Path]:
    """Return the paths of the secret key and of the SQLite database."""
    files = [settings.storage.path / SECRET_FILE]
    database = SqlDatabase(settings)
    if database.dialect == "sqlite":
        files += [Path(f"{database.url.database}{suffix}") for suffix in ("", "-wal", "-shm")]
    return [file.resolve() for file in files]


def _exists(target: Path) -> BackendError:
    return BackendError(f"{target} exists", hint="Name another destination, or replace it with --force.")


def _publish(partial: Path, target: Path, *, force: bool) -> None:
    if force:
        partial.replace(target)
    else:
        try:
            # Unlike a rename, a link never replaces a file that was created in the meantime.
            target.hardlink_to(partial)
        except FileExistsError:
            raise _exists(target) from None
    descriptor = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _fill(
    settings: Settings, writer: ArchiveWriter, work_folder: Path, now: datetime, *, with_files: bool, advance: Advance
) -> tuple[Manifest, list[str]]:
    database = SqlDatabase(settings)
    # First, so that every file that the database refers to exists when the files are added.
    if database.dialect == "sqlite":
        facts = _copy_sqlite(settings, database, work_folder / "database", advance)
        writer.add(SQLITE, work_folder / "database")
    else:
        facts = postgresql.dump(settings, work_folder / "database")
        writer.add(POSTGRESQL, work_folder / "database")
    (work_folder / "database").unlink()
    local = settings.storage.files == "local"
    skipped = []
    for name, path in _data_files(settings.storage.path, with_files=with_files and local):
        if path.is_symlink() or not is_member_name(name):
            skipped.append(str(path))
        else:
            writer.add(name, path)
    manifest = Manifest(
        version=VERSION,
        created_at=now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        database=database.dialect,
        database_version=facts.version,
        database_schema=facts.schema,
        revisions=facts.revisions,
        tables=facts.tables,
        with_files=with_files and local,
        secret_key=_fingerprint(settings),
        not_included=list(_not_included(settings, with_files=with_files)),
        files=writer.files,
    )
    writer.close(manifest)
    return manifest, skipped


def _copy_sqlite(settings: Settings, database: SqlDatabase, target: Path, advance: Advance) -> DatabaseFacts:
    if database.missing:
        raise BackendError(
            f"there is no database in {settings.storage.path}",
            hint="Check [storage] path: it must be that of the server. A server creates it when it first starts.",
        )
    sqlite.copy_database(Path(str(database.url.database)), target, advance)
    return DatabaseFacts(0, "", sqlite.tables_of(target), sqlite.revisions_of(target))


def _data_files(folder: Path, *, with_files: bool) -> Iterator[tuple[str, Path]]:
    """Yield the files of the data folder, each with its name in the archive."""
    if (folder / SECRET_FILE).exists():
        yield DATA + SECRET_FILE, folder / SECRET_FILE
    for top in _FOLDERS if with_files else _FOLDERS[:1]:
        for path in sorted((folder / top).rglob("*")):
            parts = path.relative_to(folder).parts
            # Names that begin with a dot are files being written.
            if (path.is_symlink() or path.is_file()) and not any(part.startswith(".") for part in parts):
                yield DATA + "/".join(parts), path


def _fingerprint(settings: Settings) -> str:
    if settings.secret_key is None and not (settings.storage.path / SECRET_FILE).exists():
        return ""
    return fingerprint(signing_secret(settings))


def _not_included(settings: Settings, *, with_files: bool) -> Iterator[str]:
    yield "The configuration: the file, and the environment variables with their secrets."
    if settings.secret_key is not None:
        yield "secret_key, which comes from the configuration."
    storage = settings.storage
    if storage.files_backend == "s3":
        yield f"The files in {storage.files}: version the bucket, or copy it with its service's tools."
    elif storage.files != "local":
        yield f"The files of the backend {storage.files}."
    elif not with_files:
        yield "The stored files, left out by --no-files."
