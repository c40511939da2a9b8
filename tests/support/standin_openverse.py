"""A stand-in for Openverse with one image, with responses in the format of the real API."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from PIL import Image

_ID = "4bc43a04-ef46-4544-a0c1-63c63f56e276"


def _jpeg() -> bytes:
    buffer = io.BytesIO()
    Image.linear_gradient("L").resize((1600, 900)).convert("RGB").save(buffer, "JPEG")
    return buffer.getvalue()


def _image(url: str) -> dict[str, Any]:
    return {
        "id": _ID,
        "title": "Cold brew in a jar",
        "foreign_landing_url": "https://photos.example.org/cold-brew",
        "url": f"{url}/jar.jpg",
        "creator": "Mira Sol",
        "creator_url": "https://photos.example.org/mira",
        "license": "by",
        "license_version": "4.0",
        "license_url": "https://creativecommons.org/licenses/by/4.0/",
        "filetype": "jpg",
        "attribution": '"Cold brew in a jar" by Mira Sol is licensed under CC BY 4.0.',
        "mature": False,
        "height": 900,
        "width": 1600,
        "thumbnail": f"{url}/jar.jpg",
    }


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        url = f"http://{self.headers['Host']}"
        path = self.path.partition("?")[0]
        if path == "/jar.jpg":
            self._respond(200, "image/jpeg", _jpeg())
        elif path == "/images/":
            results = {"result_count": 1, "page_count": 1, "page_size": 20, "page": 1, "results": [_image(url)]}
            self._respond(200, "application/json", json.dumps(results).encode())
        elif path == f"/images/{_ID}/":
            self._respond(200, "application/json", json.dumps(_image(url)).encode())
        else:
            self._respond(404, "application/json", b'{"detail": "No Image matches the given query."}')

    def log_message(self, *_: Any) -> None:
        return

    def _respond(self, status: int, media_type: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def openverse() -> Iterator[str]:
    """Run the stand-in, and yield its URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
