"""The structure of an article or a web page: the content that readers see, independent of its styling.

Pages can be crafted to keep a parser busy: parse them in a worker process.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

RunKind = Literal["paragraph", "heading", "item", "term", "definition", "cell", "summary", "caption"]

UNSEEN: Final = frozenset({"script", "style", "template", "head", "svg", "select", "button", "datalist", "dialog"})
"""Elements whose text readers do not see as part of the content."""

MAX_VALUE: Final = 2_000
"""The maximum number of characters of an attribute or a label that are read."""

_NOT_SHOWN: Final = re.compile("[\u00ad\u200b\u2060\ufeff]")
_TIMES: Final = re.compile("(?<=\\d)\\s*\N{MULTIPLICATION SIGN}\\s*(?=\\d)")
_HAN: Final = "[\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f]"
_BETWEEN_HAN: Final = re.compile(f"(?<={_HAN})\\s+(?={_HAN})")
_WORD: Final = re.compile(r"\w+")


def words_of(text: str) -> str:
    """Return the words of a text, separated by spaces, normalised for quotes, dashes, case and soft hyphens."""
    plain = _BETWEEN_HAN.sub("", unicodedata.normalize("NFKC", _NOT_SHOWN.sub("", text)))
    words = _WORD.findall(_TIMES.sub("x", plain).casefold())
    if not words:  # only symbols, such as an emoji
        words = [character for character in plain if unicodedata.category(character) in ("So", "Sm", "Sc")]
    return " ".join(words)


@dataclass(slots=True)
class Passage:
    """A piece of text between block boundaries, and its context.

    `at` is the number of its element, `lists` holds the tags of the enclosing lists, outermost first. `breaks` counts
    the line breaks inside, `box` is whether its task is ticked, and `in_menu` is whether it is part of the site's
    navigation.
    """

    at: int
    text: str
    words: str
    kind: RunKind
    level: int = 0
    lists: tuple[str, ...] = ()
    quotes: int = 0
    language: str = ""
    direction: str = ""
    breaks: int = 0
    box: bool | None = None
    in_menu: bool = False


@dataclass(frozen=True, slots=True)
class TextMark:
    """A formatted range of words, such as `em`. `run` is the number of the text."""

    at: int
    run: int
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownLink:
    """A link. `target` is a full URL, or begins with # if it leads to a place on the same page."""

    at: int
    run: int
    target: str
    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class ShownImage:
    """An image. `sources` holds all URLs that it may be loaded from."""

    at: int
    sources: tuple[str, ...]
    alt: str


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of a table."""

    words: str
    text: str
    header: bool
    align: str


@dataclass(slots=True)
class Table:
    """A table. `caption` may be empty. `merged` is whether any cell spans several rows or columns."""

    at: int
    caption: str = ""
    merged: bool = False
    rows: list[list[TableCell]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A code block, verbatim. `language` may be empty."""

    at: int
    text: str
    language: str


@dataclass(frozen=True, slots=True)
class NoteReference:
    """A reference to a footnote: its label, and the ID of its target."""

    at: int
    run: int
    label: str
    target: str


@dataclass(frozen=True, slots=True)
class NumberedList:
    """A numbered list: the index of its first passage, and its first number."""

    at: int
    run: int
    start: int


@dataclass(slots=True)
class Structure:
    """The contents of an article or a page, each kind in document order.

    Elements are numbered in the order in which they begin. `parents` holds the number of each element's parent, `ends`
    the number after its last descendant.
    """

    runs: list[Passage] = field(default_factory=list)
    marks: list[TextMark] = field(default_factory=list)
    links: list[ShownLink] = field(default_factory=list)
    images: list[ShownImage] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    code: list[CodeBlock] = field(default_factory=list)
    notes: list[NoteReference] = field(default_factory=list)
    numbered: list[NumberedList] = field(default_factory=list)
    details: list[tuple[int, str]] = field(default_factory=list)
    frames: list[tuple[int, str]] = field(default_factory=list)
    rules: list[int] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    data: str = ""
    parents: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)


def climb(structure: Structure, element: int) -> Iterator[int]:
    """Yield an element and its ancestors, innermost first."""
    while element >= 0:
        yield element
        element = structure.parents[element]


def main_part(page: Structure, passages: Sequence[str]) -> tuple[int, int]:
    """Return the range of element numbers, with an exclusive end, of the part of a page that contains an article.

    `passages` holds the words of its passages. The result is the innermost element with nearly all of them that are on
    the page, extended to ancestors that add no other text: images, code and rules may follow a text. If many passages
    are not found verbatim, changed ones may be next to it: then it is extended until it has as many passages as are
    wanted.
    """
    positions: dict[str, list[int]] = {words: [] for words in passages if words}
    for run in page.runs:
        if run.words in positions and not run.in_menu:
            positions[run.words].append(run.at)
    best, count = _innermost(page, positions.values())
    texts = sorted(run.at for run in page.runs if run.words)
    foreign = sorted(run.at for run in page.runs if run.words and run.words not in positions)
    max_count = 0 if count >= len(positions) * _NEARLY_ALL else sum(map(bool, passages))
    for element in climb(page, best):
        adds_no_text = _count_between(foreign, element, page) == _count_between(foreign, best, page)
        if not adds_no_text and _count_between(texts, best, page) >= max_count:
            break
        best = element
    return best, page.ends[best] if page.ends else 0


def _innermost(page: Structure, positions: Collection[Sequence[int]]) -> tuple[int, int]:
    """Return the innermost element that contains nearly all found texts, and how many it contains.

    Each text may occur in several `positions`.
    """
    counts: Counter[int] = Counter()
    counted_for: dict[int, int] = {}
    for number, occurrences in enumerate(positions):
        for at in occurrences:
            for element in climb(page, at):
                if counted_for.get(element) == number:
                    break
                counted_for[element] = number
                counts[element] += 1
    enough, best = max(counts.values(), default=0) * _NEARLY_ALL, 0
    for element in sorted(element for element, count in counts.items() if count >= enough):
        if element < page.ends[best]:
            best = element
    return best, counts[best]


def _count_between(numbers: Sequence[int], element: int, page: Structure) -> int:
    return bisect_left(numbers, page.ends[element]) - bisect_left(numbers, element)


_NEARLY_ALL: Final = 0.9
