"""The content of an article or a web page as a structure: what readers see, without how it looks.

Pages may be made to keep a parser busy: read them in a worker process.
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
"""Elements whose text is not part of what readers see."""

MAX_VALUE: Final = 2_000
"""How many characters of an attribute or a label are read."""

_NOT_SHOWN: Final = re.compile("[\u00ad\u200b\u2060\ufeff]")
_TIMES: Final = re.compile("(?<=\\d)\\s*\N{MULTIPLICATION SIGN}\\s*(?=\\d)")
_HAN: Final = "[\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f]"
_BETWEEN_HAN: Final = re.compile(f"(?<={_HAN})\\s+(?={_HAN})")
_WORD: Final = re.compile(r"\w+")


def words_of(text: str) -> str:
    """Return the words of a text, apart by spaces, without what platforms do to it: quotes, dashes, case, hyphens."""
    plain = _BETWEEN_HAN.sub("", unicodedata.normalize("NFKC", _NOT_SHOWN.sub("", text)))
    found = _WORD.findall(_TIMES.sub("x", plain).casefold())
    if not found:  # signs alone, such as an emoji
        found = [one for one in plain if unicodedata.category(one) in ("So", "Sm", "Sc")]
    return " ".join(found)


@dataclass(slots=True)
class Passage:
    """A piece of text between two ends of blocks, and what holds of it.

    `at` is the number of its element, `lists` are the tags of the lists that it is in, the outermost first. `breaks`
    counts line breaks inside of it, `box` whether the box of a task is ticked, and `in_menu` whether it is one of the
    ways through the site.
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
    """Words that are set apart inside of a text, such as `em`. `run` is the number of the text."""

    at: int
    run: int
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownLink:
    """A link; `target` is a full URL, or begins with # where it leads to a place of the page itself."""

    at: int
    run: int
    target: str
    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class ShownImage:
    """An image; `sources` are all URLs that it may be loaded from."""

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
    """A table; `caption` may be empty. `merged` tells that cells of it are wider or higher than one."""

    at: int
    caption: str = ""
    merged: bool = False
    rows: list[list[TableCell]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A block of code, as it is written; `language` may be empty."""

    at: int
    text: str
    language: str


@dataclass(frozen=True, slots=True)
class NoteReference:
    """What refers to a footnote: its label, and the id that it leads to."""

    at: int
    run: int
    label: str
    target: str


@dataclass(frozen=True, slots=True)
class NumberedList:
    """A numbered list: the words that it begins with, and its first number."""

    at: int
    run: int
    start: int


@dataclass(slots=True)
class Structure:
    """What is in an article or on a page, each kind of thing in its order.

    Elements have numbers in the order in which they begin: `parents` has that of the element around each, `ends` the
    number after the last one inside of it.
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
    """Yield an element and those around it, the innermost first."""
    while element >= 0:
        yield element
        element = structure.parents[element]


def main_part(page: Structure, wanted: Sequence[str]) -> tuple[int, int]:
    """Return the numbers of the first element, and the one after the last, of the part of a page that has an article.

    `wanted` are the words of its pieces of text. It is the innermost element that has nearly all that the page has of
    them, and what is around it as long as that has no text of its own: images, code and rules may follow a text. Where
    many are not found as they are, they may be beside it, changed: then it has room for as many texts as are wanted.
    """
    places: dict[str, list[int]] = {words: [] for words in wanted if words}
    for run in page.runs:
        if run.words in places and not run.in_menu:
            places[run.words].append(run.at)
    best, count = _innermost(page, places.values())
    texts = sorted(run.at for run in page.runs if run.words)
    foreign = sorted(run.at for run in page.runs if run.words and run.words not in places)
    room = 0 if count >= len(places) * _NEARLY_ALL else sum(map(bool, wanted))
    for element in climb(page, best):
        own = _count_between(foreign, element, page) == _count_between(foreign, best, page)
        if not own and _count_between(texts, best, page) >= room:
            break
        best = element
    return best, page.ends[best] if page.ends else 0


def _innermost(page: Structure, places: Collection[Sequence[int]]) -> tuple[int, int]:
    """Return the innermost element that has nearly all texts of a page, and how many it has.

    Each of them may be in several `places`.
    """
    seen: Counter[int] = Counter()
    counted: dict[int, int] = {}
    for number, found in enumerate(places):
        for at in found:
            for element in climb(page, at):
                if counted.get(element) == number:
                    break
                counted[element] = number
                seen[element] += 1
    enough, best = max(seen.values(), default=0) * _NEARLY_ALL, 0
    for element in sorted(element for element, count in seen.items() if count >= enough):
        if element < page.ends[best]:
            best = element
    return best, seen[best]


def _count_between(numbers: Sequence[int], element: int, page: Structure) -> int:
    return bisect_left(numbers, page.ends[element]) - bisect_left(numbers, element)


_NEARLY_ALL: Final = 0.9
