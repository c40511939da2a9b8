"""The files that are checked out beside a repository: a commit to their branch is checked out too."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

import structlog
from dulwich.index import index_entry_from_stat
from dulwich.objects import Blob
from dulwich.repo import Repo
from pressroom_content.contract import SiteRefused

log = structlog.get_logger()


class Worktree:
    """The working tree of a repository."""

    def __init__(self, repo: Repo, root: Path) -> None:
        self._repo = repo
        self._root = root.resolve()

    def must_be_clean(self, path: str, sha: str) -> None:
        """Raise `SiteRefused` where a file is not what was committed last, or is behind a link."""
        file = self._root / path
        if file.is_symlink() or not file.parent.resolve().is_relative_to(self._root):
            raise SiteRefused(f"{path} is behind a link in the repository's folder; nothing was committed")
        there = Blob.from_string(file.read_bytes()).id.decode() if file.exists() else ""
        index = self._repo.open_index()
        staged = getattr(index[path.encode()], "sha", b"").decode() if path.encode() in index else ""
        if there != sha or staged != sha:
            raise SiteRefused(
                f"{path} has changes in the repository's folder that are not committed; nothing was written over",
                hint="Commit or discard them there, then publish again.",
            )

    def take(self, path: str, blob: Blob | None) -> None:
        """Check a file out. What goes wrong is only logged: the commit is made."""
        file, index = self._root / path, self._repo.open_index()
        try:
            if blob is None:
                file.unlink(missing_ok=True)
                with suppress(KeyError):
                    del index[path.encode()]
            else:
                _put(file, blob.data)
                index[path.encode()] = index_entry_from_stat(file.stat(), blob.id)
            index.write()
        except Exception as error:  # noqa: BLE001 - a lock, a disk that is full, permissions
            log.warning("a commit could not be checked out", path=path, kind=type(error).__name__)


def _put(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=file.parent, prefix=".", delete=False) as temporary:
        pass
    try:
        Path(temporary.name).write_bytes(content)
        Path(temporary.name).chmod(0o644)
        os.replace(temporary.name, file)  # noqa: PTH105 - whoever builds meanwhile sees the old file or the new one
    except OSError:
        Path(temporary.name).unlink(missing_ok=True)
        raise
