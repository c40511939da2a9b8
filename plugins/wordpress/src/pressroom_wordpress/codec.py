"""The bodies of WordPress posts: what takes them apart and puts them together."""

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
"""One paragraph in one line. WordPress would make line breaks of those in it, if it had no tags."""


@dataclass(frozen=True, slots=True)
class WordPressCodec:
    """Implements `pressroom_content.contract.BodyCodec` for bodies with blocks, and for classic ones."""

    def split(self, raw: str) -> Sequence[BodyBlock]:
        """Return the blocks of a body; their sources together are the body."""
        return split(raw)

    def join(self, sources: Sequence[str], original: str = "") -> str:
        """Return a body of these blocks.

        New blocks are put into a classic body without the comments of the block editor: with them WordPress would stop
        making paragraphs of all the text beside them.
        """
        whole = "".join(sources)
        if whole == original:
            return whole
        there = [one.source for one in split(original)] if original else []
        gaps = _Gaps.of(there, sources)
        if original and is_classic(original) and any(one.strip() and OPENING not in one for one in sources):
            bare = not any(one.startswith("<p>") for one in there)
            sources = [_classic(one, bare=bare) if OPENING in one else one for one in sources]
            gaps = _Gaps(gaps.neighbours)
        parts: list[str] = list(sources[:1])
        for left, right in pairwise(sources):
            parts += (gaps.between(left, right), right)
        return "".join(parts)

    def encode(self, html: str, markdown: str) -> Sequence[str]:
        """Return the sources of the blocks that show sanitised HTML; the markdown says the same."""
        del markdown
        return encode(html)


@dataclass(frozen=True, slots=True)
class _Gaps:
    """The white space between the blocks of a body.

    `neighbours` are blocks that follow one another in it, with what white space they have. `closed` are those whose
    next block was replaced by another, and `opened` the white space before those whose previous one was.
    """

    neighbours: Collection[tuple[str, str]]
    closed: Collection[str] = frozenset()
    opened: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, there: Sequence[str], sources: Sequence[str]) -> Self:
        """Return the white space of a body that has these sources now, for one that is to have others."""
        pairs, kept = list(pairwise(there)), set(sources)
        closed = {left for left, right in pairs if right not in kept}
        opened = {right: _ending(left) for left, right in pairs if left not in kept}
        return cls(set(pairs), closed, opened)

    def between(self, left: str, right: str) -> str:
        """Return what to put between two blocks: a blank line, where they are new neighbours without one."""
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
    """Return new blocks for a classic body. `bare` writes a paragraph as the classic editor does, without its tags."""
    html = without_delimiters(source).rstrip()
    match = _PARAGRAPH.fullmatch(html) if bare else None
    return (match[1] if match else html) + _ending(source)
