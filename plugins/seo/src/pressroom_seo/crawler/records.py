"""Responses of the crawler, and the records kept of them.

Every string and list has a bound. `to_json`, `page_from_json` and `link_from_json` convert records for the database.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal

from pydantic import TypeAdapter

from pressroom_seo.crawler.robots import SEARCH_ENGINE
from pressroom_seo.document.facts import read_page
from pressroom_seo.document.model import PageFacts
from pressroom_seo.structured_data.types import ARTICLE_TYPES, LISTING_TYPES
from pressroom_seo.urls import normalise

Failure = Literal["", "failed", "refused", "disallowed"]
"""Why there is no response: the host did not respond, the fetcher refused the URL, or robots.txt disallows it."""


@dataclass(frozen=True, slots=True)
class PageRecord:
    """One requested URL of a site, and its response."""

    url: str
    depth: int | None
    """Number of links from the home page; `None` if no path of links is known."""

    status: int
    """HTTP status; 0 without a response."""

    failure: Failure = ""
    message: str = ""
    location: str = ""
    """Normalised target of a redirect; empty without one."""

    media_type: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    """The headers that checks use, by lower-case name."""

    size: int = 0
    """Size of the decompressed content, in bytes."""

    transferred: int = 0
    """Size of the content as transferred, in bytes."""

    whole: bool = True
    first_byte: float = 0.0
    seconds: float = 0.0
    page: PageFacts | None = None
    """The parsed page; `None` if the response is not HTML."""

    @property
    def is_page(self) -> bool:
        """Whether this is an HTML page with status 200."""
        return self.page is not None and self.status == 200

    @property
    def robots(self) -> frozenset[str]:
        """The robots directives of the page and its `X-Robots-Tag` header."""
        directives = {_without_gap(directive) for directive in self.page.robots} if self.page is not None else set()
        for part in self.headers.get("x-robots-tag", "").lower().split(","):
            name, colon, value = (text.strip() for text in part.partition(":"))
            if not colon or name in ("max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"):
                directives.add(_without_gap(part))
            elif name in ("robots", "googlebot"):
                directives.add(value)
        if "none" in directives:
            directives |= {"noindex", "nofollow"}
        return frozenset(directives - {""})

    @property
    def noindex(self) -> bool:
        """Whether the page has a `noindex` directive."""
        return "noindex" in self.robots

    @property
    def canonical(self) -> str:
        """The page's canonical URL; empty without one."""
        canonicals = self.page.canonicals if self.page is not None else ()
        return canonicals[0] if canonicals else ""

    @property
    def is_listing(self) -> bool:
        """Whether the structured data declares a listing, such as the posts of a tag, and not an article."""
        types = {name for item in self.page.structured for name in item.types} if self.page is not None else set()
        return not types.isdisjoint(LISTING_TYPES) and types.isdisjoint(ARTICLE_TYPES)

    @property
    def indexable(self) -> bool:
        """Whether search engines can index this URL: no noindex, and no other URL as canonical."""
        return self.is_page and not self.noindex and self.canonical in ("", self.url)


def _without_gap(directive: str) -> str:
    """Return a directive without whitespace around its colon: `max-snippet: 0` means `max-snippet:0`."""
    return ":".join(part.strip() for part in directive.split(":", 1))


@dataclass(frozen=True, slots=True)
class LinkRecord:
    """A URL that was checked but not parsed: an image, a file or a page of another site."""

    url: str
    status: int
    failure: Failure = ""
    message: str = ""
    location: str = ""
    media_type: str = ""
    size: int | None = None
    """`Content-Length` in bytes; `None` if missing or invalid."""

    image: bool = False

    @property
    def broken(self) -> bool:
        """Whether the link is broken. A status such as 403 or 429 only means that crawlers are blocked."""
        return self.failure == "failed" or self.status in (404, 410) or self.status >= 500


_PAGES: TypeAdapter[PageRecord] = TypeAdapter(PageRecord)
_LINKS: TypeAdapter[LinkRecord] = TypeAdapter(LinkRecord)


def to_json(record: PageRecord | LinkRecord) -> dict[str, Any]:
    """Return a record as plain JSON data."""
    return asdict(record)


def page_from_json(data: dict[str, Any]) -> PageRecord:
    """Restore a page record from `to_json` data. Raises `ValueError` if the data is invalid."""
    return _PAGES.validate_python(data)


def link_from_json(data: dict[str, Any]) -> LinkRecord:
    """Restore a link record from `to_json` data. Raises `ValueError` if the data is invalid."""
    return _LINKS.validate_python(data)


