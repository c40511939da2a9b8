"""Repositories on this server's disk, using dulwich in threads, since it blocks."""

from __future__ import annotations

import asyncio
import stat
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from dulwich.errors import NotGitRepository
from dulwich.file import FileLocked
from dulwich.object_store import commit_tree_changes, iter_tree_contents, tree_lookup_path
from dulwich.objects import Blob, Commit, ObjectID, Tree
from dulwich.refs import HEADREF, Ref
from dulwich.repo import Repo
from pressroom_content.contract import SiteError, SiteRefused, SiteUnavailable

from pressroom_git.repository import MAX_FILE_BYTES, NEW_FILE, Authorship, File, Worktree, changed, common_folder, gone

_ATTEMPTS: Final = 20
_PAUSE: Final = 0.05
_BATCH: Final = 200

Result = TypeVar("Result")


class LocalRepository:
    """A repository that the operator listed. Implements `pressroom_git.repository.Repository`."""

    def __init__(self, folder: Path, name: str, branch: str, author: str, authorship: Authorship | None = None) -> None:
        self._folder = folder
        self._name = name
        self._branch = branch
        self._committer = author.encode()
        self._authorship = authorship or Authorship(author)

    async def check(self) -> str:
        """Return the repository's name and branch."""

        def look(repo: Repo) -> str:
            ref = self._ref(repo)
            if self._branch and ref not in repo.refs:
                raise SiteRefused(f"the repository {self._name} has no branch {self._branch}")
            return f"{self._name} ({ref.removeprefix(b'refs/heads/').decode(errors='replace')})"

        return await self._run(look)

    async def paths(self, folder: str) -> Mapping[str, str]:
        """Return the blobs under a folder."""

        def look(repo: Repo) -> Mapping[str, str]:
            tree = _tree(repo, self._head(repo))
            if tree is None:
                return {}
            try:
                mode, sha = tree_lookup_path(repo.object_store.__getitem__, tree, folder.encode())
            except (KeyError, NotADirectoryError):
                return {}
            if not stat.S_ISDIR(mode):
                return {}
            return {
                f"{folder}/{entry.path.decode(errors='replace')}": entry.sha.decode()
                for entry in iter_tree_contents(repo.object_store, sha)
                if stat.S_ISREG(entry.mode)
            }

        return await self._run(look)

    async def read(self, path: str) -> File:
        """Return a file of the newest commit."""

        def look(repo: Repo) -> File:
            _, sha = _entry(repo, self._head(repo), path)
            if not sha:
                raise gone(path)
            blob = repo.object_store[ObjectID(sha.encode())]
            if not isinstance(blob, Blob) or len(blob.data) > MAX_FILE_BYTES:
                raise SiteRefused(f"{path} is larger than {MAX_FILE_BYTES} bytes")
            return File(blob.data, sha)

        return await self._run(look)

    async def read_all(self, paths: Sequence[str]) -> AsyncIterator[tuple[str, File]]:
        """Yield files of the newest commit."""
        shas = await self.paths(common_folder(paths)) if paths else {}

        def look(repo: Repo) -> list[tuple[str, File]]:
            objects = [(path, repo.object_store[ObjectID(shas[path].encode())]) for path in batch if path in shas]
            return [
                (path, File(blob.data, shas[path]))
                for path, blob in objects
                if isinstance(blob, Blob) and len(blob.data) <= MAX_FILE_BYTES
            ]

        for at in range(0, len(paths), _BATCH):
            batch = paths[at : at + _BATCH]
            for path, file in await self._run(look):
                yield path, file

    async def write(self, path: str, content: bytes, message: str, sha: str) -> str:
        """Commit a file."""
        blob = Blob.from_string(content)

        def commit(repo: Repo) -> str:
            self._commit(repo, path, blob, message, sha)
            return blob.id.decode()

        return await self._run(commit)

    async def delete(self, path: str, message: str, sha: str) -> None:
        """Commit the deletion of a file."""
        await self._run(lambda repo: self._commit(repo, path, None, message, sha))

    def _commit(self, repo: Repo, path: str, blob: Blob | None, message: str, sha: str) -> None:
        """Commit to the branch, retrying on top of concurrent commits."""
        ref = self._ref(repo)
        worktree = (
            Worktree(repo, self._folder) if repo.has_index() and repo.refs.follow(HEADREF)[0][-1] == ref else None
        )
        for _ in range(_ATTEMPTS):
            with suppress(FileLocked):  # a concurrent write of the same object or branch
                if self._attempt(repo, ref, worktree, path, blob, message, sha):
                    if worktree is not None:
                        worktree.take(path, blob)
                    return
            time.sleep(_PAUSE)
        raise SiteUnavailable(
            f"other commits kept arriving in the repository {self._name}; nothing was committed, so try again"
        )

    def _attempt(
        self, repo: Repo, ref: Ref, worktree: Worktree | None, path: str, blob: Blob | None, message: str, sha: str
    ) -> bool:
        """Commit once. Return whether the branch was moved to the commit."""
        head = self._head(repo)
        mode, current_sha = _entry(repo, head, path)
        if current_sha != sha:
            raise gone(path) if sha and not current_sha else changed(path)
        if worktree is not None:
            worktree.must_be_clean(path, current_sha)
        if blob is not None:
            repo.object_store.add_object(blob)
        commit = self._add_commit(
            repo, head, (path.encode(), mode if blob else None, blob.id if blob else None), message
        )
        if head is None:
            return bool(repo.refs.add_if_new(ref, commit))
        return bool(repo.refs.set_if_equals(ref, head, commit))

    def _add_commit(
        self, repo: Repo, head: ObjectID | None, change: tuple[bytes, int | None, ObjectID | None], message: str
    ) -> ObjectID:
        """Add a commit that changes one file, and return its name. `change` is path, mode and blob of the file."""
        commit = Commit()
        try:
            commit.tree = commit_tree_changes(repo.object_store, _tree(repo, head) or Tree(), [change])
        except (AssertionError, NotADirectoryError):
            path = change[0].decode()
            raise SiteRefused(f"a part of {path} is a file in the repository, not a folder") from None
        commit.parents = [head] if head else []
        commit.author, commit.committer = self._authorship.author.encode(), self._committer
        commit.author_time = commit.commit_time = int(time.time())
        commit.author_timezone = commit.commit_timezone = 0
        commit.encoding = b"UTF-8"
        commit.message = self._authorship.message(message)
        repo.object_store.add_object(commit)
        return commit.id

    def _ref(self, repo: Repo) -> Ref:
        if self._branch:
            return Ref(b"refs/heads/" + self._branch.encode())
        return repo.refs.follow(HEADREF)[0][-1]

    def _head(self, repo: Repo) -> ObjectID | None:
        """Return the newest commit; `None` if the branch has none."""
        try:
            return ObjectID(repo.refs[self._ref(repo)])
        except KeyError:
            return None

    async def _run(self, work: Callable[[Repo], Result]) -> Result:
        return await asyncio.to_thread(self._guarded, work)

    def _guarded(self, work: Callable[[Repo], Result]) -> Result:
        try:
            with _opened(self._folder) as repo:
                return work(repo)
        except SiteError:
            raise
        except NotGitRepository:
            raise SiteUnavailable(f"there is no repository where {self._name} should be; tell the operator") from None
        except (OSError, FileLocked) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is locked"
            raise SiteUnavailable(f"the repository {self._name} cannot be used at the moment: {reason}") from None


@contextmanager
def _opened(folder: Path) -> Iterator[Repo]:
    repo = Repo(str(folder))
    try:
        yield repo
    finally:
        repo.close()


def _tree(repo: Repo, head: ObjectID | None) -> ObjectID | None:
    if head is None:
        return None
    commit: Any = repo.object_store[head]
    return ObjectID(commit.tree)


def _entry(repo: Repo, head: ObjectID | None, path: str) -> tuple[int, str]:
    """Return mode and blob of a file; an empty blob if it is missing. Raises `SiteRefused` for links and folders."""
    tree = _tree(repo, head)
    if tree is None:
        return NEW_FILE, ""
    try:
        mode, sha = tree_lookup_path(repo.object_store.__getitem__, tree, path.encode())
    except (KeyError, NotADirectoryError):
        return NEW_FILE, ""
    if not stat.S_ISREG(mode):
        raise SiteRefused(f"{path} is not a file in the repository")
    return mode, sha.decode()
