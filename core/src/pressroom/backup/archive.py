"""The archive of a backup: an uncompressed tar file that only its owner can read, with a manifest at its end."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import re
import sqlite3
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pressroom.errors import BackendError

_NO_SPACE: Final = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def disk_failures(action: str, path: Path) -> Iterator[None]:
    """Raise errors of the disk or of SQLite as `BackendError`. `action` describes what failed, `path` where."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_SPACE:
            raise _full(action, path) from error
        raise BackendError(
            f"{action}: {error.filename or path}: {error.strerror or error}",
            hint="Check that the path exists, and run the command as the user that runs the server.",
        ) from error
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL:
            raise _full(action, path) from error
        raise BackendError(f"{action}: SQLite says: {error}", hint="Check the disk and the database file.") from error


def _full(action: str, path: Path) -> BackendError:
    return BackendError(f"{action}: the disk of {path} is full", hint="Free some space there, and try again.")


FORMAT: Final = 1

MANIFEST: Final = "manifest.json"
SQLITE: Final = "database/pressroom.sqlite"
POSTGRESQL: Final = "database/postgresql.dump"
DATA: Final = "data/"
"""The prefix of names of files in the data folder."""

MAX_MANIFEST_BYTES: Final = 268_435_456

_DATA_NAME: Final = re.compile(r"data/(?:secret\.key|(?:plugins|files)(?:/[^/\x00-\x1f\\\x7f]{1,255}){1,32})")


def is_member_name(name: str) -> bool:
    """Return whether a backup can contain a file of that name. Such a name never leaves the folder it is joined to."""
    if name in (SQLITE, POSTGRESQL):
        return True
    return _DATA_NAME.fullmatch(name) is not None and not {".", ".."}.intersection(name.split("/"))


def fingerprint(secret: bytes) -> str:
    """Return a digest that distinguishes secret keys without revealing them."""
    return hashlib.sha256(b"pressroom backup: secret_key\0" + secret).hexdigest()[:16]


class ArchivedFile(BaseModel):
    """A file in the archive."""

    model_config = ConfigDict(frozen=True, strict=True)

    name: str
    size: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Manifest(BaseModel):
    """The contents of a backup, and the server that it is from."""

    model_config = ConfigDict(frozen=True, strict=True)

    format: Literal[1] = FORMAT
    version: str
    """The version of Pressroom that made the backup."""
    created_at: str
    database: Literal["sqlite", "postgresql"]
    database_version: int
    """PostgreSQL's major version; 0 for SQLite."""
    database_schema: str
    """The PostgreSQL schema of the tables; empty for SQLite."""
    revisions: dict[str, str]
    """The revision of each plugin's tables; `pressroom` is the server's own."""
    tables: list[str]
    with_files: bool
    """Whether the stored files are included."""
    secret_key: str
    """The fingerprint of the server's secret key; empty if it had none yet."""
    not_included: list[str]
    """Data of the server that is not included, as sentences for the operator."""
    files: list[ArchivedFile]


Advance = Callable[[int], None]

_BLOCK: Final = 1_048_576
_REGULAR: Final = (tarfile.REGTYPE, tarfile.AREGTYPE)


