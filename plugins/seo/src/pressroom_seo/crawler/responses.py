"""What comes back from one URL, and what is kept of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from pressroom_seo.crawler.records import Failure, PageRecord
from pressroom_seo.crawler.robots import SEARCH_ENGINE
from pressroom_seo.document.facts import read_page
from pressroom_seo.document.model import PageFacts
from pressroom_seo.urls import normalise

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class CrawlResponse:
    """What came back from one URL; redirects are not followed."""

    url: str
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    content: bytes = b""
    whole: bool = True
    transferred: int = 0
    first_byte: float = 0.0
    seconds: float = 0.0
    failure: Failure = ""
    message: str = ""
    busy: float | None = None
    """Seconds after which the URL may be requested again, if that is longer than the crawler waits."""

    def header(self, name: str) -> str:
        """Return a header's values, joined by commas; empty where it is not there."""
        return ", ".join(value.strip() for key, value in self.headers if key == name)

    @property
    def media_type(self) -> str:
        """The `Content-Type` in lower case without parameters."""
        return self.header("content-type").partition(";")[0].strip().lower()

    @property
    def is_redirect(self) -> bool:
        """Whether it leads somewhere else."""
        return self.status in _REDIRECTS and bool(self.header("location"))

    @property
    def location(self) -> str | None:
        """Where it redirects to, normalised; `None` if that is not a URL, or there is no redirect."""
        written = next((value for key, value in self.headers if key == "location"), "")
        return normalise(_as_utf_8(written.strip()), self.url) if self.is_redirect else None


def _as_utf_8(value: str) -> str:
    """Return a header's value as browsers read it: letters beyond ASCII are UTF-8 where they can be."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value


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
_CRAWLER: Final = re.compile(r"[A-Za-z][\w.-]*")
_WITH_VALUES: Final = frozenset({"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"})
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_CANONICAL = re.compile(r"<([^<>]*+)>\s*+;[^,<]*\brel\s*+=\s*+\"?canonical\b", re.IGNORECASE)


def record_of(answer: CrawlResponse, depth: int | None) -> PageRecord:
    """Return what is kept of an answer; reading its page takes a while.

    Args:
        answer: the answer.
        depth: links from the first page; `None` where that is not known.
    """
    page = None
    if answer.content and not answer.is_redirect and _is_html(answer):
        page = _with_header(read_page(answer.content, answer.header("content-type"), answer.url), answer)
    headers = {name: _kept(name, answer) for name in KEPT_HEADERS}
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


def _kept(name: str, answer: CrawlResponse) -> str:
    """Return what is kept of a header. Policies are long, and what is looked for in them comes first."""
    value = answer.header(name)
    if name == "x-robots-tag":
        lines = (value for key, value in answer.headers if key == name)
        value = ", ".join(one for line in lines for one in _for_search_engine(line))
    elif name == "content-security-policy" and len(value) > _MAX_HEADER_LENGTH:
        directives = [one.strip() for one in re.split("[;,]", value[:_MAX_POLICY_LENGTH])]
        value = "; ".join(sorted(directives, key=lambda one: not one.lower().startswith("frame-ancestors")))
    return value[:_MAX_HEADER_LENGTH]


def _for_search_engine(line: str) -> Iterator[str]:
    """Yield the directives of a line of `X-Robots-Tag` that are for all crawlers, or for the one that is looked at.

    A name with a colon says whom what follows it is for, to the end of the line or to the next name.
    """
    is_meant = True
    for part in line.split(","):
        name, colon, value = part.partition(":")
        if colon and _CRAWLER.fullmatch(name.strip()) and name.strip().lower() not in _WITH_VALUES:
            is_meant, part = name.strip().lower() in (SEARCH_ENGINE.lower(), "robots"), value  # noqa: PLW2901
        if is_meant and part.strip():
            yield part.strip()


def _is_html(answer: CrawlResponse) -> bool:
    if answer.media_type:
        return answer.media_type in _HTML
    start = answer.content[:512].lstrip().lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<!--"))


def _with_header(page: PageFacts, answer: CrawlResponse) -> PageFacts:
    """Add the canonical URL from the `Link` header (RFC 6596) if the page itself has none."""
    match = _CANONICAL.search(answer.header("link")[:4000])
    if match is None or page.canonicals:
        return page
    return replace(page, canonicals=(normalise(match[1], answer.url) or "",))
