"""Serve signed files from the embedded storage."""

from __future__ import annotations

import re
import time
from email.utils import format_datetime
from typing import Final

from sanic import HTTPResponse, Request

from pressroom.errors import BackendError, FileMissing
from pressroom.http.cors import TOOLS_API
from pressroom.http.responses import INERT_CONTENT, content_type, matches_etag
from pressroom.sdk import StoredFile
from pressroom.storage.files.local import LocalFileStore
from pressroom.storage.files.signing import UrlStatus, content_disposition, is_key, url_path

_RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


class SignedFiles:
    """Handles `GET` and `HEAD` under `/files`, for URLs that this server signed.

    The signature is checked first, so that responses reveal nothing about files without a valid URL.
    """

    def __init__(self, store: LocalFileStore) -> None:
        self._store = store

    async def serve(self, request: Request, tool: str, name: str) -> HTTPResponse:
        """Return the file, or the part that a single range requests (RFC 9110, section 14)."""
        key = f"{tool}/{name}"
        verdict = self._store.signer.verify(
            url_path(key), request.args.get("expires", ""), request.args.get("signature", ""), time.time()
        )
        if verdict is UrlStatus.ALTERED or not is_key(key):
            return _plain(403, "This URL is not valid: it was altered or cut short. Request the file again.")
        if verdict is UrlStatus.EXPIRED:
            return _plain(410, "This URL has expired. Request the file again to get a new one.")
        try:
            return await self._found(request, await self._store.stat(key))
        except FileMissing:
            return _plain(404, "This file is no longer stored. Request it again.")
        except BackendError:
            return _plain(500, "This file cannot be read right now. Try again shortly.")

    async def _found(self, request: Request, file: StoredFile) -> HTTPResponse:
        etag = f'"{file.key.rpartition("/")[2].partition(".")[0]}"'
        headers = {
            **TOOLS_API.headers(),
            "Accept-Ranges": "bytes",
            "Cache-Control": "private, max-age=10800, immutable",
            "Content-Disposition": content_disposition(file.key, file.media_type),
            "Content-Security-Policy": INERT_CONTENT,
            "Cross-Origin-Resource-Policy": "cross-origin",
            "ETag": etag,
            "Last-Modified": format_datetime(file.modified, usegmt=True),
        }
        if matches_etag(request.headers.get("if-none-match", ""), etag):
            return HTTPResponse(status=304, headers=headers)
        part = _requested_part(request, file.size, etag)
        if part is None:
            if request.method == "HEAD":
                headers["Content-Length"] = str(file.size)
                return HTTPResponse(headers=headers, content_type=content_type(file.media_type))
            return HTTPResponse(
                await self._store.read(file.key), headers=headers, content_type=content_type(file.media_type)
            )
        start, end = part
        if start >= end:
            headers["Content-Range"] = f"bytes */{file.size}"
            return _plain(416, f"The range lies outside of the file, which has {file.size} bytes.", headers)
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{file.size}"
        content = await self._store.read_range(file.key, start, end)
        return HTTPResponse(content, status=206, headers=headers, content_type=content_type(file.media_type))


def _requested_part(request: Request, size: int, etag: str) -> tuple[int, int] | None:
    """Return the first byte and the one after the last, or `None` for the whole file.

    A header with several ranges, or an invalid one, is ignored, as RFC 9110 allows.
    """
    match = _RANGE.fullmatch(request.headers.get("range", "").strip())
    if match is None or request.method != "GET" or not any(match.groups()):
        return None
    if request.headers.get("if-range", etag) != etag:
        return None
    first, last = match.groups()
    if not first:
        return max(0, size - int(last)), size if int(last) else 0
    return int(first), min(size, int(last) + 1) if last else size


def _plain(status: int, message: str, headers: dict[str, str] | None = None) -> HTTPResponse:
    range_headers = {
        name: value for name, value in (headers or {}).items() if name in ("Content-Range", "Accept-Ranges")
    }
    return HTTPResponse(
        message + "\n",
        status=status,
        headers={**TOOLS_API.headers(), "Cache-Control": "no-store", **range_headers},
        content_type="text/plain; charset=utf-8",
    )
