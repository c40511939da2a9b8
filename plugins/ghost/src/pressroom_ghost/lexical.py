"""Bodies of Ghost: Lexical documents, taken apart into blocks and put together.

Where the blocks are in the JSON text is found in one pass, whatever the text is.
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
"""Strings, brackets, commas and colons of a document. One of 5 MB that somebody wrote has a million."""

MAX_DEPTH: Final = 120
"""How deep a block may be nested to be read. A level of a list is four levels of JSON."""

_SIGN = re.compile(r'"(?>(?:[^"\\]++|\\.)*)(?:"|\\?\Z)|[\[\]{},:]', re.DOTALL)
"""A string, also one without an end, or a sign."""

_ROOT, _CHILDREN, _BLOCKS = 1, 2, 3
"""The depths of the member `root`, of its member `children`, and of the blocks."""


BROKEN: Final = object()
"""The value of a text that is not JSON."""

MAX_LENGTH = 8_000_000
"""Characters of a document. With what Ghost makes of it, an answer has twice as many, and 16 MiB are read."""

_MOBILEDOC = "text in Ghost's old format"
_BROKEN = "text that is not a Lexical document"


@dataclass(frozen=True, slots=True)
class BlockSpan:
    """A block between two commas of the list that it is in. `depth` is how deep its JSON is nested."""

    start: int
    end: int
    depth: int


@dataclass(frozen=True, slots=True)
class LexicalFrame:
    """A document without its blocks, which are between `start` and `end`."""

    start: int
    end: int
    spans: tuple[BlockSpan, ...]


def scan(raw: str) -> LexicalFrame | None:
    """Return where the blocks of a document are, `None` where it is not one."""
    found = _scan(raw)
    if found is None:
        return None
    document = parsed(raw[: found.start] + raw[found.end :])
    root = document.get("root") if isinstance(document, dict) else None
    return found if isinstance(root, dict) and root.get("children") == [] else None


def parsed(source: str) -> Any:
    """Return the value of a JSON text, `BROKEN` for what is broken or too deep."""
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
    """Return where the list of blocks begins, and leave the signs in it."""
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
    """Yield strings and signs, where they are, and in how many lists and objects."""
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
    """Takes Lexical documents apart and puts them together. It implements `BodyCodec`.

    A block is a child of the document's root, as it is in the JSON text between two commas. A text that is not a
    Lexical document, such as a mobiledoc, is one block that cannot be edited.
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
        """Return a document of these blocks, in the frame of the original where that is a Lexical document.

        What a broken original is one block of is put together without anything in between: no document, as before.
        """
        if original in sources:
            return "".join(sources)
        if not sources and not self.split(original):
            return original
        # Ghost refuses a document without any block; its editor writes an empty paragraph.
        sources = sources or [written(element("paragraph", []))]
        frame = scan(original)
        if frame is not None:
            return f"{original[: frame.start]}{','.join(sources)}{original[frame.end :]}"
        return f"{FRAME[0]}{','.join(sources)}{FRAME[1]}"

    def encode(self, html: str, markdown: str) -> Sequence[str]:
        """Return the blocks of a piece of HTML."""
        # The parser loads with the first call.
        from pressroom_ghost.lexical_encode import nodes_of  # noqa: PLC0415

        del markdown
        return [written(node) for node in nodes_of(html)]


def document_of(html: str) -> str:
    """Return a document of some HTML. Where it would be much larger than the HTML, that is one block."""
    codec = LexicalCodec()
    made = codec.join(codec.encode(html, "") or [written(element("paragraph", []))])
    return made if len(made) <= MAX_LENGTH else codec.join([written(card("html", html=html))])


def is_document(raw: str) -> bool:
    """Tell whether a text is a Lexical document of which every block is one."""
    frame = scan(raw)
    return frame is not None and all(_is_node(raw, span) for span in frame.spans)


def is_mobiledoc(raw: str) -> bool:
    """Tell whether a text is in the format that Ghost had before Lexical."""
    document = parsed(raw)
    return isinstance(document, dict) and "sections" in document and "version" in document


def _block(raw: str, span: BlockSpan) -> BodyBlock | None:
    """Return a block, `None` for one that is not JSON."""
    from pressroom_ghost.lexical_html import shown  # noqa: PLC0415 - the parser loads with the first call

    source = raw[span.start : span.end]
    if span.depth > MAX_DEPTH:
        return BodyBlock(source, "deeply nested block")
    node: Any = parsed(source)
    if node is BROKEN:
        return None
    name, html = shown(node)
    return BodyBlock(source, name, html)


def _is_node(raw: str, span: BlockSpan) -> bool:
    if span.depth > MAX_DEPTH:
        return True
    node = parsed(raw[span.start : span.end])
    return isinstance(node, dict) and isinstance(node.get("type"), str)
