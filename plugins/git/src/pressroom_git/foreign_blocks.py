"""Detection of generator-specific syntax in Markdown: shortcodes, Liquid, components, raw HTML, attributes.

Blocks that contain any are kept unchanged. A pair of tags, such as those of a shortcode, merges everything between them
into one block.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pressroom_git.front_matter import Generator
from pressroom_git.markdown_blocks import MarkdownPiece, segments

_SHORTCODE = re.compile(
    r"\{\{[<%](?!/\*)\s*+(?P<end>/?)\s*+(?P<name>[\w./:-]*+)(?>.*?(?=\{\{|[>%]\}\}))[>%]\}\}", re.DOTALL
)
_OPEN_SHORTCODE = re.compile(r"\{\{[<%](?!/\*)")
_ESCAPED_SHORTCODE = re.compile(r"\{\{[<%]/\*(?:(?!\{\{).)*?\*/[>%]\}\}", re.DOTALL)
_LIQUID = re.compile(r"\{%-?\s*+(?P<name>\w*+)(?>.*?(?=\{%|%\}))%\}|\{\{(?>.*?(?=\{\{|\}\}))\}\}", re.DOTALL)
_OPEN_LIQUID = re.compile(r"\{[{%]")
_COMPONENT = re.compile(r"<(?P<end>/?)(?P<name>[A-Z][\w.]*+|(?=>))(?>(?:[^<>=]++|=>?)*)>")
_OPEN_COMPONENT = re.compile(r"(?<!\\)(?>(?:\\\\)*)(?P<tag></?[A-Z>])")
_MODULE = re.compile(r"\s*(?:import|export)\b(?=[\s{*])")
_BRACE = re.compile(r"(?<!\\)(?>(?:\\\\)*)\{")
_TAG = re.compile(r"<!--(?:(?!<!--).)*?-->|<(?P<end>/?)(?P<name>[A-Za-z][\w-]*+)[^<>]*+>", re.DOTALL)
_AUTOLINK = re.compile(r"<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*+|[\w.!#$%&'*+/=?^`{|}~-]++@[\w.-]++)>")
_RAW = re.compile(r"<(?:/?[A-Za-z][^<>]*+|!--(?:(?!<!--).)*?--|[!?][^<>]*+)>", re.DOTALL)
_HEADING_ATTRIBUTES = r"^#{1,6} .*(?<!\\)\{[^{}\n]*\}[ \t]*$"
_LIST_OF_ATTRIBUTES = re.compile(rf"^[ \t]*\{{[#.\w][^{{}}\n]*\}}[ \t]*$|{_HEADING_ATTRIBUTES}", re.MULTILINE)
_KRAMDOWN_ATTRIBUTES = re.compile(rf"(?<!\\)\{{:|{_HEADING_ATTRIBUTES}", re.MULTILINE)
_VOID: Final = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
_MORE = re.compile(r"\s*<!--\s*more\s*-->\s*")


@dataclass(frozen=True, slots=True)
class GeneratorTag:
    """A tag of a generator: its position, display name, and side in a pair.

    `side` is 1 for an opening tag, -1 for a closing one and 0 for a standalone one; `key` identifies the pair.
    """

    start: int
    end: int
    name: str
    key: str = ""
    side: int = 0


@dataclass(frozen=True, slots=True)
class BlockGroup:
    """One or more pieces that form a block. `name` is set if it has generator-specific syntax."""

    pieces: tuple[MarkdownPiece, ...]
    name: str = ""

    @property
    def start(self) -> int:
        """Start of the first piece."""
        return self.pieces[0].start

    @property
    def end(self) -> int:
        """End of the last piece."""
        return self.pieces[-1].end


def groups(text: str, pieces: Sequence[MarkdownPiece], generator: Generator | None) -> Sequence[BlockGroup]:
    """Group pieces into blocks. Without a generator, only pairs of HTML tags are considered."""
    if not pieces:
        return ()
    marks = [*_html_marks(text, pieces, generator)]
    match generator:
        case "hugo":
            marks += _shortcodes(text)
        case "jekyll":
            marks += _liquid(text)
        case "astro":
            marks += _components(text, pieces)
    if generator is not None:
        marks += _attributes(text, pieces, generator)
    marks.sort(key=lambda mark: (mark.start, mark.end))
    return _grouped(pieces, marks)


def has_html(text: str, piece: MarkdownPiece) -> bool:
    """Return whether a piece contains raw HTML. URLs in angle brackets are links, not HTML."""
    return piece.html or any(_RAW.search(_AUTOLINK.sub("", part)) for part, code in segments(text, piece) if not code)


def is_more(text: str) -> bool:
    """Return whether a block is the `more` comment that ends the excerpt."""
    return _MORE.fullmatch(text) is not None


def _grouped(pieces: Sequence[MarkdownPiece], marks: Sequence[GeneratorTag]) -> Sequence[BlockGroup]:
    starts = [piece.start for piece in pieces]
    last = list(range(len(pieces)))  # for each piece, the last piece of its block
    names: dict[int, str] = {}
    waiting: dict[str, list[int]] = {}
    for mark in marks:
        first = max(0, bisect_right(starts, mark.start) - 1)
        names.setdefault(first, mark.name)
        last[first] = max(last[first], bisect_right(starts, mark.end - 1) - 1)
        if mark.side > 0:
            waiting.setdefault(mark.key, []).append(first)
        elif mark.side < 0 and waiting.get(mark.key):
            opener = waiting[mark.key].pop()
            last[opener] = max(last[opener], last[first])
    block_groups: list[BlockGroup] = []
    at = 0
    while at < len(pieces):
        end, number = at, at
        while number <= end:
            end = max(end, last[number])
            number += 1
        name = next((names[index] for index in range(at, end + 1) if index in names), "")
        block_groups.append(BlockGroup(tuple(pieces[at : end + 1]), name))
        at = end + 1
    return block_groups


def _shortcodes(text: str) -> Iterator[GeneratorTag]:
    tags = {match.start(): match for match in _SHORTCODE.finditer(text)}
    hidden = [match.span() for match in _ESCAPED_SHORTCODE.finditer(text)]
    ends = [end for _, end in hidden]
    for opening in _OPEN_SHORTCODE.finditer(text):
        at = bisect_right(ends, opening.start())
        if at < len(hidden) and hidden[at][0] <= opening.start():
            continue
        match = tags.get(opening.start())
        if match is None:
            yield GeneratorTag(opening.start(), opening.end(), "shortcode")
            continue
        name = match["name"]
        side = -1 if match["end"] else 0 if match[0][:-3].endswith("/") else 1
        yield GeneratorTag(match.start(), match.end(), f"shortcode {name}".strip(), name, side)


def _liquid(text: str) -> Iterator[GeneratorTag]:
    raw, end = False, 0
    for opening in _OPEN_LIQUID.finditer(text):
        if opening.start() < end:
            continue
        match = _LIQUID.match(text, opening.start())
        name = (match["name"] or "") if match else ""
        if raw and name != "endraw":
            continue
        if match is None:
            yield GeneratorTag(opening.start(), opening.end(), "Liquid")
            continue
        end = match.end()
        side, raw = (-1 if name.startswith("end") else 1) if name else 0, name == "raw"
        yield GeneratorTag(match.start(), end, f"Liquid {name}".strip(), name.removeprefix("end"), side)


def _components(text: str, pieces: Sequence[MarkdownPiece]) -> Iterator[GeneratorTag]:
    for piece in pieces:
        position = piece.start
        for part, code in segments(text, piece):
            if not code:
                yield from _components_in(part, position, first=position == piece.start and piece.kind == "paragraph")
            position += len(part)


def _components_in(part: str, position: int, *, first: bool) -> Iterator[GeneratorTag]:
    if first and (module := _MODULE.match(part)):
        yield GeneratorTag(position, position + module.end(), module[0].strip())
    if brace := _BRACE.search(part):
        yield GeneratorTag(position + brace.start(), position + brace.end(), "expression")
    for opening in _OPEN_COMPONENT.finditer(part):
        match = _COMPONENT.match(part, opening.start("tag"))
        if match is None:
            yield GeneratorTag(position + opening.start("tag"), position + opening.end(), "component")
            continue
        name = match["name"]
        side = -1 if match["end"] else 0 if match[0].endswith("/>") else 1
        yield GeneratorTag(position + match.start(), position + match.end(), f"component {name}".strip(), name, side)


def _html_marks(text: str, pieces: Sequence[MarkdownPiece], generator: Generator | None) -> Iterator[GeneratorTag]:
    for piece in pieces:
        if piece.kind == "HTML":
            matches = list(_TAG.finditer(text, piece.start, piece.end))
            first = next((match["name"] for match in matches if match["name"]), "comment")
            name = "more" if is_more(text[piece.start : piece.end]) else f"HTML {first}"
            yield GeneratorTag(piece.start, piece.start + 1, name)
            for match in matches:
                tag = (match["name"] or "").lower()
                if tag and tag not in _VOID and not match[0].endswith("/>"):
                    yield GeneratorTag(match.start(), match.end(), name, f"<{tag}>", -1 if match["end"] else 1)
        elif generator == "hugo" and has_html(text, piece):  # Hugo hides it unless the site allows raw HTML
            yield GeneratorTag(piece.start, piece.start + 1, f"{piece.kind} with HTML")


def _attributes(text: str, pieces: Sequence[MarkdownPiece], generator: Generator) -> Iterator[GeneratorTag]:
    pattern = _KRAMDOWN_ATTRIBUTES if generator == "jekyll" else _LIST_OF_ATTRIBUTES
    for piece in pieces:
        if piece.kind == "definitions":
            yield GeneratorTag(piece.start, piece.start + 1, "link definitions")
        elif generator != "astro" and any(pattern.search(part) for part, code in segments(text, piece) if not code):
            yield GeneratorTag(piece.start, piece.start + 1, f"{piece.kind} with attributes")
