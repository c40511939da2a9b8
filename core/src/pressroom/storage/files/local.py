"""Files in a local folder."""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Final, NoReturn, TypeVar
from urllib.parse import parse_qsl

from pressroom.errors import BackendError, FileMissing
from pressroom.sdk.backends import PruneResult, StoredFile
from pressroom.storage.data_folder import PRIVATE, close_to_others, make_private_folder
from pressroom.storage.files.pruning import prune_folder, remove_strays
from pressroom.storage.files.signing import MediaTypes, UrlSigner, UrlStatus, check_key, url_path


class RecentKeys:
    """Remembers the most recently added keys, at most `max_keys`, for `seconds` each.

    `clock` returns seconds from a monotonic clock.
    """

    __slots__ = ("_clock", "_expiry", "_max_keys", "_seconds")

    def __init__(self, seconds: float, max_keys: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._max_keys = max_keys
        self._clock = clock
        self._expiry: OrderedDict[str, float] = OrderedDict()

    def add(self, key: str) -> None:
        """Remember `key`, restarting its time."""
        self._expiry[key] = self._clock() + self._seconds
        self._expiry.move_to_end(key)
        if len(self._expiry) > self._max_keys:
            self._expiry.popitem(last=False)

    def discard(self, key: str) -> None:
        """Forget `key`; an unknown one is not an error."""
        self._expiry.pop(key, None)

    def __contains__(self, key: str) -> bool:
        expiry = self._expiry.get(key)
        return expiry is not None and self._clock() < expiry

    def __len__(self) -> int:
        return len(self._expiry)


# ruff: noqa: PTH102, PTH105, PTH108, PTH116, PTH120, PTH123 - making a Path takes as long as the system call on it


INLINE_BYTES: Final = 262_144
"""Files up to this many bytes are read on the event loop: from the page cache, that is faster than a thread switch."""

_THREADS: Final = 4
_NO_SPACE: Final = (errno.ENOSPC, errno.EDQUOT)
_ABSENT: Final = (FileNotFoundError, NotADirectoryError)

T = TypeVar("T")


class LocalFileStore:
    """Stores files in `folder` as `<tool>/<id>.<extension>`, with URLs that point to the server itself.

    A file is written to the folder `.tmp`, flushed to disk, and renamed, so that a path never refers to an incomplete
    file, even after a crash. Several processes can share one folder.

    `base_url` is the server's public URL without a trailing slash.
    """

    def __init__(self, folder: Path, signer: UrlSigner, base_url: str) -> None:
        self.folder = folder
        self.signer = signer
        self.media_types = MediaTypes()
        self._root = os.fspath(folder)
        self._temporary = f"{self._root}/.tmp"
        self._base_url = base_url
        self._threads: ThreadPoolExecutor | None = None
        self._path = lru_cache(maxsize=4096)(self._checked_path)

    async def open(self) -> None:
        """Create the folder and check that it is writable.

        Raises:
            BackendError: it is not. A full disk is not an error: files can still be read, and pruning frees space.
        """
        self._threads = self._threads or ThreadPoolExecutor(_THREADS, thread_name_prefix="pressroom-files")
        await self._in_thread(self._prepare)

    async def close(self) -> None:
        """Wait for pending writes, and end the threads."""
        threads, self._threads = self._threads, None
        if threads is not None:
            await asyncio.to_thread(threads.shutdown)

    async def write(self, key: str, content: bytes, *, media_type: str) -> None:
        """Store a complete file or none, replacing one with the same key.

        Raises:
            BackendError: the disk is full, or the folder cannot be written.
            ValueError: `key` is not a key, or its extension does not match `media_type`.
        """
        self.media_types.check(check_key(key), media_type)
        await self._in_thread(self._write, key, content)

    async def read(self, key: str) -> bytes:
        """Return a file's bytes.

        Raises:
            FileMissing: the file does not exist.
            BackendError: it cannot be read.
        """
        path = self._path(key)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                size = os.fstat(descriptor).st_size
                if size <= INLINE_BYTES:
                    return os.read(descriptor, size)
            finally:
                os.close(descriptor)
            return await self._run(_read_all, path)
        except OSError as error:
            self._fail_reading(key, error)

    async def read_range(self, key: str, start: int, end: int) -> bytes:
        """Return the bytes from `start` up to, but not including, `end`; fewer if the file is shorter.

        Raises:
            FileMissing: the file does not exist.
            BackendError: it cannot be read.
            ValueError: `start` or `end` is out of range.
        """
        path = self._path(key)
        if not 0 <= start <= end:
            raise ValueError(f"a range must have 0 <= start <= end (got {start} and {end})")
        try:
            if end - start <= INLINE_BYTES:
                return _read_range(path, start, end)
            return await self._run(_read_range, path, start, end)
        except OSError as error:
            self._fail_reading(key, error)

    async def stat(self, key: str) -> StoredFile:
        """Return a file's metadata.

        Raises:
            FileMissing: the file does not exist.
            BackendError: the folder cannot be read.
        """
        path = self._path(key)
        try:
            status = os.stat(path)
        except OSError as error:
            self._fail_reading(key, error)
        return StoredFile(key, status.st_size, self.media_types.of(key), datetime.fromtimestamp(status.st_mtime, UTC))

    async def has(self, key: str) -> bool:
        """Return whether the file exists, with one system call. False if the folder cannot be read."""
        return os.access(self._path(key), os.F_OK)

    async def url(self, key: str, *, expires: datetime) -> str:
        """Return a signed URL of this server, valid until `expires` (UTC, whole seconds)."""
        path = url_path(check_key(key))
        return f"{self._base_url}{path}?{self.signer.sign(path, int(expires.timestamp()))}"

    def key_of(self, url: str) -> str | None:
        """Return the key of the file behind a valid signed URL of this store, or `None` for any other URL."""
        url_prefix = f"{self._base_url}{url_path('')}"
        if not url.startswith(url_prefix):
            return None
        path, _, query = url.removeprefix(self._base_url).partition("?")
        parameters = dict(parse_qsl(query))
        signature, expires = parameters.get("signature", ""), parameters.get("expires", "")
        if self.signer.verify(path, expires, signature, time.time()) is not UrlStatus.VALID:
            return None
        return path.removeprefix(url_path(""))

    async def delete(self, key: str) -> None:
        """Remove a file; a missing one is not an error.

        Raises:
            BackendError: the folder cannot be changed.
        """
        await self._in_thread(_unlink, self._path(key))

    async def prune(self, *, older_than: datetime, max_bytes: int) -> PruneResult:
        """Remove files last written before `older_than`, then the oldest until at most `max_bytes` remain.

        A `max_bytes` of 0 means no limit. Runs in a thread, and also removes temporary files left behind by a crash.
        The size limit protects the disk: if necessary, it removes files whose URLs are still valid.

        Raises:
            BackendError: the folder cannot be read or changed.
        """
        return await self._in_thread(self._prune, round(older_than.timestamp() * 1e9), max_bytes)

    def path_of(self, key: str) -> Path:
        """Return the path where the file is, or would be.

        Raises:
            ValueError: `key` is not a key.
        """
        return Path(self._path(key))

    def _checked_path(self, key: str) -> str:
        return f"{self._root}/{check_key(key)}"

    def _prepare(self) -> None:
        make_private_folder(self._root)
        # An existing folder may be open to others. Closing it protects everything inside, whatever its mode.
        close_to_others(self._root)
        make_private_folder(self._temporary)
        remove_strays(self._temporary)
        probe = self._temporary_path()
        try:
            os.close(_create(probe))
            os.unlink(probe)
        except OSError as error:
            if error.errno not in _NO_SPACE:
                raise

    def _write(self, key: str, content: bytes) -> None:
        target = self._path(key)
        temporary = self._temporary_path()
        self._make_folder(self._temporary)
        self._make_folder(os.path.dirname(target))
        try:
            descriptor = _create(temporary)
            try:
                remaining = memoryview(content)
                while remaining:
                    remaining = remaining[os.write(descriptor, remaining) :]
                # Without it, a power failure could leave an incomplete file under the name. Losing the name itself is
                # harmless: the file is rendered again.
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise

    def _prune(self, older_than_ns: int, max_bytes: int) -> PruneResult:
        self._make_folder(self._temporary)
        return prune_folder(self._root, self._temporary, older_than_ns=older_than_ns, max_bytes=max_bytes)

    def _make_folder(self, folder: str) -> None:
        """Create a folder directly below the root, and the root if it was removed."""
        try:
            os.mkdir(folder, PRIVATE)
        except FileExistsError:
            return
        except FileNotFoundError:
            make_private_folder(self._root)
            make_private_folder(folder)

    def _temporary_path(self) -> str:
        return f"{self._temporary}/{secrets.token_hex(8)}"

    async def _run(self, function: Callable[..., T], *args: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *args)

    async def _in_thread(self, function: Callable[..., T], *args: object) -> T:
        try:
            return await self._run(function, *args)
        except OSError as error:
            if error.errno in _NO_SPACE:
                raise BackendError(
                    f"the disk of the folder {self.folder} is full",
                    hint="Free some space, lower [storage] max_total_bytes or retention, or move [storage] path.",
                ) from error
            raise BackendError(
                f"the folder {self.folder} cannot be written: {error.strerror}",
                hint="Make it a writable folder of the user that runs the server, or move [storage] path.",
            ) from error

    def _fail_reading(self, key: str, error: OSError) -> NoReturn:
        if isinstance(error, _ABSENT):
            raise FileMissing(f"there is no file {key}") from None
        raise BackendError(
            f"the file {key} in the folder {self.folder} cannot be read: {error.strerror}",
            hint="Make the folder readable for the user that runs the server, and check the disk.",
        ) from error


def _create(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)


def _read_all(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _read_range(path: str, start: int, end: int) -> bytes:
    with open(path, "rb") as file:
        file.seek(start)
        return file.read(end - start)


def _unlink(path: str) -> None:
    with suppress(*_ABSENT):
        os.unlink(path)
