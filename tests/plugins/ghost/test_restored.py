"""A real Ghost restored from a backup while articles are being published on it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from support.ghost import Ghost
from support.restored_backup import TITLES, Restorable, keeps_what_is_theirs
from support.taking_over import taking_over

from .test_improving import TheirGhost

pytestmark = pytest.mark.timeout(3600)  # the first test on a machine installs Ghost


def test_what_the_backup_lacks_is_created_once_and_what_is_outdated_there_is_reported(
    blog: Ghost, tmp_path: Path
) -> None:
    theirs = TheirGhost(blog)

    def back_up() -> Callable[[], None]:
        _copied(blog.folder / "data" / "ghost.db", tmp_path / "backup.db")
        return lambda: _copied(tmp_path / "backup.db", blog.folder / "data" / "ghost.db")

    def bodies() -> dict[str, str]:
        rows = theirs.owner.send("GET", "/posts/?limit=100&formats=lexical")["posts"]
        ours = [row for row in rows if row["title"] in TITLES]
        assert len({row["title"] for row in ours}) == len(ours)
        return {row["title"]: row["lexical"] for row in ours}

    credential = {"admin_api_key": blog.admin_key}
    with taking_over(tmp_path, "ghost", theirs, credential, blog.url) as over:
        keeps_what_is_theirs(Restorable(over, back_up, bodies))


def _copied(source: Path, target: Path) -> None:
    """Copy a database, even over one that a process has open."""
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target, timeout=30)) as new:
        old.backup(new)