class ArchiveWriter:
    """Writes the members of a new archive. `close` adds the manifest."""

    def __init__(self, file: BinaryIO, advance: Advance) -> None:
        self._tar = tarfile.TarFile(fileobj=file, mode="w", format=tarfile.PAX_FORMAT)
        self._advance = advance
        self.files: list[ArchivedFile] = []

    def add(self, name: str, path: Path) -> bool:
        """Add a file in its current state, and return whether it exists. Symbolic links are not followed."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = status.st_size, int(status.st_mtime), 0o600
            reader = _HashingReader(file, self._advance)
            self._tar.addfile(member, reader)
        self.files.append(ArchivedFile(name=name, size=status.st_size, sha256=reader.hexdigest()))
        return True

    def close(self, manifest: Manifest) -> None:
        """Add the manifest and end the archive."""
        content = manifest.model_dump_json(indent=1).encode()
        member = tarfile.TarInfo(MANIFEST)
        member.size, member.mode = len(content), 0o600
        self._tar.addfile(member, io.BytesIO(content))
        self._tar.close()


class _HashingReader(io.RawIOBase):
    """Reads a file for `tarfile`, and hashes the bytes read."""

    def __init__(self, file: BinaryIO, advance: Advance) -> None:
        self._file = file
        self._hash = hashlib.sha256()
        self._advance = advance

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        content = self._file.read(size)
        self._hash.update(content)
        self._advance(len(content))
        return content

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


class Archive:
    """An archive that is open for reading."""

    def __init__(self, path: Path, tar: tarfile.TarFile) -> None:
        self._path = path
        self._tar = tar
        self._members: dict[str, tarfile.TarInfo] = {}
        self.manifest = self._read_manifest()

    def verify(self, advance: Advance) -> None:
        """Read the whole archive. Raises `BackendError` if a file does not match the manifest."""
        for file in self.manifest.files:
            for block in self.blocks(file):
                advance(len(block))

    def blocks(self, file: ArchivedFile) -> Iterator[bytes]:
        """Yield the content of a file in blocks. Raises `BackendError` at its end if it does not match the manifest."""
        digest = hashlib.sha256()
        with _damage(self._path):
            source = self._tar.extractfile(self._members[file.name])
            assert source is not None  # noqa: S101 - only links and folders have no content
            while block := source.read(_BLOCK):
                digest.update(block)
                yield block
        if digest.hexdigest() != file.sha256:
            raise self._damaged(f"the checksum of {file.name} is wrong")

    def copy(self, file: ArchivedFile, target: Path, advance: Advance) -> None:
        """Copy a file to a new path, readable by its owner only, and flush it to disk."""
        _make_folders(target.parent)
        with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as copied:
            for block in self.blocks(file):
                copied.write(block)
                advance(len(block))
            copied.flush()
            os.fsync(copied.fileno())
        modified = self._members[file.name].mtime
        os.utime(target, (modified, modified))

    def _read_manifest(self) -> Manifest:
        with _damage(self._path):
            for member in self._tar:
                self._check(member)
                self._members[member.name] = member
            manifest = self._members.pop(MANIFEST, None)
            if manifest is None:
                raise self._damaged("it has no manifest, so it is not a complete backup of Pressroom")
            if manifest.size > MAX_MANIFEST_BYTES:
                raise self._damaged(f"{MANIFEST} is larger than {MAX_MANIFEST_BYTES} bytes")
            source = self._tar.extractfile(manifest)
            content = source.read() if source is not None else b""
        return self._checked(content)

    def _checked(self, content: bytes) -> Manifest:
        try:
            manifest = Manifest.model_validate_json(content)
        except ValidationError as error:
            if any(detail["loc"] == ("format",) for detail in error.errors()):
                raise BackendError(
                    f"{self._path} has a format that this version does not know (it knows {FORMAT})",
                    hint="Restore it with the version of Pressroom that made it, or with a newer one.",
                ) from error
            raise self._damaged(f"{MANIFEST} cannot be read") from error
        listed = {file.name: file.size for file in manifest.files}
        actual = {name: member.size for name, member in self._members.items()}
        if listed != actual or len(listed) != len(manifest.files):
            differing = sorted(name for name in {*listed, *actual} if listed.get(name) != actual.get(name))
            raise self._damaged(f"{', '.join(differing[:3]) or MANIFEST} is not as {MANIFEST} lists it")
        return manifest

    def _check(self, member: tarfile.TarInfo) -> None:
        is_expected = member.name == MANIFEST or is_member_name(member.name)
        if not is_expected or member.type not in _REGULAR or member.name in self._members:
            raise self._damaged(f"it contains a file that does not belong to a backup: {member.name!r}")

    def _damaged(self, reason: str) -> BackendError:
        return _damaged(self._path, reason)


def _make_folders(folder: Path) -> None:
    """Create a folder and its missing parents, for their owner only."""
    if not folder.is_dir():
        _make_folders(folder.parent)
        folder.mkdir(mode=0o700)


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open an archive, and check its members against its manifest; their content is checked when it is read.

    Raises `BackendError` if it is not a backup, or is damaged.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise BackendError(f"{path} cannot be read: {error.strerror}", hint="Check the path.") from error
    with file:
        with _damage(path):
            tar = tarfile.TarFile(fileobj=file, mode="r")
        with tar:
            yield Archive(path, tar)


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, UnicodeError, ValueError) as error:
        raise _damaged(path, str(error)) from error


def _damaged(path: Path, reason: str) -> BackendError:
    return BackendError(
        f"{path} cannot be restored: {reason}",
        hint="Nothing was changed. Take another copy of the backup, or another backup.",
    )
