"""Repositories on any git server over HTTPS or SSH: GitLab, Gitea, Forgejo and others."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from dulwich.objects import Blob
from pressroom.sdk import Fetched, Fetcher, FetchFailed, FetchRefused, FetchUnknown
from pressroom_content.contract import (
    SiteErrors,
    SiteRefused,
    SiteRejected,
    SiteUnavailable,
    UnknownOutcome,
    retry_after_of,
)

from pressroom_git.protocol import (
    IN_PROCESS,
    MAX_PACK_BYTES,
    MAX_REFS_BYTES,
    MAX_REPORT_BYTES,
    GitClient,
    GitTransport,
    PushReport,
    RemoteRefs,
    RequestFactory,
    RunInWorker,
    objects_of,
)
from pressroom_git.repository import Authorship, File, changed, common_folder, gone
from pressroom_git.snapshot import Snapshot, files_of, snapshot_of

_ATTEMPTS: Final = 6
_PAUSE: Final = 0.1
_BATCH: Final = 200
_LARGE_BATCH: Final = 2_000
"""Files per request for a server that sends all files each time."""

_MAX_CACHED_BYTES: Final = 8_000_000
"""Maximum size in bytes of such a response to cache."""

_SECONDS: Final = 20.0

_turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
"""Locks by account: each may have one response with a pack in memory at a time, since they can be large."""


@dataclass(slots=True)
class _Newest:
    """The newest commit of a branch. `response` is the cached response, if it is small and includes all files."""

    refs: RemoteRefs
    ref: str
    head: str
    snapshot: Snapshot = field(default_factory=Snapshot)
    response: bytes = b""


class RemoteRepository:
    """One branch of a repository on a git server. Implements `pressroom_git.repository.Repository`.

    No clone is stored on this server: each change is a commit on top of the newest one, pushed in one request.

    Args:
        transport: the connection to the server.
        url: the repository, as the user entered it.
        branch: the branch; empty for the repository's default.
        authorship: the author of commits.
        owner: the account; it has at most one response with a pack in memory at a time.
    """

    def __init__(self, transport: GitTransport, url: str, branch: str, authorship: Authorship, owner: str = "") -> None:
        self._url, self._branch, self._authorship = url, branch, authorship
        self._transport = transport
        self._git = GitClient(transport)
        self._cached: _Newest | None = None
        self._turn = _turns.setdefault(owner, asyncio.Lock()) if owner else asyncio.Lock()

    def use_workers(self, run_in_worker: RunInWorker) -> None:
        """Parse responses in worker processes; see `BasicSite.run_in_worker`."""
        self._transport.run_in_worker = run_in_worker

    async def check(self) -> str:
        """Return URL and branch. Raises `SiteRejected` if the branch is missing or the credential may not write."""
        newest = await self._newest()
        if self._branch and not newest.head:
            raise SiteRejected(f"{self._git.title} has no branch {self._branch} in this repository")
        await self._git.check_push()
        return f"{self._url} ({newest.ref.removeprefix('refs/heads/')})"

    async def paths(self, folder: str) -> Mapping[str, str]:
        """Return the blobs under a folder."""
        blobs: Mapping[str, str] = await self._run_in_worker((await self._newest()).snapshot.paths, folder)
        return blobs

    async def read(self, path: str) -> File:
        """Return a file of the newest commit."""
        newest = await self._newest()
        sha = await self._run_in_worker(newest.snapshot.blob, path)
        if not sha:
            raise gone(path)
        return (await self._contents(newest, [sha]))[sha]

    async def read_all(self, paths: Sequence[str]) -> AsyncIterator[tuple[str, File]]:
        """Yield files of the newest commit, many per request."""
        if not paths:
            return
        newest, blobs = await self._newest(), await self.paths(common_folder(paths))
        batch = _BATCH if newest.refs.by_name else _LARGE_BATCH
        for at in range(0, len(paths), batch):
            shas = {path: blobs.get(path, "") for path in paths[at : at + batch]}
            files = await self._contents(newest, sorted({sha for sha in shas.values() if sha}))
            for path, sha in shas.items():
                if sha in files:
                    yield path, files[sha]

    async def write(self, path: str, content: bytes, message: str, sha: str) -> str:
        """Commit a file."""
        await self._commit(path, content, message, sha)
        return Blob.from_string(content).id.decode()

    async def delete(self, path: str, message: str, sha: str) -> None:
        """Commit the deletion of a file."""
        await self._commit(path, None, message, sha)

    async def _commit(self, path: str, content: bytes | None, message: str, sha: str) -> None:
        """Push a commit to the branch, retrying on top of concurrent commits."""
        for attempt in range(_ATTEMPTS):
            newest = await self._newest()
            current_sha = await self._run_in_worker(newest.snapshot.blob, path)
            if current_sha != sha:
                raise gone(path) if sha and not current_sha else changed(path)
            commit, pack = await self._run_in_worker(
                newest.snapshot.with_change, newest.head, path, content, message, self._authorship
            )
            reason = await self._git.push(newest.ref, newest.head, commit, pack)
            self._cached = None
            if not reason:
                return
            if (await self._git.refs(self._branch)).names.get(newest.ref, "") == newest.head:
                raise SiteRefused(f"{self._git.title} refused the commit: {reason}")
            await asyncio.sleep(_PAUSE * attempt)
        raise SiteUnavailable("other commits kept arriving on the branch; nothing was committed, so try again")

    async def _newest(self) -> _Newest:
        refs = await self._git.refs(self._branch)
        ref = f"refs/heads/{self._branch}" if self._branch else refs.default or "refs/heads/main"
        head = refs.names.get(ref, "")
        if self._cached is not None and self._cached.head == head:
            return self._cached
        newest = _Newest(refs, ref, head)
        if head:
            async with self._turn:
                response = await self._git.pack(refs, [head], commit=True)
                newest.snapshot = await self._run_in_worker(_read_snapshot, response, self._git.title, head)
            if not refs.filters and len(response) <= _MAX_CACHED_BYTES:
                newest.response = response
        self._cached = newest
        return newest

    async def _contents(self, newest: _Newest, shas: Sequence[str]) -> Mapping[str, File]:
        if not shas:
            return {}
        async with self._turn:
            response = newest.response
            if not response:
                by_name = newest.refs.by_name  # other servers may not send single files, so fetch all
                requested = shas if by_name else [newest.head]
                response = await self._git.pack(newest.refs, requested, commit=not by_name, files=True)
            files: Mapping[str, File] = await self._run_in_worker(_read_files, response, self._git.title, shas)
            return files

    async def _run_in_worker(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await self._transport.run_in_worker(function, *arguments, what="the repository", seconds=_SECONDS)


def _read_snapshot(response: bytes, title: str, head: str) -> Snapshot:
    return snapshot_of(objects_of(response, title), head)


def _read_files(response: bytes, title: str, shas: Sequence[str]) -> Mapping[str, File]:
    return files_of(objects_of(response, title), shas)


_REQUEST_SECONDS: Final = 60.0
_FAILED: Final = 500


class HttpTransport:
    """A repository on a git server over HTTP. Implements `pressroom_git.protocol.GitTransport`."""

    def __init__(self, fetcher: Fetcher, url: str, user: str, token: str) -> None:
        self._fetcher = fetcher
        self._url = self._base = url.rstrip("/")
        self.title = f"git at {urlsplit(url).netloc}"
        self.run_in_worker = IN_PROCESS
        self._headers = {"Git-Protocol": "version=2"}
        if token:
            pair = base64.b64encode(f"{user or 'oauth2'}:{token}".encode()).decode()
            self._headers["Authorization"] = f"Basic {pair}"

    async def list_refs(self, ask: RequestFactory) -> tuple[bytes, bytes]:
        """Return the advertisement of branches, and the response to the request that `ask` creates from it."""
        advertisement = await self._advertisement("upload", self._url)
        base = advertisement.url.partition("/info/refs")[0]
        if urlsplit(base)[:2] != urlsplit(self._url)[:2]:
            raise SiteRefused(f"{self.title} redirects to {urlsplit(base).netloc}; connect it with its current URL")
        self._base = base
        request = await ask(advertisement.content)
        if not request:
            return advertisement.content, b""
        return advertisement.content, await self._post_request("upload", request, MAX_REFS_BYTES)

    async def fetch(self, request: bytes) -> bytes:
        """Return the response to a request for objects."""
        return await self._post_request("upload", request, MAX_PACK_BYTES)

    async def push(self, request: bytes) -> PushReport:
        """Return the response to a push."""
        return PushReport(await self._post_request("receive", request, MAX_REPORT_BYTES, changes=True))

    async def check_push(self) -> None:
        """Request the advertisement that precedes a push."""
        await self._advertisement("receive", self._base)

    async def _advertisement(self, service: str, base: str) -> Fetched:
        response = await self._sent("GET", f"{base}/info/refs?service=git-{service}-pack", redirects=3)
        if response.media_type != f"application/x-git-{service}-pack-advertisement":
            raise SiteRefused(f"{self.title} has no repository at this URL, or does not speak git's protocol")
        return response

    async def _post_request(self, service: str, request: bytes, max_bytes: int, *, changes: bool = False) -> bytes:
        url = f"{self._base}/git-{service}-pack"
        response = await self._sent("POST", url, request, service=service, max_bytes=max_bytes, changes=changes)
        return response.content

    async def _sent(
        self,
        method: str,
        url: str,
        content: bytes = b"",
        *,
        service: str = "",
        max_bytes: int = MAX_REFS_BYTES,
        redirects: int = 0,
        changes: bool = False,
    ) -> Fetched:
        headers = dict(self._headers)
        if service:
            headers["Content-Type"] = f"application/x-git-{service}-pack-request"
        try:
            response = await self._fetcher.request(
                method,
                url,
                headers=headers,
                content=content,
                max_bytes=max_bytes,
                seconds=_REQUEST_SECONDS,
                redirects=redirects,
            )
        except FetchUnknown as error:
            if changes:
                raise SiteErrors().no_response(self.title, error) from None
            raise SiteUnavailable(f"{self.title} cannot be reached: {error.message}") from None
        except (FetchFailed, FetchRefused) as error:
            raise SiteErrors().no_response(self.title, error) from None
        self._check(response, changes=changes)
        return response

    def _check(self, response: Fetched, *, changes: bool) -> None:
        status = f"HTTP {response.status}"
        match response.status:
            case 200:
                return
            case 401 | 403:
                raise SiteRejected(f"{self.title} does not accept the token for this repository ({status})")
            case 404 | 410:
                raise SiteRejected(f"{self.title} does not show a repository here to this token ({status})")
            case 429 | 503:
                raise SiteUnavailable(
                    f"{self.title} does not accept requests right now ({status})",
                    retry_after=retry_after_of(response.headers),
                )
        if response.status >= _FAILED:
            message = f"{self.title} failed ({status})"
            raise UnknownOutcome(message) if changes else SiteUnavailable(message)
        raise SiteRefused(f"{self.title} refused this ({status})")
