"""What sites need of a repository, and the files that are checked out beside it."""

from __future__ import annotations

import os
import posixpath
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final, Protocol

import structlog
from dulwich.index import index_entry_from_stat
from dulwich.objects import Blob
from dulwich.repo import Repo
from pressroom_content.contract import RemoteChanged, SiteRefused

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


MAX_FILE_BYTES: Final = 12_000_000
"""Bytes of a file that is read or written at most."""


@dataclass(frozen=True, slots=True)
class Authorship:
    """Who makes commits, as `Name <e-mail address>`, and whether they sign them off."""

    author: str
    sign_off: bool = False

    def message(self, subject: str) -> bytes:
        """Return the message of a commit."""
        end = f"\nSigned-off-by: {self.author}\n" if self.sign_off else ""
        return f"{' '.join(subject.split())}\n{end}".encode(errors="replace")


@dataclass(frozen=True, slots=True)
class File:
    """A file on the branch; `sha` is that of its blob."""

    content: bytes
    sha: str


class Repository(Protocol):
    """One branch of a repository. Paths are relative, with slashes. Every change is one commit.

    All raise `SiteUnavailable`, `SiteRejected` and `SiteRefused`; those that change something `UnknownOutcome` besides.
    """

    async def check(self) -> str:
        """Return what it is called, in words. Raises what prevents writing, as far as it can be seen."""

    async def paths(self, folder: str) -> Mapping[str, str]:
        """Return the blobs under a folder by their paths; nothing where there is no such folder."""

    async def read(self, path: str) -> File:
        """Return a file. Raises `SiteGone` where it does not exist."""

    def read_all(self, paths: Sequence[str]) -> AsyncIterator[tuple[str, File]]:
        """Yield files of the newest commit in any order, but for those that are gone or are not files."""

    async def write(self, path: str, content: bytes, message: str, sha: str) -> str:
        """Commit a file and return its blob. `sha` is the blob that it replaces, empty for a new file.

        Raises `RemoteChanged` where another one is there.
        """

    async def delete(self, path: str, message: str, sha: str) -> None:
        """Commit that a file is gone. Raises `SiteGone` where it is already, `RemoteChanged` where it is another."""


def changed(path: str) -> RemoteChanged:
    """Return what to raise where a file is not the one that was read."""
    return RemoteChanged(f"{path} was changed in the repository since it was last written or read from here")


def common_folder(paths: Sequence[str]) -> str:
    """Return the folder that all paths are in: its files are listed once, not once for each of them."""
    return posixpath.commonpath([posixpath.dirname(path) for path in paths])
