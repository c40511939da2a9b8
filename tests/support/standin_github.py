"""A strict stand-in for the parts of GitHub's API that write files, following its documentation."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "github_pat_0123456789abcdef"
ROOT = "/repos/ada/blog"
FIELDS = {"message", "content", "sha", "branch", "committer", "author"}


@dataclass(slots=True)
class GitHub:
    """One repository: the `files` of its only branch by path, and the messages of its `commits`."""

    port: int = 0
    files: dict[str, bytes] = field(default_factory=dict)
    commits: list[str] = field(default_factory=list)
    lose: Literal["", "before", "after"] = ""
    conflicts: int = 0
    limited: bool = False
    push: bool = True

    @property
    def url(self) -> str:
        """The URL of the API."""
        return f"http://127.0.0.1:{self.port}"

    def change(self, method: str, path: str, given: dict[str, Any]) -> tuple[int, Any]:
        """Write or delete a file, and return status and response document."""
        if not given.get("message") or set(given) - FIELDS or given.get("branch", "main") != "main":
            return 422, {"message": "Invalid request."}
        if method == "PUT" and not isinstance(given.get("content"), str):
            return 422, {"message": 'Invalid request.\n\n"content" wasn\'t supplied.'}
        if self.conflicts:
            self.conflicts -= 1
            return 409, {"message": "is at 1234567890 but expected 0987654321"}
        existing = self.files.get(path)
        if method == "DELETE" and existing is None:
            return 404, {"message": "Not Found"}
        if existing is not None and "sha" not in given:
            return 422, {"message": 'Invalid request.\n\n"sha" wasn\'t supplied.'}
        if (blob(existing) if existing is not None else None) != given.get("sha"):
            return 409, {"message": f"{path} does not match {given.get('sha')}"}
        self.commits.append(given["message"])
        commit = {"sha": "c" * 40, "message": given["message"]}
        if method == "DELETE":
            del self.files[path]
            return 200, {"content": None, "commit": commit}
        self.files[path] = base64.b64decode(given["content"], validate=True)
        content = {"path": path, "sha": blob(self.files[path]), "type": "file"}
        return (201 if existing is None else 200), {"content": content, "commit": commit}

    def look(self, path: str, query: dict[str, list[str]]) -> tuple[int, Any]:
        """Return status and response document of a GET request."""
        if query.get("ref", ["main"]) != ["main"]:
            return 404, {"message": "No commit found for the ref"}
        match path.removeprefix(ROOT).split("/", 2):
            case [""]:
                return 200, {"full_name": "ada/blog", "default_branch": "main", "permissions": {"push": self.push}}
            case ["", "branches", "main"]:
                return 200, {"name": "main"}
            case ["", "git", "trees/main"] if query == {"recursive": ["1"]}:
                if not self.commits and not self.files:
                    return 409, {"message": "Git Repository is empty."}
                tree = [{"path": name, "type": "blob", "sha": blob(data)} for name, data in self.files.items()]
                return 200, {"tree": [{"path": "content", "type": "tree", "sha": "d" * 40}, *tree], "truncated": False}
            case ["", "git", rest] if rest.startswith("blobs/"):
                matches = [data for data in self.files.values() if blob(data) == rest.removeprefix("blobs/")]
                return (200, {"content": _lines(matches[0]), "encoding": "base64"}) if matches else (404, {})
            case ["", "contents", name] if name in self.files:
                data = self.files[name]
                large = len(data) > 1_000_000
                content = {"content": "" if large else _lines(data), "encoding": "none" if large else "base64"}
                return 200, {"type": "file", "path": name, "sha": blob(data), **content}
            case ["", "contents", name] if any(path.startswith(f"{name}/") for path in self.files):
                return 200, []
        return 404, {"message": "Not Found"}


def blob(content: bytes) -> str:
    """Return the object id of a Git blob."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _lines(content: bytes) -> str:
    return base64.encodebytes(content).decode()


class _Server(ThreadingHTTPServer):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.github, self.lock = GitHub(), threading.Lock()


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class calls it so
        pass

    def do_GET(self) -> None:
        if not self._turned_away():
            parts = urlsplit(self.path)
            self._json(*self.server.github.look(unquote(parts.path), parse_qs(parts.query)))

    def do_PUT(self) -> None:
        self._change("PUT")

    def do_DELETE(self) -> None:
        self._change("DELETE")

    def _change(self, method: str) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self._turned_away():
            return
        github = self.server.github
        path = unquote(self.path).removeprefix(f"{ROOT}/contents/")
        assert ".." not in path.split("/"), path
        with self.server.lock:
            lose, github.lose = github.lose, ""
            response = (500, {}) if lose == "before" else github.change(method, path, body)
        if lose:
            self.close_connection = True
            return
        self._json(*response)

    def _turned_away(self) -> bool:
        headers = self.headers
        if headers["Authorization"] != f"Bearer {TOKEN}":
            self._json(401, {"message": "Bad credentials"})
        elif not headers["User-Agent"] or headers["Accept"] != "application/vnd.github+json":
            self._json(403, {"message": "Request forbidden by administrative rules."})
        elif headers["X-GitHub-Api-Version"] != "2022-11-28":
            self._json(400, {"message": "not a supported version"})
        elif self.server.github.limited:
            self._json(403, {"message": "You have exceeded a secondary rate limit."})
        elif not unquote(urlsplit(self.path).path).startswith(ROOT):
            self._json(404, {"message": "Not Found"})
        else:
            return False
        return True

    def _json(self, status: int, document: Any) -> None:
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def standing_in_for_github() -> Iterator[GitHub]:
    """Run the stand-in."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.github.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.github
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
