"""What is kept of an answer."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from pressroom_seo.crawler.records import PageRecord
from pressroom_seo.crawler.visiting import Answer
from pressroom_seo.document.facts import read_page
from pressroom_seo.document.model import PageFacts
from pressroom_seo.urls import normalise

KEPT_HEADERS: Final = (
    "cache-control",
    "content-encoding",
    "content-security-policy",
    "content-type",
    "referrer-policy",
    "strict-transport-security",
    "x-content-type-options",
    "x-frame-options",
    "x-robots-tag",
)
"""What a record keeps of an answer's headers."""

_MAX_HEADER_LENGTH: Final = 500
_MAX_POLICY_LENGTH: Final = 20_000
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_CANONICAL = re.compile(r"<([^<>]*+)>\s*+;[^,<]*\brel\s*+=\s*+\"?canonical\b", re.IGNORECASE)


def record_of(answer: Answer, depth: int | None) -> PageRecord:
    """Return what is kept of an answer; reading its page takes a while.

    Args:
        answer: the answer.
        depth: links from the first page; `None` where that is not known.
    """
    page = None
    if answer.content and not answer.is_redirect and _is_html(answer):
        page = _with_header(read_page(answer.content, answer.header("content-type"), answer.url), answer)
    headers = {name: _kept(name, answer.header(name)) for name in KEPT_HEADERS}
    return PageRecord(
        url=answer.url,
        depth=depth,
        status=answer.status,
        failure=answer.failure,
        message=answer.message,
        location=answer.location or "",
        media_type=answer.media_type,
        headers={name: value for name, value in headers.items() if value},
        size=len(answer.content),
        transferred=answer.transferred,
        whole=answer.whole,
        first_byte=round(answer.first_byte, 4),
        seconds=round(answer.seconds, 4),
        page=page,
    )


def _kept(name: str, value: str) -> str:
    """Return what is kept of a header. Policies are long, and what is looked for in them comes first."""
    if name == "content-security-policy" and len(value) > _MAX_HEADER_LENGTH:
        directives = [one.strip() for one in re.split("[;,]", value[:_MAX_POLICY_LENGTH])]
        value = "; ".join(sorted(directives, key=lambda one: not one.lower().startswith("frame-ancestors")))
    return value[:_MAX_HEADER_LENGTH]


def _is_html(answer: Answer) -> bool:
    if answer.media_type:
        return answer.media_type in _HTML
    start = answer.content[:512].lstrip().lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<!--"))


def _with_header(page: PageFacts, answer: Answer) -> PageFacts:
    """Add the canonical address of the header `Link` (RFC 6596), where the page has none itself."""
    match = _CANONICAL.search(answer.header("link")[:4000])
    if match is None or page.canonicals:
        return page
    return replace(page, canonicals=(normalise(match[1], answer.url) or "",))
