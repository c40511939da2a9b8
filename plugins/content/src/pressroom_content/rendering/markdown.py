"""Markdown to HTML: CommonMark with tables, strikethrough, task lists and footnotes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin
from pressroom.sdk import InvalidInput

from pressroom_content.rendering.bounds import check_markdown

_NESTING: Final = 60
"""How deep blocks may be nested; each level of a list counts twice."""

_ALIGNED = re.compile(r"text-align:(left|right|center)")
_TASK = re.compile(r"\[([ xX])\](?=\s)")
_TO_DO, _DONE = "\N{BALLOT BOX}", "\N{BALLOT BOX WITH CHECK}"


def html_of_markdown(text: str) -> str:
    """Return markdown as HTML. HTML in it is passed on as it is: nobody may show the result before it is sanitised.

    Raises:
        InvalidInput: the text is nested too deep, or too intricate to be parsed in time.
    """
    check_markdown(text)
    parser = _parser()
    environment: dict[str, object] = {}
    tokens = parser.parse(text, environment)
    if any(token.level >= _NESTING - 2 for token in tokens):
        raise InvalidInput("body", f"lists and quotes are nested more than {_NESTING // 2 - 1} levels deep")
    _align_cells(tokens)
    _show_tasks(tokens)
    html: str = parser.renderer.render(tokens, parser.options, environment)
    return html


def _align_cells(tokens: Sequence[Token]) -> None:
    """Give cells the attribute `align`, which is kept everywhere; styles are not."""
    for token in tokens:
        if token.type in ("td_open", "th_open") and (match := _ALIGNED.fullmatch(str(token.attrGet("style") or ""))):
            token.attrs = {"align": match[1]}


def _show_tasks(tokens: Sequence[Token]) -> None:
    """Show `[ ]` and `[x]` at the beginning of list items as boxes: characters, for no platform keeps form fields."""
    for item, paragraph, text in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if (item.type, paragraph.type) != ("list_item_open", "paragraph_open") or not text.children:
            continue
        first = text.children[0]
        if first.type == "text" and (match := _TASK.match(first.content)):
            first.content = (_TO_DO if match[1] == " " else _DONE) + first.content[match.end() :]


@cache
def _parser() -> MarkdownIt:
    options = {"html": True, "linkify": False, "typographer": False, "maxNesting": _NESTING}
    parser = MarkdownIt("commonmark", options).enable(["table", "strikethrough"]).use(footnote_plugin)
    # Links of any scheme are links, as they are to other parsers. The sanitiser takes unsafe ones away, and says so.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser
