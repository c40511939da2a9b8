"""Standard input and output of the client scripts.

Scripts read one order as JSON. They write lines of JSON: `{"open": url}` each time a user would open that URL in a
browser, and finally `{"done": …}` or `{"failed": {"type", "message"}}`.
"""

from __future__ import annotations

import http.server
import json
import sys
import threading
import traceback
from collections.abc import Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from urllib.parse import parse_qsl, urlsplit

CLIENT_NAME = "Pressroom's tests"


def read_order() -> dict[str, Any]:
    """Return the order: `url`, `headers`, `calls` (of `name` and `arguments`), and for OAuth `store`, a file's path."""
    order: dict[str, Any] = json.load(sys.stdin)
    return order


def write(line: Mapping[str, Any]) -> None:
    """Write one line."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def write_failure(error: BaseException) -> None:
    """Write the type and message of an error, or of the innermost of grouped errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    traceback.print_exception(error, file=sys.stderr)
    write({"failed": {"type": type(error).__name__, "message": str(error)}})


class Store:
    """A client's registration and tokens in a JSON file, as a desktop program stores them."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def get(self, name: str) -> Any:
        """Return a value, or `None`."""
        return json.loads(self._path.read_text()).get(name) if self._path.exists() else None

    def set(self, name: str, value: Any) -> None:
        """Replace a value."""
        stored = json.loads(self._path.read_text()) if self._path.exists() else {}
        self._path.write_text(json.dumps({**stored, name: value}))


class Loopback:
    """The OAuth redirect endpoint on the loopback interface (RFC 8252, section 7.3)."""

    def __init__(self) -> None:
        arrived: SimpleQueue[dict[str, str]] = SimpleQueue()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("content-type", "text/plain")
                self.end_headers()
                self.wfile.write(b"You can close this window.")
                if self.path.startswith("/callback"):
                    arrived.put(dict(parse_qsl(urlsplit(self.path).query)))

            def log_message(self, *_arguments: Any) -> None:
                pass

        self._arrived = arrived
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/callback"

    def wait(self) -> dict[str, str]:
        """Return the query parameters of the redirect."""
        parameters = self._arrived.get(timeout=60)
        write({"returned": {**parameters, **({"code": "…"} if "code" in parameters else {})}})
        return parameters
