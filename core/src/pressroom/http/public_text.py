"""Identify responses without personal content, which can be compressed and tagged by their content."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from sanic import HTTPResponse, Request

from pressroom.http.responses import PUBLIC_TEXT, EncodedHeaders, RawResponse

_TEXT: Final = re.compile(
    r"text/(?!event-stream)[a-z0-9.+-]+|application/(?:json|xml|javascript|manifest\+json)"
    r"|[a-z]+/[a-z0-9.-]+\+(?:json|xml)",
)
_PRIVATE: Final = re.compile(r"\b(?:no-store|private|no-transform)\b", re.IGNORECASE)


def is_public_text(request: Request, response: HTTPResponse) -> bool:
    """Return whether a response is an unencoded text without secrets.

    A response is considered secret if its `Cache-Control` has `no-store`, `private` or `no-transform`, if it sets a
    cookie, if the method is not GET or HEAD, or if it has no `Cache-Control` and the request has a credential. If its
    handler called `mark_public_text`, none of this applies.
    """
    if not getattr(request.ctx, PUBLIC_TEXT, False) and not _holds_no_secret(request, response):
        return False
    content_type = response.content_type or header_of(response, "content-type")
    return _is_text(content_type) and not header_of(response, "content-encoding")


def header_of(response: HTTPResponse, name: str) -> str:
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
    caching = header_of(response, "cache-control")
    if not caching:
        return not {"authorization", "cookie"} & request.headers.keys()
    return not _PRIVATE.search(caching)
