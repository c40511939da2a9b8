"""An HTTP server on 127.0.0.1 for stand-ins of third-party APIs."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlsplit

Response = tuple[int, bytes, Mapping[str, str]]


@dataclass(frozen=True)
class ApiRequest:
    """A request. Header names are in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """Return the body as JSON; raise `Refused` unless `Content-Type` says so."""
        if self.headers.get("content-type") != "application/json":
            raise Refused(415, {"error": "the body is not announced as JSON"})
        return json.loads(self.body)

    @property
    def form(self) -> Mapping[str, str]:
        """Return the fields of a form body, empty for other content types."""
        if self.headers.get("content-type") != "application/x-www-form-urlencoded":
            return {}
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True))


class Refused(Exception):
    """An error response."""

    def __init__(self, status: int, document: Any, **headers: str) -> None:
        super().__init__(str(document))
        self.status = status
        self.document = document
        self.headers = headers


class Api(Protocol):
    """A stand-in. If `failing` is set, it is the response to every request."""

    failing: Response | None

    def respond(self, request: ApiRequest) -> Any:
        """Return the JSON of a response with status 200. Raises `Refused`."""


@dataclass
class Apis:
    """Stand-ins by the first segment of their paths, and all requests received. While set, `gate` delays responses."""

    by_name: dict[str, Api] = field(default_factory=dict)
    received: list[tuple[str, ApiRequest]] = field(default_factory=list)
    url: str = ""
    gate: threading.Event | None = None

    def at(self, name: str) -> str:
        """Return the base URL of a stand-in."""
        return f"{self.url}/{name}"

    def requests(self, name: str) -> list[ApiRequest]:
        """Return the requests that a stand-in received."""
        return [request for whose, request in self.received if whose == name]

    def respond(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response:
        """Return the status, content and headers of the response to a request."""
        parts = urlsplit(target)
        name, _, rest = parts.path.lstrip("/").partition("/")
        api = self.by_name[name]
        query = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
        request = ApiRequest(method, f"/{rest}", query, {key.lower(): value for key, value in headers.items()}, body)
        self.received.append((name, request))
        if self.gate is not None:
            self.gate.wait(20)
        if api.failing is not None:
            return api.failing
        try:
            return 200, json.dumps(api.respond(request)).encode(), {}
        except Refused as refusal:
            return refusal.status, json.dumps(refusal.document).encode(), refusal.headers


@contextmanager
def serving(apis: Apis) -> Iterator[Apis]:
    """Run the stand-ins."""

    class Handler(BaseHTTPRequestHandler):
        def _respond(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, content, more = apis.respond(self.command, self.path, dict(self.headers.items()), body)
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **more}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _respond  # noqa: N815 - named so by the class

        def log_message(self, *args: Any) -> None:
            del args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    apis.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield apis
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
