"""Highlighted code: Pygments' tokens as a few classes, whose colours are in the site's style sheet.

It runs in a worker process: lexers are regular expressions, and the code is anybody's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape, unescape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pygments.lexer import Lexer

MAX_BLOCK: Final = 50_000
"""Characters of one block; a longer one is shown plain."""

MAX_CODE: Final = 200_000
"""Characters of all blocks of one post; those after them are shown plain."""

_BLOCK = re.compile(
    r"(?P<head><pre(?=[\s>])[^<>]*+>\s*+<code(?=\s)[^<>]*?\bclass=\"[^\"<>]*?\blanguage-(?P<name>[\w+#-]+)[^<>]*+>)"
    r"(?P<code>[^<]*+)(?=</code>)"
)
_PLAIN: Final = frozenset({"console-output", "none", "output", "plain", "plaintext", "text", "txt"})


def has_code(html: str) -> bool:
    """Tell whether a body has a block of code that names a language."""
    return any(match["name"].lower() not in _PLAIN for match in _BLOCK.finditer(html))


def highlighted(html: str) -> str:
    """Return a sanitised body with its code highlighted; the text of each block stays as it is.

    Blocks in languages that Pygments does not know, and those beyond the bounds, are returned unchanged.
    """
    room = MAX_CODE

    def shown(match: re.Match[str]) -> str:
        nonlocal room
        name, code = match["name"].lower(), match["code"]
        if name in _PLAIN or len(code) > min(room, MAX_BLOCK) or (lexer := _lexer(name)) is None:
            return match[0]
        room -= len(code)
        return match["head"] + "".join(_spans(lexer, unescape(code)))

    return _BLOCK.sub(shown, html)


def _lexer(name: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name  # noqa: PLC0415 - Pygments loads in the worker
    from pygments.util import ClassNotFound  # noqa: PLC0415

    try:
        return get_lexer_by_name(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _spans(lexer: Lexer, code: str) -> Iterator[str]:
    """Yield the code as HTML, with one span for all that follows each other in one role."""
    role, text = "", ""
    for token, value in lexer.get_tokens(code):
        own = _role(str(token)) if value.strip() else role
        if own != role:
            yield _span(role, text)
            role, text = own, ""
        text += value
    yield _span(role, text)


def _span(role: str, text: str) -> str:
    return f'<span class="hl-{role}">{escape(text)}</span>' if role and text else escape(text)


_ROLES: Final = (
    ("Token.Comment.Preproc", "keyword"),
    ("Token.Comment", "comment"),
    ("Token.Keyword.Constant", "number"),
    ("Token.Keyword.Type", "type"),
    ("Token.Keyword", "keyword"),
    ("Token.Operator.Word", "keyword"),
    ("Token.Literal.String", "string"),
    ("Token.Literal", "number"),
    ("Token.Name.Function", "name"),
    ("Token.Name.Class", "type"),
    ("Token.Name.Namespace", "type"),
    ("Token.Name.Builtin", "type"),
    ("Token.Name.Exception", "type"),
    ("Token.Name.Decorator", "name"),
    ("Token.Name.Tag", "keyword"),
    ("Token.Name.Attribute", "name"),
    ("Token.Name.Constant", "number"),
    ("Token.Generic.Deleted", "deleted"),
    ("Token.Generic.Inserted", "inserted"),
    ("Token.Generic.Heading", "keyword"),
    ("Token.Generic.Subheading", "type"),
    ("Token.Generic.Prompt", "comment"),
    ("Token.Generic.Output", "comment"),
)


def _role(token: str) -> str:
    return next((role for kind, role in _ROLES if token == kind or token.startswith(f"{kind}.")), "")