_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class CrawlResponse:
    """The response to one request; redirects are not followed."""

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
    """Seconds until the URL may be requested again; `None` unless that exceeds the crawler's longest wait."""

    def header(self, name: str) -> str:
        """Return a header's values, joined by commas; empty if the header is missing."""
        return ", ".join(value.strip() for key, value in self.headers if key == name)

    @property
    def media_type(self) -> str:
        """The `Content-Type` in lower case without parameters."""
        return self.header("content-type").partition(";")[0].strip().lower()

    @property
    def is_redirect(self) -> bool:
        """Whether the response is a redirect with a `Location` header."""
        return self.status in _REDIRECTS and bool(self.header("location"))

    @property
    def location(self) -> str | None:
        """Normalised target of the redirect; `None` without a redirect or if it is not a valid URL."""
        location = next((value for key, value in self.headers if key == "location"), "")
        return normalise(_as_utf_8(location.strip()), self.url) if self.is_redirect else None


def _as_utf_8(value: str) -> str:
    """Decode a header's value as browsers do: as UTF-8 if valid, otherwise unchanged."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value


STORED_HEADERS: Final = (
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
"""The response headers that a record keeps."""

_MAX_HEADER_LENGTH: Final = 500
_MAX_POLICY_LENGTH: Final = 20_000
_CRAWLER: Final = re.compile(r"[A-Za-z][\w.-]*")
_WITH_VALUES: Final = frozenset({"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"})
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_CANONICAL = re.compile(r"<([^<>]*+)>\s*+;[^,<]*\brel\s*+=\s*+\"?canonical\b", re.IGNORECASE)


def record_of(response: CrawlResponse, depth: int | None) -> PageRecord:
    """Build the record of a response. Parsing its HTML is CPU-bound.

    Args:
        response: the response.
        depth: number of links from the home page; `None` if unknown.
    """
    page = None
    if response.content and not response.is_redirect and _is_html(response):
        page = _with_header(read_page(response.content, response.header("content-type"), response.url), response)
    headers = {name: _stored_header(name, response) for name in STORED_HEADERS}
    return PageRecord(
        url=response.url,
        depth=depth,
        status=response.status,
        failure=response.failure,
        message=response.message,
        location=response.location or "",
        media_type=response.media_type,
        headers={name: value for name, value in headers.items() if value},
        size=len(response.content),
        transferred=response.transferred,
        whole=response.whole,
        first_byte=round(response.first_byte, 4),
        seconds=round(response.seconds, 4),
        page=page,
    )


def _stored_header(name: str, response: CrawlResponse) -> str:
    """Return a header's value, cut to 500 characters. A long CSP has `frame-ancestors` moved to the front."""
    value = response.header(name)
    if name == "x-robots-tag":
        lines = (value for key, value in response.headers if key == name)
        value = ", ".join(directive for line in lines for directive in _for_search_engine(line))
    elif name == "content-security-policy" and len(value) > _MAX_HEADER_LENGTH:
        directives = [directive.strip() for directive in re.split("[;,]", value[:_MAX_POLICY_LENGTH])]
        value = "; ".join(sorted(directives, key=lambda directive: not directive.lower().startswith("frame-ancestors")))
    return value[:_MAX_HEADER_LENGTH]


def _for_search_engine(line: str) -> Iterator[str]:
    """Yield the directives of an `X-Robots-Tag` line that apply to all crawlers or to `SEARCH_ENGINE`.

    A crawler's name and a colon apply to the directives that follow, up to the next name or the end of the line.
    """
    is_meant = True
    for part in line.split(","):
        name, colon, value = part.partition(":")
        if colon and _CRAWLER.fullmatch(name.strip()) and name.strip().lower() not in _WITH_VALUES:
            is_meant, part = name.strip().lower() in (SEARCH_ENGINE.lower(), "robots"), value  # noqa: PLW2901
        if is_meant and part.strip():
            yield part.strip()


def _is_html(response: CrawlResponse) -> bool:
    if response.media_type:
        return response.media_type in _HTML
    start = response.content[:512].lstrip().lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<!--"))


def _with_header(page: PageFacts, response: CrawlResponse) -> PageFacts:
    """Add the canonical URL from the `Link` header (RFC 6596) if the page itself has none."""
    match = _CANONICAL.search(response.header("link")[:4000])
    if match is None or page.canonicals:
        return page
    return replace(page, canonicals=(normalise(match[1], response.url) or "",))
