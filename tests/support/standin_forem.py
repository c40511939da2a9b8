"""A strict stand-in for version 1 of Forem's API: it rejects everything that the documentation does not specify."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

KEY = "fOrEmKeY0123456789abcdef"
ACCEPT = "application/vnd.forem.api-v1+json"
FIELDS = {
    "title": str,
    "body_markdown": str,
    "published": bool,
    "series": str,
    "main_image": str,
    "canonical_url": str,
    "description": str,
    "tags": list,
    "organization_id": int,
}


@dataclass(slots=True)
class Forem:
    """The stand-in's state: `articles` by id, `writes` as received.

    `lose` drops the connection of the next write, before or after it takes effect.
    """

    port: int = 0
    articles: dict[int, dict[str, Any]] = field(default_factory=dict)
    writes: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    lose: Literal["", "before", "after"] = ""
    limited: list[str] = field(default_factory=list)
    deletes_while_listing: bool = False

    @property
    def url(self) -> str:
        """The URL of the API."""
        return f"http://127.0.0.1:{self.port}/api"

    def write(self, method: str, number: int, given: dict[str, Any]) -> tuple[int, Any]:
        """Create or update an article, and return status and response document."""
        problem = _problem(given, makes=method == "POST")
        if problem:
            return 422, {"error": problem, "status": 422}
        if method == "POST":
            number = len(self.writes) + 1000
            self.articles[number] = {"id": number, "published": False, "tags": [], "slug": f"temp-slug-{number}"}
        if number not in self.articles:
            return 404, {"error": "not found", "status": 404}
        stored = self.articles[number]
        other_articles = [article for article in self.articles.values() if article is not stored]
        canonical = given.get("canonical_url")
        if canonical and canonical in (article.get("canonical_url") for article in other_articles):
            return 422, {"error": "Canonical url has already been taken", "status": 422}
        stored.update(given)
        self.writes.append((method, given))
        if stored["published"]:
            stored["slug"] = stored["slug"].replace("temp-slug", "post")
        return (201 if method == "POST" else 200), self.shown(stored)

    def shown(self, kept: dict[str, Any]) -> dict[str, Any]:
        """Return an article in the format of responses to writes."""
        base = self.common(kept)
        names = list(kept["tags"])
        return {**base, "tag_list": ", ".join(names), "tags": names, "body_html": "<p>…</p>"}

    def listed(self, kept: dict[str, Any]) -> dict[str, Any]:
        """Return an article in the format of lists of the user's own articles."""
        return {**self.common(kept), "published": kept["published"], "tag_list": list(kept["tags"])}

    def common(self, kept: dict[str, Any]) -> dict[str, Any]:
        """Return the fields common to all representations of an article."""
        path = f"/ada/{kept['slug']}"
        url = f"http://127.0.0.1:{self.port}{path}"
        image = kept.get("main_image")
        return {
            "type_of": "article",
            "id": kept["id"],
            "title": kept["title"],
            "description": kept.get("description") or "Generated from the body.",
            "published_at": "2026-11-20T08:00:00Z" if kept["published"] else None,
            "slug": kept["slug"],
            "path": path,
            "url": url,
            "body_markdown": kept["body_markdown"],
            "cover_image": f"https://media.forem.example/{image}" if image else None,
            "canonical_url": kept.get("canonical_url") or url,
        }


def _problem(document: dict[str, Any], *, makes: bool) -> str:
    for name, value in document.items():
        if name not in FIELDS or not (value is None or isinstance(value, FIELDS[name])):
            return f"{name} is not a parameter, or is of another type"
    if makes and not document.get("title"):
        return "Title can't be blank"
    tags = document.get("tags") or []
    if len(tags) > 4:
        return "Tag list exceed the maximum of 4 tags"
    if not all(isinstance(tag, str) and tag.isalnum() and tag == tag.lower() for tag in tags):
        return "Tag contains non-alphanumeric characters"
    if str(document.get("body_markdown") or "").lstrip().startswith("---"):
        return "the body has front matter"
    return ""


class _Server(ThreadingHTTPServer):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.forem, self.lock = Forem(), threading.Lock()


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class calls it so
        pass

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        forem = self.server.forem
        forem.requests.append(f"GET {self.path}")
        if not parts.path.startswith("/api/"):
            self._page(parts.path)
            return
        if self._turned_away():
            return
        query = {name: int(values[0]) for name, values in parse_qs(parts.query).items()}
        newest = sorted(forem.articles.values(), key=lambda article: (article["published"], -article["id"]))
        match parts.path:
            case "/api/users/me":
                self._json(200, {"type_of": "user", "id": 1, "username": "ada", "name": "Ada Lovelace"})
            case "/api/tags":
                self._json(200, [{"id": 8, "name": "webdev"}, {"id": 9, "name": "python"}])
            case "/api/articles/me/all":
                size = query["per_page"]
                start = (query["page"] - 1) * size
                self._json(200, [forem.listed(article) for article in newest[start : start + size]])
                if forem.deletes_while_listing:
                    forem.deletes_while_listing = False
                    del forem.articles[newest[0]["id"]]
            case "/api/articles/me/published":
                live = [article for article in newest if article["published"]]
                size = query["per_page"]
                start = (query["page"] - 1) * size
                self._json(200, [forem.listed(article) for article in live[start : start + size]])
            case _:
                self._json(404, {"error": "not found", "status": 404})

    def do_POST(self) -> None:
        self._write("POST", 0, exact="/api/articles")

    def do_PUT(self) -> None:
        number = self.path.rpartition("/")[2]
        self._write("PUT", int(number), exact=f"/api/articles/{number}")

    def _write(self, method: str, number: int, *, exact: str) -> None:
        forem = self.server.forem
        forem.requests.append(f"{method} {self.path}")
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self._turned_away():
            return
        if self.path != exact or self.headers["Content-Type"] != "application/json":
            self._json(422, {"error": "param is missing or the value is empty: article", "status": 422})
            return
        lose, forem.lose = forem.lose, ""
        if lose == "before":
            self.close_connection = True
            return
        document = json.loads(body)
        with self.server.lock:
            status, result = forem.write(method, number, document["article"])
        if lose == "after":
            self.close_connection = True
            return
        self._json(status, result)

    def _turned_away(self) -> bool:
        if self.headers["api-key"] != KEY:
            self._json(401, {"error": "unauthorized", "status": 401})
            return True
        if self.headers["Accept"] != ACCEPT:
            self._json(422, {"error": "another version of the API", "status": 422})
            return True
        if self.server.forem.limited:
            self._json(429, {"error": "Retry later", "status": 429}, self.server.forem.limited.pop(0))
            return True
        return False

    def _page(self, path: str) -> None:
        articles = self.server.forem.articles.values()
        matches = [article for article in articles if path == f"/ada/{article['slug']}" and article["published"]]
        if not matches:
            self._reply(404, b"nothing here", "text/html")
            return
        self._reply(200, f"<title>{matches[0]['title']}</title>".encode(), "text/html")

    def _json(self, status: int, document: Any, retry_after: str = "") -> None:
        self._reply(status, json.dumps(document).encode(), "application/json", retry_after)

    def _reply(self, status: int, content: bytes, kind: str, retry_after: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        if retry_after:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def standing_in_for_forem() -> Iterator[Forem]:
    """Run the stand-in."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.forem.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.forem
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
