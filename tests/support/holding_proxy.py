"""A reverse proxy in front of a website that holds requests or loses their responses."""

from __future__ import annotations

import http.client
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import urlsplit

When = Literal["before", "after", "late"]

_HOP_BY_HOP = ("connection", "keep-alive", "transfer-encoding", "content-length")
_TEXTS = ("application/json", "text/")
_ID = re.compile(r"/(?:\d+|[0-9a-f]{24})(?=/|$)")


@dataclass(slots=True)
class Hold:
    """A held request. `request` is its label, such as `POST /posts/*`.

    `before`: the site never receives it. `after`: the site processes it, but the response is lost. `late`: the site
    receives it after `let_go`, long after the sender has disconnected. `met` is set once the request is held; set
    `let_go` to release it; `over` is set once its handling is complete.
    """

    request: str
    when: When
    met: threading.Event = field(default_factory=threading.Event)
    let_go: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)


class HoldingProxy:
    """Proxies the website at `target` under a different host and port, and rewrites them in text bodies and headers.

    `requests` are the labels of all requests: method and path below `api`, with `*` for ids, or `page` for any path
    outside the API.
    """

    def __init__(self, target: str, api: str) -> None:
        self._upstream = urlsplit(target).netloc
        self._api = api
        self._lock = threading.Lock()
        self._holds: list[Hold] = []
        self.requests: list[str] = []
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"proxy": self}))
        self.http.daemon_threads = True
        self._own = f"127.0.0.1:{self.http.server_port}"
        self.url = f"http://{self._own}"

    def hold(self, request: str, when: When) -> Hold:
        """Hold the next request with this label."""
        hold = Hold(request, when)
        with self._lock:
            self._holds.append(hold)
        return hold

    def held(self) -> list[Hold]:
        """Return the current and pending holds."""
        with self._lock:
            return list(self._holds)

    def release(self) -> None:
        """Release all held requests, and cancel pending holds."""
        with self._lock:
            holds, self._holds = self._holds, []
        for hold in holds:
            hold.let_go.set()

    def label(self, method: str, path: str) -> str:
        """Return the label of a request."""
        path = path.partition("?")[0]
        if not path.startswith(self._api):
            return f"{method} page"
        return f"{method} {_ID.sub('/*', path.removeprefix(self._api)) or '/'}"

    def take(self, label: str) -> Hold | None:
        """Record a request; return its hold, or None."""
        with self._lock:
            self.requests.append(label)
            for hold in self._holds:
                if hold.request == label and not hold.met.is_set():
                    return hold
        return None

    def ask(self, method: str, path: str, headers: Any, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        """Forward a request to the site, and return the response's status, headers and content."""
        if headers.get("Content-Type", "").startswith(_TEXTS):
            body = body.replace(self._own.encode(), self._upstream.encode())
        connection = http.client.HTTPConnection(self._upstream, timeout=60)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            if name.lower() not in _HOP_BY_HOP:
                connection.putheader(name, value.replace(self._own, self._upstream))
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        content = response.read()
        if (response.getheader("Content-Type") or "").startswith(_TEXTS):
            content = content.replace(self._upstream.encode(), self._own.encode())
        rewritten = [
            (name, value.replace(self._upstream, self._own))
            for name, value in response.getheaders()
            if name.lower() not in _HOP_BY_HOP
        ]
        connection.close()
        return response.status, rewritten, content


class _Handler(BaseHTTPRequestHandler):
    proxy: HoldingProxy

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        hold = self.proxy.take(self.proxy.label(self.command, self.path))
        if hold is None:
            self._respond(*self.proxy.ask(self.command, self.path, self.headers, body))
            return
        if hold.when == "after":
            self.proxy.ask(self.command, self.path, self.headers, body)
        hold.met.set()
        hold.let_go.wait(300)
        if hold.when == "late":
            self.proxy.ask(self.command, self.path, self.headers, body)
        hold.over.set()
        self.close_connection = True

    do_POST = do_PUT = do_DELETE = do_HEAD = do_OPTIONS = do_GET  # noqa: N815 - named by the standard library

    def log_message(self, *_: Any) -> None:
        return

    def _respond(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        try:
            self.send_response_only(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


@contextmanager
def holding(target: str, api: str) -> Iterator[HoldingProxy]:
    """Run a proxy for the website at `target`, whose API is below the path `api`."""
    proxy = HoldingProxy(target, api)
    thread = threading.Thread(target=proxy.http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield proxy
    finally:
        proxy.release()
        proxy.http.shutdown()
        proxy.http.server_close()
        thread.join()
