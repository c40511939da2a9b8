"""A stand-in for the platform on 127.0.0.1. Make it as strict as the real one."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "a-token-of-the-tests"


class Platform(ThreadingHTTPServer):
    """An HTTP server that stores posts by ID."""

    def __init__(self) -> None:
        """Listen on a free port."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.posts: dict[str, dict[str, Any]] = {}

    @property
    def url(self) -> str:
        """Return the URL of the site."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def write(self, post_id: str, change: dict[str, Any]) -> dict[str, Any]:
        """Create or change a post and return it."""
        before = self.posts.get(post_id, {"id": post_id, "url": f"{self.url}/{post_id}", "revision": 0})
        self.posts[post_id] = {**before, **change, "revision": before["revision"] + 1}
        return self.posts[post_id]


@contextmanager
def running_platform() -> Iterator[Platform]:
    """Run the stand-in until the block ends."""
    platform = Platform()
    thread = threading.Thread(target=platform.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield platform
    finally:
        platform.shutdown()
        platform.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: Platform

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        post_id = parts.path.rpartition("/")[2]
        if parts.path == "/api/me":
            self._respond(200, {"name": "Ada"})
        elif parts.path == "/api/posts":
            (marker,) = parse_qs(parts.query)["marker"]
            self._respond(200, [post for post in self.server.posts.values() if post.get("marker") == marker])
        elif post_id in self.server.posts:
            self._respond(200, self.server.posts[post_id])
        else:
            self._respond(404, {"error": "there is no such post"})

    def do_POST(self) -> None:
        self._respond(201, lambda given: self.server.write(str(len(self.server.posts) + 1), given))

    def do_PUT(self) -> None:
        self._respond(200, lambda given: self.server.write(self.path.rpartition("/")[2], given))

    def _respond(self, status: int, body: Any) -> None:
        given = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "{}")
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            status, body = 401, {"error": "the token is wrong"}
        content = json.dumps(body(given) if callable(body) else body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""
