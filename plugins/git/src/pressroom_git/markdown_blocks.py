"""Splitting of Markdown into top-level blocks with exact positions, including those of code in them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from mdit_py_plugins.footnote.index import footnote_def

_MAX_LENGTH: Final = 6_000_000
_MAX_LINES: Final = 200_000
_MAX_LINE: Final = 3_000_000
_NESTING: Final = 40
_NEWLINES = re.compile(r"\r\n?")
_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n)|[^\r\n]++\Z")
_DEFINITION = re.compile(
    r" {0,3}\[(?!\^)(?P<label>(?>(?:[^\[\]\\\n]++|\\.)+))\]:[ \t]*+(?P<target>\S++)[ \t]*+(?P<title>.*)"
)
_INLINE = re.compile(
    r"\\[!-/:-@\[-`{-~]|(?P<ticks>`+)|<[A-Za-z/][^<>]*+>|<!--(?:(?!<!--).)*?-->|<[!?][^<>]*+>", re.DOTALL
)
_TICKS = re.compile(r"`+")
_CELL = re.compile(r"(?>(?:[^|\\]++|\\.)+)", re.DOTALL)
_HTML_ENDS: Final = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"))
_HTML_TEXT = re.compile(r"<(script|pre|style|textarea)(?=[\s>]|$)", re.IGNORECASE)

Span = tuple[int, int]

KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "paragraph_open": "paragraph",
        "heading_open": "heading",
        "bullet_list_open": "list",
        "ordered_list_open": "list",
        "blockquote_open": "quote",
        "fence": "code",
        "code_block": "code",
        "html_block": "HTML",
        "hr": "rule",
        "table_open": "table",
        "footnote_reference_open": "footnote",
    }
)


@dataclass(frozen=True, slots=True)
class MarkdownPiece:
    """One block: its position including trailing white space, its kind, and the positions of code in it.

    `html` is whether it contains an HTML block. `closer` is the text that ends an unclosed block, which would otherwise
    absorb what follows.
    """

    start: int
    end: int
    kind: str
    code: tuple[Span, ...] = ()
    html: bool = False
    closer: str = ""


def pieces_of(text: str) -> Sequence[MarkdownPiece] | None:
    """Split Markdown into blocks; `None` if it is too long or too complex.

    The first block includes leading white space. White space alone has no blocks.
    """
    starts = _line_starts(text)
    if not text.strip():
        return ()
    if len(text) > _MAX_LENGTH or len(starts) > _MAX_LINES or any(_long(starts)):
        return None
    plain = _NEWLINES.sub("\n", text).replace("\0", "\ufffd")
    parser, tokens = _parser(), list[Token]()
    try:
        parser.block.parse(plain, parser, {}, tokens)
    except (RecursionError, IndexError, RuntimeError):
        return None
    return _joined(text, _cut(text, starts, tokens), starts)


def definitions(text: str, pieces: Sequence[MarkdownPiece]) -> Mapping[str, tuple[str, str]]:
    """Return the targets and titles of link definitions by normalised label (see `label_key`)."""
    targets: dict[str, tuple[str, str]] = {}
    for piece in pieces:
        if piece.kind == "definitions":
            for line in text[piece.start : piece.end].splitlines():
                if match := _DEFINITION.fullmatch(line):
                    targets.setdefault(label_key(match["label"]), (match["target"], match["title"].strip()))
    return targets


def label_key(label: str) -> str:
    """Normalise the label of a link definition for comparison."""
    return " ".join(label.split()).casefold()


def segments(text: str, piece: MarkdownPiece) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a block, each with whether it is code."""
    at = piece.start
    for start, end in piece.code:
        if start > at:
            yield text[at:start], False
        if end > max(start, at):
            yield text[max(start, at) : end], True
        at = max(at, end)
    if at < piece.end:
        yield text[at : piece.end], False


def _long(starts: Sequence[int]) -> Iterator[bool]:
    return (after - before > _MAX_LINE for before, after in pairwise(starts))


def _line_starts(text: str) -> Sequence[int]:
    starts = [match.start() for match in _LINE.finditer(text)]
    return [*starts, len(text)]


