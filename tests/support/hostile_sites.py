"""Attacker-controlled websites that implement a platform's API and return whatever a test configures."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, TypeVar
from urllib.parse import parse_qs, urlsplit

Query = Mapping[str, list[str]]

WORDS = "Some words of a post."
Site = TypeVar("Site", bound="HostileSite")


@dataclass(slots=True)
class HostileSite:
    """`post` is returned for every post, `headers` are added to responses; writes have no effect.

    `refusal` is the response to every POST and PUT, if set. `moved` is the redirect target of every request, if set;
    `sent` are the received credentials, and `request_count` counts the requests.
    """

    platform: ClassVar[str]
    credential: ClassVar[Mapping[str, str]]
    credential_header: ClassVar[str] = "Authorization"

    url: str = ""
    post: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    refusal: Any = None
    moved: str = ""
    sent: list[str] = field(default_factory=list)
    request_count: int = 0

    def shows(
        self, number: int, html: str = f"<p>{WORDS}</p>", changed: str = "2026-01-01T00:00:00", **other: Any
    ) -> str:
        """Show a normal post, except for the fields in `other`, and return its URL."""
        raise NotImplementedError

    def respond(self, path: str, query: Query) -> Any:
        """Return the response to a request."""
        raise NotImplementedError


@dataclass(slots=True)
class HostileWordPress(HostileSite):
    """Implements WordPress's REST API."""

    platform = "wordpress"
    credential = {"username": "ada", "application_password": "abcd efgh ijkl mnop qrst uvwx"}  # noqa: RUF012

    def shows(
        self, number: int, html: str = f"<p>{WORDS}</p>", changed: str = "2026-01-01T00:00:00", **other: Any
    ) -> str:
        """Show a normal post, except for the fields in `other`, and return its URL."""
        self.post = {
            "id": number,
            "type": "post",
            "status": "publish",
            "link": f"{self.url}/post-{number}",
            "slug": f"post-{number}",
            "title": {"raw": f"Post {number}"},
            "content": {"raw": f"<!-- wp:paragraph -->\n{html}\n<!-- /wp:paragraph -->"},
            "excerpt": {"raw": ""},
            "modified_gmt": changed,
            "date_gmt": "2026-01-01T00:00:00",
            **other,
        }
        return f"{self.url}/post-{number}"

    def respond(self, path: str, query: Query) -> Any:
        """Return the response to a request."""
        if path.rstrip("/") == "/wp-json":
            return {"name": "A site", "namespaces": ["wp/v2"], "home": self.url, "url": self.url}
        if path.endswith("/users/me"):
            # The live check can run at any time: it must not change the account's capabilities.
            names = ("edit_posts", "publish_posts", "edit_published_posts", "delete_posts", "upload_files")
            return {"id": 1, "name": "Ada", "slug": "ada", "capabilities": dict.fromkeys(names, True)}
        if path.endswith("/posts"):
            # Any requested slug matches the post.
            return [{**self.post, "slug": query.get("slug", [""])[0] or self.post["slug"]}]
        return self.post if "/posts/" in path else []


@dataclass(slots=True)
class HostileGhost(HostileSite):
    """Implements Ghost's Admin API. With `endless`, there is always another page of posts."""

    platform = "ghost"
    credential = {"admin_api_key": f"{'a' * 24}:{'b' * 64}"}  # noqa: RUF012

    endless: bool = False

    def shows(
        self, number: int, html: str = f"<p>{WORDS}</p>", changed: str = "2026-01-01T00:00:00", **other: Any
    ) -> str:
        """Show a normal post, except for the fields in `other`, and return its URL."""
        self.post = {
            "id": f"{number:024x}",
            "status": "published",
            "url": f"{self.url}/post-{number}/",
            "slug": f"post-{number}",
            "title": f"Post {number}",
            "html": html,
            "lexical": lexical(html.removeprefix("<p>").removesuffix("</p>")),
            "updated_at": f"{changed}.000Z",
            "published_at": "2026-01-01T00:00:00.000Z",
            **other,
        }
        return f"{self.url}/post-{number}/"

    def respond(self, path: str, query: Query) -> Any:
        """Return the response to a request."""
        name = path.removeprefix("/ghost/api/admin/").partition("/")[0]
        if name == "site":
            return {"site": {"title": "A site", "url": self.url, "version": "6.0"}}
        if name != "posts":
            return {name: []}
        if not self.endless:
            return {"posts": [self.post]}
        limit, page = (int(query.get(name, ["1"])[0]) for name in ("limit", "page"))
        first = (page - 1) * limit + 1
        return {"posts": [self._numbered(number) for number in range(first, first + limit)]}

    def _numbered(self, number: int) -> dict[str, Any]:
        names = {"id": f"{number:024x}", "slug": f"post-{number}", "url": f"{self.url}/post-{number}/"}
        return {**self.post, **names}


@dataclass(slots=True)
class HostileForem(HostileSite):
    """Implements Forem's API, below `/api`."""

    platform = "devto"
    credential = {"api_key": "k" * 24}  # noqa: RUF012
    credential_header = "api-key"

    def shows(
        self, number: int, html: str = f"<p>{WORDS}</p>", changed: str = "2026-01-01T00:00:00", **other: Any
    ) -> str:
        """Show a normal post, except for the fields in `other`, and return its URL."""
        self.post = {
            "id": number,
            "published": True,
            "url": f"{self.url}/ada/post-{number}",
            "slug": f"post-{number}",
            "title": f"Post {number}",
            "body_markdown": html.removeprefix("<p>").removesuffix("</p>"),
            "published_at": f"{changed}Z",
            "tag_list": [],
            **other,
        }
        return f"{self.url}/ada/post-{number}"

    def respond(self, path: str, query: Query) -> Any:
        """Return the response to a request."""
        if path == "/api/users/me":
            return {"username": "ada", "name": "Ada"}
        if path == "/api/tags":
            return []
        return [self.post] if "/me/" in path else self.post


def lexical(text: str) -> str:
    """Return a Lexical document (Ghost's editor format) with one paragraph."""
    words = {
        "type": "extended-text",
        "version": 1,
        "text": text,
        "format": 0,
        "detail": 0,
        "mode": "normal",
        "style": "",
    }
    paragraph = {"type": "paragraph", "version": 1, "direction": "ltr", "format": "", "indent": 0, "children": [words]}
    root = {"type": "root", "version": 1, "direction": "ltr", "format": "", "indent": 0, "children": [paragraph]}
    return json.dumps({"root": root})


@contextmanager
def running(site: Site) -> Iterator[Site]:
    """Run a website."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            parts = urlsplit(self.path)
            site.request_count += 1
            site.sent += self.headers.get_all(site.credential_header, [])
            if site.moved:
                self.send_response(307)
                self.send_header("Location", f"{site.moved}{self.path}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            refused = self.command in ("POST", "PUT") and site.refusal is not None
            document = site.refusal if refused else site.respond(parts.path, parse_qs(parts.query))
            content = json.dumps(document).encode()
            self.send_response(400 if refused else 200)
            for name, value in {"Content-Type": "application/json", **site.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_PUT = do_DELETE = do_OPTIONS = do_GET  # noqa: N815 - named by the standard library

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
