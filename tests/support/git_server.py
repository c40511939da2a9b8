"""A git server: Git's own `git http-backend` behind a small HTTP server, with token authentication."""

from __future__ import annotations

import base64
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal

from support.needs import program

TOKEN = "glpat-0123456789.abcdef"
_IDENTITY = ("-c", "user.name=Editor", "-c", "user.email=editor@example.org", "-c", "commit.gpgsign=false")


@dataclass(slots=True)
class GitServer:
    """A served bare repository.

    `before_push` runs once before the next push; `lose` drops the connection of the next push, before or after it takes
    effect.
    """

    folder: Path
    port: int = 0
    old_protocol: bool = False
    before_push: Callable[[], object] | None = None
    lose: Literal["", "before", "after"] = ""
    requests: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The URL of the repository."""
        return f"http://127.0.0.1:{self.port}/group/blog.git"

    @property
    def credential(self) -> dict[str, str]:
        """The credential for connecting the repository."""
        return {"repository": self.url, "token": TOKEN}

    @property
    def bare(self) -> Path:
        """The folder of the repository."""
        return self.folder / "group/blog.git"

    def git(self, *arguments: str, stdin: bytes = b"") -> str:
        """Run Git in the repository and return its output."""
        command = [program("git"), "-C", str(self.bare), *_IDENTITY, *arguments]
        return subprocess.run(command, check=True, capture_output=True, input=stdin).stdout.decode()

    def commit(self, files: dict[str, str], *, rewrite: bool = False) -> None:
        """Commit files on the branch `main`, or replace its history if `rewrite` is set."""
        parts = [b"commit refs/heads/main\ncommitter E <e@example.org> 1700000000 +0000\ndata 5\nEdit\n"]
        if not rewrite and self.git("for-each-ref", "refs/heads/main"):
            parts.append(b"from refs/heads/main^0\n")
        for path, text in files.items():
            parts.append(f"M 644 inline {path}\ndata {len(text.encode())}\n{text}\n".encode())
        if rewrite:
            parts[0] = parts[0].replace(b"commit ", b"reset refs/heads/main\n\ncommit ", 1)
        self.git("fast-import", "--quiet", "--force", stdin=b"".join(parts) + b"\n")

    def show(self, path: str) -> str:
        """Return a file of the newest commit."""
        return self.git("show", f"main:{path}")


class _Server(ThreadingHTTPServer):
    git: GitServer


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
        pass

    def do_GET(self) -> None:
        self._run(b"")

    def do_POST(self) -> None:
        self._run(self.rfile.read(int(self.headers["Content-Length"])))

    def _run(self, body: bytes) -> None:
        git, (path, _, query) = self.server.git, self.path.partition("?")
        git.requests.append(f"{self.command} {path.rpartition('/')[2]}")
        credentials = base64.b64decode((self.headers["Authorization"] or "").removeprefix("Basic ")).decode()
        if credentials.partition(":")[2] != TOKEN:
            self.send_response(401)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        lose = ""
        if path.endswith("/git-receive-pack"):
            run, git.before_push = git.before_push, None
            lose, git.lose = git.lose, ""
            if run is not None:
                run()
        response = b"" if lose == "before" else self._respond(path, query, body)
        if lose:
            self.close_connection = True
            return
        head, _, content = response.partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in head.decode().split("\r\n")]
        status = next((int(value.split()[0]) for name, _, value in lines if name == "Status"), 200)
        self.send_response(status)
        for name, _, value in lines:
            if name not in ("Status", ""):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _respond(self, path: str, query: str, body: bytes) -> bytes:
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.server.git.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REMOTE_USER": "ada",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers["Content-Type"] or "",
            "CONTENT_LENGTH": str(len(body)),
        }
        if not self.server.git.old_protocol:
            environment["GIT_PROTOCOL"] = self.headers["Git-Protocol"] or ""
        command = [program("git"), "http-backend"]
        return subprocess.run(command, input=body, env=environment, check=False, capture_output=True).stdout


@contextmanager
def serving_git(folder: Path, *, filters: bool = True) -> Iterator[GitServer]:
    """Serve a new repository, with or without support for partial clone filters."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.git = GitServer(folder, server.server_port)
    server.git.bare.mkdir(parents=True)
    server.git.git("init", "-q", "--bare", "-b", "main")
    server.git.git("config", "http.receivepack", "true")
    server.git.git("config", "uploadpack.allowFilter", str(filters).lower())
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.git
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
