"""Parsing of HTML and Markdown bodies (CommonMark with tables and strikethrough) into blocks, links and images."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

from pressroom_seo.document.markup import (
    MAX_BODY,
    alternative_text,
    is_decorative,
    is_hidden,
    is_sized,
    media_source,
    relations,
    safe_html,
)
from pressroom_seo.document.model import Block, BlockKind, Document, Image, Link, Video

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from selectolax.lexbor import LexborNode


_SKIPPED: Final = frozenset(
    [
        "script",
        "style",
        "template",
        "noscript",
        "svg",
        "math",
        "nav",
        "head",
        "title",
        "button",
        "select",
        "textarea",
        "input",
        "object",
        "canvas",
        "dialog",
        "datalist",
        "map",
        "-comment",
    ]
)
"""Elements whose content is not part of the article's text."""

_BLOCKS: Final = {
    **{f"h{level}": BlockKind.HEADING for level in range(1, 7)},
    **dict.fromkeys(
        [
            "p",
            "div",
            "section",
            "article",
            "main",
            "header",
            "footer",
            "aside",
            "address",
            "figure",
            "details",
            "summary",
            "form",
            "fieldset",
            "body",
            "hr",
            "ul",
            "ol",
            "dl",
            "menu",
            "table",
            "thead",
            "tbody",
            "tfoot",
            "tr",
            "center",
            "hgroup",
            "search",
            "video",
            "audio",
            "iframe",
        ],
        BlockKind.PARAGRAPH,
    ),
    **dict.fromkeys(("li", "dt", "dd"), BlockKind.LIST_ITEM),
    **dict.fromkeys(("td", "th"), BlockKind.CELL),
    **dict.fromkeys(("figcaption", "caption", "legend"), BlockKind.CAPTION),
    "blockquote": BlockKind.QUOTE,
    "pre": BlockKind.CODE,
}
_INHERITS: Final = frozenset(["p", "div", "section", "article"])
"""Elements that keep the kind of an enclosing list item, cell, quote, caption or code block."""

_ANCHORS: Final = frozenset({"ul", "ol", "dl", "table"})
_CENTRED: Final = re.compile(r"text-align\s*:\s*center", re.IGNORECASE)
_VIDEO_SITES: Final = re.compile(
    r"//(?:[\w-]+\.)*(?:youtube(?:-nocookie)?\.com|youtu\.be|vimeo\.com|dailymotion\.com|wistia\.(?:com|net)|loom\.com|"
    r"tiktok\.com|twitch\.tv|peertube\.[a-z]+)/",
    re.IGNORECASE,
)

_State = tuple["LexborNode", str, BlockKind, bool]


def document_from_html(html: str) -> Document:
    """Parse an HTML fragment or page, up to `MAX_BODY` characters. Accepts any text."""
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415

    body = LexborHTMLParser(safe_html(html)).body
    reader = _Reader()
    if body is not None:
        reader.walk(body)
    return Document(
        tuple(reader.blocks),
        tuple(reader.links),
        tuple(reader.images),
        tuple(reader.videos),
        tuple(reader.anchors),
        cut=len(html) > MAX_BODY,
    )


