"""The parts of a document."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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
    the heading that it stands under. `text` has single blanks, and a line feed where the author forced a new line.
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
        return self.rel.isdisjoint({"nofollow", "ugc", "sponsored"})


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
