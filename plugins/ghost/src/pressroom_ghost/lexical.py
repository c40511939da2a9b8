"""The codec for Ghost bodies: splits Lexical documents into blocks and joins them.

A single linear pass locates the blocks in the JSON text, for any input.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pressroom_content.contract import BodyBlock

from pressroom_ghost.lexical_nodes import FRAME, card, element, written

MAX_BLOCKS: Final = 50_000
MAX_SIGNS: Final = 4_000_000
"""Maximum number of JSON tokens (strings, brackets, commas, colons) to scan. A real document of 5 MB has a million."""

MAX_DEPTH: Final = 120
"""Maximum JSON nesting depth of a block to parse. One level of a list takes four levels of JSON."""

_SIGN = re.compile(r'"(?>(?:[^"\\]++|\\.)*)(?:"|\\?\Z)|[\[\]{},:]', re.DOTALL)
"""A JSON token: a string, even if unterminated, or a punctuation character."""

_ROOT, _CHILDREN, _BLOCKS = 1, 2, 3
"""Nesting depths of the member `root`, its member `children`, and the blocks."""


BROKEN: Final = object()
"""Sentinel for invalid JSON."""

MAX_LENGTH = 8_000_000
"""Maximum number of characters of a document. A response is twice as long, with the HTML that Ghost renders, and the
limit for responses is 16 MiB."""

_MOBILEDOC = "text in Ghost's old format"
_BROKEN = "text that is not a Lexical document"


@dataclass(frozen=True, slots=True)
class BlockSpan:
    """The position of a block in the JSON text, between two commas. `depth` is the nesting depth of its JSON."""

    start: int
    end: int
    depth: int


@dataclass(frozen=True, slots=True)
class LexicalFrame:
    """The position of a document's blocks: `start` and `end` of the list, and the span of each block."""

    start: int
    end: int
    spans: tuple[BlockSpan, ...]


def scan(raw: str) -> LexicalFrame | None:
    """Locate the blocks of a Lexical document; `None` if the text is not one."""
    frame = _scan(raw)
    if frame is None:
        return None
    document = parsed(raw[: frame.start] + raw[frame.end :])
    root = document.get("root") if isinstance(document, dict) else None
    return frame if isinstance(root, dict) and root.get("children") == [] else None


def parsed(source: str) -> Any:
    """Parse JSON; `BROKEN` if it is invalid or nested too deeply."""
    try:
        return json.loads(source)
    except (ValueError, RecursionError):
        return BROKEN


def _scan(raw: str) -> LexicalFrame | None:
    signs = _signs(raw)
    start = _start(signs)
    if start is None:
        return None
    spans: list[BlockSpan] = []
    begin, deepest = start, _BLOCKS
    for sign, at, depth in signs:
        deepest = max(deepest, depth)
        if depth == _BLOCKS and sign == ",":
            spans.append(BlockSpan(begin, at, deepest - _BLOCKS))
            begin, deepest = at + 1, _BLOCKS
            if len(spans) >= MAX_BLOCKS:
                return None
        elif depth == _CHILDREN:
            if spans or raw[begin:at].strip():
                spans.append(BlockSpan(begin, at, deepest - _BLOCKS))
            return LexicalFrame(start, at, tuple(spans))
    return None


def _start(signs: Iterator[tuple[str, int, int]]) -> int | None:
    """Return the start of the list of blocks, consuming the tokens before it; `None` if there is no such list."""
    keys: dict[int, str] = {}
    last = ""
    for sign, at, depth in signs:
        if depth > _CHILDREN:
            continue
        if sign[0] == '"':
            last = sign
        elif sign == ":":
            keys[depth] = last
        elif sign == "}":
            keys.pop(depth + 1, None)
        elif sign == "[" and depth == _CHILDREN and keys == {_ROOT: '"root"', _CHILDREN: '"children"'}:
            return at + 1
    return None


def _signs(raw: str) -> Iterator[tuple[str, int, int]]:
    """Yield JSON tokens, each with its position and nesting depth."""
    depth = 0
    for number, match in enumerate(_SIGN.finditer(raw)):
        if number == MAX_SIGNS:
            return
        sign = match[0]
        depth -= sign in "]}"
        yield sign, match.start(), depth
        depth += sign in "[{"


@dataclass(frozen=True, slots=True)
class LexicalCodec:
    """Splits and joins Lexical documents. Implements `BodyCodec`.

    A block is the JSON text of a child of the document's root. A text that is not a Lexical document, such as a
    mobiledoc, is a single block that cannot be edited.
    """

    def split(self, raw: str) -> Sequence[BodyBlock]:
        """Return the blocks of a document."""
        if not raw.strip():
            return []
        frame = scan(raw)
        if frame is None:
            return [BodyBlock(raw, _MOBILEDOC if is_mobiledoc(raw) else _BROKEN)]
        blocks = [_block(raw, span) for span in frame.spans]
        return [BodyBlock(raw, _BROKEN)] if None in blocks else [block for block in blocks if block is not None]

    def join(self, sources: Sequence[str], original: str = "") -> str:
        """Join blocks into a document, in the frame of the original if that is a Lexical document.

        If the original is a broken document, which is a block itself, the sources are concatenated unchanged.
        """
        if original in sources:
            return "".join(sources)
        if not sources and not self.split(original):
            return original
        # Ghost rejects a document without blocks; its editor writes an empty paragraph.
        sources = sources or [written(element("paragraph", []))]
        frame = scan(original)
        if frame is not None:
            return f"{original[: frame.start]}{','.join(sources)}{original[frame.end :]}"
        return f"{FRAME[0]}{','.join(sources)}{FRAME[1]}"

    def encode(self, html: str, markdown: str) -> Sequence[str]:
        """Convert HTML to blocks."""
        # Imported late since it loads the parser.
        from pressroom_ghost.lexical_encode import nodes_of  # noqa: PLC0415

        del markdown
        return [written(node) for node in nodes_of(html)]


def document_of(html: str) -> str:
    """Convert HTML to a document. If that exceeds `MAX_LENGTH`, the document has a single HTML card."""
    codec = LexicalCodec()
    document = codec.join(codec.encode(html, "") or [written(element("paragraph", []))])
    return document if len(document) <= MAX_LENGTH else codec.join([written(card("html", html=html))])


def is_document(raw: str) -> bool:
    """Return whether a text is a Lexical document and each of its blocks is a node."""
    frame = scan(raw)
    return frame is not None and all(_is_node(raw, span) for span in frame.spans)


def is_mobiledoc(raw: str) -> bool:
    """Return whether a text is a mobiledoc, Ghost's format before Lexical."""
    document = parsed(raw)
    return isinstance(document, dict) and "sections" in document and "version" in document


def _block(raw: str, span: BlockSpan) -> BodyBlock | None:
    """Return a block; `None` if it is not valid JSON."""
    from pressroom_ghost.lexical_html import display  # noqa: PLC0415 - the parser loads with the first call

    source = raw[span.start : span.end]
    if span.depth > MAX_DEPTH:
        return BodyBlock(source, "deeply nested block")
    node: Any = parsed(source)
    if node is BROKEN:
        return None
    name, html = display(node)
    return BodyBlock(source, name, html)


def _is_node(raw: str, span: BlockSpan) -> bool:
    if span.depth > MAX_DEPTH:
        return True
    node = parsed(raw[span.start : span.end])
    return isinstance(node, dict) and isinstance(node.get("type"), str)
