"""Repositories on any server that speaks git over HTTPS: GitLab, Gitea, Forgejo and others."""

from __future__ import annotations

import asyncio
import stat
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final, cast

from dulwich.errors import ObjectFormatException
from dulwich.object_store import MemoryObjectStore, commit_tree_changes, tree_lookup_path
from dulwich.objects import Blob, Commit, ObjectID, ShaFile, Tree
from pressroom.sdk import Fetcher
from pressroom_content.contract import SiteGone, SiteRefused, SiteRejected, SiteUnavailable

from pressroom_git.packs import write_pack
from pressroom_git.repository import MAX_FILE_BYTES, Authorship, File, changed, common_folder
from pressroom_git.smart_http import RemoteRefs, SmartHttp

_ATTEMPTS: Final = 6
_PAUSE: Final = 0.1
_BATCH: Final = 200
_MAX_FILES: Final = 100_000
_MAX_PATH: Final = 1_000
"""Characters of a path: trees inside each other make paths whose sum is the square of their number."""

_MODE: Final = 0o100644
_BROKEN: Final = (ObjectFormatException, ValueError, AttributeError, AssertionError, UnicodeDecodeError)


class _Snapshot:
    """The newest commit of a branch, with its trees."""

    def __init__(self, refs: RemoteRefs, ref: str, head: str) -> None:
        self.refs, self.ref, self.head = refs, ref, head
        self.store = MemoryObjectStore()
        self.tree: ObjectID | None = None

    def blob(self, path: str) -> str:
        """Return the blob of a file, empty if absent. Links and folders are refused."""
        if self.tree is None:
            return ""
        try:
            mode, sha = tree_lookup_path(self.store.__getitem__, self.tree, path.encode())
        except (KeyError, NotADirectoryError):
            return ""
        if not stat.S_ISREG(mode):
            raise SiteRefused(f"{path} is not a file in the repository")
        return sha.decode()

    def paths(self, folder: str) -> Mapping[str, str]:
        """Return the blobs under a folder."""
        if self.tree is None:
            return {}
        try:
            mode, sha = tree_lookup_path(self.store.__getitem__, self.tree, folder.encode())
        except (KeyError, NotADirectoryError):
            return {}
        if not stat.S_ISDIR(mode):
            return {}
        found: dict[str, str] = {}
        waiting = [(folder, sha)]
        trees = 0
        while waiting:
            path, sha = waiting.pop()
            trees += 1
            for entry in cast("Tree", self.store[sha]).items():
                name = f"{path}/{entry.path.decode(errors='replace')}"
                if stat.S_ISDIR(entry.mode):
                    waiting.append((name, entry.sha))
                elif stat.S_ISREG(entry.mode):
                    found[name] = entry.sha.decode()
                if len(name) > _MAX_PATH:
                    raise SiteRefused(f"{folder} has paths of more than {_MAX_PATH} characters")
                if len(found) > _MAX_FILES or trees + len(waiting) > _MAX_FILES:
                    raise SiteRefused(f"{folder} has more than {_MAX_FILES} files or folders")
        return found


