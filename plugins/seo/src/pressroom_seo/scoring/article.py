"""Input of the scoring: an article, written or extracted from a page, and facts about its surroundings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urljoin

from pressroom_seo.document import clean_text, relations, safe_html
from pressroom_seo.scoring.page_body import page_body
from pressroom_seo.structured_data.extraction import byline, extract_structured_data, moment

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

Profile = Literal["default", "cornerstone", "news", "product"]


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """Facts about an image beyond its markup. `weight` is in bytes, `width` and `height` in pixels.

    `licence` is a code such as `CC-BY-4.0`, `credit` the attribution text, `credit_required` whether the licence
    requires it, and `credit_added` whether publishing adds it to the article.
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
    """The author of an article. `url` is a page about them."""

    name: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class ScoringArticle:
    """An article with its metadata. Strings may contain any text; only `body` matters much.

    A field that is `None` is unknown, and checks that need it are skipped. `robots` are the directives of the robots
    meta tag and header, such as `noindex`; `social` the Open Graph and Twitter tags by name; `structured_data` the
    JSON-LD documents of the page. `title` is the headline, `seo_title` the content of `<title>` if it differs; `url` is
    the article's URL, `original_url` the first URL of a syndicated article; `images` is keyed by the URLs in the body;
    `featured_image` is a URL. `breadcrumbs` are pairs of name and URL, from the home page to the article's parent.
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
        """The title that a search result shows."""
        return (self.seo_title or self.title).strip()


class OtherArticle(NamedTuple):
    """Another article of the same site. A tuple, because workers receive thousands of them and tuples pickle fast."""

    url: str
    title: str = ""
    description: str = ""
    keyphrase: str = ""


@dataclass(frozen=True, slots=True)
class LinkStatus:
    """The response of a linked URL: the HTTP status, 0 without a response, and the target of a redirect."""

    status: int
    redirected_to: str = ""


@dataclass(frozen=True, slots=True)
class World:
    """Facts about an article's surroundings. A field that is `None` is unknown, and checks that need it are skipped.

    `others` are the site's other articles; `link_status` is keyed by the links as written in the body;
    `robots_blocked` is whether robots.txt disallows the article's URL; `canonical_noindex` whether the canonical page
    has noindex; `markdown_twin` the text at `<article>.md`, empty if missing; `llms_txt` the text of the site's
    `/llms.txt`, likewise; `listed` whether this server's own llms.txt lists the article, which takes precedence over
    `llms_txt`.
    """

    others: tuple[OtherArticle, ...] | None = None
    link_status: Mapping[str, LinkStatus] | None = None
    robots_blocked: bool | None = None
    canonical_noindex: bool | None = None
    markdown_twin: str | None = None
    llms_txt: str | None = None
    listed: bool | None = None


@dataclass(frozen=True, slots=True)
class _Head:
    meta: dict[str, str]
    robots: tuple[str, ...]
    canonicals: tuple[str, ...]


def article_from_page(html: str, url: str = "", *, keyphrase: str = "", robots_header: str = "") -> ScoringArticle:
    """Extract an article from a page: body, title and description, robots, canonical, social tags, JSON-LD.

    `url` is the page's URL, `robots_header` the response's `X-Robots-Tag`. Accepts any text.
    """
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415

    tree = LexborHTMLParser(safe_html(clean_text(html)))
    head = _head(tree, url)
    structured = extract_structured_data(html, url)
    title = tree.css_first("head > title") or tree.css_first("title")
    body = page_body(tree)
    root = tree.root
    documents = (*structured.json_ld, *({"@context": "https://schema.org", **item} for item in structured.microdata))
    structured_byline = byline(documents)
    author = head.meta.get("author", "").strip()
    authors = structured_byline.authors or ((author,) if author else body.byline.authors)
    published = structured_byline.published or moment(head.meta.get("article:published_time")) or body.byline.published
    changed = head.meta.get("article:modified_time") or head.meta.get("og:updated_time")
    return ScoringArticle(
        body=body.html,
        format="html",
        title=body.heading,
        seo_title=" ".join(title.text().split()) if title else "",
        description=head.meta.get("description", ""),
        url=url,
        language=(root.attributes.get("lang") or "") if root else "",
        keyphrase=keyphrase,
        canonicals=head.canonicals,
        robots=(*head.robots, *([robots_header] if robots_header else [])),
        authors=tuple(map(Author, authors)),
        published=published,
        modified=structured_byline.modified or moment(changed) or body.byline.modified,
        featured_image=head.meta.get("og:image", ""),
        social={name: value for name, value in head.meta.items() if name.startswith(("og:", "twitter:"))},
        structured_data=documents,
        site_name=head.meta.get("og:site_name", ""),
    )


def _head(tree: LexborHTMLParser, url: str) -> _Head:
    meta: dict[str, str] = {}
    robots: list[str] = []
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        content = (attributes.get("content") or "").strip()
        for name in {(attributes.get(key) or "").strip().lower() for key in ("name", "property")}:
            if name in {"robots", "googlebot"}:
                robots.append(content)
            elif name:
                meta.setdefault(name, content)
    links = (node.attributes for node in tree.css("link[rel]"))
    canonicals = [(link.get("href") or "").strip() for link in links if "canonical" in relations(link)]
    image = meta.get("og:image", "")
    if image and url:
        meta["og:image"] = _joined(url, image)
    return _Head(meta, tuple(robots), tuple(canonicals))


def _joined(base: str, url: str) -> str:
    try:
        return urljoin(base, url)
    except ValueError:
        return url
