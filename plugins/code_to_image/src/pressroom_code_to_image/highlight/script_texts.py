"""Numbers, names, strings and comments of JavaScript and TypeScript, which the lexer cuts too finely or not enough."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pygments.token import String

from pressroom_code_to_image.highlight.tokens import Role, Token, TokenKind, is_a, pieces, quoted, split, word_set

_ESCAPE: Final = re.compile(r"\\(?:u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_BACKTICK: Final = re.compile("`")


def joined(tokens: list[Token]) -> Iterator[Token]:
    """Join numbers and private names that the lexer cuts, and cut the question mark off optional names."""
    held: Token | None = None
    for token in tokens:
        if held is not None:
            number = (
                held.kind is TokenKind.NUMBER
                and token.kind in (TokenKind.WORD, TokenKind.NUMBER)
                and token.text[:1] in "_n"
            )
            private = held.text == "#" and token.kind is TokenKind.WORD
            if number or private:
                kind = TokenKind.NUMBER if number else TokenKind.WORD
                held = Token(held.text + token.text, kind, token.type, Role.NUMBER if number else Role.TEXT)
                continue
            yield held
        if token.kind is TokenKind.WORD and "." in token.text:
            yield from pieces(token.text, token.type)
            held = None
            continue
        held = token
        if token.kind is TokenKind.WORD and len(token.text) > 1 and token.text.endswith("?"):
            yield Token(token.text[:-1], TokenKind.WORD, token.type, Role.TEXT)
            held = Token("?", TokenKind.PUNCTUATION, token.type, Role.OPERATOR)
    if held is not None:
        yield held


_DOC_TAG: Final = re.compile(r"(?P<tag>@\w+)(?:[ \t]+(?P<type>\{[^{}\n]*\}))?(?:[ \t]+(?P<name>\[?[\w.$]+\]?))?")
_NAMING_TAGS: Final = word_set("@param @arg @argument @prop @property @template @typedef @callback")


def _doc_comment(token: Token) -> Iterator[Token]:
    """Yield a documentation comment with its tags, their types and the names they describe."""
    start = 0
    for match in _DOC_TAG.finditer(token.text):
        for group, role in (("tag", Role.DECLARATION), ("type", Role.TYPE), ("name", Role.VARIABLE)):
            if match[group] is None or (group == "name" and match["tag"] not in _NAMING_TAGS):
                continue
            yield Token(token.text[start : match.start(group)], TokenKind.COMMENT, token.type, Role.COMMENT)
            yield Token(match[group], TokenKind.COMMENT, token.type, role)
            start = match.end(group)
    yield Token(token.text[start:], TokenKind.COMMENT, token.type, Role.COMMENT)


def parts(token: Token) -> Iterator[Token]:
    """Yield a token in its parts: quotes and escapes of a string, tags of a documentation comment."""
    if token.kind is TokenKind.COMMENT and token.text.startswith("/**"):
        yield from _doc_comment(token)
    elif token.kind is not TokenKind.STRING:
        yield token
    elif is_a(token.type, String.Backtick):
        yield from split(token, _BACKTICK, Role.QUOTE) if token.text == "`" else split(token, _ESCAPE, Role.ESCAPE)
    else:
        for part in quoted(token):
            yield from split(part, _ESCAPE, Role.ESCAPE) if part.role is Role.STRING else (part,)
