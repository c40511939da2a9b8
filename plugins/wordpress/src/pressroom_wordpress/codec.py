"""The bodies of WordPress posts: what takes them apart and puts them together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

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
        neighbours: set[tuple[str, str]] = set()
        if original:
            there = [one.source for one in split(original)]
            neighbours = set(pairwise(there))
            if is_classic(original) and any(one.strip() and OPENING not in one for one in sources):
                bare = not any(one.startswith("<p>") for one in there)
                sources = [_classic(one, bare=bare) if OPENING in one else one for one in sources]
        parts: list[str] = list(sources[:1])
        for left, right in pairwise(sources):
            if (left, right) not in neighbours and left and right and not _ends_in_blank_line(left):
                parts.append("\n" if left.endswith("\n") else "\n\n")
            parts.append(right)
        return "".join(parts)

    def encode(self, html: str, markdown: str) -> Sequence[str]:
        """Return the sources of the blocks that show sanitised HTML; the markdown says the same."""
        del markdown
        return encode(html)


def _ends_in_blank_line(source: str) -> bool:
    return source[len(source.rstrip()) :].count("\n") > 1


def _classic(source: str, *, bare: bool) -> str:
    """Return new blocks for a classic body. `bare` writes a paragraph as the classic editor does, without its tags."""
    html = without_delimiters(source).rstrip()
    match = _PARAGRAPH.fullmatch(html) if bare else None
    return (match[1] if match else html) + source[len(source.rstrip()) :]
