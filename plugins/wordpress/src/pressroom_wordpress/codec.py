"""The codec for bodies of WordPress posts, with blocks and classic."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Self

from pressroom_content.contract import BodyBlock

from pressroom_wordpress.blocks import OPENING, is_classic, split, without_delimiters
from pressroom_wordpress.gutenberg import encode

_PARAGRAPH: Final = re.compile(r"<p>([^\s](?:(?!</?p\b|<!--)[^\n])*)</p>")
"""A paragraph on a single line. Without tags, WordPress would turn inner line breaks into visible ones."""


@dataclass(frozen=True, slots=True)
class WordPressCodec:
    """Implements `pressroom_content.contract.BodyCodec` for bodies with blocks and for classic ones."""

    def split(self, raw: str) -> Sequence[BodyBlock]:
        """Return the blocks of a body. Concatenated, their sources are the body."""
        return split(raw)

    def join(self, sources: Sequence[str], original: str = "") -> str:
        """Join blocks to a body.

        New blocks are inserted into a classic body without the comments of the block editor: those would stop WordPress
        from adding paragraphs to the rest of the text.
        """
        body = "".join(sources)
        if body == original:
            return body
        existing = [block.source for block in split(original)] if original else []
        gaps = _Gaps.of(existing, sources)
        if original and is_classic(original) and any(source.strip() and OPENING not in source for source in sources):
            bare = not any(source.startswith("<p>") for source in existing)
            sources = [_classic(source, bare=bare) if OPENING in source else source for source in sources]
            gaps = _Gaps(gaps.neighbours)
        parts: list[str] = list(sources[:1])
        for left, right in pairwise(sources):
            parts += (gaps.between(left, right), right)
        return "".join(parts)

    def encode(self, html: str, markdown: str) -> Sequence[str]:
        """Return the sources of the blocks that show sanitised HTML. The equivalent Markdown is not used."""
        del markdown
        return encode(html)


@dataclass(frozen=True, slots=True)
class _Gaps:
    """The white space between the blocks of a body.

    `neighbours` are adjacent blocks, which keep the white space they have. `closed` are blocks whose next block was
    replaced, and `opened` maps blocks whose previous block was replaced to the white space before them.
    """

    neighbours: Collection[tuple[str, str]]
    closed: Collection[str] = frozenset()
    opened: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, existing: Sequence[str], sources: Sequence[str]) -> Self:
        """Return the white space of a body that has the sources `existing` and is to have `sources`."""
        pairs, remaining = list(pairwise(existing)), set(sources)
        closed = {left for left, right in pairs if right not in remaining}
        opened = {right: _ending(left) for left, right in pairs if left not in remaining}
        return cls(set(pairs), closed, opened)

    def between(self, left: str, right: str) -> str:
        """Return the separator of two blocks: a blank line if they are new neighbours without one."""
        if not left or not right or (left, right) in self.neighbours or left in self.closed:
            return ""
        if right in self.opened and not _ending(left):
            return self.opened[right]
        if _ending(left).count("\n") > 1:
            return ""
        return "\n" if left.endswith("\n") else "\n\n"


def _ending(source: str) -> str:
    """Return the white space at the end of a source."""
    return source[len(source.rstrip()) :]


def _classic(source: str, *, bare: bool) -> str:
    """Convert new blocks for a classic body. `bare` writes a paragraph without its tags, as the classic editor does."""
    html = without_delimiters(source).rstrip()
    match = _PARAGRAPH.fullmatch(html) if bare else None
    return (match[1] if match else html) + _ending(source)
