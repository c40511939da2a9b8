"""Splitting an article's body into pieces, such as paragraphs and lists, as source text and as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markdown_it.token import Token
from selectolax.lexbor import LexborHTMLParser, LexborNode

from pressroom_content.records import BodyFormat
from pressroom_content.rendering.markdown import check_html, parsed_markdown
from pressroom_content.rendering.sanitising import Sanitiser, sanitise

_PLACEHOLDER = re.compile(r"<!--\s*+block:([0-9a-z-]{1,40})\b(?>(?:[^<>-]++|-(?!->))*)-->\s*+", re.ASCII)
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/<>]*)[^<>]*+>")
_VOID: Final = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
)
_NAME = re.compile(r"[^\w ,.'()\[\]/+-]")
_MAX_NAME_LENGTH: Final = 80


@dataclass(frozen=True, slots=True)
class BodyPiece:
    """A top-level piece of a body.

    `text` is its source; it is empty if other pieces contain it already, as for the section of footnotes. `html` is
    sanitised. `block` is the key of a website's block for which the piece is a placeholder; it has no HTML then. `line`
    is its first line, counted from 0.
    """

    text: str
    html: str
    block: str = ""
    line: int = 0
    lossy: bool = False
    """Whether sanitising removed something from it."""

    @property
    def key(self) -> str:
        """A key that is equal for pieces that look the same to readers."""
        return f"block:{self.block}" if self.block else self.html


def placeholder(key: str, name: str) -> str:
    """Return the placeholder of a website's block in an article's body: a comment, which readers do not see."""
    label = " ".join(_NAME.sub(" ", name).split())[:_MAX_NAME_LENGTH] or "block"
    return f"<!-- block:{key} {label}; it stays as it is on the website, at the place of this line -->"


def without_placeholders(body: str) -> str:
    """Return a body without the placeholders of a website's blocks."""
    return _PLACEHOLDER.sub("", body)


def pieces_of(body: str, body_format: BodyFormat, sanitiser: Sanitiser = "full") -> Sequence[BodyPiece]:
    """Return the pieces of a body in order. It can take a second per megabyte: call it in a worker.

    Raises:
        InvalidInput: the body is nested too deeply, or too complex to be parsed in time.
    """
    parts = _of_markdown(body) if body_format == "markdown" else _of_html(body)
    return [piece for text, html, line in parts if (piece := _piece(text, html, line, sanitiser)) is not None]


def _piece(text: str, html: str, line: int, sanitiser: Sanitiser) -> BodyPiece | None:
    match = _PLACEHOLDER.fullmatch(html.strip())
    if match is not None:
        return BodyPiece(text, "", match[1], line)
    safe = sanitise(html, sanitiser)
    if not safe.html.strip():
        return None
    return BodyPiece(text, safe.html.strip(), "", line, lossy=bool(safe.removed))


def _of_markdown(body: str) -> Iterator[tuple[str, str, int]]:
    parser, tokens, environment = parsed_markdown(body)
    lines = body.split("\n")
    groups = list(_joined(_groups(tokens)))
    starts = [_first_line(group) for group in groups]
    for number, group in enumerate(groups):
        html: str = parser.renderer.render(group, parser.options, environment)
        begin = starts[number]
        if begin is None:
            yield "", html, len(lines)
            continue
        end = next((start for start in starts[number + 1 :][:1] if start is not None), len(lines))
        # Lines without output, such as link definitions, belong to the piece above them, or to the first one.
        text = "\n".join(lines[0 if number == 0 else begin : end]).strip("\n").rstrip()
        yield text, html, begin


def _groups(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield the tokens of each top-level block."""
    group: list[Token] = []
    depth = 0
    for token in tokens:
        group.append(token)
        depth += token.nesting
        if depth == 0:
            yield group
            group = []
    if group:
        yield group


def _joined(groups: Iterator[list[Token]]) -> Iterator[list[Token]]:
    """Yield the groups, joining those between the tags of one HTML element."""
    waiting: list[list[Token]] = []
    is_open = 0
    for group in groups:
        waiting.append(group)
        is_open += sum(_opened(token.content) for token in group if token.type == "html_block")
        if is_open <= 0:
            yield [token for group in waiting for token in group]
            waiting, is_open = [], 0
    yield from waiting  # the element is never closed


def _opened(html: str) -> int:
    if _PLACEHOLDER.fullmatch(html.strip()):
        return 0
    tags = _TAG.finditer(html)
    return sum(-1 if tag[1] else 1 for tag in tags if tag[2].lower() not in _VOID and not tag[0].endswith("/>"))


def _first_line(group: Sequence[Token]) -> int | None:
    if group[0].type == "footnote_block_open":  # the source of the notes is elsewhere
        return None
    return next((token.map[0] for token in group if token.map is not None), None)


def _of_html(body: str) -> Iterator[tuple[str, str, int]]:
    """Yield the elements of HTML. Text and inline elements between block elements form one piece."""
    check_html(body)
    root = LexborHTMLParser(body).body
    if root is None:
        return
    waiting: list[str] = []
    number = 0
    for node in root.iter(include_text=True):
        html = _source(node)
        if node.tag in _BLOCK_TAGS or _PLACEHOLDER.fullmatch(html.strip()):
            if text := "".join(waiting).strip():
                yield text, text, number
            waiting = []
            yield html.strip(), html, number
        else:
            waiting.append(html)
        number += 1
    if text := "".join(waiting).strip():
        yield text, text, number


def _source(node: LexborNode) -> str:
    return node.html or ""


_BLOCK_TAGS: Final = frozenset(
    {
        "address", "article", "aside", "blockquote", "center", "details", "dir", "div", "dl", "fieldset", "figcaption",
        "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "iframe", "main", "menu", "nav",
        "ol", "p", "pre", "section", "table", "ul",
    }
)  # fmt: skip
