"""What goes wrong on the disk while a backup is made or restored, in words."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pressroom.errors import BackendError

_NO_SPACE: Final = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def disk_failures(doing: str, place: Path) -> Iterator[None]:
    """Raise what the disk or SQLite refuses inside as `BackendError`. `doing` says what failed, `place` where."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_SPACE:
            raise _full(doing, place) from error
        raise BackendError(
            f"{doing}: {error.filename or place}: {error.strerror or error}",
            hint="Check that the path exists, and run the command as the user that runs the server.",
        ) from error
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL:
            raise _full(doing, place) from error
        raise BackendError(f"{doing}: SQLite says: {error}", hint="Check the disk and the database file.") from error


def _full(doing: str, place: Path) -> BackendError:
    return BackendError(f"{doing}: the disk of {place} is full", hint="Free some space there, and try again.")
