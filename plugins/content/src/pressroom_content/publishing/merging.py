"""Merging an article with what was edited in its post on the website: block by block, from what both began with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Final, Literal

from pressroom_content.publishing.bodies import BodySegment, SiteBody, joined_text, ranges_of, unchanged
from pressroom_content.rendering.pieces import BodyPiece, placeholder

Side = Literal["article", "site", "both"]
"""Whose text is taken; `both` has the website's, then the article's."""

_CONTEXT: Final = 1
_DEFINITION: Final = re.compile(
    r"^ {0,3}\[([^\[\]\n]{1,200})\]:[^\n]*+"
    r"(?:\n(?![ \t]*+$)(?! {0,3}\[[^\[\]\n]{1,200}\]:)[^\n]++|\n++(?= {4}\S)[^\n]++)*+",
    re.MULTILINE,
)
"""A footnote, or the target of links, in markdown: its lines, and indented paragraphs below them."""


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """Blocks that were changed on both sides. `number` counts from 1; the texts are markdown."""

    number: int
    before: str
    article: str
    site: str


@dataclass(frozen=True, slots=True)
class MergedBody:
    """An article's body with the edits of its website, as markdown; `conflicts` nobody decided."""

    text: str
    conflicts: tuple[MergeConflict, ...]


@dataclass(frozen=True, slots=True)
class _Edit:
    """What one side has in place of the segments from `begin` to `end`, of those with which both began."""

    begin: int
    end: int
    side: Literal["article", "site"]
    texts: tuple[str, ...]


def merge(known: SiteBody, site: SiteBody, pieces: Sequence[BodyPiece], choices: Mapping[int, Side]) -> MergedBody:
    """Return the article's body with what was edited on the website. It may take seconds: call it in a worker.

    Args:
        known: the body as it was last read or written from here.
        site: the body as it is on the website now.
        pieces: the article's body.
        choices: what is taken of conflicts, by their numbers.
    """
    stable, edits = _edits_of_article(known.segments, site.segments, pieces)
    edits += _edits_of_site(known.segments, site.segments)
    texts: list[str] = []
    conflicts: list[MergeConflict] = []
    at = 0
    for group in _groups(sorted(edits, key=lambda one: (one.begin, one.end))):
        begin, end = group[0].begin, max(one.end for one in group)
        texts += [text for number in range(at, begin) for text in stable[number]]
        at = end
        before = [one.text for one in known.segments[begin:end]]
        forms = {side: _applied(before, begin, group, side) for side in ("article", "site")}
        sides = {one.side for one in group}
        if len(sides) == 1 or forms["article"] == forms["site"]:
            texts += forms[min(sides)]
            continue
        number = len(conflicts) + 1
        conflicts.append(MergeConflict(number, *map(joined_text, (before, forms["article"], forms["site"]))))
        chosen = choices.get(number)
        texts += forms["site"] if chosen in ("site", "both") else ()
        texts += forms["article"] if chosen in ("article", "both") else ()
    texts += [text for number in range(at, len(known.segments)) for text in stable[number]]
    undecided = tuple(one for one in conflicts if one.number not in choices)
    text = _with_definitions(joined_text([text for text in texts if text]), pieces)
    return MergedBody(text, undecided)


def diff_of(known: SiteBody, site: SiteBody) -> str:
    """Return what was edited on the website, as a unified diff of markdown; empty where nothing readable was."""
    shown = ([_DEFINITION.sub("", one.text).rstrip() for one in body.segments] for body in (known, site))
    before, now = (joined_text([text for text in texts if text]) for texts in shown)
    lines = unified_diff(before.split("\n"), now.split("\n"), "before", "website", lineterm="", n=_CONTEXT)
    return "\n".join(lines)


