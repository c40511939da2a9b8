"""Models of pages for the checks: parsed bodies, page facts, and simhash fingerprints for finding similar texts.

A simhash (Charikar 2002; Manku, Jain and Das Sarma 2007) is a 64-bit fingerprint: those of similar texts differ in few
bits. It allows comparing all pages of a site without keeping their texts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b
from typing import Final, Literal

from pressroom_content.language import split_words

from pressroom_seo.document.markup import clean_text

NOT_FOLLOWED: Final = frozenset({"nofollow", "ugc", "sponsored"})
"""Link relations that tell search engines not to follow a link."""


class BlockKind(StrEnum):
    """The kind of a text block."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list item"
    QUOTE = "quote"
    CELL = "table cell"
    CAPTION = "caption"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """A block of text, such as a heading or paragraph.

    `level` is 1 to 6 for headings, otherwise 0; `number` counts the blocks of the same kind from 1; `section` is the
    text of the preceding heading. `text` has collapsed whitespace, with a line feed for each forced line break.
    """

    kind: BlockKind
    text: str
    level: int = 0
    number: int = 1
    section: str = ""
    centred: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A link. `href` is `None` without the attribute; `text` is the visible text or, failing that, the label."""

    text: str
    href: str | None
    rel: frozenset[str] = frozenset()
    block: int = 0
    named: bool = False

    @property
    def followed(self) -> bool:
        """Whether search engines may follow the link."""
        return self.rel.isdisjoint(NOT_FOLLOWED)


@dataclass(frozen=True, slots=True)
class Image:
    """An image. `alt` is `None` without the attribute, and empty for decorative images.

    `sized` is whether a browser can reserve its space before it loads.
    """

    src: str
    alt: str | None
    sized: bool = False
    loading: str = ""
    srcset: bool = False
    decorative: bool = False
    block: int = 0


@dataclass(frozen=True, slots=True)
class Video:
    """An embedded video, hosted by the page or by a video site."""

    src: str


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed body.

    `anchors` are the positions of lists and tables, as block indexes; `cut` is whether the body exceeded the limits.
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
        """All text except code, blocks separated by line feeds."""
        return "\n".join(block.text for block in self.blocks if block.kind is not BlockKind.CODE)


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link to a page as a crawl keeps it; `url` is normalised."""

    url: str
    text: str
    nofollow: bool = False
    unseen: bool = False
    """Whether the link is hidden, or hidden from assistive technology, usually as a duplicate of another."""


@dataclass(frozen=True, slots=True)
class PageImage:
    """An image as a crawl keeps it; `alt` is `None` without the attribute."""

    url: str
    alt: str | None
    sized: bool
    """Whether the image has dimensions, which avoids layout shifts."""


@dataclass(frozen=True, slots=True)
class Alternate:
    """An alternate language version of the page (`hreflang`)."""

    language: str
    url: str


@dataclass(frozen=True, slots=True)
class StructuredData:
    """One item of structured data."""

    format: Literal["json-ld", "microdata", "rdfa"]
    types: tuple[str, ...]
    problem: str = ""
    missing: tuple[str, ...] = ()
    """Missing properties that search engines require for this type."""


@dataclass(frozen=True, slots=True)
class PageFacts:
    """The facts of an HTML page."""

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
    """Normalised target of a `meta refresh`; `None` without one."""

    canonicals: tuple[str, ...] = ()
    """Normalised canonical URLs; an invalid one becomes an empty string."""

    canonical_relative: bool = False
    headings: tuple[tuple[int, str], ...] = ()
    words: int = 0
    text_hash: str = ""
    """Hash of the main text's words; equal for pages with the same text."""

    form_hash: str = ""
    """Hash of title and text with numbers masked; equal for generated pages that differ only in numbers."""

    simhash: int = 0
    """Fingerprint of the main text; 0 if the text is too short."""

    links: tuple[PageLink, ...] = ()
    links_total: int = 0
    uncrawlable: tuple[str, ...] = ()
    """Links that only work with JavaScript, as written."""

    unreadable: tuple[str, ...] = ()
    """Links that are not valid URLs, as written."""

    with_session: tuple[str, ...] = ()
    images: tuple[PageImage, ...] = ()
    images_total: int = 0
    alternates: tuple[Alternate, ...] = ()
    open_graph: dict[str, str] = field(default_factory=dict)
    twitter: dict[str, str] = field(default_factory=dict)
    structured: tuple[StructuredData, ...] = ()
    insecure: tuple[str, ...] = ()
    """Scripts, stylesheets, frames and media loaded over plain HTTP."""

    insecure_forms: tuple[str, ...] = ()
    elements: int = 0
    cut: bool = False
    """Whether the page exceeded the limits and only its beginning was parsed."""

    blocking: int = 0
    """Number of render-blocking scripts and stylesheets in the head."""

    icon: bool = False
    placeholder: bool = False
    meta_headers: tuple[str, ...] = ()
    """Headers that the page sets with meta elements, by lower-case name."""


NEAR: Final = 6
"""Maximum number of differing bits between near-duplicates, which share about nine of ten shingles."""

_MIN_WORDS = 40
_MAX_WORDS = 5000
_MAX_COMPARED = 200
_LANE = 32
_SPREAD: Final = tuple(sum(1 << (bit * _LANE) for bit in range(8) if byte >> bit & 1) for byte in range(256))


def words_of(text: str) -> list[str]:
    """Return the case-folded words of a text, divided as those of an article are."""
    return split_words(clean_text(text).casefold())


def simhash(words: Sequence[str]) -> int:
    """Return a 64-bit fingerprint of the first 5000 words; 0 for fewer than 40 words."""
    if len(words) < _MIN_WORDS:
        return 0
    words = words[:_MAX_WORDS]
    # Each integer packs eight 32-bit counters, so one addition counts eight bits.
    counters = [0] * 8
    total = len(words) - 2
    for start in range(total):
        digest = blake2b("\0".join(words[start : start + 3]).encode(), digest_size=8).digest()
        for index, byte in enumerate(digest):
            counters[index] += _SPREAD[byte]
    fingerprint = 0
    for index, counter in enumerate(counters):
        for bit in range(8):
            if (counter >> (bit * _LANE) & 0xFFFF_FFFF) * 2 > total:
                fingerprint |= 1 << (index * 8 + bit)
    return fingerprint or 1


def distance(one: int, other: int) -> int:
    """Return the number of bits in which two fingerprints differ."""
    return (one ^ other).bit_count()


def near_pairs(fingerprints: Mapping[str, int], max_distance: int = NEAR) -> Iterator[tuple[str, str]]:
    """Yield the pairs of names whose fingerprints differ in at most `max_distance` bits (0 to 7), ignoring those of 0.

    Such a pair shares at least one of eight bytes, so only names with an equal byte are compared: for each byte, the
    last 200 of them.
    """
    alike: dict[tuple[int, int], list[str]] = defaultdict(list)
    for name, fingerprint in fingerprints.items():
        if not fingerprint:
            continue
        compared: set[str] = set()
        for key in enumerate(fingerprint.to_bytes(8, "little")):
            for other in alike[key][-_MAX_COMPARED:]:
                if other not in compared and distance(fingerprint, fingerprints[other]) <= max_distance:
                    yield other, name
                compared.add(other)
            alike[key].append(name)
