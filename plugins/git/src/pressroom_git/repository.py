"""The interface of repositories, and the working tree of a local one."""

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
from pressroom_content.contract import RemoteChanged, SiteGone, SiteRefused

log = structlog.get_logger()

NEW_FILE: Final = 0o100644
"""Mode of a file that the repository does not have yet."""


class Worktree:
    """The working tree of a repository."""

    def __init__(self, repo: Repo, root: Path) -> None:
        self._repo = repo
        self._root = root.resolve()

    def must_be_clean(self, path: str, sha: str) -> None:
        """Raise `SiteRefused` if a file has uncommitted changes or is behind a symbolic link."""
        file = self._root / path
        if file.is_symlink() or not file.parent.resolve().is_relative_to(self._root):
            raise SiteRefused(f"{path} is behind a link in the repository's folder; nothing was committed")
        file_sha = Blob.from_string(file.read_bytes()).id.decode() if file.exists() else ""
        index = self._repo.open_index()
        staged = getattr(index[path.encode()], "sha", b"").decode() if path.encode() in index else ""
        if file_sha != sha or staged != sha:
            raise SiteRefused(
                f"{path} has changes in the repository's folder that are not committed; nothing was written over",
                hint="Commit or discard them there, then publish again.",
            )

    def take(self, path: str, blob: Blob | None) -> None:
        """Check out a file. Errors are only logged, since the commit already exists."""
        file, index = self._root / path, self._repo.open_index()
        try:
            if blob is None:
                file.unlink(missing_ok=True)
                with suppress(KeyError):
                    del index[path.encode()]
            else:
                mode = getattr(index[path.encode()], "mode", NEW_FILE) if path.encode() in index else NEW_FILE
                _put(file, blob.data, mode & 0o777)
                index[path.encode()] = index_entry_from_stat(file.stat(), blob.id, mode)
            index.write()
        except Exception as error:  # noqa: BLE001 - such as a lock, a full disk, permissions
            log.warning("a commit could not be checked out", path=path, kind=type(error).__name__)


def _put(file: Path, content: bytes, permissions: int) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=file.parent, prefix=".", delete=False) as temporary:
        pass
    try:
        Path(temporary.name).write_bytes(content)
        Path(temporary.name).chmod(permissions)
        os.replace(temporary.name, file)  # noqa: PTH105 - atomic, so a concurrent build sees the old or the new file
    except OSError:
        Path(temporary.name).unlink(missing_ok=True)
        raise


MAX_FILE_BYTES: Final = 12_000_000
"""Maximum size of a file to read or write, in bytes."""


@dataclass(frozen=True, slots=True)
class Authorship:
    """The author of commits, as `Name <e-mail address>`, and whether to add a sign-off."""

    author: str
    sign_off: bool = False

    def message(self, subject: str) -> bytes:
        """Return a commit message with the subject and, if enabled, a sign-off."""
        end = f"\nSigned-off-by: {self.author}\n" if self.sign_off else ""
        return f"{' '.join(subject.split())}\n{end}".encode(errors="replace")


@dataclass(frozen=True, slots=True)
class File:
    """A file on the branch; `sha` is the name of its blob."""

    content: bytes
    sha: str


class Repository(Protocol):
    """One branch of a repository. Paths are relative, with slashes. Every change is one commit.

    All methods raise `SiteUnavailable`, `SiteRejected` and `SiteRefused`; `write` and `delete` also `UnknownOutcome`.
    """

    async def check(self) -> str:
        """Return a display name. Raises an error if writing is impossible, as far as that can be checked."""

    async def paths(self, folder: str) -> Mapping[str, str]:
        """Return the blobs under a folder by path; empty if there is no such folder."""

    async def read(self, path: str) -> File:
        """Return a file. Raises `SiteGone` if it does not exist."""

    def read_all(self, paths: Sequence[str]) -> AsyncIterator[tuple[str, File]]:
        """Yield files of the newest commit in any order, skipping missing ones and those that are not regular files."""

    async def write(self, path: str, content: bytes, message: str, sha: str) -> str:
        """Commit a file and return its blob. `sha` is the blob that it replaces, empty for a new file.

        Raises `SiteGone` if the file to replace is missing, `RemoteChanged` if the branch has another blob.
        """

    async def delete(self, path: str, message: str, sha: str) -> None:
        """Commit the deletion of a file. Raises `SiteGone` if it is missing, `RemoteChanged` if it has another blob."""


def gone(path: str) -> SiteGone:
    """Return the error for a file that is missing."""
    return SiteGone(f"{path} is no longer in the repository")


def changed(path: str) -> RemoteChanged:
    """Return the error for a file that changed since it was read."""
    return RemoteChanged(f"{path} was changed in the repository since it was last written or read from here")


def common_folder(paths: Sequence[str]) -> str:
    """Return the common parent folder of paths, so that its files are listed only once."""
    return posixpath.commonpath([posixpath.dirname(path) for path in paths])
