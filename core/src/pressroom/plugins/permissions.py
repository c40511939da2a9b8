"""Check whether other users of the machine can change a file that the server relies on."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path


def changeable(paths: Iterable[Path], *, above: Path) -> Iterator[Path]:
    """Yield the given paths, and the parent folders of `above`, that users other than root and the server can change.

    Unreadable paths are left out, as are sticky parent folders such as `/tmp`, in which users cannot replace each
    other's files. Yields nothing on systems other than POSIX.
    """
    if os.name != "posix":
        return
    for path in paths:
        if _is_changeable(path):
            yield path
    for path in above.absolute().parents:
        if _is_changeable(path, shared=True):
            yield path


def _is_changeable(path: Path, *, shared: bool = False) -> bool:
    try:
        status = path.stat()
    except OSError:
        return False
    if shared and status.st_mode & stat.S_ISVTX:
        return False
    if status.st_mode & stat.S_IWOTH or status.st_uid not in (0, os.geteuid()):
        return True
    return bool(status.st_mode & stat.S_IWGRP) and _has_other_members(status.st_gid, os.geteuid())


@lru_cache(maxsize=64)
def _has_other_members(group: int, server: int) -> bool:
    """Check whether a group has members besides root and the server's user. Most users have a private group."""
    import grp  # noqa: PLC0415 - not on Windows
    import pwd  # noqa: PLC0415

    trusted = (0, server)
    # Some systems give group 0 to accounts that nobody signs in to, such as `sync`.
    if group != 0 and any(entry.pw_gid == group and entry.pw_uid not in trusted for entry in pwd.getpwall()):
        return True
    try:
        members = grp.getgrgid(group).gr_mem
    except KeyError:
        return True  # a group that this machine does not know
    names = {entry.pw_name for entry in pwd.getpwall() if entry.pw_uid in trusted}
    return not names.issuperset(members)