class _Reader:
    """Walks a tree without recursion and collects its blocks, links and media."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.links: list[Link] = []
        self.images: list[Image] = []
        self.videos: list[Video] = []
        self.anchors: list[int] = []
        self._counts: Counter[BlockKind] = Counter()
        self._section = ""
        self._text: list[str] = []
        self._kind, self._level, self._centred = BlockKind.PARAGRAPH, 0, False
        self._link_text: list[str] | None = None

    def walk(self, root: LexborNode) -> None:
        stack: list[_State] = []
        node: LexborNode | None = root
        while node is not None:
            tag = node.tag or ""
            if self._enter(node, tag, stack):
                child = node.child
                if child is not None:
                    node = child
                    continue
                self._leave(stack.pop())
            next_node = node.next if node is not root else None
            while next_node is None and stack:
                state = stack.pop()
                self._leave(state)
                next_node = state[0].next if stack else None
            node = next_node
        self._flush()

    def _enter(self, node: LexborNode, tag: str, stack: list[_State]) -> bool:
        """Process a node. Return whether it was pushed onto the stack to visit its children."""
        if tag == "-text":
            self._take_text(node.text_content or "")
            return False
        if tag in _SKIPPED:
            return False
        attributes = node.attributes
        if attributes and is_hidden(attributes):
            return False
        stack.append((node, tag, self._kind, self._centred))
        if tag in _BLOCKS:
            self._open_block(tag, attributes)
        elif tag == "br":
            self._text.append("\n")
        elif tag == "img":
            self._take_image(attributes)
        elif tag == "a":
            self._link_text = []
        if tag in {"video", "iframe"}:
            self._take_video(tag, attributes)
        return True

    def _leave(self, state: _State) -> None:
        node, tag, kind, centred = state
        if tag == "a":
            self._take_link(node)
        elif tag in _BLOCKS:
            self._flush()
            self._kind, self._centred = kind, centred

    def _open_block(self, tag: str, attributes: dict[str, str | None]) -> None:
        self._flush()
        if tag in _ANCHORS:
            self.anchors.append(len(self.blocks))
        inner = tag in _INHERITS and self._kind not in {BlockKind.HEADING, BlockKind.PARAGRAPH}
        if not inner:
            self._kind = _BLOCKS[tag]
        self._level = int(tag[1]) if self._kind is BlockKind.HEADING else 0
        self._centred = self._centred or tag == "center" or _is_centred(attributes)

    def _take_text(self, text: str) -> None:
        self._text.append(text if self._kind is BlockKind.CODE else text.replace("\n", " "))
        if self._link_text is not None:
            self._link_text.append(text)

    def _take_image(self, attributes: dict[str, str | None]) -> None:
        alt = alternative_text(attributes)
        self.images.append(
            Image(
                src=media_source(attributes).strip(),
                alt=" ".join(alt.split()) if alt is not None else None,
                sized=is_sized(attributes),
                loading=(attributes.get("loading") or "").lower(),
                srcset=bool(attributes.get("srcset")),
                decorative=is_decorative(attributes),
                block=len(self.blocks),
            )
        )
        if self._link_text is not None:
            self._link_text.append(f" {alt or ''} ")

    def _take_video(self, tag: str, attributes: dict[str, str | None]) -> None:
        source = media_source(attributes)
        if tag == "video" or _VIDEO_SITES.search(source):
            self.videos.append(Video(source))

    def _take_link(self, node: LexborNode) -> None:
        attributes = node.attributes
        label = attributes.get("aria-label") or attributes.get("title") or ""
        text = " ".join("".join(self._link_text or ()).split()) or " ".join(label.split())
        self._link_text = None
        href = attributes["href"] or "" if "href" in attributes else None
        rel = relations(attributes)
        named = "id" in attributes or "name" in attributes
        self.links.append(Link(text, href.strip() if href is not None else None, rel, len(self.blocks), named))

    def _flush(self) -> None:
        if not self._text:
            return
        raw, kind = "".join(self._text), self._kind
        self._text = []
        lines = (" ".join(line.split()) for line in raw.split("\n"))
        text = "\n".join(line for line in lines if line)
        if not text:
            return
        self._counts[kind] += 1
        level = self._level if kind is BlockKind.HEADING else 0
        self.blocks.append(Block(kind, text, level, self._counts[kind], self._section, self._centred))
        if kind is BlockKind.HEADING:
            self._section = text


def _is_centred(attributes: dict[str, str | None]) -> bool:
    if (attributes.get("align") or "").lower() == "center" or _CENTRED.search(attributes.get("style") or ""):
        return True
    return not {"has-text-align-center", "text-center", "aligncenter"}.isdisjoint(
        (attributes.get("class") or "").split()
    )


MAX_LINES: Final = 20_000
"""Maximum number of non-blank lines to parse; each may be a list item or a table row, the most expensive blocks."""

_MAX_CELLS: Final = 100_000
"""With more `|` characters than this, none is parsed: each may begin a table cell."""

_MAX_MARKS: Final = 1_500
"""A paragraph with more inline delimiters becomes plain text: pairing them takes quadratic time."""

_ALL_MARKS: Final = 60_000
"""Inline delimiters of the whole text after which every paragraph becomes plain text."""

_MARKS: Final = "[]*_`<!&\\~"


def document_from_markdown(text: str) -> Document:
    """Parse Markdown, up to `MAX_BODY` characters and `MAX_LINES` non-blank lines. Accepts any text."""
    body, cut = _bounded(text)
    return replace(document_from_html(_parser().render(body)), markdown=True, cut=cut)


def _bounded(text: str) -> tuple[str, bool]:
    body = text[:MAX_BODY]
    cut = len(text) > MAX_BODY
    lines = body.splitlines()
    with_text = [index for index, line in enumerate(lines) if line.strip()]
    if len(with_text) > MAX_LINES:
        body, cut = "\n".join(lines[: with_text[MAX_LINES]]), True
    if body.count("|") > _MAX_CELLS:
        body = body.replace("|", " ")
    return body, cut


def _inline(state: StateCore) -> None:
    remaining = _ALL_MARKS
    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        marks = sum(map(token.content.count, _MARKS))
        remaining -= marks
        # A line without delimiters is text anyway, and parsing it would try every rule at every punctuation mark.
        plain_line = not marks and "\n" not in token.content
        if plain_line or marks > _MAX_MARKS or remaining < 0:
            plain = type(token)("text", "", 0, content=token.content)
            token.children.append(plain)
        else:
            state.md.inline.parse(token.content, state.md, state.env, token.children)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.core.ruler.at("inline", _inline)
    return parser
