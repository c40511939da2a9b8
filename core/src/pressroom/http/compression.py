"""Compress responses without secrets with gzip (RFC 9110, sections 8.4 and 12.5.3), and give them an `ETag`.

The size of a compressed response reveals something about its content: an attacker who can inject text into a page and
observe response sizes can guess a secret in it character by character (BREACH). So only responses that pass
`_is_public_text` are compressed. These also get an `ETag` (section 8.8.3), so clients with a current copy receive a 304
without a body.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import re
import struct
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from sanic import HTTPResponse, Request

from pressroom.http.responses import EncodedHeaders, RawResponse, matches_etag

_PUBLIC_TEXT: Final = "public_text"
"""Attribute of the request context that marks a response as the same for everyone, regardless of its headers: `True`,
or its precompressed part."""

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_WEIGHT = re.compile(r"[qQ]=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)")
_SPACE = " \t"
_TEXT: Final = re.compile(
    r"text/(?!event-stream)[a-z0-9.+-]+|application/(?:json|xml|javascript|manifest\+json)"
    r"|[a-z]+/[a-z0-9.-]+\+(?:json|xml)",
)
_PRIVATE: Final = re.compile(r"\b(?:no-store|private|no-transform)\b", re.IGNORECASE)

_HEADER: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
_PRECOMPRESSION_LEVEL: Final = 9
_MAX_STORED: Final = 0xFFFF
_BEGINNING: Final = 32

_LEVEL: Final = 6
_QUICK_BYTES: Final = 16_384
"""Bodies up to this size take less than a millisecond, and are compressed on the event loop."""

_AT_ONCE: Final = 2
_MAX_CACHED_BYTES: Final = 16 * 2**20
_QUICKLY_HASHED_BYTES: Final = 262_144
"""Bodies up to this size take less than a millisecond, and are hashed on the event loop."""

_HEXES: Final = 24


@lru_cache(maxsize=256)
def prefers_gzip(header: str) -> bool:
    """Return whether a client accepts gzip and does not prefer the uncompressed content.

    The header must list gzip or `*`. RFC 9110 allows any coding without the header, but some clients that send none
    cannot decode any. Elements with a syntax error are ignored.
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


def mark_public_text(request: Request, compressed: PrecompressedText | None = None) -> None:
    """Mark the response to a request as free of secrets.

    It can then be compressed and validated by its `ETag`, even with `no-store`. `compressed` is its precompressed part.
    """
    setattr(request.ctx, _PUBLIC_TEXT, compressed or True)


def _is_public_text(request: Request, response: HTTPResponse) -> bool:
    """Return whether a response is an unencoded text without secrets.

    A response is considered secret if its `Cache-Control` has `no-store`, `private` or `no-transform`, if it sets a
    cookie, if the method is not GET or HEAD, or if it has no `Cache-Control` and the request has a credential. If its
    handler called `mark_public_text`, none of this applies.
    """
    if not getattr(request.ctx, _PUBLIC_TEXT, False) and not _holds_no_secret(request, response):
        return False
    content_type = response.content_type or _header_of(response, "content-type")
    return _is_text(content_type) and not _header_of(response, "content-encoding")


def _header_of(response: HTTPResponse, name: str) -> str:
    """Return a header of a response, including pre-encoded ones; empty if missing. `name` is in lower case."""
    encoded = _encoded(response.encoded, name) if isinstance(response, RawResponse) else ""
    if name not in response.headers:
        return encoded
    return ", ".join([*filter(None, [encoded]), *map(str, response.headers.getall(name))])


# Nearly all responses have one of a few combinations of headers.
@lru_cache(maxsize=256)
def _encoded(headers: EncodedHeaders, name: str) -> str:
    return ", ".join(value.decode("ascii") for key, value in headers if key.lower() == name.encode())


@lru_cache(maxsize=256)
def _is_text(content_type: str) -> bool:
    return _TEXT.fullmatch(content_type.partition(";")[0].strip().lower()) is not None


def _holds_no_secret(request: Request, response: HTTPResponse) -> bool:
    if request.method not in ("GET", "HEAD") or "set-cookie" in response.headers:
        return False
    caching = _header_of(response, "cache-control")
    if not caching:
        return not {"authorization", "cookie"} & request.headers.keys()
    return not _PRIVATE.search(caching)


