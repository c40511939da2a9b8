"""Markdown to HTML: CommonMark with tables, strikethrough and footnotes."""

from __future__ import annotations

from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin
from pressroom.sdk import InvalidInput

from pressroom_content.rendering.bounds import check_markdown

_NESTING: Final = 60
"""How deep blocks may be nested; each level of a list counts twice."""


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
    html: str = parser.renderer.render(tokens, parser.options, environment)
    return html


@cache
def _parser() -> MarkdownIt:
    options = {"html": True, "linkify": False, "typographer": False, "maxNesting": _NESTING}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"]).use(footnote_plugin)
