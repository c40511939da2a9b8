"""What is kept of a page: small, plain and enough for every check, so that the page itself can be forgotten.

Every text and every list has a bound. `to_json` and `from_json` carry a record through a database.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from pydantic import TypeAdapter

from pressroom_seo.document.model import PageFacts
from pressroom_seo.structured_data.types import ARTICLE_TYPES, LISTING_TYPES

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
