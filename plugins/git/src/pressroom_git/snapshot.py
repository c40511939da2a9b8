"""The newest commit of a branch on a git server: its trees, which are anybody's. Work on them in a worker process."""

from __future__ import annotations

import stat
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from dulwich.errors import ObjectFormatException
from dulwich.object_store import MemoryObjectStore, commit_tree_changes, tree_lookup_path
from dulwich.objects import Blob, Commit, ObjectID, ShaFile, Tree
from pressroom_content.contract import SiteRefused, SiteUnavailable

from pressroom_git.packs import Objects, write_pack
from pressroom_git.repository import MAX_FILE_BYTES, Authorship, File

_MAX_FILES: Final = 100_000
_MAX_PATH: Final = 1_000
"""Characters of a path: trees inside each other make paths whose sum is the square of their number."""

_MAX_PATHS: Final = 16_000_000
"""Characters of all paths of a folder."""

_MAX_TREES: Final = 8_000_000
"""Bytes of all trees of a commit, without the names in which they are kept."""

_MAX_CONTENTS: Final = 64_000_000
"""Bytes of the files that are read with one request."""

_MODE: Final = 0o100644
_TREE: Final = Tree.type_num
_BROKEN: Final = (ObjectFormatException, KeyError, ValueError, AttributeError, AssertionError, UnicodeDecodeError)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The trees of a commit by their names, as git sends them; `root` is empty for a branch without commits.

    All of its functions raise `SiteUnavailable` for trees that cannot be read, and `SiteRefused`.
    """

    root: str = ""
    trees: Mapping[str, bytes] = field(default_factory=dict)

    def blob(self, path: str) -> str:
        """Return the blob of a file, empty if absent. Links and folders are refused."""
        mode, sha = self._look_up(path)
        if sha and not stat.S_ISREG(mode):
            raise SiteRefused(f"{path} is not a file in the repository")
        return sha

    def paths(self, folder: str) -> Mapping[str, str]:
        """Return the blobs under a folder."""
        mode, sha = self._look_up(folder)
        if not sha or not stat.S_ISDIR(mode):
            return {}
        found: dict[str, str] = {}
        waiting = [(folder, sha)]
        trees = length = 0
        while waiting:
            path, sha = waiting.pop()
            trees += 1
            for entry in self._entries(sha):
                name = f"{path}/{entry.path.decode(errors='replace')}"
                if stat.S_ISDIR(entry.mode):
                    waiting.append((name, entry.sha.decode()))
                elif stat.S_ISREG(entry.mode):
                    found[name] = entry.sha.decode()
                length += len(name)
                if len(name) > _MAX_PATH:
                    raise SiteRefused(f"{folder} has paths of more than {_MAX_PATH} characters")
                if len(found) > _MAX_FILES or trees + len(waiting) > _MAX_FILES or length > _MAX_PATHS:
                    raise SiteRefused(f"{folder} has more than {_MAX_FILES} files or folders, or very long names")
        return found

    def with_change(
        self, head: str, path: str, content: bytes | None, message: str, authorship: Authorship
    ) -> tuple[str, bytes]:
        """Return a commit on top of `head`, with one file written or removed, and the pack that holds what is new."""
        try:
            objects = self._with_change(head, path, content, authorship.message(message), authorship.author.encode())
        except _BROKEN:
            raise SiteRefused(f"a part of {path} is a file in the repository, not a folder") from None
        return objects[-1].id.decode(), write_pack(objects)

    def _with_change(
        self, head: str, path: str, content: bytes | None, message: bytes, author: bytes
    ) -> Sequence[ShaFile]:
        """Return the new objects, the commit last."""
        store = MemoryObjectStore()
        for name, tree in self.trees.items():
            store.add_object(ShaFile.from_raw_string(_TREE, tree, ObjectID(name.encode())))
        before = set(store)
        blob = Blob.from_string(content) if content is not None else None
        if blob is not None:
            store.add_object(blob)
        change = (path.encode(), _MODE if blob else None, blob.id if blob else None)
        commit = Commit()
        commit.tree = commit_tree_changes(store, ObjectID(self.root.encode()) if self.root else Tree(), [change])
        commit.parents = [ObjectID(head.encode())] if head else []
        commit.author = commit.committer = author
        commit.author_time = commit.commit_time = int(time.time())
        commit.author_timezone = commit.commit_timezone = 0
        commit.encoding = b"UTF-8"
        commit.message = message
        return [*(store[one] for one in store if one not in before), commit]

    def _look_up(self, path: str) -> tuple[int, str]:
        """Return the mode and the name of what is at a path, an empty name where nothing is."""
        if not self.root:
            return 0, ""
        try:
            mode, sha = tree_lookup_path(self._object, ObjectID(self.root.encode()), path.encode())
        except (KeyError, NotADirectoryError):
            return 0, ""
        except _BROKEN:
            raise _broken() from None
        return mode, sha.decode()

    def _object(self, sha: Any) -> ShaFile:
        return ShaFile.from_raw_string(_TREE, self.trees[sha.decode()], sha)

    def _entries(self, sha: str) -> Sequence[Any]:
        try:
            return cast("Tree", self._object(sha.encode())).items()
        except _BROKEN:
            raise _broken() from None


def snapshot_of(objects: Objects, head: str) -> Snapshot:
    """Return the trees of a commit. Raises `SiteUnavailable` where it is not among the objects, and `SiteRefused`."""
    try:
        kind, content = objects[head]
        commit: Any = ShaFile.from_raw_string(kind, content)
        root = commit.tree.decode()
    except _BROKEN:
        raise _broken() from None
    trees = {name: content for name, (kind, content) in objects.items() if kind == _TREE}
    if sum(map(len, trees.values())) > _MAX_TREES:
        raise SiteRefused("the repository has too many files: its folders alone take more than 8 MB")
    if root not in trees:
        raise _broken()
    return Snapshot(root, trees)


def files_of(objects: Objects, shas: Sequence[str]) -> Mapping[str, File]:
    """Return files by their blobs, those that are too large left out unless a single one is asked for.

    Raises:
        SiteUnavailable: one of them is not among the objects.
        SiteRefused: the single one, or all together, are too large.
    """
    made: dict[str, File] = {}
    for sha in shas:
        if sha not in objects:
            raise _broken()
        content = objects[sha][1]
        if len(content) <= MAX_FILE_BYTES:
            made[sha] = File(content, sha)
        elif len(shas) == 1:
            raise SiteRefused(f"the file is larger than {MAX_FILE_BYTES} bytes")
    if sum(len(one.content) for one in made.values()) > _MAX_CONTENTS:
        raise SiteRefused(f"{len(made)} files have more than {_MAX_CONTENTS} bytes together")
    return made


def _broken() -> SiteUnavailable:
    return SiteUnavailable("the server sent a repository that cannot be read")
