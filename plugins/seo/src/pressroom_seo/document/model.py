"""What a page is to the checks: the document that its body is, the facts of the whole, and how alike texts are.

A simhash (Charikar 2002; Manku, Jain and Das Sarma 2007) is a fingerprint of 64 bits that differs in few of them
where the texts differ in little, so that a whole site can be compared without keeping its texts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b
from typing import Final, Literal

NOT_FOLLOWED: Final = frozenset({"nofollow", "ugc", "sponsored"})
"""The relations of links that search engines do not follow."""


class BlockKind(StrEnum):
    """What a block of text is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list item"
    QUOTE = "quote"
    CELL = "table cell"
    CAPTION = "caption"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of text between two breaks of the layout.

    `level` is 1 to 6 for headings and 0 else; `number` counts the blocks of its kind from 1; `section` is the text of
    the heading above it. `text` has single blanks, and a line feed where the author forced a new line.
    """

    kind: BlockKind
    text: str
    level: int = 0
    number: int = 1
    section: str = ""
    centred: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A link. `href` is None where the element has no such attribute; `text` is what people see or hear of it."""

    text: str
    href: str | None
    rel: frozenset[str] = frozenset()
    block: int = 0
    named: bool = False

    @property
    def followed(self) -> bool:
        """Whether search engines may follow it."""
        return self.rel.isdisjoint(NOT_FOLLOWED)


@dataclass(frozen=True, slots=True)
class Image:
    """An image. `alt` is None where there is no such attribute, and empty for decoration."""

    src: str
    alt: str | None
    width: int | None = None
    height: int | None = None
    loading: str = ""
    srcset: bool = False
    decorative: bool = False
    block: int = 0


@dataclass(frozen=True, slots=True)
class Video:
    """A video of the page itself or of a video site."""

    src: str


@dataclass(frozen=True, slots=True)
class Document:
    """A body, read.

    `anchors` are the places (as block numbers) of lists and tables; `cut` tells that the body was
    longer than what is read.
    """

    blocks: tuple[Block, ...] = ()
    links: tuple[Link, ...] = ()
    images: tuple[Image, ...] = ()
    videos: tuple[Video, ...] = ()
    anchors: tuple[int, ...] = ()
    markdown: bool = False
    cut: bool = False

    @property
    def headings(self) -> tuple[Block, ...]:
        """The headings, in order."""
        return tuple(block for block in self.blocks if block.kind is BlockKind.HEADING)

    @property
    def prose(self) -> str:
        """All text but code, a block a line."""
        return "\n".join(block.text for block in self.blocks if block.kind is not BlockKind.CODE)


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link to another page, normalised, as a crawl keeps it."""

    url: str
    text: str
    nofollow: bool = False
    unseen: bool = False
    """Whether people do not see it, or are not told of it: it doubles another one."""


@dataclass(frozen=True, slots=True)
class PageImage:
    """An image of the page as a crawl keeps it; `alt` is `None` where there is no such attribute."""

    url: str
    alt: str | None
    sized: bool
    """Whether width and height are given, so that the page does not jump when it arrives."""


@dataclass(frozen=True, slots=True)
class Alternate:
    """The same page in another language (`hreflang`)."""

    language: str
    url: str


@dataclass(frozen=True, slots=True)
class StructuredData:
    """One item of structured data."""

    format: Literal["json-ld", "microdata", "rdfa"]
    types: tuple[str, ...]
    problem: str = ""
    missing: tuple[str, ...] = ()
    """Properties that search engines require for this type and that are not there."""


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What an HTML page says."""

    encoding: str = "utf-8"
    encoding_http: str = ""
    encoding_meta: str = ""
    encoding_bom: bool = False
    damaged: int = 0
    doctype: bool = False
    language: str = ""
    titles: tuple[str, ...] = ()
    descriptions: tuple[str, ...] = ()
    viewport: str = ""
    robots: tuple[str, ...] = ()
    refresh: str | None = None
    """Where a `meta refresh` leads, normalised; `None` without one."""

    canonicals: tuple[str, ...] = ()
    """Normalised; one that is not a URL becomes an empty string."""

    canonical_relative: bool = False
    headings: tuple[tuple[int, str], ...] = ()
    words: int = 0
    text_hash: str = ""
    """Of the main text; equal where two pages say the same."""

    form_hash: str = ""
    """Of title and text without their numbers; equal where a program made two pages that differ in nothing else."""

    simhash: int = 0
    """A fingerprint of the main text; 0 where the text is too short for one."""

    links: tuple[PageLink, ...] = ()
    links_total: int = 0
    uncrawlable: tuple[str, ...] = ()
    """Links that lead nowhere without a script, as they are written."""

    unreadable: tuple[str, ...] = ()
    """Links that are not URLs, as written."""

    with_session: tuple[str, ...] = ()
    images: tuple[PageImage, ...] = ()
    images_total: int = 0
    alternates: tuple[Alternate, ...] = ()
    open_graph: dict[str, str] = field(default_factory=dict)
    twitter: dict[str, str] = field(default_factory=dict)
    structured: tuple[StructuredData, ...] = ()
    insecure: tuple[str, ...] = ()
    """Scripts, styles, frames and images that are loaded over plain http."""

    insecure_forms: tuple[str, ...] = ()
    elements: int = 0
    cut: bool = False
    """Whether the page is so large that only its beginning was read."""

    blocking: int = 0
    """Scripts and styles in the head that must arrive before anything is drawn."""

    icon: bool = False
    placeholder: bool = False
    meta_headers: tuple[str, ...] = ()
    """Headers that the page gives in its head instead, by their names in lower case."""


