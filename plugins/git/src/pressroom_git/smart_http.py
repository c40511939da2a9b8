"""Git's protocol over HTTP (git-scm.com/docs/gitprotocol-http), through the guarded fetcher."""

from __future__ import annotations

import base64
from typing import Final
from urllib.parse import urlsplit

from pressroom.sdk import Fetched, Fetcher, FetchFailed, FetchRefused, FetchUnknown
from pressroom_content.contract import (
    SiteErrors,
    SiteRefused,
    SiteRejected,
    SiteUnavailable,
    UnknownOutcome,
    retry_after_of,
)

from pressroom_git.protocol import MAX_PACK_BYTES, MAX_REFS_BYTES, MAX_REPORT_BYTES
from pressroom_git.transport import IN_PLACE, Ask, PushReport

_SECONDS: Final = 60.0
_FAILED: Final = 500


class HttpTransport:
    """A repository on a server that speaks git over HTTP. It implements `pressroom_git.transport.GitTransport`."""

    def __init__(self, fetcher: Fetcher, url: str, user: str, token: str) -> None:
        self._fetcher = fetcher
        self._url = self._base = url.rstrip("/")
        self.title = f"git at {urlsplit(url).netloc}"
        self.beside = IN_PLACE
        self._headers = {"Git-Protocol": "version=2"}
        if token:
            pair = base64.b64encode(f"{user or 'oauth2'}:{token}".encode()).decode()
            self._headers["Authorization"] = f"Basic {pair}"

    async def list_refs(self, ask: Ask) -> tuple[bytes, bytes]:
        """Return the advertisement of branches, and the answer to what `ask` makes of it."""
        advertisement = await self._advertisement("upload", self._url)
        base = advertisement.url.partition("/info/refs")[0]
        if urlsplit(base)[:2] != urlsplit(self._url)[:2]:
            raise SiteRefused(
                f"{self.title} redirects to {urlsplit(base).netloc}; connect it with the URL where it is now"
            )
        self._base = base
        request = await ask(advertisement.content)
        if not request:
            return advertisement.content, b""
        return advertisement.content, await self._posted("upload", request, MAX_REFS_BYTES)

    async def fetch(self, request: bytes) -> bytes:
        """Return the answer to a request for objects."""
        return await self._posted("upload", request, MAX_PACK_BYTES)

    async def push(self, request: bytes) -> PushReport:
        """Return the answer to a push."""
        return PushReport(await self._posted("receive", request, MAX_REPORT_BYTES, changes=True))

    async def check_push(self) -> None:
        """Ask for the advertisement that comes before a push."""
        await self._advertisement("receive", self._base)

    async def _advertisement(self, service: str, base: str) -> Fetched:
        answer = await self._sent("GET", f"{base}/info/refs?service=git-{service}-pack", redirects=3)
        if answer.media_type != f"application/x-git-{service}-pack-advertisement":
            raise SiteRefused(f"{self.title} has no repository at this URL, or does not speak git's protocol")
        return answer

    async def _posted(self, service: str, request: bytes, most: int, *, changes: bool = False) -> bytes:
        url = f"{self._base}/git-{service}-pack"
        answer = await self._sent("POST", url, request, service=service, most=most, changes=changes)
        return answer.content

    async def _sent(
        self,
        method: str,
        url: str,
        content: bytes = b"",
        *,
        service: str = "",
        most: int = MAX_REFS_BYTES,
        redirects: int = 0,
        changes: bool = False,
    ) -> Fetched:
        headers = dict(self._headers)
        if service:
            headers["Content-Type"] = f"application/x-git-{service}-pack-request"
        try:
            answer = await self._fetcher.request(
                method, url, headers=headers, content=content, max_bytes=most, seconds=_SECONDS, redirects=redirects
            )
        except FetchUnknown as error:
            if changes:
                raise SiteErrors().no_answer(self.title, error) from None
            raise SiteUnavailable(f"{self.title} cannot be reached: {error.message}") from None
        except (FetchFailed, FetchRefused) as error:
            raise SiteErrors().no_answer(self.title, error) from None
        self._check(answer, changes=changes)
        return answer

    def _check(self, answer: Fetched, *, changes: bool) -> None:
        told = f"HTTP {answer.status}"
        match answer.status:
            case 200:
                return
            case 401 | 403:
                raise SiteRejected(f"{self.title} does not accept the token for this repository ({told})")
            case 404 | 410:
                raise SiteRejected(f"{self.title} does not show a repository here to this token ({told})")
            case 429 | 503:
                raise SiteUnavailable(
                    f"{self.title} takes no requests at the moment ({told})",
                    retry_after=retry_after_of(answer.headers),
                )
        if answer.status >= _FAILED:
            message = f"{self.title} failed ({told})"
            raise UnknownOutcome(message) if changes else SiteUnavailable(message)
        raise SiteRefused(f"{self.title} refused this ({told})")
