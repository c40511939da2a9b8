"""A strict platform: every create request creates a new item, nothing is deduplicated, and responses can get lost.

It runs in the test's own process, so tests can inspect its real state.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "a-token-of-the-stand-in-platform"


@dataclass(slots=True)
class Fault:
    """A fault injected into a request: `prefix` is the beginning of its method and path, such as `POST /api/posts`.

    `lose` drops the connection, before or after the platform has acted; `delay` waits for that event, at most a minute;
    `act` calls a function instead of responding, for example to kill a process; `then` calls one and responds as usual;
    `response` replaces the response.
    """

    prefix: str
    when: Literal["before", "after"] = "before"
    lose: bool = False
    act: Callable[[], None] | None = None
    then: Callable[[], None] | None = None
    response: tuple[int, str, bytes, dict[str, str]] | None = None
    delay: threading.Event | None = None
    times: int = 1
    met: threading.Event = field(default_factory=threading.Event)


class StandInPlatform:
    """Serves on a free loopback port while in its context."""

    def __init__(self) -> None:
        self.posts: dict[str, dict[str, Any]] = {}
        self.media: dict[str, dict[str, Any]] = {}
        self.terms: list[dict[str, Any]] = []
        self.redirects: dict[str, dict[str, Any]] = {}
        self.requests: list[str] = []
        self.state_changes: list[tuple[str, str, datetime]] = []
        self.faults: list[Fault] = []
        self.token = TOKEN
        self.settings = {"timezone": "Europe/Berlin", "language": ""}
        self.suffix = ""
        self.id_length = 0
        self.drops: set[str] = set()
        self.page_status = 200
        self.lock = threading.RLock()
        self._numbers = 0
        self._acted = threading.Event()
        self._changed = threading.Condition(self.lock)
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"platform": self}))
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for fault in self.faults:
            if fault.delay is not None:
                fault.delay.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def fault(self, prefix: str, **values: Any) -> Fault:
        """Inject a fault into the next request with this prefix."""
        fault = Fault(prefix, **values)
        with self.lock:
            self.faults.append(fault)
        return fault

    def take_fault(self, line: str) -> Fault | None:
        with self.lock:
            for fault in self.faults:
                if fault.times > 0 and line.startswith(fault.prefix):
                    fault.times -= 1
                    return fault
        return None

    def count(self, prefix: str) -> int:
        """Return the number of requests with this prefix."""
        return sum(line.startswith(prefix) for line in self.requests)

    def wait_for_post(self) -> bool:
        """Wait until a post is created. Returns whether that happens within 20 seconds."""
        return self._acted.wait(20)

    def wait_for_posts(self, count: int) -> None:
        """Wait until there are at least `count` posts."""
        while len(self.posts) < count:
            self._acted.clear()
            assert self._acted.wait(20)

    def wait_for_state(self, state: str, times: int = 1) -> bool:
        """Wait until `times` posts have changed to a state. Returns whether that happens within 20 seconds."""
        with self._changed:
            return self._changed.wait_for(
                lambda: sum(new_state == state for _, new_state, _ in self.state_changes) >= times, 20
            )

    def edit(self, post_id: str, **fields: Any) -> None:
        """Change a post as a user of the platform itself does."""
        with self.lock:
            self.posts[post_id] |= fields
            self.posts[post_id]["revision"] += 1

    def handle(self, method: str, path: str, query: dict[str, str], body: bytes, headers: Any) -> tuple[int, Any]:
        """Process a request, and return status and response."""
        if not path.startswith("/api/"):
            return self._page(unquote(path))
        if headers.get("Authorization") != f"Bearer {self.token}":
            return 401, {"error": "unauthorized"}
        parts = path.removeprefix("/api/").split("/")
        with self.lock:
            return self._api(method, parts, query, body, headers)

    def _api(self, method: str, parts: list[str], query: dict[str, str], body: bytes, headers: Any) -> tuple[int, Any]:
        if parts[0] == "posts" and len(parts) > 1 and parts[1] not in self.posts:
            return 404, {"error": "gone"}
        if method == "GET":
            return self._shown(parts, query)
        if method == "PUT":
            return self._put(self.posts[parts[1]], headers.get("If-Match", ""), json.loads(body))
        return self._made(parts, body, headers)

    def _shown(self, parts: list[str], query: dict[str, str]) -> tuple[int, Any]:
        match parts:
            case ["me"]:
                return 200, {"name": "The stand-in", "publish": True, "upload": True, **self.settings}
            case ["terms", kind]:
                return 200, [term for term in self.terms if term["kind"] == kind]
            case ["media"]:
                return 200, [media for media in self.media.values() if media["marker"] == query.get("marker")]
            case ["posts"]:
                posts = [post for post in self.posts.values() if query.get("marker") in (None, post["marker"])]
                return 200, sorted(posts, key=lambda post: post["id"])
            case ["posts", identifier]:
                return 200, self.posts[identifier] | {"suffix": self.suffix}
            case _:
                return 404, {"error": "no such address"}

    def _made(self, parts: list[str], body: bytes, headers: Any) -> tuple[int, Any]:
        match parts:
            case ["terms", kind]:
                term = {"id": self._id("t"), "kind": kind, "name": json.loads(body)["name"]}
                self.terms.append(term)
                return 201, term
            case ["media"]:
                identifier = self._id("m")
                media = {"id": identifier, "marker": headers["X-Marker"], "size": len(body), "alt": headers["X-Alt"]}
                self.media[identifier] = media | {"url": f"{self.url}/files/{identifier}.png"}
                return 201, self.media[identifier]
            case ["media", identifier, "gone"]:
                self.media.pop(identifier, None)
                return 200, {}
            case ["posts"]:
                identifier = self._id("p")
                state = {"id": identifier, "state": "draft", "revision": 1, "at": None}
                self.posts[identifier] = self._kept(json.loads(body)) | state
                self._acted.set()
                return 201, self.posts[identifier]
            case ["posts", identifier, "state"]:
                return self._set_state(identifier, json.loads(body))
            case _:
                return 404, {"error": "no such address"}

    def _put(self, post: dict[str, Any], revision: str, sent: dict[str, Any]) -> tuple[int, Any]:
        if revision and revision != str(post["revision"]):
            return 412, {"error": "changed"}
        post |= self._kept(sent)
        post["revision"] += 1
        return 200, post

    def _set_state(self, identifier: str, sent: dict[str, Any]) -> tuple[int, Any]:
        self.state_changes.append((identifier, sent["state"], datetime.now(UTC)))
        self._changed.notify_all()
        post = self.posts[identifier]
        if sent["state"] == "gone":
            del self.posts[identifier]
            return 200, post | {"state": "gone"}
        post |= {"state": sent["state"], "at": sent.get("at")}
        post["revision"] += 1
        return 200, post

    def _kept(self, sent: dict[str, Any]) -> dict[str, Any]:
        stored = dict(sent)
        for name in self.drops:
            if name == "half":
                stored["html"] = stored["html"][: len(stored["html"]) // 2]
            elif name in stored:
                stored[name] = [] if isinstance(stored[name], list) else "" if isinstance(stored[name], str) else None
        return stored

    def _page(self, path: str) -> tuple[int, Any]:
        if self.page_status != 200:
            return self.page_status, "<h1>In trouble</h1>"
        with self.lock:
            for post in self.posts.values():
                if path == f"/{post['slug']}" and post["state"] == "live":
                    head = f'<title>{post["title"]}</title><link rel="canonical" href="{post["canonical_url"] or ""}">'
                    return 200, f"<!doctype html>{head}<h1>{post['title']}</h1>{post['html']}"
            if any(path == f"/files/{identifier}.png" for identifier in self.media):
                return 200, "an image"
        return 404, "<h1>Not found</h1>"

    def _id(self, letter: str) -> str:
        self._numbers += 1
        return f"{letter}{self._numbers}".ljust(self.id_length, "x")


class _Handler(BaseHTTPRequestHandler):
    platform: StandInPlatform

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        line = f"{self.command} {self.path}"
        self.platform.requests.append(line)
        fault = self.platform.take_fault(line)
        if fault is not None and fault.when == "before" and self._go_wrong(fault):
            return
        status, response = self.platform.handle(self.command, parts.path, query, body, self.headers)
        if fault is not None and fault.when == "after" and self._go_wrong(fault):
            return
        html = isinstance(response, str)
        content = response.encode() if html else json.dumps(response).encode()
        self._respond(status, "text/html" if html else "application/json", content, {})

    do_POST = do_PUT = do_HEAD = do_GET  # noqa: N815 - named by the standard library

    def log_message(self, *_: Any) -> None:
        return

    def _go_wrong(self, fault: Fault) -> bool:
        """Apply a fault, and return whether the request is finished."""
        fault.met.set()
        if fault.then is not None:
            fault.then()
            return False
        if fault.delay is not None:
            fault.delay.wait(60)
            return False
        if fault.response is not None:
            self._respond(*fault.response)
        elif fault.act is not None:
            fault.act()
        else:
            self.close_connection = True
        return True

    def _respond(self, status: int, media_type: str, content: bytes, headers: dict[str, str]) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(content)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


@contextmanager
def standing_in() -> Iterator[StandInPlatform]:
    """Run a platform while the block runs."""
    with StandInPlatform() as platform:
        yield platform
