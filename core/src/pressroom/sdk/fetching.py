"""How plugins fetch untrusted URLs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, runtime_checkable

_PUBLISHING: Final[ContextVar[bool]] = ContextVar("publishing", default=False)


@contextmanager
def publishing() -> Iterator[None]:
    """Mark all fetches of a block as publishing, for which the server keeps places: they wait for no other kind.

    Everything else shares what is left: calls of accounts, background jobs and the images of anonymous callers. One
    account has a quarter of the places at most.
    """
    token = _PUBLISHING.set(True)
    try:
        yield
    finally:
        _PUBLISHING.reset(token)


def publishing_now() -> bool:
    """Tell whether this is in a block of `publishing`."""
    return _PUBLISHING.get()


@dataclass(frozen=True, slots=True)
class Fetched:
    """The answer: where it came from in the end, and what it was."""

    url: str
    status: int
    media_type: str
    """The `Content-Type` in lower case without parameters; empty if absent. It is the sender's claim."""

    content: bytes

    headers: Mapping[str, str] = field(default_factory=dict)
    """By their names in lower case; values of one name are joined by a comma and a space (RFC 9110, section 5.3)."""

    redirects: tuple[str, ...] = ()
    """The URLs that led to `url`, in their order."""


@dataclass(frozen=True, slots=True)
class FetchResponse:
    """The answer to one request, as it came: redirects are not followed and compressed content is not unpacked."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    """Names in lower case and values, in the order in which they came; one name may come several times."""

    content: bytes
    whole: bool
    """Whether `content` is all that was sent; otherwise it ends at the bound."""

    first_byte: float
    """Seconds from the beginning of the request, with looking up and connecting, until the head of the answer."""

    seconds: float
    """Seconds that all of it took."""


@runtime_checkable
class Fetcher(Protocol):
    """Fetches untrusted URLs, over https and from the public internet only.

    Every URL is checked, that of a redirect too. Networks of their own are allowed by operators, who name them in
    `[fetch] private_networks`; there any port, and plain http, will do. `connect` is for protocols other than HTTP.

    Fetches count as those of the account or the anonymous client whose call or job makes them. Each has a share of
    the server's connections and waits for its turn, within its `seconds`; see `publishing`. What is fetched for
    anonymous clients is bounded in bytes until their call ends; beyond it a fetch raises `CallError` with the code
    `overloaded`, which is best left to the server.
    """

    async def get(self, url: str, *, accept: str, max_bytes: int, seconds: float, redirects: int = 3) -> Fetched:
        """Return what is at a URL, whatever its status is.

        `accept` is the `Accept` header. The content has at most `max_bytes`; all of it takes at most this many
        `seconds`. Raises `FetchRefused` where the URL is not allowed or the answer breaks a bound, and `FetchFailed`
        where there was no whole answer in time.
        """

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
        """Send a request of any method, such as one to the API of somebody's site, and return the answer.

        `headers` go out as they are, to the host of `url` only: a redirect elsewhere is followed without them. Only
        `GET` and `HEAD` may be redirected. Without `redirects` an answer that redirects is returned like any other.
        Raises what `get` does, and `FetchUnknown` where the request went out and no whole answer came back: whoever
        sent it cannot know whether it had an effect.
        """

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
        """Return the answer to one request, whatever its status is. A redirect is an answer like any other.

        `encodings` is the `Accept-Encoding` header. Content of more than `max_bytes`, as it is sent, is cut there.
        `plain_http` allows `http://` on port 80 too, for programs that examine sites. Raises as `get` does.
        """

    def connect(
        self, host: str, port: int, *, seconds: float
    ) -> AbstractAsyncContextManager[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """Connect to a host for a protocol other than HTTP, such as SSH; the connection lasts as long as the block.

        The host is checked as that of a URL is: a domain name or an IP address on the public internet, and port 22 or
        443. What is sent and read is bounded by the caller; the block takes at most this many `seconds`, with
        looking up and connecting. Raises `FetchRefused` and `FetchFailed` as `get` does, and `FetchUnknown` where the
        time is over once the connection was made.

            async with fetcher.connect("git.example.org", 22, seconds=20) as (reader, writer):
                banner = await reader.readline()
        """
