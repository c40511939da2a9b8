"""The plain text of HTML: what a reader sees, a line for each block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from pressroom_content.rendering.markdown import check_html

_UNREAD: Final = frozenset({"script", "style", "template", "noscript", "iframe", "head", "svg", "math"})
_INLINE: Final = frozenset(
    {
        "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "i", "img", "ins", "kbd", "mark",
        "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "u", "var", "wbr",
    }
)  # fmt: skip
_SPACES = re.compile(r"[ \t\r\f\n]+")


def text_of(html: str) -> str:
    """Return the text of HTML: blocks are apart by an empty line, line breaks are kept, other white space is not.

    Raises:
        InvalidInput: it has too many tags, or too many are open at once.
    """
    check_html(html)
    body = LexborHTMLParser(html).body
    return "" if body is None else text_of_node(body)


def text_of_node(node: LexborNode) -> str:
    """Return the text of an element; see `text_of`."""
    parts: list[str] = []
    stack: list[tuple[LexborNode | str, bool]] = [(node, False)]
    while stack:
        item, preformatted = stack.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        tag = item.tag or ""
        if tag == "-text":
            text = item.text_content or ""
            after_break = not preformatted and parts and parts[-1].endswith("\n")
            collapsed = text if preformatted else _SPACES.sub(" ", text)
            parts.append(collapsed.lstrip(" ") if after_break else collapsed)
        elif tag == "br":
            parts.append("\n")
        elif tag not in _UNREAD and not tag.startswith("-"):
            block = tag not in _INLINE
            if block:
                parts.append("\n\n")
                stack.append(("\n\n", False))
            kept = preformatted or tag == "pre"
            stack += [(child, kept) for child in reversed(list(item.iter(include_text=True)))]
    return "\n".join(_lines("".join(parts)))


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a text, with one empty line where there are several, and no indent behind it."""
    empty = False
    for line in text.strip().split("\n"):
        kept = line.rstrip()
        if kept:
            yield kept.lstrip() if empty else kept
        elif not empty:
            yield ""
        empty = not kept
