"""Tags of public texts (RFC 9110, section 8.8.3): who has a copy asks whether it is still good, and is sent nothing."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Final

from sanic import HTTPResponse, Request

from pressroom.http.public_text import header_of, is_public_text
from pressroom.http.responses import matches_etag

_QUICK_BYTES: Final = 262_144
"""What takes less than a millisecond is hashed on the event loop."""

_HEXES: Final = 24


async def confirm(request: Request, response: HTTPResponse) -> None:
    """Give a public text an `ETag` of its content, and turn it into 304 for a client that has it.

    Responses whose handler has set a tag, or has answered with another status than 200, stay as they are.
    """
    if request.method not in ("GET", "HEAD") or response.status != 200 or not response.body:
        return
    if header_of(response, "etag") or not is_public_text(request, response):
        return
    body = response.body
    quick = len(body) <= _QUICK_BYTES
    digest = _digest(body) if quick else await asyncio.to_thread(_digest, body)
    response.headers["ETag"] = etag = f'"{digest}"'
    if matches_etag(",".join(request.headers.getall("if-none-match", [])), etag):
        response.status, response.body, response.content_type = 304, b"", None


def _digest(body: bytes) -> str:
    return hashlib.blake2b(body).hexdigest()[:_HEXES]
