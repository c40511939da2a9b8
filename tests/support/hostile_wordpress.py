"""A website of an attacker that speaks WordPress's REST API: it answers with whatever a test tells it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

CREDENTIAL = {"username": "ada", "application_password": "abcd efgh ijkl mnop qrst uvwx"}


@dataclass(slots=True)
class HostileWordPress:
    """`post` is what it shows of every post, `headers` are those of its answers; what is sent to it changes nothing.

    `refusal` is what it answers to whatever is sent. `moved` is where it redirects every request; `sent` are the
    credentials that it got.
    """

    url: str = ""
    post: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    refusal: Any = None
    moved: str = ""
    sent: list[str] = field(default_factory=list)

    def shows(self, number: int, **fields: Any) -> str:
        """Show a usual post but for some fields from now on, and return its URL."""
        self.post = {
            "id": number,
            "type": "post",
            "status": "publish",
            "link": f"{self.url}/post-{number}",
            "slug": f"post-{number}",
            "title": {"raw": f"Post {number}"},
            "content": {"raw": "<!-- wp:paragraph -->\n<p>Some words of a post.</p>\n<!-- /wp:paragraph -->"},
            "excerpt": {"raw": ""},
            "modified_gmt": "2026-01-01T00:00:00",
            "date_gmt": "2026-01-01T00:00:00",
            **fields,
        }
        return f"{self.url}/post-{number}"

    def answer(self, path: str, query: Mapping[str, list[str]]) -> Any:
        """Return what a request is answered with."""
        if path.rstrip("/") == "/wp-json":
            return {"name": "A site", "namespaces": ["wp/v2"], "home": self.url, "url": self.url}
        if path.endswith("/users/me"):
            # The live check, whenever it comes, leaves the account with what it could do before.
            names = ("edit_posts", "publish_posts", "edit_published_posts", "delete_posts", "upload_files")
            return {"id": 1, "name": "Ada", "slug": "ada", "capabilities": dict.fromkeys(names, True)}
        if path.endswith("/posts"):
            # The slug that is looked for is always that of the post.
            return [{**self.post, "slug": query.get("slug", [""])[0] or self.post["slug"]}]
        return self.post if "/posts/" in path else []


@contextmanager
def hostile_wordpress() -> Iterator[HostileWordPress]:
    """Run the website."""
    site = HostileWordPress()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            parts = urlsplit(self.path)
            site.sent += self.headers.get_all("Authorization", [])
            if site.moved:
                self.send_response(307)
                self.send_header("Location", f"{site.moved}{self.path}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            refused = self.command == "POST" and site.refusal is not None
            answer = site.refusal if refused else site.answer(parts.path, parse_qs(parts.query))
            content = json.dumps(answer).encode()
            self.send_response(400 if refused else 200)
            for name, value in {"Content-Type": "application/json", **site.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_DELETE = do_OPTIONS = do_GET  # noqa: N815 - named by the standard library

        def log_message(self, *args: object) -> None:
            del args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
