"""Repositories on GitHub, over the contents API (docs.github.com/rest/repos/contents)."""

from __future__ import annotations

import asyncio
import base64
import binascii
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from pressroom.sdk import Fetcher
from pressroom_content.contract import (
    JsonResponse,
    SiteApi,
    SiteError,
    SiteErrors,
    SiteGone,
    SiteRefused,
    SiteRejected,
    SiteResponse,
    SiteUnavailable,
    UnknownOutcome,
)

from pressroom_git.repository import MAX_FILE_BYTES, Authorship, File, changed, gone

_HEADERS: Final = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
_ATTEMPTS: Final = 4
_PAUSE: Final = 0.2
_CONFLICT, _INVALID = "HTTP 409", "HTTP 422"
_LIMITED: Final = frozenset({403, 429})
_MAX_DIGITS: Final = 12
_MAX_PAUSE_SECONDS: Final = 86_400


class GitHubErrors(SiteErrors):
    """The errors of GitHub's API, which uses both 403 and 429 for rate limits."""

    def failure(self, title: str, method: str, response: JsonResponse) -> SiteError | None:
        """Return `SiteUnavailable` with the seconds to wait for a rate limit, else the error of `SiteErrors`."""
        error = super().failure(title, method, response)
        if error is None or response.status not in _LIMITED:
            return error
        used_up = response.headers.get("x-ratelimit-remaining", "").strip() == "0"
        if not used_up and "retry-after" not in response.headers and "rate limit" not in error.message.lower():
            return error
        pause = response.retry_after
        if pause is None and used_up:
            pause = _until(response.headers.get("x-ratelimit-reset", ""))
        return SiteUnavailable(
            f"{title} limits the number of requests (HTTP {response.status}); try again later", retry_after=pause
        )


class GitHubRepository:
    """One branch of a repository on GitHub. Implements `pressroom_git.repository.Repository`."""

    def __init__(
        self, api: str, name: str, branch: str, token: str, fetcher: Fetcher, authorship: Authorship | None = None
    ) -> None:
        self._authorship = authorship
        self._name = name
        self._branch = branch
        headers = {**_HEADERS, "Authorization": f"Bearer {token}"}
        self._api = SiteApi(fetcher, f"GitHub ({name})", f"{api}/repos/{quote(name)}", headers, GitHubErrors())

    async def check(self) -> str:
        """Return the repository's name. Raises `SiteRejected` if it is not accessible or the token may not write."""
        try:
            repository = (await self._api.get("")).body
            if isinstance(repository, dict) and not (repository.get("permissions") or {}).get("push", True):
                raise SiteRejected(f"the token may read {self._name}, but not write to it")
            if self._branch:
                await self._api.get(f"/branches/{quote(self._branch, safe='')}")
        except SiteGone:
            of = f"the branch {self._branch} of {self._name}" if self._branch else self._name
            raise SiteRejected(f"GitHub does not show {of} to this token; check the name and the token") from None
        return f"{self._name} on GitHub"

    async def paths(self, folder: str) -> Mapping[str, str]:
        """Return the blobs under a folder, using the recursive tree of the branch."""
        branch = self._branch or str(_dict((await self._api.get("")).body).get("default_branch", ""))
        if not branch:
            raise SiteUnavailable(f"GitHub did not say which branch {self._name} has")
        try:
            tree = _dict((await self._api.get(f"/git/trees/{quote(branch, safe='')}", {"recursive": "1"})).body)
        except SiteGone:
            return {}
        except SiteRefused as error:
            if _CONFLICT in error.message:  # the repository has no commit yet
                return {}
            raise
        if not isinstance(tree.get("tree"), list):
            raise SiteUnavailable(f"GitHub did not say which files {self._name} has")
        if tree.get("truncated"):
            raise SiteRefused(f"{self._name} has more files than GitHub lists")
        return {
            str(entry["path"]): str(entry["sha"])
            for entry in tree.get("tree") or ()
            if entry.get("type") == "blob" and str(entry.get("path", "")).startswith(f"{folder}/")
        }

    async def read(self, path: str) -> File:
        """Return a file. A file over one megabyte needs a second request, for its blob."""
        body = (await self._api.get(_path(path), self._query)).body
        if not isinstance(body, dict) or body.get("type") != "file":
            raise SiteRefused(f"{path} is not a file in the repository")
        sha = str(body["sha"])
        if body.get("encoding") != "base64":
            body = _dict((await self._api.get(f"/git/blobs/{quote(sha)}")).body)
        try:
            content = base64.b64decode(str(body.get("content", "")))
        except (binascii.Error, ValueError):
            raise SiteUnavailable(f"GitHub sent {path} in a form that cannot be read") from None
        if len(content) > MAX_FILE_BYTES:
            raise SiteRefused(f"{path} is larger than {MAX_FILE_BYTES} bytes")
        return File(content, sha)

    async def read_all(self, paths: Sequence[str]) -> AsyncIterator[tuple[str, File]]:
        """Yield files. GitHub's API needs one request for each."""
        for path in paths:
            try:
                yield path, await self.read(path)
            except (SiteGone, SiteRefused):  # removed meanwhile, or not a regular file
                continue

    async def write(self, path: str, content: bytes, message: str, sha: str) -> str:
        """Commit a file."""
        fields = {"content": base64.b64encode(content).decode(), "sha": sha}
        body = _dict((await self._sent("PUT", path, message, fields)).body)
        written = _dict(body.get("content")).get("sha")
        if not written:
            raise UnknownOutcome("GitHub did not say what it committed")
        return str(written)

    async def delete(self, path: str, message: str, sha: str) -> None:
        """Commit the deletion of a file."""
        await self._sent("DELETE", path, message, {"sha": sha})

    @property
    def _query(self) -> Mapping[str, str]:
        return {"ref": self._branch}

    async def _sent(self, method: str, path: str, message: str, fields: Mapping[str, Any]) -> SiteResponse:
        document: dict[str, Any] = {"message": message, "branch": self._branch, **fields}
        if self._authorship is not None:
            name, _, email = self._authorship.author.removesuffix(">").partition(" <")
            document["author"] = {"name": name, "email": email}
            document["message"] = self._authorship.message(message).decode().rstrip("\n")
        document = {name: value for name, value in document.items() if value or name == "content"}
        for attempt in range(_ATTEMPTS):
            try:
                return await self._api.send(method, _path(path), document=document)
            except SiteRefused as error:
                if _CONFLICT not in error.message and not (_INVALID in error.message and "sha" in error.message):
                    raise
            try:
                current_sha = (await self.read(path)).sha
            except SiteGone:
                current_sha = ""
            if current_sha != fields.get("sha", ""):
                raise changed(path) if current_sha else gone(path)
            await asyncio.sleep(_PAUSE * attempt)  # a concurrent commit of another file: retry on top of it
        raise SiteUnavailable("other commits kept arriving on the branch; nothing was committed, so try again")


def _path(path: str) -> str:
    return f"/contents/{quote(path)}"


def _dict(body: Any) -> Mapping[str, Any]:
    return body if isinstance(body, dict) else {}


def _until(moment: str) -> int | None:
    """Return the seconds until a Unix time, at most a day; `None` if it is invalid."""
    moment = moment.strip()
    if not (moment.isascii() and moment.isdigit()):
        return None
    return min(max(0, int(moment[:_MAX_DIGITS]) - int(time.time())), _MAX_PAUSE_SECONDS)
