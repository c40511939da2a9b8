"""Bodies of WordPress posts taken apart: the comments of the block editor, and the text between them.

The grammar is the one of the block editor's handbook (developer.wordpress.org/block-editor, "Markup representation"):
`<!-- wp:name {"key":"value"} -->`, then HTML and further blocks, then `<!-- /wp:name -->`, or one comment that ends in
`/-->`. Everything is read once from left to right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, Final

from pressroom_content.contract import BodyBlock

from pressroom_wordpress.block_html import html_of_block
from pressroom_wordpress.classic import classic_blocks
from pressroom_wordpress.embeds import player_of
from pressroom_wordpress.markup import after_space

OPENING: Final = "<!-- wp:"
"""What a body has somewhere that WordPress takes for one of the block editor. Other bodies are classic."""

MAX_BLOCKS: Final = 20_000

_DELIMITER = re.compile(
    r"<!--\s++(/)?wp:([a-z][a-z0-9_-]*+/)?([a-z][a-z0-9_-]*+)\s++(?:(\{.*\})\s++)?(/)?-->", re.DOTALL
)
_BEGINNING = re.compile(r"<!--\s++/?wp:")


@dataclass(frozen=True, slots=True)
class Delimiter:
    """A comment that opens or closes a block, or is all of it. `attributes` are `None` where they are not JSON."""

    start: int
    end: int
    name: str
    attributes: Mapping[str, Any] | None
    closes: bool
    is_whole: bool


def is_classic(raw: str) -> bool:
    """Tell whether WordPress makes the paragraphs of a body itself, since the block editor did not write it."""
    return OPENING not in raw


def split(raw: str) -> Sequence[BodyBlock]:
    """Return the blocks of a body. Their sources together are the body.

    What follows after `MAX_BLOCKS` is one block, which is kept as it is.
    """
    blocks = classic_blocks(raw, paragraphs=True) if is_classic(raw) else _mixed_blocks(raw)
    found = list(islice(blocks, MAX_BLOCKS))
    if len(found) == MAX_BLOCKS and (rest := raw[sum(len(one.source) for one in found) :]):
        found.append(BodyBlock(rest, "rest of a very long text"))
    return found


def _mixed_blocks(raw: str) -> Iterator[BodyBlock]:
    at = 0
    for start, end, inside in _top_level(raw):
        yield from classic_blocks(raw[at:start], paragraphs=False)
        at = after_space(raw, end)
        yield _block(raw, start, end, raw[start:at], inside)
    yield from classic_blocks(raw[at:], paragraphs=False)


def without_delimiters(source: str) -> str:
    """Return the HTML of blocks without the comments of the block editor."""
    parts, at = [], 0
    for one in delimiters(source):
        parts.append(source[at : one.start])
        at = after_space(source, one.end)
    return "".join([*parts, source[at:]])


def shown_html(raw: str) -> str:
    """Return a body without the comments of the block editor, with the players of videos that it embeds."""
    parts, at = [], 0
    for one in delimiters(raw):
        parts.append(raw[at : one.start])
        at = after_space(raw, one.end)
        player = player_of(str((one.attributes or {}).get("url", ""))) if one.name == "core/embed" else None
        parts.append(player.html if player and not one.closes else "")
    parts.append(raw[at:])
    return "".join(parts).rstrip() if at else raw


def delimiters(raw: str) -> Iterator[Delimiter]:
    """Yield the comments of the block editor. One that does not end is not one."""
    at = 0
    while (start := raw.find("<!--", at)) >= 0:
        end = raw.find("-->", start + 4)
        if end < 0:
            return
        at = end + 3
        if not _BEGINNING.match(raw, start):
            continue
        match = _DELIMITER.fullmatch(raw, start, at)
        if match is None:
            yield Delimiter(start, at, "", None, closes=False, is_whole=True)
            continue
        closes, space, name, words, is_whole = match.groups()
        name = f"{space or 'core/'}{name}"
        yield Delimiter(start, at, name, _attributes(words), closes=bool(closes), is_whole=bool(is_whole))


def _attributes(words: str | None) -> Mapping[str, Any] | None:
    if words is None:
        return {}
    try:
        found = json.loads(words)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _top_level(raw: str) -> Iterator[tuple[int, int, Sequence[Delimiter]]]:
    """Yield where each block begins and ends that is in no other, and the comments in it, with its own.

    One that never ends reaches to the end of the body, as WordPress has it.
    """
    inside: list[Delimiter] = []
    depth = 0
    for one in delimiters(raw):
        if one.closes and not inside:
            yield one.start, one.end, [one]
            continue
        inside.append(one)
        if not one.is_whole:
            depth += -1 if one.closes else 1
        if depth == 0:
            yield inside[0].start, one.end, inside
            inside = []
    if inside:
        yield inside[0].start, len(raw), inside


def _block(raw: str, start: int, end: int, source: str, inside: Sequence[Delimiter]) -> BodyBlock:
    first = inside[0]
    name = readable_name(first)
    if not _is_whole(inside):
        return BodyBlock(source, f"{name} that is not well formed" if name else "something that is not well formed")
    gaps = [(one.end, other.start) for one, other in pairwise(inside)]
    inner = "".join(raw[gap:until] for gap, until in gaps)
    html = html_of_block(first.name, [one for one in inside if not one.closes], inner)
    return BodyBlock(source, name, html)


def _is_whole(inside: Sequence[Delimiter]) -> bool:
    """Tell whether each block in a block ends with a comment of its own name, and all attributes can be read."""
    stack: list[str] = []
    for one in inside:
        if one.attributes is None:
            return False
        if one.is_whole:
            continue
        if not one.closes:
            stack.append(one.name)
        elif not stack or stack.pop() != one.name:
            return False
    return not stack


def readable_name(block: Delimiter) -> str:
    """Return what people call a block: `media text` or `tiled gallery (jetpack)`."""
    space, _, name = block.name.partition("/")
    attributes = block.attributes or {}
    if block.name == "core/embed" and (provider := attributes.get("providerNameSlug")):
        return f"embed of {str(provider)[:40]}"
    words = name.replace("-", " ").replace("_", " ").strip()[:60]
    return words if space in ("core", "") else f"{words} ({space[:40]})"
