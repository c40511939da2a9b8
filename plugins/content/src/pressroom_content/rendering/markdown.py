"""Markdown to HTML: CommonMark with tables, strikethrough, task lists and footnotes, within complexity limits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin
from pressroom.sdk import InvalidInput
from selectolax.lexbor import LexborNode

MAX_MARKS: Final = 400_000
"""The maximum number of Markdown control characters in a text: parsing takes about 5 µs for each."""

MAX_LINES: Final = 100_000
MAX_FOOTNOTES: Final = 5_000
MAX_BRACKET_WORK: Final = 400_000_000
"""The maximum sum over all paragraphs of their number of brackets squared: matching brackets takes quadratic time."""

MAX_DEPTH: Final = 100
"""The maximum nesting depth of HTML elements."""

MAX_OPEN_ELEMENTS: Final = 2_000
"""The maximum number of unclosed tags, counted without parsing: parsers take quadratic time for them."""

MAX_TAGS: Final = 300_000

_MARKS: Final = "[]!*_`<>&|~^\\-+"
_BLOCK = re.compile(r"\n[ \t]*\n")
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/<>]*)")
_NO_END_TAG: Final = frozenset(
    {
        "area", "base", "body", "br", "col", "embed", "head", "hr", "html", "img", "input", "li", "link", "meta",
        "p", "param", "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track", "wbr",
    }
)  # fmt: skip
"""Elements without an end tag, or with an optional one, which are not counted as open.

Elements that parsers nest without limit, such as `dd` in contrast to `li`, or `rt`, are not included.
"""


def check_markdown(text: str) -> None:
    """Reject Markdown that is too complex. Raises `InvalidInput` for the body."""
    if sum(map(text.count, _MARKS)) > MAX_MARKS:
        raise _too_much(f"it has more than {MAX_MARKS:,} characters with a meaning in markdown, such as * or [")
    if text.count("\n") > MAX_LINES:
        raise _too_much(f"it has more than {MAX_LINES:,} lines")
    if text.count("[^") + text.count("^[") > MAX_FOOTNOTES:
        raise _too_much(f"it has more than {MAX_FOOTNOTES:,} footnotes")
    if text.count("[") ** 2 > MAX_BRACKET_WORK:
        work = sum(block.count("[") ** 2 for block in _BLOCK.split(text))
        if work > MAX_BRACKET_WORK:
            raise _too_much("one of its paragraphs has tens of thousands of brackets")


def check_html(text: str) -> None:
    """Reject HTML that would take parsers too long. Raises `InvalidInput` for the body.

    Open elements are counted from tags alone, wherever they are: this is never less than what a parser sees.
    """
    is_open = tags = 0
    for match in _TAG.finditer(text):
        tags += 1
        if match[2].lower() not in _NO_END_TAG:
            is_open = max(0, is_open - 1) if match[1] else is_open + 1
        if is_open > MAX_OPEN_ELEMENTS:
            raise _too_much(f"at character {match.start():,} more than {MAX_OPEN_ELEMENTS:,} tags are open")
    if tags > MAX_TAGS:
        raise _too_much(f"it has more than {MAX_TAGS:,} tags")


def check_depth(root: LexborNode) -> None:
    """Reject a tree that is too deep. Raises `InvalidInput` for the body."""
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise _too_much(f"its elements are nested more than {MAX_DEPTH} deep")
        child = node.first_child
        while child is not None:
            if child.first_child is not None:
                stack.append((child, depth + 1))
            child = child.next


def _too_much(reason: str) -> InvalidInput:
    return InvalidInput("body", f"{reason}; split it into several articles, or make it plainer")


_NESTING: Final = 60
"""The maximum nesting level of blocks. Each level of a list counts twice."""

_ALIGNED = re.compile(r"text-align:(left|right|center)")
_TASK = re.compile(r"\[([ xX])\](?=\s)")
_TO_DO, _DONE = "\N{BALLOT BOX}", "\N{BALLOT BOX WITH CHECK}"


def html_of_markdown(text: str) -> str:
    """Convert Markdown to HTML. HTML in it is passed through: sanitise the result before you show it.

    Raises:
        InvalidInput: the text is nested too deeply, or too complex to be parsed in time.
    """
    parser, tokens, environment = parsed_markdown(text)
    html: str = parser.renderer.render(tokens, parser.options, environment)
    return html


def parsed_markdown(text: str) -> tuple[MarkdownIt, Sequence[Token], dict[str, object]]:
    """Return the parser, the tokens of Markdown, and the environment of its renderer. Raises `InvalidInput`."""
    check_markdown(text)
    parser = _parser()
    environment: dict[str, object] = {}
    tokens = parser.parse(text, environment)
    if any(token.level >= _NESTING - 2 for token in tokens):
        raise InvalidInput("body", f"lists and quotes are nested more than {_NESTING // 2 - 1} levels deep")
    _align_cells(tokens)
    _show_tasks(tokens)
    return parser, tokens, environment


def _align_cells(tokens: Sequence[Token]) -> None:
    """Give cells the attribute `align`, which platforms keep, instead of a style, which they remove."""
    for token in tokens:
        if token.type in ("td_open", "th_open") and (match := _ALIGNED.fullmatch(str(token.attrGet("style") or ""))):
            token.attrs = {"align": match[1]}


def _show_tasks(tokens: Sequence[Token]) -> None:
    """Show `[ ]` and `[x]` at the beginning of list items as characters, because platforms remove form fields."""
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
    # Accept links of any scheme, as other parsers do. The sanitiser removes unsafe ones and reports them.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser
