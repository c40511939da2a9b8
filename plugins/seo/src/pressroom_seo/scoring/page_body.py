"""Extraction of a page's article text without template boilerplate, and of the byline around its headline."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Final

from pressroom_seo.structured_data.extraction import Byline, moment

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_BODIES: Final = ("[itemprop=articleBody]:not(meta)", ".entry-content", ".post-content")
"""Selectors of the element that holds a page's text, in order of preference."""

_COMMENTS: Final = ("#comments", ".comments-area", ".comment-list", "#respond")
_OTHER_POSTS: Final = (".sharedaddy", ".jp-relatedposts", ".related-posts")
_CONTENTS: Final = ("#toc", ".toc", "#ez-toc-container", ".table-of-contents", ".wp-block-table-of-contents")
_BOILERPLATE: Final = ", ".join((*_COMMENTS, *_OTHER_POSTS, *_CONTENTS))
"""Selectors of template elements inside the text: comments, related posts, tables of contents."""

_FRAME: Final = ", ".join(
    (
        *("header:not(:has(h1))", "#header:not(:has(h1))", "footer", "#footer", "aside", "#sidebar", ".sidebar"),
        *("[role=banner]:not(:has(h1))", "[role=complementary]", "[role=contentinfo]"),
    )
)
"""Selectors of the boilerplate around the main content of a page that has no `main` element."""

_MAX_BOILERPLATE: Final = 20
_MAX_ARTICLES: Final = 100
"""Maximum number of articles to compare: with nested ones, the same text is extracted repeatedly."""

_LINES: Final = frozenset({"p", "ul", "ol", "dl", "div", "nav", "span", "a", "time", "address"})
_BYLINE: Final = ", ".join(
    (
        *("time", "address", "[rel~=author]", "[rel~=tag]", "[itemprop=author]", "[class*=author]", "[class*=byline]"),
        *("[class*=breadcrumb]", "[class*=categor]", "[class*=date]", "[class*=meta]", "[class*=posted]"),
        *("[class*=reading-time]", "[class*=share]"),
    )
)
"""Selectors that mark a line as metadata of the article."""

_AUTHOR: Final = "[rel~=author], .p-author, [itemprop=author], [class~=author], [class*=author-name]"
_UPDATED: Final = ("updated", "modified")
_SUBHEADINGS: Final = frozenset({"h2", "h3", "h4", "h5", "h6"})
_PICTURES: Final = frozenset({"img", "figure", "picture", "video"})
_PRESERVED_IN_HEADERS: Final = ", ".join(sorted({"h1"} | _PICTURES))
_MAX_BYLINE_WORDS: Final = 25
_MAX_BYLINES: Final = 4
"""Maximum length of a byline in words, and maximum number of consecutive bylines."""

_MAX_NAME_WORDS: Final = 6


@dataclass(frozen=True, slots=True)
class PageBody:
    """The text of a page as HTML, its headline, and the author and dates from its byline."""

    html: str = ""
    heading: str = ""
    byline: Byline = field(default_factory=Byline)


def page_body(tree: LexborHTMLParser) -> PageBody:
    """Extract the text of a page. Removes boilerplate from the tree."""
    body = next((node for selector in _BODIES if (node := tree.css_first(selector)) is not None), None)
    body = _main(tree) if body is None else body
    if body is None:
        return PageBody()
    _drop_all(body, _BOILERPLATE)
    around = _HeadlineSurroundings(body)
    around.drop()
    heading = body.css_first("h1") or tree.css_first("h1")
    return PageBody(body.html or "", " ".join(heading.text().split()) if heading else "", around.byline())


def _main(tree: LexborHTMLParser) -> LexborNode | None:
    """Return the article of a page: the one with the headline, else the longest.

    If the longest has less than half of the text of the `main` element, return that element instead. If all articles
    together have less than half of its text, they are teasers and are removed. Without articles or a `main` element,
    return the body without boilerplate.
    """
    main = tree.css_first("main, [role=main]")
    articles = (tree if main is None else main).css("article")[:_MAX_ARTICLES]
    if not articles:
        if main is None and tree.body is not None:
            _drop_all(tree.body, _FRAME)
        return tree.body if main is None else main
    with_headline = next((article for article in articles if article.css_first("h1") is not None), None)
    if with_headline is not None:
        return with_headline
    lengths = [len(article.text()) for article in articles]
    if main is None or 2 * max(lengths) >= len(main.text()):
        return articles[lengths.index(max(lengths))]
    if 2 * sum(lengths) < len(main.text()):
        _drop_all(main, "article")
    return main


def _drop_all(body: LexborNode, selector: str) -> None:
    """Remove up to 20 matching elements, one at a time, since some are nested in others."""
    for _ in range(_MAX_BOILERPLATE):
        element = next((node for node in body.css(selector) if node.mem_id != body.mem_id), None)
        if element is None:
            return
        element.decompose()


class _HeadlineSurroundings:
    """Removes the lines around a headline that are not part of the text: categories, author, date, reading time.

    These are all lines in the headline's `header`. Without a `header`, they are the lines before the headline, and the
    lines after it or after its ancestors that are marked as byline; without a headline, the marked lines at the start.
    """

    def __init__(self, body: LexborNode) -> None:
        self._body = body
        self._authors: list[str] = []
        self._dates: list[tuple[datetime | date, bool]] = []

    def byline(self) -> Byline:
        """Return the author and dates of the removed lines."""
        return Byline(
            tuple(dict.fromkeys(self._authors)),
            next((date for date, updated in self._dates if not updated), None),
            next((date for date, updated in self._dates if updated), None),
        )

    def drop(self) -> None:
        """Remove the lines."""
        heading = self._body.css_first("h1")
        if heading is None:
            self._drop_marked(self._body.child)
            return
        ancestor = heading.parent
        while ancestor is not None and ancestor.mem_id != self._body.mem_id and ancestor.tag != "header":
            ancestor = ancestor.parent
        if ancestor is not None and ancestor.tag == "header" and ancestor.mem_id != self._body.mem_id:
            self._drop_lines(ancestor)
            self._drop_marked(ancestor.next)
            return
        before = heading.prev
        while before is not None:
            line, before = before, before.prev
            if line.tag in _LINES and not line.css_first("img, figure"):
                self._drop(line)
        current: LexborNode | None = heading
        while current is not None and current.mem_id != self._body.mem_id:
            self._drop_marked(current.next)
            current = current.parent

    def _drop_lines(self, header: LexborNode) -> None:
        """Remove everything in a headline's `header` except the headline and images."""
        node = header.child
        while node is not None:
            current, node = node, node.next
            if current.tag == "h1" or current.tag in _PICTURES:
                continue
            if not current.is_text_node and current.css_first(_PRESERVED_IN_HEADERS) is not None:
                self._drop_lines(current)
            else:
                self._drop(current)

    def _drop_marked(self, line: LexborNode | None) -> None:
        """Remove consecutive lines marked as byline, up to the first other line.

        Figures, and a subtitle before the first byline, are skipped.
        """
        dropped = 0
        while line is not None and dropped < _MAX_BYLINES:
            current, line = line, line.next
            words = (current.text_content or "" if current.is_text_node else current.text()).split()
            if not words or current.tag == "figure" or (current.tag in _SUBHEADINGS and not dropped):
                continue
            if current.tag not in _LINES or not _is_byline(current, words):
                return
            self._drop(current)
            dropped += 1

    def _drop(self, line: LexborNode) -> None:
        if not line.is_text_node:
            for node in line.css(_AUTHOR):
                name = " ".join(node.text().split())
                if name and len(name.split()) <= _MAX_NAME_WORDS:
                    self._authors = self._authors or [name]
            for node in line.css("time[datetime]"):
                date = moment(node.attributes.get("datetime"))
                marks = f"{node.attributes.get('class') or ''} {node.attributes.get('itemprop') or ''}".lower()
                if date is not None:
                    self._dates.append((date, any(mark in marks for mark in _UPDATED)))
        line.decompose()


def _is_byline(line: LexborNode, words: list[str]) -> bool:
    if len(words) > _MAX_BYLINE_WORDS or words[-1].endswith((".", "!", "?", "…")):
        return False
    return line.tag == "nav" or line.css_first(_BYLINE) is not None
