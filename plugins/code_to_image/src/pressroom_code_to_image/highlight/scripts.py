"""Rules for JavaScript and TypeScript, and corrections of the lexer's tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pygments.token import String

from pressroom_code_to_image.highlight.script_context import LOGICAL, MARKS, Bracket
from pressroom_code_to_image.highlight.script_names import Names
from pressroom_code_to_image.highlight.tokens import (
    Role,
    Token,
    TokenKind,
    is_a,
    pieces,
    quoted,
    significant,
    split,
    word_set,
)

_ESCAPE: Final = re.compile(r"\\(?:u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_BACKTICK: Final = re.compile("`")

_DOC_TAG: Final = re.compile(r"(?P<tag>@\w+)(?:[ \t]+(?P<type>\{[^{}\n]*\}))?(?:[ \t]+(?P<name>\[?[\w.$]+\]?))?")
_NAMING_TAGS: Final = word_set("@param @arg @argument @prop @property @template @typedef @callback")


def joined(tokens: list[Token]) -> Iterator[Token]:
    """Join numbers and private names that the lexer splits, and split the question mark off optional names."""
    pending: Token | None = None
    for token in tokens:
        if pending is not None:
            number = (
                pending.kind is TokenKind.NUMBER
                and token.kind in (TokenKind.WORD, TokenKind.NUMBER)
                and token.text[:1] in "_n"
            )
            private = pending.text == "#" and token.kind is TokenKind.WORD
            if number or private:
                kind = TokenKind.NUMBER if number else TokenKind.WORD
                pending = Token(pending.text + token.text, kind, token.type, Role.NUMBER if number else Role.TEXT)
                continue
            yield pending
        if token.kind is TokenKind.WORD and "." in token.text:
            yield from pieces(token.text, token.type)
            pending = None
            continue
        pending = token
        if token.kind is TokenKind.WORD and len(token.text) > 1 and token.text.endswith("?"):
            yield Token(token.text[:-1], TokenKind.WORD, token.type, Role.TEXT)
            pending = Token("?", TokenKind.PUNCTUATION, token.type, Role.OPERATOR)
    if pending is not None:
        yield pending


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
    """Split a token into its parts: quotes and escapes of a string, tags of a documentation comment."""
    if token.kind is TokenKind.COMMENT and token.text.startswith("/**"):
        yield from _doc_comment(token)
    elif token.kind is not TokenKind.STRING:
        yield token
    elif is_a(token.type, String.Backtick):
        yield from split(token, _BACKTICK, Role.QUOTE) if token.text == "`" else split(token, _ESCAPE, Role.ESCAPE)
    else:
        for part in quoted(token):
            yield from split(part, _ESCAPE, Role.ESCAPE) if part.role is Role.STRING else (part,)


class _Script(Names):
    def run(self) -> None:
        index = 0
        while index < len(self.tokens):
            index = self.step(index)

    def step(self, index: int) -> int:
        token = self.tokens[index]
        if token.kind is TokenKind.PUNCTUATION:
            return self._mark(index, token)
        if token.kind is TokenKind.WORD:
            return self.name(index, token)
        return index + 1

    def _mark(self, index: int, token: Token) -> int:
        text = token.text
        if token.role is not Role.PLACEHOLDER:
            token.role = self._mark_role(index, text)
        if text in ("(", "[", "{", "${"):
            self.stack.append(self.opened(index, text))
        elif text in (")", "]", "}"):
            if len(self.stack) > 1:
                self.stack.pop()
            if text == ")" and self.typed and self.text(index + 1) == ":" and self.annotates_result(index):
                return self.type_after(index + 1)
        elif text == "<" and self.typed and (end := self.type_list(index)):
            self.type_arguments(index, end)
            return end + 1
        elif text == ":" and self.typed and self.annotates(index):
            return self.type_after(index)
        elif text == "@" and self.word(index + 1):
            self.tokens[index + 1].role = Role.DECORATOR
            token.role = Role.DECORATOR
            return index + 2
        return index + 1

    def _mark_role(self, index: int, text: str) -> Role:
        if text == "=>":
            return Role.DECLARATION
        if text in (".", "?."):
            return Role.ACCESSOR
        if text in MARKS:
            if text == ":" and self.stack[-1][0] is Bracket.OTHER:
                return Role.OPERATOR
            return Role.PUNCTUATION
        return Role.LOGICAL if text in LOGICAL else Role.OPERATOR


def refined(tokens: list[Token], *, typed: bool) -> list[Token]:
    """Return the tokens of a script with their roles; `typed` means TypeScript."""
    tokens = list(joined(tokens))
    _Script(significant(tokens), typed=typed).run()
    return [part for token in tokens for part in parts(token)]
