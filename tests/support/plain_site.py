"""A plain website that serves files, without any integration with this server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(slots=True)
class PlainSite:
    """Contents (`files`) and redirects (`moved`) by path, and the requested paths (`requests`).

    `status`, if set, is the status of every response.
    """

    port: int = 0
    files: dict[str, bytes] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    status: int = 0

    @property
    def url(self) -> str:
        """The URL of the home page, without the trailing slash."""
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def plain_site() -> Iterator[PlainSite]:
    """Run a website."""
    site = PlainSite()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.requests.append(self.path)
            content = site.files.get(self.path, b"")
            status = site.status or (301 if self.path in site.moved else 200 if self.path in site.files else 404)
            self.send_response(status)
            if status == 301:
                self.send_header("Location", site.moved[self.path])
            self.send_header("Content-Type", "text/html" if content.startswith(b"<") else "text/plain")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: object) -> None:
            del args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