class HttpRepository:
    """One branch of a repository; it implements `pressroom_git.repository.Repository`.

    Nothing is kept on this server: each change is one commit on the newest one, which is sent in one request.
    """

    def __init__(self, url: str, branch: str, user: str, token: str, authorship: Authorship, fetcher: Fetcher) -> None:
        self._url, self._branch, self._authorship = url, branch, authorship
        self._git = SmartHttp(fetcher, url, user, token)
        self._kept: _Snapshot | None = None

    async def check(self) -> str:
        """Return its URL and branch. Whether the token may write shows with the first commit."""
        found = await self._newest()
        if self._branch and not found.head:
            raise SiteRejected(f"{self._git.title} has no branch {self._branch} in this repository")
        return f"{self._url} ({found.ref.removeprefix('refs/heads/')})"

    async def paths(self, folder: str) -> Mapping[str, str]:
        """Return the blobs under a folder."""
        found = await self._newest()
        try:
            return await asyncio.to_thread(found.paths, folder)
        except (KeyError, *_BROKEN):
            raise self._broken() from None

    async def read(self, path: str) -> File:
        """Return a file of the newest commit."""
        found = await self._newest()
        sha = self._blob(found, path)
        if not sha:
            raise SiteGone(f"{path} is not in the repository any more")
        return (await self._contents(found, [sha]))[sha]

    async def read_all(self, paths: Sequence[str]) -> AsyncIterator[tuple[str, File]]:
        """Yield files of the newest commit, many in each request."""
        if not paths:
            return
        found, known = await self._newest(), await self.paths(common_folder(paths))
        for at in range(0, len(paths), _BATCH):
            shas = {path: known.get(path, "") for path in paths[at : at + _BATCH]}
            files = await self._contents(found, sorted({sha for sha in shas.values() if sha}))
            for path, sha in shas.items():
                if sha in files:
                    yield path, files[sha]

    async def write(self, path: str, content: bytes, message: str, sha: str) -> str:
        """Commit a file."""
        blob = Blob.from_string(content)
        await self._commit(path, blob, message, sha)
        return blob.id.decode()

    async def delete(self, path: str, message: str, sha: str) -> None:
        """Commit that a file is gone."""
        await self._commit(path, None, message, sha)

    async def _commit(self, path: str, blob: Blob | None, message: str, sha: str) -> None:
        """Put a commit on the branch, again on top of those that others make at the same time."""
        for attempt in range(_ATTEMPTS):
            found = await self._newest()
            there = self._blob(found, path)
            if there != sha:
                raise SiteGone(f"{path} is not in the repository any more") if sha and not there else changed(path)
            try:
                objects = self._made(found, path, blob, message)
            except _BROKEN:
                raise SiteRefused(f"a part of {path} is a file in the repository, not a folder") from None
            commit = objects[-1].id.decode()
            why = await self._git.push(found.refs.base, found.ref, found.head, commit, write_pack(objects))
            self._kept = None
            if not why:
                return
            if (await self._git.refs(self._branch)).names.get(found.ref, "") == found.head:
                raise SiteRefused(f"{self._git.title} refused the commit: {why}")
            await asyncio.sleep(_PAUSE * attempt)
        raise SiteUnavailable("others commit to the branch all the time; nothing was committed")

    def _made(self, found: _Snapshot, path: str, blob: Blob | None, message: str) -> list[ShaFile]:
        """Return the new objects, the commit last."""
        before = set(found.store)
        if blob is not None:
            found.store.add_object(blob)
        change = (path.encode(), _MODE if blob else None, blob.id if blob else None)
        commit = Commit()
        commit.tree = commit_tree_changes(found.store, found.tree or Tree(), [change])
        commit.parents = [ObjectID(found.head.encode())] if found.head else []
        commit.author = commit.committer = self._authorship.author.encode()
        commit.author_time = commit.commit_time = int(time.time())
        commit.author_timezone = commit.commit_timezone = 0
        commit.encoding = b"UTF-8"
        commit.message = self._authorship.message(message)
        return [*(found.store[one] for one in found.store if one not in before), commit]

    async def _newest(self) -> _Snapshot:
        refs = await self._git.refs(self._branch)
        ref = f"refs/heads/{self._branch}" if self._branch else refs.default or "refs/heads/main"
        head = refs.names.get(ref, "")
        if self._kept is not None and self._kept.head == head:
            return self._kept
        found = _Snapshot(refs, ref, head)
        if head:
            objects = await self._git.objects(refs, [head], commit=True)
            try:
                await asyncio.to_thread(_fill, found, objects)
            except (KeyError, *_BROKEN):
                raise self._broken() from None
        self._kept = found
        return found

    def _blob(self, found: _Snapshot, path: str) -> str:
        try:
            return found.blob(path)
        except _BROKEN:
            raise self._broken() from None

    async def _contents(self, found: _Snapshot, shas: Sequence[str]) -> Mapping[str, File]:
        missing = [sha for sha in shas if ObjectID(sha.encode()) not in found.store]
        objects = await self._git.objects(found.refs, missing, commit=False) if missing else {}
        made = {}
        for sha in shas:
            if sha in objects:
                content = objects[sha][1]
            elif ObjectID(sha.encode()) in found.store:
                content = found.store[ObjectID(sha.encode())].as_raw_string()
            else:
                raise self._broken()
            if len(content) <= MAX_FILE_BYTES:
                made[sha] = File(content, sha)
            elif len(shas) == 1:
                raise SiteRefused(f"the file is larger than {MAX_FILE_BYTES} bytes")
        return made

    def _broken(self) -> SiteUnavailable:
        return SiteUnavailable(f"{self._git.title} sent a repository that cannot be read")


def _fill(found: _Snapshot, objects: Mapping[str, tuple[int, bytes]]) -> None:
    for kind, content in objects.values():
        found.store.add_object(ShaFile.from_raw_string(kind, content))
    commit: Any = found.store[ObjectID(found.head.encode())]
    found.tree = ObjectID(commit.tree)
