"""The data folder: only the server's user may enter it, and a crash never leaves it half restored.

A restore prepares everything in the folder `.restore` of the data folder. From the moment that `.restore/ready` exists
the new data counts: what is left is renaming, which whoever opens the database next finishes.
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
    """Make a folder that nobody else may enter, if absent. Folders above it get the usual mode.

    Raises:
        OSError: it cannot be made, or is not a folder.
    """
    Path(folder).mkdir(mode=PRIVATE, parents=True, exist_ok=True)


def close_to_others(folder: str | Path) -> None:
    """Take away what every user of the machine may do in a folder of the server. What a group may do stays.

    Raises `OSError` where the folder cannot be read.
    """
    if open_to_others(folder):
        # The folder may be on a disk that has no modes: then there is nothing to protect with them.
        with suppress(PermissionError):
            Path(folder).chmod(PRIVATE)


def open_to_others(folder: str | Path) -> bool:
    """Tell whether a folder belongs to the server's user, and every user of the machine may read or enter it."""
    if os.name != "posix":
        return False
    found = Path(folder).stat()
    return found.st_uid == os.geteuid() and bool(found.st_mode & _OTHERS)


def changeable_by_others(folder: str | Path) -> bool:
    """Tell whether a user other than root and this one may put files into a folder, or take them away.

    Root looks at folders of the users that servers run as: whose they are says nothing then.
    """
    if os.name != "posix":
        return False
    found, user = Path(folder).stat(), os.geteuid()
    return bool(found.st_mode & stat.S_IWOTH) or (user != 0 and found.st_uid not in (0, user))


WORK: Final = ".restore"

_NEW: Final = "new"
_OLD: Final = "old"
_READY: Final = "ready"
_DATABASE: Final = "database"

_SQLITE: Final = "pressroom.sqlite"
_LOGS: Final = ("pressroom.sqlite-wal", "pressroom.sqlite-shm")
_ENTRIES: Final = (_SQLITE, "secret.key", "plugins", "files")


def finish_restore(folder: Path) -> None:
    """Finish a restore that was interrupted after its data had become the one that counts.

    Usually there is nothing to do.

    Raises `BackendError` where one was interrupted while it changed the database on a server.
    """
    work = folder / WORK
    try:
        if not work.is_dir():
            return
    except OSError:
        return  # what opens the folder says why it cannot be read
    if (work / _READY).exists():
        with restore_lock(folder, wait=True):
            finish_prepared(folder)
    elif (work / _DATABASE).exists():
        raise BackendError(
            "a restore was interrupted: the database may be the restored one, the data folder is not",
            hint="Run `pressroom restore` again with the same backup and --force.",
        )


def finish_prepared(folder: Path) -> None:
    """Put in place what a killed restore had made the data that counts. The caller holds the `restore_lock`."""
    if (folder / WORK / _READY).exists():
        _apply(folder)


class PreparedRestore:
    """The folder in which a restore prepares the new data."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._work = folder / WORK
        self.new = self._work / _NEW
        self._unfinished = False

    def begin(self) -> None:
        """Begin with an empty folder; what another restore left there, which was killed, goes."""
        self._unfinished = (self._work / _DATABASE).exists()
        shutil.rmtree(self.new, ignore_errors=True)
        self.new.mkdir(mode=0o700, parents=True)

    def abandon(self) -> None:
        """Forget what was prepared: nothing was changed. What a killed restore left undone stays noted."""
        shutil.rmtree(self.new if self._unfinished else self._work, ignore_errors=True)

    def database_begins(self) -> None:
        """Note that the database on a server is about to change."""
        _touch(self._work / _DATABASE)

    def commit(self) -> None:
        """Let the new data count, and put it in place."""
        for parent, _, _ in os.walk(self.new):
            _sync(Path(parent))
        _touch(self._work / _READY)
        _apply(self._folder)


@contextmanager
def restore_lock(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """Keep other restores of a data folder away. Raises `BackendError` where one is under way and `wait` is not set."""
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
    """Put the prepared data in place. Each step may have been done before."""
    work = folder / WORK
    new, old = work / _NEW, work / _OLD
    if (new / _SQLITE).exists():
        old.mkdir(mode=0o700, exist_ok=True)
        for name in _LOGS:
            # They belong to the database that goes; SQLite would apply them to the new one.
            if (folder / name).exists():
                (folder / name).rename(old / name)
    for name in _ENTRIES:
        if (new / name).exists():
            old.mkdir(mode=0o700, exist_ok=True)
            if (folder / name).exists():
                (folder / name).rename(old / name)
            (new / name).rename(folder / name)
    _sync(folder)
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
