"""Conditional requests (RFC 9110, section 13): a client that already has a response does not get it again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from typing import Final

from pressroom.sdk import HttpRequest, HttpResponse

_HTTP_DATE: Final = re.compile(
    r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT"
    r"|[A-Z][a-z]{5,8}, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d GMT"
    r"|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}"
)
"""The three date formats of HTTP (section 5.6.7), and no others that a library may accept."""

_OK: Final = 200
_NOT_MODIFIED: Final = 304
_PRECONDITION_FAILED: Final = 412


def tag_of(content: bytes) -> str:
    """Return the strong entity tag of a response body."""
    return f'"{hashlib.sha256(content).hexdigest()[:24]}"'


def http_date(at: datetime) -> str:
    """Return a time as an HTTP date, to the second."""
    return format_datetime(at.astimezone(UTC).replace(microsecond=0), usegmt=True)


def conditional(
    request: HttpRequest, response: HttpResponse, modified: datetime | None = None, *, etag: str = ""
) -> HttpResponse:
    """Return a response with its validators, or 304 or 412 instead if the request's conditions require it.

    Args:
        request: a GET or HEAD request.
        response: the unconditional response; any status other than 200 is returned unchanged.
        modified: the time of the last change; `None` if it is unknown.
        etag: the entity tag; by default, the response's own `ETag` header, or else a tag of the body.
    """
    if response.status != _OK:
        return response
    tag = etag or response.headers.get("ETag") or tag_of(response.body)
    headers: dict[str, str] = {**response.headers, "ETag": tag}
    if modified is not None:
        # Rounded up, so that another change within the same second counts as later. But `Last-Modified` must not be in
        # the future (section 8.8.2.1): until that second is over, the current second is sent.
        now, modified = datetime.now(UTC), _rounded_up(modified)
        headers["Last-Modified"] = http_date(min(modified, now))
    status = _status(request.headers, tag, modified)
    if status == _OK:
        return replace(response, headers=headers)
    return HttpResponse(b"", status, response.media_type, headers)


def _rounded_up(at: datetime) -> datetime:
    second = at.replace(microsecond=0)
    return second if second == at else second + timedelta(seconds=1)


def _status(headers: Mapping[str, str], tag: str, modified: datetime | None) -> int:
    """Return the status in the order of section 13.2.2: conditions on the tag take precedence over times."""
    if "if-match" in headers:
        if not _names(headers["if-match"], tag, weakly=False):
            return _PRECONDITION_FAILED
    elif (since := _moment(headers.get("if-unmodified-since", ""))) and modified is not None and modified > since:
        return _PRECONDITION_FAILED
    if "if-none-match" in headers:
        return _NOT_MODIFIED if _names(headers["if-none-match"], tag, weakly=True) else _OK
    if (since := _moment(headers.get("if-modified-since", ""))) and modified is not None and modified <= since:
        return _NOT_MODIFIED
    return _OK


def _names(header: str, tag: str, *, weakly: bool) -> bool:
    """Return whether a list of tags contains a tag. A compressed response has the same tag, marked as weak."""
    listed = {entry.strip() for entry in header.split(",")}
    return "*" in listed or tag in listed or (weakly and f"W/{tag}" in listed)


def _moment(header: str) -> datetime | None:
    """Return an HTTP date, or `None` for any other text: such a condition is ignored (section 13.1.3)."""
    if not _HTTP_DATE.fullmatch(header.strip()):
        return None
    try:
        at = parsedate_to_datetime(header)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
