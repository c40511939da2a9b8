"""What is judged: an article, and what is known of the world around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal

Profile = Literal["default", "cornerstone", "news", "product"]


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """What is known of an image besides its markup. `weight` is in bytes, `width` and `height` in pixels.

    `licence` is a code such as `CC-BY-4.0`; `credit` the text that is owed, `credit_required` whether it is owed,
    `credit_added` whether publishing puts it into the text.
    """

    weight: int | None = None
    width: int | None = None
    height: int | None = None
    licence: str = ""
    credit: str = ""
    credit_required: bool = False
    credit_added: bool = False


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote an article. `url` is a page about them."""

    name: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class ScoringArticle:
    """An article with its metadata. Every text may be anything; only `body` matters much.

    Fields that are None are not known, and what needs them is skipped: `robots` are the directives of the robots meta
    tag and header, such as `noindex`; `social` the Open Graph and Twitter tags by name; `structured_data` the JSON-LD
    documents of the page. `title` is the headline, `seo_title` the content of `<title>` if it differs; `url` is the
    article's URL, `original_url` the one that a syndicated article was first published under; `images` is keyed
    by the URLs in the body, `featured_image` is a URL too. `breadcrumbs` are names and URLs, from the
    home page to the article's parent.
    """

    body: str = ""
    format: Literal["markdown", "html"] = "markdown"
    title: str = ""
    seo_title: str = ""
    description: str = ""
    slug: str = ""
    url: str = ""
    language: str = ""
    keyphrase: str = ""
    synonyms: tuple[str, ...] = ()
    secondary_phrases: tuple[str, ...] = ()
    canonicals: tuple[str, ...] = ()
    original_url: str = ""
    robots: tuple[str, ...] | None = None
    authors: tuple[Author, ...] = ()
    published: datetime | date | None = None
    modified: datetime | date | None = None
    featured_image: str = ""
    featured_image_alt: str | None = None
    images: Mapping[str, ImageFacts] = field(default_factory=dict)
    social: Mapping[str, str] | None = None
    structured_data: tuple[Any, ...] | None = None
    site_name: str = ""
    site_logo: str = ""
    breadcrumbs: tuple[tuple[str, str], ...] = ()
    section: str = ""
    tags: tuple[str, ...] = ()

    @property
    def search_title(self) -> str:
        """What a search result shows as the title."""
        return (self.seo_title or self.title).strip()


@dataclass(frozen=True, slots=True)
class OtherArticle:
    """Another article of the same site."""

    url: str
    title: str = ""
    description: str = ""
    keyphrase: str = ""


@dataclass(frozen=True, slots=True)
class LinkStatus:
    """The response to a linked URL: the HTTP status, 0 for no answer, and the target of a redirect."""

    status: int
    redirected_to: str = ""


@dataclass(frozen=True, slots=True)
class World:
    """What is known of the world around an article. What is None is not known, and what needs it is skipped.

    `others` are the site's other articles; `link_status` is keyed by the links as written in the body;
    `robots_blocked` whether robots.txt forbids the article's URL; `canonical_noindex` whether the canonical page
    says noindex; `markdown_twin` is the text found at `<article>.md`, empty if there is nothing; `llms_txt` the text
    of the site's `/llms.txt`, likewise; `listed` whether this server's own text index names the article, which is
    asked before `llms_txt`.
    """

    others: tuple[OtherArticle, ...] | None = None
    link_status: Mapping[str, LinkStatus] | None = None
    robots_blocked: bool | None = None
    canonical_noindex: bool | None = None
    markdown_twin: str | None = None
    llms_txt: str | None = None
    listed: bool | None = None
