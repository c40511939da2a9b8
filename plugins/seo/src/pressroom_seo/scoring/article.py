"""What is judged: an article, written or read from a published page, and what is known of the world around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import urljoin

from pressroom_seo.document import clean_text, relations, safe_html
from pressroom_seo.structured_data.extraction import byline, extract_structured_data, moment

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

Profile = Literal["default", "cornerstone", "news", "product"]

_BODIES: Final = ("[itemprop=articleBody]:not(meta)", ".entry-content", ".post-content")
"""What says that the text of a page is in it, in the order in which it is looked for."""

_BESIDE: Final = ", ".join(
    (
        *(
            "#comments",
            ".comments-area",
            ".comment-list",
            "#respond",
            ".sharedaddy",
            ".jp-relatedposts",
            ".related-posts",
        ),
        *("#toc", ".toc", "#ez-toc-container", ".table-of-contents", ".wp-block-table-of-contents"),
    )
)
"""What templates put into the place of the text that is not part of it: comments, other posts, a table of contents."""

_MAX_BESIDE: Final = 20
_LINES: Final = frozenset({"p", "ul", "ol", "dl", "div", "nav", "span", "a", "time", "address"})
_BYLINE: Final = ", ".join(
    (
        *("time", "address", "[rel~=author]", "[rel~=tag]", "[itemprop=author]", "[class*=author]", "[class*=byline]"),
        *("[class*=breadcrumb]", "[class*=categor]", "[class*=date]", "[class*=meta]", "[class*=posted]"),
        *("[class*=reading-time]", "[class*=share]"),
    )
)
"""What marks a line as one about the article, not of it."""

_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_PICTURES: Final = frozenset({"img", "figure", "picture", "video"})
_KEPT_IN_HEADERS: Final = ", ".join(sorted(_HEADINGS | _PICTURES))
_MAX_BYLINE_WORDS: Final = 25
_MAX_BYLINES: Final = 4
"""How long such a line is at most, and how many follow one another."""


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


@dataclass(frozen=True, slots=True)
class _Head:
    meta: dict[str, str]
    robots: tuple[str, ...]
    canonicals: tuple[str, ...]


def article_from_page(html: str, url: str = "", *, keyphrase: str = "", robots_header: str = "") -> ScoringArticle:
    """Return the article of a whole page: body, title and description, robots, canonical, social tags, JSON-LD.

    `url` is the page's URL, `robots_header` the response's `X-Robots-Tag`. It takes any text.
    """
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415

    tree = LexborHTMLParser(safe_html(clean_text(html)))
    head = _head(tree, url)
    found = extract_structured_data(html, url)
    title = tree.css_first("head > title") or tree.css_first("title")
    body = _body(tree)
    heading = (body.css_first("h1") if body is not None else None) or tree.css_first("h1")
    root = tree.root
    documents = (*found.json_ld, *({"@context": "https://schema.org", **one} for one in found.microdata))
    said = byline(documents)
    author = head.meta.get("author", "").strip()
    return ScoringArticle(
        body=(body.html or "") if body is not None else "",
        format="html",
        title=" ".join(heading.text().split()) if heading else "",
        seo_title=" ".join(title.text().split()) if title else "",
        description=head.meta.get("description", ""),
        url=url,
        language=(root.attributes.get("lang") or "") if root else "",
        keyphrase=keyphrase,
        canonicals=head.canonicals,
        robots=(*head.robots, *([robots_header] if robots_header else [])),
        authors=tuple(map(Author, said.authors or ((author,) if author else ()))),
        published=said.published or moment(head.meta.get("article:published_time")),
        modified=said.modified or moment(head.meta.get("article:modified_time") or head.meta.get("og:updated_time")),
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
    canonicals = [(one.get("href") or "").strip() for one in links if "canonical" in relations(one)]
    image = meta.get("og:image", "")
    if image and url:
        meta["og:image"] = _joined(url, image)
    return _Head(meta, tuple(robots), tuple(canonicals))


def _joined(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:
        return address


def _body(tree: LexborHTMLParser) -> LexborNode | None:
    """Return what holds the text of a page, without what templates put around the text."""
    node = next((found for selector in _BODIES if (found := tree.css_first(selector)) is not None), None)
    node = _main(tree) if node is None else node
    if node is not None:
        _drop_all(node, _BESIDE)
        _drop_byline(node)
    return node


def _drop_all(body: LexborNode, selector: str) -> None:
    """Take away what is beside the text, one at a time: some of it is inside another one."""
    for _ in range(_MAX_BESIDE):
        beside = next((one for one in body.css(selector) if one.mem_id != body.mem_id), None)
        if beside is None:
            return
        beside.decompose()


def _main(tree: LexborHTMLParser) -> LexborNode | None:
    """Return the article of a page: the one with the headline, else the one that is most of the page's main part.

    Without such an article it is the main part itself, less the articles in it that are a small part of it: they are
    about something else.
    """
    main = tree.css_first("main, [role=main]")
    articles = (tree if main is None else main).css("article")
    if not articles:
        return tree.body if main is None else main
    headed = next((one for one in articles if one.css_first("h1") is not None), None)
    if headed is not None:
        return headed
    lengths = [len(one.text()) for one in articles]
    if main is None or 2 * max(lengths) >= len(main.text()):
        return articles[lengths.index(max(lengths))]
    if 2 * sum(lengths) < len(main.text()):
        _drop_all(main, "article")
    return main


def _drop_byline(body: LexborNode) -> None:
    """Take away the lines around the headline that are not the text: categories, author, date, reading time.

    Those are all lines in the headline's `header`. Where it has none, they are the lines before it, and those after it,
    or around what it is in, that are marked as such; where there is no headline, the ones that the text begins with.
    """
    heading = body.css_first("h1")
    if heading is None:
        _drop_marked(body.child)
        return
    above = heading.parent
    while above is not None and above.mem_id != body.mem_id and above.tag != "header":
        above = above.parent
    if above is not None and above.tag == "header" and above.mem_id != body.mem_id:
        _drop_lines(above)
        _drop_marked(above.next)
        return
    before = heading.prev
    while before is not None:
        line, before = before, before.prev
        if line.tag in _LINES and not line.css_first("img, figure"):
            line.decompose()
    around: LexborNode | None = heading
    while around is not None and around.mem_id != body.mem_id:
        _drop_marked(around.next)
        around = around.parent


def _drop_lines(header: LexborNode) -> None:
    """Take away all of a headline's `header` but headings and images."""
    node = header.child
    while node is not None:
        one, node = node, node.next
        if one.tag in _HEADINGS or one.tag in _PICTURES:
            continue
        if not one.is_text_node and one.css_first(_KEPT_IN_HEADERS) is not None:
            _drop_lines(one)
        else:
            one.decompose()


def _drop_marked(line: LexborNode | None) -> None:
    """Take away the lines from this one on that are marked as being about the article; the first other one ends it."""
    dropped = 0
    while line is not None and dropped < _MAX_BYLINES:
        one, line = line, line.next
        words = (one.text_content or "" if one.is_text_node else one.text()).split()
        if not words or one.tag == "figure":
            continue
        if one.tag not in _LINES or not _is_byline(one, words):
            return
        one.decompose()
        dropped += 1


def _is_byline(line: LexborNode, words: list[str]) -> bool:
    if len(words) > _MAX_BYLINE_WORDS or words[-1].endswith((".", "!", "?", "…")):
        return False
    return line.tag == "nav" or line.css_first(_BYLINE) is not None
