"""Stand-ins for the five image providers: they accept the documented parameters, and respond in the real formats."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from PIL import Image

UNSPLASH_KEY, PEXELS_KEY, PIXABAY_KEY = "unsplash-access-key", "pexels-api-key", "1234567-pixabay"

Query = dict[str, str]


@cache
def image_bytes(width: int = 1600, height: int = 900, kind: str = "JPEG") -> bytes:
    """Return the bytes of a generated image."""
    buffer = io.BytesIO()
    Image.linear_gradient("L").resize((width, height)).convert("RGB").save(buffer, kind)
    return buffer.getvalue()


class Refused(Exception):
    """A request that the real API would refuse, with its response status."""

    def __init__(self, status: int, problem: str) -> None:
        super().__init__(problem)
        self.status = status


def only(query: Query, *names: str, required: tuple[str, ...] = ()) -> None:
    """Refuse parameters that the API does not document, and missing required ones."""
    unknown = sorted(set(query) - set(names) - set(required))
    if unknown:
        raise Refused(400, f"unknown parameters {unknown}")
    missing = [name for name in required if name not in query]
    if missing:
        raise Refused(400, f"missing parameters {missing}")


class Providers:
    """The providers' content, and the requests they received."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[tuple[str, str]] = []
        self.broken: dict[str, tuple[int, bytes]] = {}
        self.drops: list[str] = []
        """Path prefixes of requests that get no response; each entry is used once."""
        self.files: dict[str, bytes] = {"/files/a.jpg": image_bytes()}

    def request_count(self, path: str) -> int:
        """Return the number of requests for a path."""
        return sum(requested == path for _, requested in self.requests)

    def respond(self, path: str, query: Query, headers: dict[str, str]) -> tuple[str, bytes]:
        """Return the media type and the body of a response. Raises `Refused`."""
        for prefix, (status, body) in self.broken.items():
            if path.startswith(prefix):
                raise Refused(status, body.decode())
        if path in self.files:
            return "image/jpeg", self.files[path]
        handlers: dict[str, Callable[[str, Query, dict[str, str]], Any]] = {
            "/openverse/": self._openverse,
            "/wikimedia": self._wikimedia,
            "/unsplash/": self._unsplash,
            "/pexels/": self._pexels,
            "/pixabay/": self._pixabay,
        }
        for prefix, handler in handlers.items():
            if path.startswith(prefix):
                return "application/json", json.dumps(handler(path, query, headers)).encode()
        raise Refused(404, "nothing here")

    def _openverse(self, path: str, query: Query, _headers: dict[str, str]) -> Any:
        if path == "/openverse/images/4bc43a04-ef46-4544-a0c1-63c63f56e276/":
            return self._openverse_image()
        if path != "/openverse/images/":
            raise Refused(404, "No Image matches the given query.")
        only(query, "page", "page_size", "aspect_ratio", "license_type", "license", "mature", required=("q",))
        if int(query.get("page_size", 20)) > 20:
            raise Refused(401, "page_size must be at most 20 for anonymous requests")
        if "license" in query and "license_type" in query:
            raise Refused(400, "license and license_type exclude each other")
        unknown = {**self._openverse_image(), "id": "x", "license": "sampling+"}
        adult = {**self._openverse_image(), "id": "y", "url": f"{self.url}/files/y.jpg", "mature": True}
        results = [self._openverse_image(), unknown, adult]
        return {"result_count": 41, "page_count": 3, "page_size": 20, "page": 1, "results": results}

    def _openverse_image(self) -> dict[str, Any]:
        return {
            "id": "4bc43a04-ef46-4544-a0c1-63c63f56e276",
            "title": "Tree Bark <Photo>",
            "indexed_on": "2022-11-10T02:19:31.409247Z",
            "foreign_landing_url": "https://stocksnap.io/photo/XNVBVXO3B7",
            "url": f"{self.url}/files/a.jpg",
            "creator": "Tim & Sons",
            "creator_url": "https://stocksnap.io/author/18",
            "license": "by-sa",
            "license_version": "4.0",
            "license_url": "https://creativecommons.org/licenses/by-sa/4.0/",
            "provider": "stocksnap",
            "source": "stocksnap",
            "category": "photograph",
            "filesize": 896128,
            "filetype": "jpg",
            "tags": [{"name": "tree", "accuracy": None}],
            "attribution": '"Tree Bark <Photo>" by Tim & Sons is licensed under CC BY-SA 4.0.',
            "mature": False,
            "height": 900,
            "width": 1600,
            "thumbnail": f"{self.url}/openverse/images/4bc43a04-ef46-4544-a0c1-63c63f56e276/thumb/",
        }

    def _wikimedia(self, _path: str, query: Query, headers: dict[str, str]) -> Any:
        if "Pressroom/" not in headers.get("User-Agent", ""):
            raise Refused(403, "Please set a user-agent and respect our robot policy")
        names = ("action", "format", "formatversion", "prop", "iiprop", "iiextmetadatafilter", "iiurlwidth")
        only(query, *names, "generator", "gsrsearch", "gsrnamespace", "gsrlimit", "gsroffset", "pageids")
        page = {
            "pageid": 317966,
            "ns": 6,
            "title": "File:Felis silvestris silvestris small gradual decrease of quality.png",
            "index": 1,
            "imageinfo": [
                {
                    "size": 300_000,
                    "width": 1600,
                    "height": 900,
                    "thumburl": f"{self.url}/files/a.jpg",
                    "url": f"{self.url}/files/a.jpg?commons",
                    "descriptionurl": "https://commons.wikimedia.org/wiki/File:Felis.png",
                    "mime": "image/png",
                    "extmetadata": {
                        "LicenseShortName": {"value": "CC BY 3.0", "source": "commons-desc-page"},
                        "LicenseUrl": {"value": "https://creativecommons.org/licenses/by/3.0"},
                        "Artist": {"value": '<a href="//x" onclick="alert(1)">Michael&nbsp;G&auml;bler</a>'},
                        "ObjectName": {"value": "Wild cat"},
                    },
                }
            ],
        }
        if query.get("pageids") == "404":
            return {"query": {"pages": [{"pageid": 404, "missing": True}]}}
        return {"batchcomplete": True, "query": {"pages": [page]}}

    def _unsplash(self, path: str, query: Query, headers: dict[str, str]) -> Any:
        if headers.get("Authorization") != f"Client-ID {UNSPLASH_KEY}":
            raise Refused(401, "OAuth error: The access token is invalid")
        photo = {
            "id": "LBI7cgq3pbM",
            "width": 5245,
            "height": 3497,
            "description": None,
            "alt_description": "a cup of coffee on a table",
            "urls": {name: f"{self.url}/files/a.jpg?{name}" for name in ("raw", "full", "regular", "small", "thumb")},
            "links": {
                "html": "https://unsplash.com/photos/LBI7cgq3pbM",
                "download_location": f"{self.url}/unsplash/photos/LBI7cgq3pbM/download",
            },
            "user": {"name": "Gilbert Kane", "links": {"html": "https://unsplash.com/@poyan"}},
        }
        match path:
            case "/unsplash/search/photos":
                only(query, "page", "per_page", "orientation", "content_filter", required=("query",))
                return {"total": 133, "total_pages": 7, "results": [photo]}
            case "/unsplash/photos/LBI7cgq3pbM":
                return photo
            case "/unsplash/photos/LBI7cgq3pbM/download":
                return {"url": "https://images.unsplash.com/x"}
        raise Refused(404, "Couldn't find Photo")

    def _pexels(self, path: str, query: Query, headers: dict[str, str]) -> Any:
        if headers.get("Authorization") != PEXELS_KEY:
            raise Refused(401, "Unauthorized")
        photo = {
            "id": 2014422,
            "width": 3024,
            "height": 3024,
            "url": "https://www.pexels.com/photo/brown-rocks-during-golden-hour-2014422/",
            "photographer": "Joey Farina",
            "photographer_url": "https://www.pexels.com/@joey",
            "src": {name: f"{self.url}/files/a.jpg?p{name}" for name in ("original", "large2x", "medium", "tiny")},
            "alt": "Brown Rocks During Golden Hour",
        }
        if path == "/pexels/search":
            only(query, "page", "per_page", "orientation", required=("query",))
            return {"total_results": 1, "page": 1, "per_page": 10, "photos": [photo]}
        if path == "/pexels/photos/2014422":
            return photo
        raise Refused(404, "Not Found")

    def _pixabay(self, _path: str, query: Query, _headers: dict[str, str]) -> Any:
        if query.get("key") != PIXABAY_KEY:
            raise Refused(400, "[ERROR 400] Invalid or missing API key")
        only(query, "key", "q", "image_type", "orientation", "min_width", "page", "per_page", "safesearch", "id")
        if not 3 <= int(query.get("per_page", 20)) <= 200 or len(query.get("q", "")) > 100:
            raise Refused(400, "[ERROR 400] out of valid range")
        hit = {
            "id": 195893,
            "pageURL": "https://pixabay.com/en/blossom-bloom-flower-195893/",
            "tags": "blossom, bloom, flower",
            "previewURL": f"{self.url}/files/a.jpg?xpreview",
            "webformatURL": f"{self.url}/files/a.jpg?xweb",
            "largeImageURL": f"{self.url}/files/a.jpg?xlarge",
            "imageWidth": 900,
            "imageHeight": 1600,
            "user": "Josch13",
        }
        return {"total": 4692, "totalHits": 500, "hits": [hit]}


@contextmanager
def serving(providers: Providers) -> Iterator[Providers]:
    """Run the stand-ins on 127.0.0.1."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            providers.requests.append((self.path, parts.path))
            if providers.drops and parts.path.startswith(providers.drops[0]):
                providers.drops.pop(0)
                self.close_connection = True
                return
            try:
                kind, body = providers.respond(parts.path, dict(parse_qsl(parts.query)), dict(self.headers.items()))
                status = 200
            except Refused as refusal:
                kind, body, status = "application/json", str(refusal).encode(), refusal.status
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    providers.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield providers
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
