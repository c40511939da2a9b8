"""What comes back from one URL, and what is kept of it.

Every text and every list has a bound. `to_json` and `from_json` carry a record through a database.
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
"""Why there is no answer: the host did not respond, the URL is not allowed, or robots.txt disallows it."""


@dataclass(frozen=True, slots=True)
class PageRecord:
    """One URL of a site that was requested, and the answer."""

    url: str
    depth: int | None
    """Links from the first page; `None` where only a sitemap names it."""

    status: int
    """0 where there was no answer."""

    failure: Failure = ""
    message: str = ""
    location: str = ""
    """Where a redirect leads, normalised."""

    media_type: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    """Those that checks look at, by their names in lower case."""

    size: int = 0
    """Bytes of the content, unpacked."""

    transferred: int = 0
    """Bytes of the content as they were sent."""

    whole: bool = True
    first_byte: float = 0.0
    seconds: float = 0.0
    page: PageFacts | None = None
    """Only where the answer is an HTML page."""

    @property
    def is_page(self) -> bool:
        """Whether this is an HTML page that was answered well."""
        return self.page is not None and self.status == 200

    @property
    def robots(self) -> frozenset[str]:
        """The directives for search engines, of the page and of the header `X-Robots-Tag`."""
        said = set(self.page.robots) if self.page is not None else set()
        for part in self.headers.get("x-robots-tag", "").lower().split(","):
            name, colon, value = (text.strip() for text in part.partition(":"))
            if not colon or name in ("max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"):
                said.add(part.strip())
            elif name in ("robots", "googlebot"):
                said.add(value)
        if "none" in said:
            said |= {"noindex", "nofollow"}
        return frozenset(said - {""})

    @property
    def noindex(self) -> bool:
        """Whether the page asks not to be found."""
        return "noindex" in self.robots

    @property
    def canonical(self) -> str:
        """The URL that the page calls its own; empty without one."""
        found = self.page.canonicals if self.page is not None else ()
        return found[0] if found else ""

    @property
    def is_listing(self) -> bool:
        """Whether the page says that it lists others, such as the posts with a tag, and is not an article itself."""
        types = {name for item in self.page.structured for name in item.types} if self.page is not None else set()
        return not types.isdisjoint(LISTING_TYPES) and types.isdisjoint(ARTICLE_TYPES)

    @property
    def indexable(self) -> bool:
        """Whether search engines may show this URL: it has no noindex and does not name another URL as canonical."""
        return self.is_page and not self.noindex and self.canonical in ("", self.url)


@dataclass(frozen=True, slots=True)
class LinkRecord:
    """A URL in a page that was only checked, not read: an image, or a page of another site."""

    url: str
    status: int
    failure: Failure = ""
    message: str = ""
    location: str = ""
    media_type: str = ""
    size: int | None = None
    """Bytes, as the server says; `None` where it does not."""

    image: bool = False

    @property
    def broken(self) -> bool:
        """Whether nothing is there. An answer such as 403 or 429 says that programs are kept out, not that."""
        return self.failure == "failed" or self.status in (404, 410) or self.status >= 500


_PAGES: TypeAdapter[PageRecord] = TypeAdapter(PageRecord)
_LINKS: TypeAdapter[LinkRecord] = TypeAdapter(LinkRecord)


def to_json(record: PageRecord | LinkRecord) -> dict[str, Any]:
    """Return a record as plain JSON data."""
    return asdict(record)


def page_from_json(data: dict[str, Any]) -> PageRecord:
    """Return the record that `to_json` made. Raises `ValueError` if the data is not one."""
    return _PAGES.validate_python(data)


def link_from_json(data: dict[str, Any]) -> LinkRecord:
    """Return the record that `to_json` made. Raises `ValueError` if the data is not one."""
    return _LINKS.validate_python(data)


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
