"""Compressing answers with gzip (RFC 9110, sections 8.4 and 12.5.3), where nothing secret is in them, and their tags.

The size of a compressed answer tells something of its content: whoever can put text into a page and watch the size of
the answers learns a secret in it letter by letter (BREACH). So what may belong to one person is sent as it is:
`is_public_text` says which answers do not. Those have tags (section 8.8.3): who has a copy asks whether it is still
good, and is sent nothing.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import re
from collections import OrderedDict
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from sanic import HTTPResponse, Request

from pressroom.http.precompressed import PrecompressedText
from pressroom.http.public_text import header_of, is_public_text
from pressroom.http.responses import PUBLIC_TEXT, RawResponse, matches_etag

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_WEIGHT = re.compile(r"[qQ]=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)")
_SPACE = " \t"

_LEVEL: Final = 6
_QUICK_BYTES: Final = 16_384
"""What takes less than a millisecond is compressed on the event loop."""

_AT_ONCE: Final = 2
_MAX_KEPT_BYTES: Final = 16 * 2**20
_QUICKLY_HASHED_BYTES: Final = 262_144
"""What takes less than a millisecond is hashed on the event loop."""

_HEXES: Final = 24


@lru_cache(maxsize=256)
def prefers_gzip(header: str) -> bool:
    """Tell whether a client takes gzip, and would not rather have the content as it is.

    Nothing that names neither gzip nor `*` takes it: without the header a client would have to take any coding, and
    some of those that send none can read none. Elements that break the grammar count for nothing.
    """
    weights = dict(_weights(header))
    gzip = max((weights[name] for name in ("gzip", "x-gzip") if name in weights), default=weights.get("*", 0.0))
    return gzip > 0 and gzip >= weights.get("identity", 0.0)


def _weights(header: str) -> Iterator[tuple[str, float]]:
    for element in header.split(","):
        coding, separator, parameter = element.partition(";")
        coding = coding.strip(_SPACE)
        weight = _WEIGHT.fullmatch(parameter.strip(_SPACE)) if separator else None
        if _TOKEN.fullmatch(coding) and (weight or not separator):
            yield coding.lower(), float(weight[1]) if weight else 1.0


class Compression:
    """Compresses answers for the clients that take gzip. What was compressed is kept while there is room for it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self._kept_bytes = 0
        self._under_way = 0

    async def apply(self, request: Request, response: HTTPResponse) -> None:
        """Compress the body of an answer, or leave it as it is, and say in its headers what it depends on."""
        body = response.body or b""
        if response.status != 200:
            if response.status == 304:
                _keep_weak(request, response)
            return
        mark = getattr(request.ctx, PUBLIC_TEXT, None)
        ready = mark if isinstance(mark, PrecompressedText) else None
        if ready is None and not is_public_text(request, response):
            return
        _add(response, "Vary", "Accept-Encoding")
        accepted = request.headers.getall("accept-encoding", None)
        if not accepted or not prefers_gzip(",".join(accepted)):
            return
        compressed = ready.gzip(body) if ready is not None else None
        if compressed is None:
            compressed = await self._compressed(body)
        if compressed is None or len(compressed) >= len(body):
            return
        response.body = compressed
        _add(response, "Content-Encoding", "gzip")
        etag = response.headers.get("etag", "")
        if etag.startswith('"'):
            # The two are not the same byte for byte (RFC 9110, section 8.8.3.3).
            response.headers["ETag"] = f"W/{etag}"

    async def _compressed(self, body: bytes) -> bytes | None:
        if len(body) <= _QUICK_BYTES:
            key = _key(body)
            compressed = self._kept.get(key) or _gzip(body)
        else:
            if self._under_way >= _AT_ONCE:
                return None  # the processor has more urgent things to do, and every client takes the body as it is
            self._under_way += 1
            try:
                key = await asyncio.to_thread(_key, body)
                kept = self._kept.get(key)
                compressed = await asyncio.to_thread(_gzip, body) if kept is None else kept
            finally:
                self._under_way -= 1
        self._keep(key, compressed)
        return compressed

    def _keep(self, key: bytes, compressed: bytes) -> None:
        if key in self._kept:
            self._kept.move_to_end(key)
            return
        self._kept[key] = compressed
        self._kept_bytes += len(compressed)
        while self._kept_bytes > _MAX_KEPT_BYTES:
            _, gone = self._kept.popitem(last=False)
            self._kept_bytes -= len(gone)


def _key(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()


def _gzip(body: bytes) -> bytes:
    return gzip.compress(body, _LEVEL, mtime=0)


def _keep_weak(request: Request, response: HTTPResponse) -> None:
    """Answer a client that asks with the tag of the compressed answer with that same tag."""
    etag = response.headers.get("etag", "")
    if not etag:
        return
    _add(response, "Vary", "Accept-Encoding")
    if etag.startswith('"') and f"W/{etag}" in request.headers.get("if-none-match", ""):
        response.headers["ETag"] = f"W/{etag}"


@lru_cache(maxsize=16)
def _encoded(name: str, value: str) -> tuple[bytes, bytes]:
    return name.encode("ascii"), value.encode("ascii")


def _add(response: HTTPResponse, name: str, value: str) -> None:
    """Add a value to a header that is a list."""
    headers: Any = response.headers
    if isinstance(response, RawResponse):
        response.encoded = (*response.encoded, _encoded(name, value))
    elif present := headers.get(name):
        headers[name] = f"{present}, {value}"
    else:
        headers[name] = value


async def confirm(request: Request, response: HTTPResponse) -> None:
    """Give a public text an `ETag` of its content, and turn it into 304 for a client that has it.

    Responses whose handler has set a tag, or has answered with another status than 200, stay as they are.
    """
    if request.method not in ("GET", "HEAD") or response.status != 200 or not response.body:
        return
    if header_of(response, "etag") or not is_public_text(request, response):
        return
    body = response.body
    quick = len(body) <= _QUICKLY_HASHED_BYTES
    digest = _digest(body) if quick else await asyncio.to_thread(_digest, body)
    response.headers["ETag"] = etag = f'"{digest}"'
    if matches_etag(",".join(request.headers.getall("if-none-match", [])), etag):
        response.status, response.body, response.content_type = 304, b"", None


def _digest(body: bytes) -> str:
    return hashlib.blake2b(body).hexdigest()[:_HEXES]
