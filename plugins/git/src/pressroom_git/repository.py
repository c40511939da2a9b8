"""What sites need of a repository."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from pressroom_content.contract import RemoteChanged

MAX_FILE_BYTES: Final = 12_000_000
"""Bytes of a file that is read or written at most."""


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

    async def write(self, path: str, content: bytes, message: str, sha: str) -> str:
        """Commit a file and return its blob. `sha` is the blob that it replaces, empty for a new file.

        Raises `RemoteChanged` where another one is there.
        """

    async def delete(self, path: str, message: str, sha: str) -> None:
        """Commit that a file is gone. Raises `SiteGone` where it is already, `RemoteChanged` where it is another."""


def changed(path: str) -> RemoteChanged:
    """Return what to raise where a file is not the one that was read."""
    return RemoteChanged(f"{path} was changed in the repository since it was last written or read from here")
