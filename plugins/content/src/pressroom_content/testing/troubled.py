"""A fetcher that sends every request to a fake site, whatever its URL."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from re import _parser  # type: ignore[attr-defined] # the parser of patterns, which Python does not offer otherwise
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from pressroom.sdk import Fetched, Fetcher, FetchResponse
from pressroom.testing import FakeSite, fake_site
from pressroom.testing.contracts import PromiseBroken
from pressroom.testing.fake_site import fetcher_for

from pressroom_content.contract import CredentialField

WAIT_SECONDS: Final = 0.5
"""The timeout of requests that never get a response, in seconds, if the caller's own is longer."""

_SAFE: Final = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True)
class RedirectedFetcher:
    """Implements `pressroom.sdk.Fetcher` by fetching everything from `site`."""

    inner: Fetcher
    site: FakeSite

    async def get(self, url: str, *, accept: str, max_bytes: int, seconds: float, redirects: int = 3) -> Fetched:
        """See `pressroom.sdk.Fetcher`."""
        local_url, wait = self._redirected(url), self._wait(seconds)
        return await self.inner.get(local_url, accept=accept, max_bytes=max_bytes, seconds=wait, redirects=redirects)

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
        max_bytes: int,
        seconds: float,
        redirects: int = 0,
    ) -> Fetched:
        """See `pressroom.sdk.Fetcher`."""
        return await self.inner.request(
            method,
            self._redirected(url),
            headers=headers,
            content=content,
            max_bytes=max_bytes,
            seconds=self._wait(seconds),
            redirects=redirects,
        )

    async def exchange(
        self,
        url: str,
        *,
        accept: str,
        max_bytes: int,
        seconds: float,
        method: Literal["GET", "HEAD"] = "GET",
        encodings: str = "identity",
        plain_http: bool = False,
    ) -> FetchResponse:
        """See `pressroom.sdk.Fetcher`."""
        return await self.inner.exchange(
            self._redirected(url),
            accept=accept,
            max_bytes=max_bytes,
            seconds=self._wait(seconds),
            method=method,
            encodings=encodings,
            plain_http=plain_http,
        )

    def connect(
        self, host: str, port: int, *, seconds: float
    ) -> AbstractAsyncContextManager[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """See `pressroom.sdk.Fetcher`."""
        parts = urlsplit(self._redirected(f"https://{host}:{port}/"))
        return self.inner.connect(parts.hostname or "", parts.port or port, seconds=self._wait(seconds))

    def _wait(self, seconds: float) -> float:
        # Shorten the timeout only if no response ever comes: otherwise a slow machine would time out on every response.
        return min(seconds, WAIT_SECONDS) if self.site.trouble == "hang" else seconds

    def _redirected(self, url: str) -> str:
        parts = urlsplit(url)
        return f"{self.site.url}{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"


@asynccontextmanager
async def troubled_fetcher() -> AsyncIterator[RedirectedFetcher]:
    """Run a fake site, and yield a fetcher that sends all requests to it."""
    with fake_site() as site:
        async with fetcher_for(site) as fetcher:
            yield RedirectedFetcher(fetcher, site)


def writes(site: FakeSite) -> list[str]:
    """Return the requests with an unsafe method that a site received, as method and path."""
    return [f"{request.method} {request.path}" for request in site.requests if request.method not in _SAFE]


def expect_no_secret(text: str, credential: Mapping[str, str], fields: Sequence[CredentialField]) -> None:
    """Raise `PromiseBroken` if a text contains a secret of a credential."""
    for field in fields:
        value = credential.get(field.name, "")
        if field.secret and len(value) >= _MIN_SECRET and value in text:
            raise PromiseBroken(f"the {field.name} is in {text.replace(value, '…')!r}")


_MIN_SECRET: Final = 6


def made_up_credential(fields: Sequence[CredentialField]) -> dict[str, str]:
    """Return values that are valid for these fields. Fields for which no value can be made up are left out."""
    values = {field.name: _made_up(field) for field in fields}
    return {name: value for name, value in values.items() if value}


def _made_up(field: CredentialField) -> str:
    if field.options:
        return field.options[0]
    if not field.pattern:
        return f"made-up-{field.name}"
    try:
        value = "".join(map(_text_of, _parser.parse(field.pattern)))
    except (re.error, LookupError, TypeError, ValueError):
        return ""
    return value if re.fullmatch(field.pattern, value) else ""


def _text_of(node: tuple[Any, Any]) -> str:
    """Return a text that matches a part of a parsed pattern."""
    kind, value = str(node[0]), node[1]
    match kind:
        case "LITERAL":
            return chr(value)
        case "IN":
            return _character_of(value)
        case "ANY" | "NOT_LITERAL":
            return "x"
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            minimum, maximum, part = value
            text = "".join(map(_text_of, part))
            return text * min(max(int(minimum), 1), int(maximum))
        case "SUBPATTERN" | "ATOMIC_GROUP":
            return "".join(map(_text_of, value[-1] if kind == "SUBPATTERN" else value))
        case "BRANCH":
            return max(("".join(map(_text_of, part)) for part in value[1]), key=len)
        case _:
            return ""


def _character_of(parts: Sequence[tuple[Any, Any]]) -> str:
    negated = str(parts[0][0]) == "NEGATE"
    if negated:
        return "x"
    kind, value = str(parts[0][0]), parts[0][1]
    match kind:
        case "LITERAL":
            return chr(value)
        case "RANGE":
            return chr(int(value[0]))
        case _:
            return _CATEGORIES.get(str(value), "x")


_CATEGORIES: Final[Mapping[str, str]] = {"CATEGORY_DIGIT": "1", "CATEGORY_SPACE": " "}
