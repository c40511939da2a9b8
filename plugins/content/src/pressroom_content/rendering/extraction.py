"""Extracting the article of a web page: its text without the surroundings, and its metadata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from pressroom_content.rendering.from_html import text_of_node
from pressroom_content.rendering.markdown import check_depth, check_html

_AROUND: Final = (
    "nav, aside, footer, form, script, style, noscript, template, button, input, select, textarea, dialog, [hidden], "
    "[aria-hidden=true], [role=navigation], [role=complementary], [role=search], [role=banner], [role=contentinfo], "
    ".comments, #comments, .comment-list, .share, .sharing, .social-share, .sharedaddy, .related-posts, "
    ".jp-relatedposts, .breadcrumbs, .breadcrumb, .newsletter, .advertisement, .cookie-banner, .post-navigation, "
    ".author-box, .toc"
)
"""Elements that are never part of an article."""

_MARKED: Final = (
    "[itemprop=articleBody]", ".e-content", ".entry-content", ".post-content", ".article-content", ".article-body",
    ".gh-content", ".post-body", "[role=article]", "article", "main", "[role=main]", "#content",
)  # fmt: skip
"""The selectors by which pages mark their article, most reliable first."""

_MIN_LENGTH: Final = 200
"""The minimum length of a marked article, in characters. Teasers are shorter."""


@dataclass(frozen=True, slots=True)
class ExtractedArticle:
    """An article from a page: its HTML, not sanitised but with absolute URLs, and the page's metadata."""

    html: str
    title: str
    description: str = ""
    language: str = ""
    author: str = ""
    canonical_url: str = ""
    sure: bool = True
    """Whether the page marks its article. Otherwise it is the element with the most text."""


def extract(html: str, url: str = "") -> ExtractedArticle:
    """Return the article of a page. `url` is the URL of the page.

    Raises:
        InvalidInput: the page is nested too deeply, or has too many tags.
    """
    check_html(html)
    tree = LexborHTMLParser(html)
    if tree.root is not None:
        check_depth(tree.root)
    title = _title(tree)
    metadata = ExtractedArticle(
        html="",
        title=title,
        description=_meta(tree, "description", "og:description"),
        language=((tree.root.attributes.get("lang") if tree.root is not None else "") or "").strip(),
        author=_meta(tree, "author", "article:author"),
        canonical_url=_canonical(tree, url),
    )
    for node in tree.css(_AROUND):
        node.decompose()
    body, sure = _main(tree)
    if body is None:
        return metadata
    for heading in body.css("h1"):
        if " ".join(heading.text().split()).casefold() == title.casefold():
            heading.decompose()
    _make_absolute(body, url)
    return ExtractedArticle(
        html=body.inner_html or "",
        title=title,
        description=metadata.description,
        language=metadata.language,
        author=metadata.author,
        canonical_url=metadata.canonical_url,
        sure=sure,
    )


def _main(tree: LexborHTMLParser) -> tuple[LexborNode | None, bool]:
    body = tree.body
    if body is None:
        return None, False
    for selector in _MARKED:
        element = max(tree.css(selector), key=_length, default=None)
        if element is not None and _length(element) >= _MIN_LENGTH:
            return element, True
    return _densest(body), False


def _densest(body: LexborNode) -> LexborNode:
    """Return the element with the most text in its paragraphs, in which link text counts negatively."""
    scores: dict[int, float] = {}
    nodes: dict[int, LexborNode] = {}
    for paragraph in body.css("p, pre, blockquote, li, td"):
        links = sum(len(link.text()) for link in paragraph.css("a"))
        worth = float(len(" ".join(paragraph.text().split())) - 2 * links)
        parent, share = paragraph.parent, 1.0
        while parent is not None and parent.tag not in ("html", "body") and share > 0.2:
            scores[parent.mem_id] = scores.get(parent.mem_id, 0.0) + worth * share
            nodes[parent.mem_id] = parent
            parent, share = parent.parent, share / 2
    best = max(scores, key=lambda key: scores[key], default=None)
    return nodes[best] if best is not None and scores[best] >= _MIN_LENGTH else body


def _length(node: LexborNode) -> int:
    return len(text_of_node(node))


def _title(tree: LexborHTMLParser) -> str:
    headings = [" ".join(node.text().split()) for node in tree.css("article h1, main h1, h1")]
    heading = next((text for text in headings if text), "")
    title = tree.css_first("head > title")
    tab = " ".join(title.text().split()) if title is not None else ""
    return (_meta(tree, "og:title") or heading or tab)[:500]


def _meta(tree: LexborHTMLParser, *names: str) -> str:
    for node in tree.css("meta"):
        key = (node.attributes.get("name") or node.attributes.get("property") or "").lower()
        content = " ".join((node.attributes.get("content") or "").split())
        if key in names and content:
            return content
    return ""


def _canonical(tree: LexborHTMLParser, url: str) -> str:
    for node in tree.css("link[rel=canonical]"):
        canonical = _joined(url, node.attributes.get("href") or "")
        if canonical.startswith(("http://", "https://")):
            return canonical
    return url


def _make_absolute(body: LexborNode, url: str) -> None:
    if not url:
        return
    for selector, name in (("a[href]", "href"), ("img[src]", "src"), ("iframe[src]", "src")):
        for node in body.css(selector):
            value = node.attributes.get(name) or ""
            if not value.startswith("#"):
                node.attrs[name] = _joined(url, value)
    for node in body.css("img[srcset]"):
        del node.attrs["srcset"]


def _joined(base: str, url: str) -> str:
    try:
        return urljoin(base, url.strip())
    except ValueError:
        return ""