NEAR: Final = 6
"""In how many bits the fingerprints of near-duplicates differ at most; they share about nine shingles of ten."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|[^\W_]+")
_MIN_WORDS = 40
_MAX_WORDS = 5000
_MAX_COMPARED = 200
_LANE = 32
_SPREAD: Final = tuple(sum(1 << (bit * _LANE) for bit in range(8) if byte >> bit & 1) for byte in range(256))


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case; every character of Chinese, Japanese and Korean counts as one."""
    return _WORD.findall(text.casefold())


def simhash(words: Sequence[str]) -> int:
    """Return a fingerprint of 64 bits of the first 5000 words; 0 where there are fewer than 40."""
    if len(words) < _MIN_WORDS:
        return 0
    words = words[:_MAX_WORDS]
    # Eight counters lie side by side in each of these numbers, so that one addition counts eight bits.
    counters = [0] * 8
    total = len(words) - 2
    for at in range(total):
        digest = blake2b("\0".join(words[at : at + 3]).encode(), digest_size=8).digest()
        for place, byte in enumerate(digest):
            counters[place] += _SPREAD[byte]
    found = 0
    for place, counter in enumerate(counters):
        for bit in range(8):
            if (counter >> (bit * _LANE) & 0xFFFF_FFFF) * 2 > total:
                found |= 1 << (place * 8 + bit)
    return found or 1


def distance(one: int, other: int) -> int:
    """Return in how many bits two fingerprints differ."""
    return (one ^ other).bit_count()


def near_pairs(fingerprints: Mapping[str, int], most: int = NEAR) -> Iterator[tuple[str, str]]:
    """Yield the pairs of names whose fingerprints differ in at most `most` bits (0 to 7), except fingerprints of 0.

    Of the eight bytes one must be equal in such a pair, so that only names with an equal byte are compared, and of
    these the last 200.
    """
    alike: dict[tuple[int, int], list[str]] = defaultdict(list)
    for name, fingerprint in fingerprints.items():
        if not fingerprint:
            continue
        met: set[str] = set()
        for key in enumerate(fingerprint.to_bytes(8, "little")):
            for other in alike[key][-_MAX_COMPARED:]:
                if other not in met and distance(fingerprint, fingerprints[other]) <= most:
                    yield other, name
                met.add(other)
            alike[key].append(name)
