"""Folders that only the server's user may enter: they hold secrets, and files that a signed URL protects elsewhere."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

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