def _with_definitions(text: str, pieces: Sequence[BodyPiece]) -> str:
    """Return a text with the notes and the targets of links that it names and lost.

    Articles have them below a paragraph, which the website's own words replace where it was edited there.
    """
    there = {match[1] for match in _DEFINITION.finditer(text)}
    found = {match[1]: match[0].rstrip() for piece in pieces for match in _DEFINITION.finditer(piece.text)}
    lost = [definition for label, definition in found.items() if label not in there and f"[{label}]" in text]
    return "\n\n".join([text.rstrip("\n"), *lost]) + "\n" if lost else text


def _edits_of_article(
    before: Sequence[BodySegment], site: Sequence[BodySegment], pieces: Sequence[BodyPiece]
) -> tuple[Mapping[int, Sequence[str]], list[_Edit]]:
    """Return the article's texts of the segments that it left as they were, by number, and its edits."""
    on_site = _on_site(before, site)
    keys = {one.key: site[on_site[at]].key for at, one in enumerate(before) if one.key and at in on_site}
    texts = [_text(piece, site, keys) for piece in pieces]
    places = {id(segment): (first, count) for first, (segment, count) in unchanged(before, pieces)}
    stable: dict[int, Sequence[str]] = {}
    edits: list[_Edit] = []
    begin = first = 0
    for at, segment in enumerate(before):
        place = places.get(id(segment))
        if place is None:
            continue
        edits += _edits(begin, at, texts[first : place[0]], "article")
        begin, first = at + 1, place[0] + place[1]
        stable[at] = texts[place[0] : first]
    return stable, [*edits, *_edits(begin, len(before), texts[first:], "article")]


def _edits_of_site(before: Sequence[BodySegment], site: Sequence[BodySegment]) -> list[_Edit]:
    edits: list[_Edit] = []
    begin = first = 0
    texts = [one.text for one in site]
    for at, there in _on_site(before, site).items():
        edits += _edits(begin, at, texts[first:there], "site")
        begin, first = at + 1, there + 1
    return [*edits, *_edits(begin, len(before), texts[first:], "site")]


def _edits(begin: int, end: int, texts: Sequence[str], side: Literal["article", "site"]) -> Iterator[_Edit]:
    """Yield the edits of a range: one for each segment where there are as many texts as segments."""
    if end - begin == len(texts):
        yield from (_Edit(begin + at, begin + at + 1, side, (text,)) for at, text in enumerate(texts))
    else:
        yield _Edit(begin, end, side, tuple(texts))


def _groups(edits: Sequence[_Edit]) -> Iterator[list[_Edit]]:
    """Yield the edits, those together that touch the same segments, or insert at the same place."""
    group: list[_Edit] = []
    end = 0
    for one in edits:
        same_place = bool(group) and one.begin == one.end == group[-1].begin == group[-1].end
        if group and one.begin >= end and not same_place:
            yield group
            group = []
        group.append(one)
        end = max(end, one.end)
    if group:
        yield group


def _applied(
    before: Sequence[str], begin: int, group: Sequence[_Edit], side: Literal["article", "site"]
) -> Sequence[str]:
    """Return the texts of some segments with the edits of one side. `begin` is the number of the first."""
    texts: list[str] = []
    at = begin
    for one in group:
        if one.side == side:
            texts += [*before[at - begin : one.begin - begin], *one.texts]
            at = one.end
    return [*texts, *before[at - begin :]]


def _on_site(before: Sequence[BodySegment], now: Sequence[BodySegment]) -> dict[int, int]:
    """Return at which number each segment is on the website now, of those that are as they were."""
    old, new = (["\0".join(one.sources) for one in segments] for segments in (before, now))
    found: dict[int, int] = {}
    for begin, end, first, last in ranges_of(old, new):
        if old[begin:end] == new[first:last]:
            found.update(zip(range(begin, end), range(first, last), strict=True))
    return found


def _text(piece: BodyPiece, site: Sequence[BodySegment], keys: Mapping[str, str]) -> str:
    """Return the text of a piece; one that stands for a block has the key that the block has now."""
    key = keys.get(piece.block, "") if piece.block else ""
    if not key or key == piece.block:
        return piece.text
    return placeholder(key, next(one.name for one in site if one.key == key))
