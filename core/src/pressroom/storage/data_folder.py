"""The data folder: only the server's user can enter it, and a crash never leaves it half restored.

A restore prepares everything in `.restore` in the data folder. Once `.restore/ready` exists, the new data is valid:
only renames remain, which the next process to open the database completes.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from pressroom.errors import BackendError

PRIVATE: Final = 0o700

_OTHERS: Final = stat.S_IROTH | stat.S_IWOTH | stat.S_IXOTH


def make_private_folder(folder: str | Path) -> None:
    """Create a folder that only its owner can enter, if absent. Its parents get the default mode.

    Raises:
        OSError: it cannot be created, or is not a folder.
    """
    Path(folder).mkdir(mode=PRIVATE, parents=True, exist_ok=True)


def close_to_others(folder: str | Path) -> None:
    """Restrict a folder of the server to its owner (mode 0700) if every user of the machine has access to it.

    Raises `OSError` if the folder cannot be read.
    """
    if open_to_others(folder):
        # The folder may be on a file system without modes, which cannot protect it anyway.
        with suppress(PermissionError):
            Path(folder).chmod(PRIVATE)


def open_to_others(folder: str | Path) -> bool:
    """Return whether the server's user owns a folder that every user of the machine can read, write or enter."""
    if os.name != "posix":
        return False
    status = Path(folder).stat()
    return status.st_uid == os.geteuid() and bool(status.st_mode & _OTHERS)


def changeable_by_others(folder: str | Path) -> bool:
    """Return whether a user other than root and this one can add files to a folder or remove them.

    For root, the owner is ignored: root works in folders that belong to the users that servers run as.
    """
    if os.name != "posix":
        return False
    status, user = Path(folder).stat(), os.geteuid()
    return bool(status.st_mode & stat.S_IWOTH) or (user != 0 and status.st_uid not in (0, user))


WORK: Final = ".restore"

_NEW: Final = "new"
_OLD: Final = "old"
_READY: Final = "ready"
_DATABASE: Final = "database"

_SQLITE: Final = "pressroom.sqlite"
_LOGS: Final = ("pressroom.sqlite-wal", "pressroom.sqlite-shm")
_ENTRIES: Final = (_SQLITE, "secret.key", "plugins", "files")


def finish_restore(folder: Path) -> None:
    """Finish a restore that was interrupted after its data had become valid.

    Usually there is nothing to do.

    Raises `BackendError` if a restore was interrupted while it changed a database on a server.
    """
    work = folder / WORK
    try:
        if not work.is_dir():
            return
    except OSError:
        return  # opening the folder will raise an error with the reason
    if (work / _READY).exists():
        with restore_lock(folder, wait=True):
            finish_prepared(folder)
    elif (work / _DATABASE).exists():
        raise BackendError(
            "a restore was interrupted: the database may be the restored one, the data folder is not",
            hint="Run `pressroom restore` again with the same backup and --force.",
        )


def finish_prepared(folder: Path) -> None:
    """Move the data of a committed but interrupted restore into place. The caller holds the `restore_lock`."""
    if (folder / WORK / _READY).exists():
        _apply(folder)


class PreparedRestore:
    """The folder where a restore prepares the new data."""

    def __init__(self, folder: Path) -> None:
        self._work = folder / WORK
        self.new = self._work / _NEW
        self._unfinished = False

    def begin(self) -> None:
        """Start with an empty folder, removing what an interrupted restore left there."""
        self._unfinished = (self._work / _DATABASE).exists()
        shutil.rmtree(self.new, ignore_errors=True)
        self.new.mkdir(mode=0o700, parents=True)

    def abandon(self) -> None:
        """Discard the prepared data; nothing was changed. The marker of an interrupted restore stays."""
        shutil.rmtree(self.new if self._unfinished else self._work, ignore_errors=True)

    def database_begins(self) -> None:
        """Record that the database on a server is about to change."""
        _touch(self._work / _DATABASE)

    def commit(self) -> None:
        """Mark the new data as valid. `finish_prepared` moves it into place."""
        for parent, _, _ in os.walk(self.new):
            _sync(Path(parent))
        _touch(self._work / _READY)


@contextmanager
def restore_lock(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """Lock out other restores of a data folder. Raises `BackendError` if one is running and `wait` is not set."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise BackendError(f"another restore into {folder} is under way", hint="Wait until it is done.") from None
        yield
    finally:
        os.close(descriptor)


def _apply(folder: Path) -> None:
    """Move the prepared data into place. Safe to repeat: each step may have been done before."""
    work = folder / WORK
    new, old = work / _NEW, work / _OLD
    if (new / _SQLITE).exists():
        old.mkdir(mode=0o700, exist_ok=True)
        for name in _LOGS:
            # They belong to the old database; SQLite would apply them to the new one.
            if (folder / name).exists():
                (folder / name).rename(old / name)
    for name in _ENTRIES:
        if (new / name).exists():
            old.mkdir(mode=0o700, exist_ok=True)
            if (folder / name).exists():
                (folder / name).rename(old / name)
            (new / name).rename(folder / name)
    _sync(folder)
    # First: without the other marker, it would tell of an interrupted restore.
    (work / _DATABASE).unlink(missing_ok=True)
    shutil.rmtree(work, ignore_errors=True)


def _touch(path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    _sync(path.parent)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
