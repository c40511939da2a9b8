"""A route for the files that the pages of a plugin need, such as style sheets, scripts and images."""

from __future__ import annotations

import hashlib
import importlib.resources
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import PurePath
from typing import Final

from pressroom.errors import NotFound
from pressroom.sdk.routes import HttpRequest, HttpResponse, Route

_MEDIA_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".gif": "image/gif",
    ".ico": "image/vnd.microsoft.icon",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}


@dataclass(frozen=True, slots=True)
class _StaticFile:
    content: bytes
    media_type: str
    etag: str


def static_files(path: str, package: str, folder: str = "static") -> Route:
    """Return a route that serves the files of a folder in your package to everybody.

    `static_files("/status/static", "acme_status")` serves `acme_status/static/page.css` as `/status/static/page.css`.
    The files are read on the first request, and browsers revalidate them (RFC 9110, section 13). Subfolders, names that
    begin with a dot, and file types that web pages do not use are not served.

    Args:
        path: the URL prefix, without a trailing slash.
        package: the import package that contains the folder.
        folder: the name of the folder.

    Raises:
        ValueError: the package has no such folder.
    """
    directory = importlib.resources.files(package).joinpath(folder)
    if not directory.is_dir():
        raise ValueError(f"the package {package} has no folder {folder!r}; is it in the wheel?")

    @cache
    def files() -> Mapping[str, _StaticFile]:
        return _read(directory)

    async def serve(request: HttpRequest) -> HttpResponse:
        file = files().get(request.path_params["name"])
        if file is None:
            raise NotFound(f"there is no file {request.path_params['name'][:80]!r}")
        headers = {"ETag": file.etag, "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
        etags = request.headers.get("if-none-match", "")
        if etags.strip() == "*" or file.etag in etags:
            return HttpResponse(b"", 304, file.media_type, headers)
        return HttpResponse(file.content, 200, file.media_type, headers)

    return Route(f"{path}/<name>", serve)


def _read(folder: Traversable) -> Mapping[str, _StaticFile]:
    files = {}
    for path in folder.iterdir():
        media_type = _MEDIA_TYPES.get(PurePath(path.name).suffix.lower())
        if media_type and path.is_file() and not path.name.startswith("."):
            content = path.read_bytes()
            files[path.name] = _StaticFile(content, media_type, f'"{hashlib.sha256(content).hexdigest()[:32]}"')
    return files
