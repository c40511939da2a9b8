"""Websites in trouble, for the connectors of all platforms; each states the errors that a connector must raise."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from pressroom_content.contract import SiteError, SiteRefused, SiteRejected, SiteUnavailable, UnknownOutcome

from support.needs import free_port

PRIVATE: Final = "http://10.0.0.1/secret"


@dataclass(frozen=True, slots=True)
class Reply:
    """A response, sent completely (default), in part (`half`), or not at all (`silent`)."""

    content: bytes = b"{}"
    status: int = 200
    media_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    half: bool = False
    silent: bool = False


Healthy = Callable[[str, str], Reply | None]
"""Returns the response to a request that is not affected by the trouble, by method and path, or None."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A problem of a site. `read` is the error raised for requests that change nothing, `write` for all others.

    `reply` is the site's response; None if nothing listens there.
    """

    id: str
    read: type[SiteError]
    write: type[SiteError]
    reply: Reply | None

    @property
    def seconds(self) -> float:
        """Timeout for a request in seconds: short only if no response comes, so that a busy machine has the time."""
        return 1.5 if self.reply and self.reply.silent else 60.0


TROUBLES: Final = (
    Trouble("down", SiteUnavailable, SiteUnavailable, None),
    Trouble("slow", SiteUnavailable, UnknownOutcome, Reply(silent=True)),
    Trouble("breaks off", SiteUnavailable, UnknownOutcome, Reply(half=True)),
    Trouble("a page", SiteUnavailable, UnknownOutcome, Reply(b"<h1>One moment</h1>", media_type="text/html")),
    Trouble("fails", SiteUnavailable, UnknownOutcome, Reply(status=500)),
    Trouble("disk full", SiteUnavailable, UnknownOutcome, Reply(status=507)),
    Trouble("overloaded", SiteUnavailable, SiteUnavailable, Reply(status=503)),
    Trouble("moved inside", SiteRefused, SiteRefused, Reply(b"", status=302, headers={"Location": PRIVATE})),
    Trouble("revoked", SiteRejected, SiteRejected, Reply(b'{"message":"no"}', status=401)),
    Trouble("too large for it", SiteRefused, SiteRefused, Reply(status=413)),
    Trouble("compressed", SiteRefused, UnknownOutcome, Reply(headers={"Content-Encoding": "gzip"})),
)

ODD_RESPONSES: Final = tuple(Reply(body) for body in (b'"hello"', b"[]", b"{}", b"null", b'{"id":[],"posts":[5]}'))
"""Valid JSON in unexpected shapes for an API."""


@contextmanager
def troubled(reply: Reply | None, healthy: Healthy | None = None) -> Iterator[str]:
    """Serve a site in trouble, and yield its URL. Requests for which `healthy` returns a reply get that instead."""
    if reply is None:
        yield f"http://127.0.0.1:{free_port()}"
        return
    trouble, stopped = reply, threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            reply = (healthy(self.command, self.path) if healthy else None) or trouble
            if reply.silent:
                stopped.wait(60)
                self.close_connection = True
                return
            with suppress(BrokenPipeError, ConnectionResetError):
                self._respond(reply)

        do_POST = do_PUT = do_OPTIONS = do_HEAD = do_DELETE = do_GET  # noqa: N815 - named by the standard library

        def log_message(self, *_: Any) -> None:
            return

        def _respond(self, reply: Reply) -> None:
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.media_type)
            self.send_header("Content-Length", str(len(reply.content) + (100 if reply.half else 0)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
