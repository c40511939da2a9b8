"""Conditional requests (RFC 9110, section 13): whoever has an answer already is told so, and gets no second copy."""

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
"""The three forms of dates in HTTP (section 5.6.7), and no other that a library may understand."""

_OK: Final = 200
_NOT_MODIFIED: Final = 304
_PRECONDITION_FAILED: Final = 412


def tag_of(content: bytes) -> str:
    """Return the strong entity tag of a content."""
    return f'"{hashlib.sha256(content).hexdigest()[:24]}"'


def http_date(at: datetime) -> str:
    """Return a moment as HTTP writes it, to the second."""
    return format_datetime(at.astimezone(UTC).replace(microsecond=0), usegmt=True)


def conditional(
    request: HttpRequest, answer: HttpResponse, modified: datetime | None = None, *, etag: str = ""
) -> HttpResponse:
    """Return an answer with its validators, or 304 or 412 instead, as the request's conditions say.

    Args:
        request: a GET or HEAD request.
        answer: what it gets without conditions; one that is not a 200 is returned as it is.
        modified: when it last changed; `None` where nobody knows.
        etag: its tag; left out, it is that of the body.
    """
    if answer.status != _OK:
        return answer
    tag = etag or answer.headers.get("ETag") or tag_of(answer.body)
    headers: dict[str, str] = {**answer.headers, "ETag": tag}
    if modified is not None:
        # Rounded up, so that another change within the same second is a later one. But no answer may say that it was
        # changed after it was sent (section 8.8.2.1): until that second is over, the one before is told.
        now, modified = datetime.now(UTC), _rounded_up(modified)
        headers["Last-Modified"] = http_date(min(modified, now))
    status = _status(request.headers, tag, modified)
    if status == _OK:
        return replace(answer, headers=headers)
    return HttpResponse(b"", status, answer.media_type, headers)


def _rounded_up(at: datetime) -> datetime:
    second = at.replace(microsecond=0)
    return second if second == at else second + timedelta(seconds=1)


def _status(asked: Mapping[str, str], tag: str, modified: datetime | None) -> int:
    """Return the status in the order of section 13.2.2: a condition on the tag goes before one on the time."""
    if "if-match" in asked:
        if not _names(asked["if-match"], tag, weakly=False):
            return _PRECONDITION_FAILED
    elif (since := _moment(asked.get("if-unmodified-since", ""))) and modified is not None and modified > since:
        return _PRECONDITION_FAILED
    if "if-none-match" in asked:
        return _NOT_MODIFIED if _names(asked["if-none-match"], tag, weakly=True) else _OK
    if (since := _moment(asked.get("if-modified-since", ""))) and modified is not None and modified <= since:
        return _NOT_MODIFIED
    return _OK


def _names(header: str, tag: str, *, weakly: bool) -> bool:
    """Tell whether a list of tags names one. What is compressed on its way has the same tag, marked as weak."""
    listed = {one.strip() for one in header.split(",")}
    return "*" in listed or tag in listed or (weakly and f"W/{tag}" in listed)


def _moment(header: str) -> datetime | None:
    """Return an HTTP date, `None` for any other text: such a condition does not count (section 13.1.3)."""
    if not _HTTP_DATE.fullmatch(header.strip()):
        return None
    try:
        at = parsedate_to_datetime(header)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