def _cut(text: str, starts: Sequence[int], tokens: Sequence[Token]) -> list[MarkdownPiece]:
    """Return a piece for each top-level token, from its first line to the first line of the next."""
    tops: list[tuple[int, int, Token, list[Span], bool]] = []
    rows: set[Span] = set()
    for token in tokens:
        span = (starts[token.map[0]], starts[min(token.map[1], len(starts) - 1)]) if token.map else (0, 0)
        if token.level == 0 and token.nesting >= 0 and token.map:
            tops.append((*span, token, [], token.type == "html_block"))
        elif token.type == "html_block" and tops:
            tops[-1] = (*tops[-1][:4], True)
        if not tops:
            continue
        code = tops[-1][3]
        if token.type in ("fence", "code_block"):
            code.append(span)
        elif token.type == "inline" and token.map and span not in rows:
            rows.add(span)
            code += _inline_code(text, *span, cells=tops[-1][2].type == "table_open")
    pieces = []
    for number, (start, stop, token, code, html) in enumerate(tops):
        end = tops[number + 1][0] if number + 1 < len(tops) else len(text)
        closer = _closer(text[start:stop], token) if number + 1 == len(tops) else ""
        pieces.append(
            MarkdownPiece(start if number else 0, end, KINDS.get(token.type, token.type), tuple(code), html, closer)
        )
    return pieces


def _joined(text: str, pieces: Sequence[MarkdownPiece], starts: Sequence[int]) -> Sequence[MarkdownPiece]:
    """Split link definitions off paragraphs into separate pieces."""
    parts: list[MarkdownPiece] = []
    for piece in pieces:
        if piece.kind != "paragraph" or "]:" not in text[piece.start : piece.end]:
            parts.append(piece)
            continue
        end = piece.start
        for number in range(bisect_right(starts, piece.start) - 1, len(starts) - 1):
            line = text[starts[number] : starts[number + 1]]
            if starts[number] >= piece.end or not (_DEFINITION.fullmatch(line.rstrip("\r\n")) or not line.strip()):
                break
            end = starts[number + 1]
        if end > piece.start and text[piece.start : end].strip():
            parts.append(MarkdownPiece(piece.start, end, "definitions"))
        else:
            end = piece.start
        if end < piece.end:
            parts.append(MarkdownPiece(end, piece.end, piece.kind, piece.code, piece.html, piece.closer))
    return parts


def _inline_code(text: str, start: int, end: int, *, cells: bool) -> Iterator[Span]:
    """Yield the positions of code in a paragraph, or in the cells of a row."""
    if not cells:
        yield from _code_in(text, start, end)
        return
    for cell in _CELL.finditer(text, start, end):
        yield from _code_in(text, cell.start(), cell.end())


def _code_in(text: str, start: int, end: int) -> Iterator[Span]:
    runs: dict[int, list[int]] = {}
    for run in _TICKS.finditer(text, start, end):
        runs.setdefault(run.end() - run.start(), []).append(run.start())
    at = start
    while runs and (match := _INLINE.search(text, at, end)):
        at = match.end()
        if match["ticks"]:
            positions = runs.get(len(match["ticks"]), [])
            following = bisect_right(positions, match.start())
            if following < len(positions):
                at = positions[following] + len(match["ticks"])
                yield match.start(), at


def _closer(source: str, token: Token) -> str:
    """Return the text that closes the last block; empty if it is already closed."""
    if token.type == "fence":
        lines, size = source.rstrip().splitlines(), len(token.markup)
        last = lines[-1].strip() if len(lines) > 1 else ""
        return "" if last and set(last) == {token.markup[0]} and len(last) >= size else token.markup
    if token.type != "html_block":
        return ""
    inside = source.lstrip()
    for begin, end in _HTML_ENDS:
        if inside.startswith(begin):
            return "" if end in inside[len(begin) :] else end
    match = _HTML_TEXT.match(inside)
    return "" if match is None or f"</{match[1]}" in inside.lower() else f"</{match[1].lower()}>"


def _footnote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    first = len(state.tokens)
    matched = footnote_def(state, start, end, silent)
    if matched and not silent:
        state.tokens[first].map = [start, state.line]
    return matched


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": _NESTING}).enable(["table", "strikethrough"])
    parser.block.ruler.disable("reference")  # keep definitions as paragraphs, for _joined
    parser.block.ruler.before("reference", "footnote_def", _footnote, {"alt": ["paragraph", "reference"]})
    return parser
