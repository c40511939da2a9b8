"""Reading Markdown (CommonMark with tables and strikethrough)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

from pressroom_seo.scoring.document.html import document_from_html
from pressroom_seo.scoring.document.markup import MAX_BODY
from pressroom_seo.scoring.document.model import Document

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore

MAX_LINES: Final = 20_000
"""How many lines with text are read; each may be a list item or a table row, the costliest of all blocks."""

_MAX_CELLS: Final = 100_000
"""How many bars a text may have: each may begin a cell of a table."""

_MAX_MARKS: Final = 1_500
"""A paragraph with more brackets, stars and the like is read as plain text: pairing them takes quadratic time."""

_ALL_MARKS: Final = 60_000
"""And so are all paragraphs after so many marks."""

_MARKS: Final = "[]*_`<!&\\~"


def document_from_markdown(text: str) -> Document:
    """Return the document of a Markdown text. It takes any text, and reads at most `MAX_BODY` and `MAX_LINES` of it."""
    body, cut = _bounded(text)
    return replace(document_from_html(_parser().render(body)), markdown=True, cut=cut)


def _bounded(text: str) -> tuple[str, bool]:
    body = text[:MAX_BODY]
    cut = len(text) > MAX_BODY
    lines = body.splitlines()
    with_text = [at for at, line in enumerate(lines) if line.strip()]
    if len(with_text) > MAX_LINES:
        body, cut = "\n".join(lines[: with_text[MAX_LINES]]), True
    if body.count("|") > _MAX_CELLS:
        body = body.replace("|", " ")
    return body, cut


def _inline(state: StateCore) -> None:
    left = _ALL_MARKS
    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        marks = sum(map(token.content.count, _MARKS))
        left -= marks
        if marks > _MAX_MARKS or left < 0:
            plain = type(token)("text", "", 0, content=token.content)
            token.children.append(plain)
        else:
            state.md.inline.parse(token.content, state.md, state.env, token.children)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.core.ruler.at("inline", _inline)
    return parser
