"""A website or service on loopback whose responses and failures are set by a test.

`fetcher_for` returns a fetcher that can reach it without a host.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Literal, TypeAlias

from pressroom.fetch.fetcher import GuardedFetcher
from pressroom.sdk import Fetcher, HttpResponse

Trouble: TypeAlias = Literal[
    "hang", "cut", "lost response", "half", "late", "html", "odd", "error", "busy", "revoked", "twice"
]
"""How a site misbehaves.

- `hang`: it accepts the request and never responds.
- `cut`: it closes the connection without doing anything.
- `lost response`: it carries out the request, and closes the connection before it responds.
- `half`: it carries out the request, and closes the connection in the middle of its response.
- `late`: it carries out the request, and responds after `LATE_SECONDS`.
- `html`: it responds with status 200 and an HTML page, like a login page or a captive portal.
- `odd`: it responds with status 200 and unexpected JSON.
- `error`: it responds with status 500.
- `busy`: it responds with status 429, and asks the client to wait `BUSY_SECONDS`.
- `revoked`: it responds with status 401, as if the credential had been revoked.
- `twice`: it carries out the request twice, like a site behind a proxy that repeats requests, and responds once.
"""

_TROUBLE_WORDS: Final[Mapping[Trouble, str]] = {
    "hang": "never responds",
    "cut": "closes the connection",
    "lost response": "does what it is asked to and closes the connection",
    "half": "closes the connection in the middle of its response",
    "late": "responds late",
    "html": "returns 200 with a page of HTML",
    "odd": "returns 200 with unexpected JSON",
    "error": "returns 500",
    "busy": "returns 429",
    "revoked": "returns 401",
    "twice": "does everything two times",
}

LATE_SECONDS: Final = 2.0
"""How many seconds a site with the trouble `late` takes to respond."""

BUSY_SECONDS: Final = 7
"""How many seconds a site with the trouble `busy` asks clients to wait."""

_HTML: Final = b"<!doctype html><title>Please sign in</title><p>Please sign in."
_MALFORMED: Final = b'{"id": [], "posts": [5, null], "data": "?", "url": {"href": 1}}'
_HALF_MISSING: Final = 100

_ACTING: Final = (None, "lost response", "half", "late", "twice")
_RESPONSES: Final[Mapping[Trouble | None, HttpResponse]] = {
    "html": HttpResponse(_HTML),
    "odd": HttpResponse(_MALFORMED, 200, "application/json"),
    "error": HttpResponse(b"internal error", 500, "text/plain"),
    "busy": HttpResponse(b"too many requests", 429, "text/plain", {"Retry-After": str(BUSY_SECONDS)}),
    "revoked": HttpResponse(b'{"error": "no"}', 401, "application/json"),
}


def describe_trouble(trouble: Trouble | None) -> str:
    """Return a description of a trouble, as a phrase that follows the name of the site."""
    return f"{_TROUBLE_WORDS[trouble]} (trouble {trouble!r})" if trouble else "works"


@dataclass(frozen=True, slots=True)
class SiteRequest:
    """A request that a fake site received. Header names are in lower case; `path` includes the query."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the body, parsed as JSON. Raises `ValueError`."""
        return json.loads(self.body)


CannedResponse: TypeAlias = HttpResponse | Callable[[SiteRequest], HttpResponse]


@dataclass(slots=True)
class FakeSite:
    """A site on 127.0.0.1. Create one with `fake_site`, or with the fixture `website`.

    `responses` maps a method and a path without query, such as `"GET /api/posts"`, to a response, or to a function that
    returns one. Anything else gets 404. `requests` lists the received requests in order. While `trouble` is set, it
    affects every request; `trouble_once` only affects the next one.
    """

    port: int = 0
    responses: dict[str, CannedResponse] = field(default_factory=dict)
    requests: list[SiteRequest] = field(default_factory=list)
    trouble: Trouble | None = None
    trouble_once: Trouble | None = None
    closed: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        """The URL of the site, without a trailing slash."""
        return f"http://127.0.0.1:{self.port}"

    def page(self, path: str, html: str) -> None:
        """Serve an HTML page."""
        self.responses[f"GET {path}"] = HttpResponse(html.encode())

    def json(self, request: str, document: Any, *, status: int = 200) -> None:
        """Respond to a request, such as `"GET /api/posts"`, with JSON."""
        self.responses[request] = HttpResponse(json.dumps(document).encode(), status, "application/json")

    def respond(self, request: SiteRequest) -> HttpResponse:
        """Return the response to a request, without any trouble."""
        prepared = self.responses.get(f"{request.method} {request.path.partition('?')[0]}")
        if prepared is None:
            return HttpResponse(b"not found", 404, "text/plain")
        return prepared if isinstance(prepared, HttpResponse) else prepared(request)


@contextmanager
def fake_site() -> Iterator[FakeSite]:
    """Run a site on a free port of 127.0.0.1 until the block ends.

    The server can only reach it with `[fetch] private_networks = ["127.0.0.0/8"]`.
    """
    site = FakeSite()

    class Handler(_Handler):
        fake = site

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), name="fake-site", daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.closed.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    fake: FakeSite

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):  # any method of HTTP
            return self._handle
        raise AttributeError(name)

    def _handle(self) -> None:
        fake = self.fake
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = SiteRequest(self.command, self.path, headers, body)
        fake.requests.append(request)
        trouble, fake.trouble_once = fake.trouble_once or fake.trouble, None
        if trouble == "hang":
            fake.closed.wait()
        elif trouble in _ACTING:
            response = fake.respond(request)
            if trouble == "twice":
                response = fake.respond(request)
            if trouble == "late":
                fake.closed.wait(LATE_SECONDS)
            if trouble != "lost response":
                self._send(response, missing=_HALF_MISSING if trouble == "half" else 0)
        elif trouble in _RESPONSES:
            self._send(_RESPONSES[trouble])
        if trouble in ("hang", "cut", "lost response", "half"):
            self._cut()

    def _send(self, response: HttpResponse, *, missing: int = 0) -> None:
        """Send a response, whose `Content-Length` is too large by the number of `missing` bytes."""
        self.send_response(response.status)
        for name, value in {**response.headers, "Content-Type": response.media_type}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(response.body) + missing))
        with suppress(OSError):  # the client has disconnected
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(response.body)

    def _cut(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        """Log nothing."""


@asynccontextmanager
async def fetcher_for(site: FakeSite) -> AsyncIterator[Fetcher]:
    """Yield a fetcher like that of a host, which can also fetch from this site."""
    async with GuardedFetcher(exempt=[("127.0.0.1", site.port)]) as fetcher:
        yield fetcher