class PrecompressedText:
    """A text that is compressed once and sent many times, with a few varying bytes around it.

    Its DEFLATE blocks end on a byte boundary and are not marked as final. A response is a gzip member (RFC 1952) of
    three parts: the preceding bytes in a stored block (RFC 1951, section 3.2.4), the blocks of the text, and the
    following bytes in another stored block. Only the checksum is computed per response.
    """

    __slots__ = ("_deflated", "text")

    def __init__(self, text: bytes) -> None:
        self.text = text
        compressor = zlib.compressobj(_PRECOMPRESSION_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        self._deflated = compressor.compress(text) + compressor.flush(zlib.Z_FULL_FLUSH)

    def gzip(self, body: bytes) -> bytes | None:
        """Return a body that contains the text as a gzip member, or `None` if the text is not in it.

        Also returns `None` if more than 65,535 bytes precede or follow the text.
        """
        # Finding the beginning and comparing the rest takes a tenth of the time of searching for a long text.
        beginning = self.text[:_BEGINNING]
        start = body.find(beginning)
        while start >= 0 and not body.startswith(self.text, start):
            start = body.find(beginning, start + 1)
        before, after = body[:start], body[start + len(self.text) :]
        if start < 0 or len(before) > _MAX_STORED or len(after) > _MAX_STORED:
            return None
        checks = struct.pack("<II", zlib.crc32(body), len(body) & 0xFFFFFFFF)
        return b"".join((_HEADER, _stored(before), self._deflated, _stored(after, last=True), checks))


def _stored(data: bytes, *, last: bool = False) -> bytes:
    return struct.pack("<BHH", last, len(data), len(data) ^ 0xFFFF) + data


class Compression:
    """Compresses responses for clients that accept gzip, and caches the results up to a total size."""

    def __init__(self) -> None:
        self._cache: OrderedDict[bytes, bytes] = OrderedDict()
        self._cached_bytes = 0
        self._under_way = 0

    async def apply(self, request: Request, response: HTTPResponse) -> None:
        """Compress the body of a response if suitable, and set `Vary`, `Content-Encoding` and `ETag`."""
        body = response.body or b""
        if response.status != 200:
            if response.status == 304:
                _restore_weak_etag(request, response)
            return
        mark = getattr(request.ctx, _PUBLIC_TEXT, None)
        ready = mark if isinstance(mark, PrecompressedText) else None
        if ready is None and not _is_public_text(request, response):
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
            # Compressed and plain bodies differ, so they cannot share a strong tag (RFC 9110, section 8.8.3.3).
            response.headers["ETag"] = f"W/{etag}"

    async def _compressed(self, body: bytes) -> bytes | None:
        if len(body) <= _QUICK_BYTES:
            key = _key(body)
            compressed = self._cache.get(key) or _gzip(body)
        else:
            if self._under_way >= _AT_ONCE:
                return None  # under load, send it uncompressed, which every client accepts
            self._under_way += 1
            try:
                key = await asyncio.to_thread(_key, body)
                stored = self._cache.get(key)
                compressed = await asyncio.to_thread(_gzip, body) if stored is None else stored
            finally:
                self._under_way -= 1
        self._keep(key, compressed)
        return compressed

    def _keep(self, key: bytes, compressed: bytes) -> None:
        if key in self._cache:
            self._cache.move_to_end(key)
            return
        self._cache[key] = compressed
        self._cached_bytes += len(compressed)
        while self._cached_bytes > _MAX_CACHED_BYTES:
            _, evicted = self._cache.popitem(last=False)
            self._cached_bytes -= len(evicted)


def _key(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()


def _gzip(body: bytes) -> bytes:
    return gzip.compress(body, _LEVEL, mtime=0)


def _restore_weak_etag(request: Request, response: HTTPResponse) -> None:
    """Return a client's own weak tag in a 304 if the client sent the tag of the compressed response."""
    etag = response.headers.get("etag", "")
    if not etag:
        return
    _add(response, "Vary", "Accept-Encoding")
    if etag.startswith('"') and f"W/{etag}" in request.headers.get("if-none-match", ""):
        response.headers["ETag"] = f"W/{etag}"


@lru_cache(maxsize=16)
def _encoded_field(name: str, value: str) -> tuple[bytes, bytes]:
    return name.encode("ascii"), value.encode("ascii")


def _add(response: HTTPResponse, name: str, value: str) -> None:
    """Append a value to a list header."""
    headers: Any = response.headers
    if isinstance(response, RawResponse):
        response.encoded = (*response.encoded, _encoded_field(name, value))
    elif existing := headers.get(name):
        headers[name] = f"{existing}, {value}"
    else:
        headers[name] = value


async def confirm(request: Request, response: HTTPResponse) -> None:
    """Set an `ETag` from the content of a public text, and turn the response into a 304 if the client has it.

    Responses with a tag, or with another status than 200, are left unchanged.
    """
    if request.method not in ("GET", "HEAD") or response.status != 200 or not response.body:
        return
    if _header_of(response, "etag") or not _is_public_text(request, response):
        return
    body = response.body
    quick = len(body) <= _QUICKLY_HASHED_BYTES
    digest = _digest(body) if quick else await asyncio.to_thread(_digest, body)
    response.headers["ETag"] = etag = f'"{digest}"'
    if matches_etag(",".join(request.headers.getall("if-none-match", [])), etag):
        response.status, response.body, response.content_type = 304, b"", None


def _digest(body: bytes) -> str:
    return hashlib.blake2b(body).hexdigest()[:_HEXES]
