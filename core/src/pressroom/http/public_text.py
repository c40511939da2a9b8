"""Which answers are texts that hold nothing of one person: they may be compressed, and have a tag of their content."""

from __future__ import annotations

import re
from typing import Final

from sanic import HTTPResponse, Request

from pressroom.http.responses import PUBLIC_TEXT, RawResponse

_TEXT: Final = re.compile(
    r"text/(?!event-stream)[a-z0-9.+-]+|application/(?:json|xml|javascript|manifest\+json)"
    r"|[a-z]+/[a-z0-9.-]+\+(?:json|xml)",
)
_PRIVATE: Final = re.compile(r"\b(?:no-store|private|no-transform)\b", re.IGNORECASE)


def is_public_text(request: Request, response: HTTPResponse) -> bool:
    """Tell whether an answer is a text, as it is, in which nothing is secret.

    Secret is what says `no-store` or `private`, sets a cookie, answers another method than GET and HEAD, or says
    nothing of caching to a request with a credential; except where its handler called `mark_public_text`.
    """
    if not getattr(request.ctx, PUBLIC_TEXT, False) and not _holds_no_secret(request, response):
        return False
    media_type = (response.content_type or header_of(response, "content-type")).partition(";")[0].strip().lower()
    return _TEXT.fullmatch(media_type) is not None and not header_of(response, "content-encoding")


def header_of(response: HTTPResponse, name: str) -> str:
    """Return a header of an answer in which some may have been encoded before. `name` is in lower case."""
    encoded = response.encoded if isinstance(response, RawResponse) else ()
    own = [value.decode("ascii") for key, value in encoded if key.lower() == name.encode()]
    return ", ".join([*own, *map(str, response.headers.getall(name, []))])


def _holds_no_secret(request: Request, response: HTTPResponse) -> bool:
    if request.method not in ("GET", "HEAD") or "set-cookie" in response.headers:
        return False
    caching = header_of(response, "cache-control")
    if not caching:
        return not {"authorization", "cookie"} & request.headers.keys()
    return not _PRIVATE.search(caching)
