"""A program that receives signed webhooks as described in the connector's documentation."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, Literal

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # the specification's own example


@dataclass(slots=True)
class Fault:
    """A fault for one event of a type: no response, or an error status."""

    kind: str
    when: Literal["before", "after"]
    status: int = 0


@dataclass(slots=True)
class Receiver:
    """The received data: `events` that were processed, `ids` of every request, and the stored `posts`."""

    port: int = 0
    names_posts: bool = True
    events: list[dict[str, Any]] = field(default_factory=list)
    ids: list[tuple[str, str]] = field(default_factory=list)
    posts: dict[str, dict[str, Any]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    response: tuple[int, str, bytes] | None = None
    responses: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def site(self) -> str:
        """The URL of the public posts."""
        return f"http://127.0.0.1:{self.port}/blog"

    @property
    def credential(self) -> dict[str, str]:
        """The credential for connecting the receiver."""
        return {"endpoint": f"http://127.0.0.1:{self.port}/hook", "secret": SECRET}

    def take(self, event_id: str, event: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Process an event, unless it is a repeat."""
        if event_id in self.responses:
            return 200, self.responses[event_id]
        data, response = event["data"], {}
        match event["type"]:
            case "post.created":
                post = data["post"]
                free_number = next(number for number in count(1) if str(number) not in self.posts)
                identifier = str(free_number) if self.names_posts else post["marker"]
                self.posts[identifier] = {**post, "state": data["state"]}
                if self.names_posts:
                    response = {"id": identifier, "url": f"{self.site}/{post['slug']}"}
            case "post.updated":
                if data["id"] not in self.posts:
                    return 410, {}
                self.posts[data["id"]] = {**data["post"], "state": data["state"]}
            case "post.state_changed":
                if data["id"] not in self.posts:
                    return 410, {}
                self.posts[data["id"]]["state"] = data["state"]
                if data["state"] == "gone":
                    del self.posts[data["id"]]
        self.events.append(event)
        self.responses[event_id] = response
        return 200, response

    def fault(self, kind: str, when: Literal["before", "after"], status: int = 0) -> None:
        """Inject a fault into the next event of a type, before or after it is processed."""
        self.faults.append(Fault(kind, when, status))

    def met(self, kind: str, when: str) -> Fault | None:
        """Remove and return the fault for an event at this point, or None."""
        for fault in self.faults:
            if (fault.kind, fault.when) == (kind, when):
                self.faults.remove(fault)
                return fault
        return None


class _Server(ThreadingHTTPServer):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.receiver, self.lock = Receiver(), threading.Lock()


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class calls it so
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.receiver.response is not None:
            status, kind, content = self.server.receiver.response
            self._reply(status, content, kind)
            return
        try:
            event = Webhook(SECRET).verify(body, dict(self.headers.items()))
        except WebhookVerificationError as error:
            self._json(401, {"error": str(error)})
            return
        with self.server.lock:
            self._act(self.headers["webhook-id"], event)

    def _act(self, event_id: str, event: dict[str, Any]) -> None:
        self.server.receiver.ids.append((event["type"], event_id))
        if self._broken(self.server.receiver.met(event["type"], "before")):
            return
        status, response = self.server.receiver.take(event_id, event)
        if self._broken(self.server.receiver.met(event["type"], "after")):
            return
        self._json(status, response)

    def _broken(self, fault: Fault | None) -> bool:
        if fault is None:
            return False
        if fault.status:
            self._json(fault.status, {"message": "not now"})
        else:
            self.close_connection = True  # no response
        return True

    def do_GET(self) -> None:
        slug = self.path.removeprefix("/blog/")
        posts = [
            post for post in self.server.receiver.posts.values() if post["slug"] == slug and post["state"] == "live"
        ]
        if not posts:
            self._reply(404, b"nothing here", "text/html")
            return
        page = f"<title>{posts[0]['title']}</title><h1>{posts[0]['title']}</h1>{posts[0]['html']}"
        self._reply(200, page.encode(), "text/html")

    def _json(self, status: int, document: Any) -> None:
        self._reply(status, json.dumps(document).encode(), "application/json")

    def _reply(self, status: int, content: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Run a receiver."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.receiver.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
