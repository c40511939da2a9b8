"""Remove old files from the local store's folder.

These functions block. They keep no list of all files, since a busy store holds millions of small ones, and they make a
system call for each file, which lets other threads run.
"""
# ruff: noqa: PTH104, PTH105, PTH108 - making a Path takes as long as the system call on it

from __future__ import annotations

import os
import secrets
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from pressroom.sdk.backends import PruneResult
from pressroom.storage.files.signing import is_key

STRAY_AFTER: Final = 3600.0
"""How old a temporary file must be, in seconds, to be certain that no write is still using it."""

_BUCKET_NS: Final = 60 * 10**9

_FileEntry = tuple[str, os.stat_result]


def prune_folder(folder: str, temporary: str, *, older_than_ns: int, max_bytes: int) -> PruneResult:
    """Remove files last written before `older_than_ns`, then the oldest until at most `max_bytes` are left.

    A file written during this call is kept. Files whose names are not keys are ignored.

    Args:
        folder: the store's folder.
        temporary: its folder for temporary files, on the same file system.
        older_than_ns: Unix time in nanoseconds.
        max_bytes: limit on the total size; 0 means no limit.

    Raises:
        OSError: the folder cannot be read or changed.
    """
    remove_strays(temporary)
    removed_files = removed_bytes = kept_files = kept_bytes = 0
    bytes_by_age: defaultdict[int, int] = defaultdict(int)
    for path, status in _files(folder):
        if status.st_mtime_ns < older_than_ns and _remove(path, status, temporary):
            removed_files += 1
            removed_bytes += status.st_size
        else:
            kept_files += 1
            kept_bytes += status.st_size
            bytes_by_age[status.st_mtime_ns // _BUCKET_NS] += status.st_size
    if max_bytes and kept_bytes > max_bytes:
        for path, status in _oldest(folder, bytes_by_age, kept_bytes - max_bytes):
            if _remove(path, status, temporary):
                removed_files += 1
                removed_bytes += status.st_size
                kept_files -= 1
                kept_bytes -= status.st_size
    return PruneResult(removed_files, removed_bytes, kept_files, kept_bytes)


def remove_strays(temporary: str) -> None:
    """Remove temporary files left behind by a crash.

    Raises:
        OSError: the folder cannot be read or changed.
    """
    limit = time.time() - STRAY_AFTER
    with suppress(FileNotFoundError), os.scandir(temporary) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                if entry.stat(follow_symlinks=False).st_mtime < limit:
                    os.unlink(entry.path)


def _files(folder: str) -> Iterator[_FileEntry]:
    with os.scandir(folder) as tools:
        for tool in tools:
            if not tool.is_dir(follow_symlinks=False):
                continue
            with os.scandir(tool.path) as entries:
                for entry in entries:
                    if is_key(f"{tool.name}/{entry.name}") and entry.is_file(follow_symlinks=False):
                        with suppress(FileNotFoundError):
                            yield entry.path, entry.stat(follow_symlinks=False)


def _oldest(folder: str, bytes_by_age: dict[int, int], excess: int) -> Iterator[_FileEntry]:
    """Yield the oldest files until their sizes add up to `excess` or more."""
    last = 0
    for last in sorted(bytes_by_age):
        if bytes_by_age[last] >= excess:
            break
        excess -= bytes_by_age[last]
    boundary: list[_FileEntry] = []
    for path, status in _files(folder):
        age = status.st_mtime_ns // _BUCKET_NS
        if age < last:
            yield path, status
        elif age == last:
            boundary.append((path, status))
    boundary.sort(key=lambda item: item[1].st_mtime_ns)
    for path, status in boundary:
        if excess <= 0:
            return
        excess -= status.st_size
        yield path, status


def _remove(path: str, status: os.stat_result, temporary: str) -> bool:
    """Remove the given file, but not a newer one that has replaced it."""
    claim = f"{temporary}/{secrets.token_hex(8)}"
    try:
        if not _same(os.lstat(path), status):
            return False
        # Renamed first and checked again: a writer could replace the file between a check and its removal.
        os.rename(path, claim)
    except FileNotFoundError:
        return False
    try:
        if not _same(os.lstat(claim), status):
            os.replace(claim, path)
            return False
        os.unlink(claim)
    except FileNotFoundError:  # another pruning has removed it as a stray temporary file, which is fine
        return True
    return True


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_ino, one.st_mtime_ns) == (other.st_ino, other.st_mtime_ns)
