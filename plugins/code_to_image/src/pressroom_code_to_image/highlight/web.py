"""Rules for HTML and CSS."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pygments.token import Comment, Keyword, Name, Number

from pressroom_code_to_image.highlight import scripts
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

_ESCAPE: Final = re.compile(r"\\[0-9a-fA-F]{1,6}|\\.")
_COMBINATORS: Final = word_set("> + ~")
_ELEMENT: Final = re.compile(r"[a-z][a-z0-9-]*")


def refined_html(tokens: list[Token]) -> list[Token]:
    """Return the tokens of HTML with their roles; scripts and styles use their own rules."""
    refined: list[Token] = []
    index = 0
    while index < len(tokens):
        tag_end = _tag_end(tokens, index)
        if tag_end is None:
            refined += _html(tokens[index])
            index += 1
            continue
        for token in tokens[index:tag_end]:
            refined += _html(token)
        name = tokens[index + 1].text.lower()
        index = tag_end
        if name in ("script", "style"):
            end = _closing(tokens, tag_end, name)
            inside = [_plain_again(token) for token in tokens[tag_end:end]]
            refined += scripts.refined(inside, typed=False) if name == "script" else refined_css(inside)
            index = end
    return refined


def _plain_again(token: Token) -> Token:
    token.newline = False
    return token


def _tag_end(tokens: list[Token], index: int) -> int | None:
    """Return the index after an opening script or style tag, or `None` if none starts here."""
    if tokens[index].text != "<" or index + 1 >= len(tokens) or not is_a(tokens[index + 1].type, Name.Tag):
        return None
    if tokens[index + 1].text.lower() not in ("script", "style"):
        return None
    for at in range(index + 2, len(tokens)):
        if tokens[at].text in (">", "/>") and tokens[at].kind is TokenKind.PUNCTUATION:
            return at + 1
    return None


def _closing(tokens: list[Token], start: int, name: str) -> int:
    for at in range(start, len(tokens) - 2):
        if tokens[at].text == "<" and tokens[at + 1].text == "/" and tokens[at + 2].text.lower() == name:
            return at
    return len(tokens)


def _html(token: Token) -> Iterator[Token]:
    if is_a(token.type, Comment.Preproc):
        for part in pieces(token.text, token.type):
            part.role = Role.TAG_BRACKET if part.kind is TokenKind.PUNCTUATION else Role.ATTRIBUTE
            if part.text.upper() == "DOCTYPE":
                part.role = Role.TAG
            yield part
    elif is_a(token.type, Name.Tag):
        token.role = Role.TAG
        yield token
    elif is_a(token.type, Name.Attribute):
        token.role = Role.ATTRIBUTE
        yield token
    elif is_a(token.type, Name.Entity):
        token.role = Role.ESCAPE
        yield token
    elif token.kind is TokenKind.STRING:
        yield from quoted(token) if token.text[0] in "'\"" else [token]
    else:
        if token.kind is TokenKind.PUNCTUATION:
            token.role = Role.TAG_BRACKET if token.text != "=" else Role.PUNCTUATION
        yield token


def refined_css(tokens: list[Token]) -> list[Token]:
    """Return the tokens of a style sheet with their roles."""
    tokens = [part for token in tokens for part in _numbers(token)]
    _Css(significant(tokens)).run()
    return [part for token in tokens for part in _strings(token)]


def _numbers(token: Token) -> Iterator[Token]:
    if token.kind is TokenKind.NUMBER and is_a(token.type, Number.Hex):
        token.role = Role.COLOR
    elif is_a(token.type, Keyword.Type) and token.text:
        token.role = Role.UNIT
        token.kind = TokenKind.NUMBER
    elif token.text.startswith("!") and token.kind in (TokenKind.WORD, TokenKind.COMMENT):
        token.role = Role.WORD_OPERATOR
        token.kind = TokenKind.NUMBER
    yield token


def _strings(token: Token) -> Iterator[Token]:
    if token.kind is not TokenKind.STRING:
        yield token
        return
    for part in quoted(token) if token.text[0] in "'\"" else [token]:
        yield from split(part, _ESCAPE, Role.ESCAPE) if part.role is Role.STRING else (part,)


class _Css:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.blocks = [False]
        """Whether each open block contains declarations."""
        self.value = False
        self.at_rule = ""
        self.brackets = 0

    def text(self, index: int) -> str:
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def run(self) -> None:
        for index, token in enumerate(self.tokens):
            if token.kind is TokenKind.PUNCTUATION:
                self._mark(index, token)
            elif token.kind is TokenKind.WORD:
                token.role = self._word(index, token)

    def _mark(self, index: int, token: Token) -> None:
        token.role = Role.PUNCTUATION if self._delimits(token.text) else self._sign(index, token.text)

    def _delimits(self, text: str) -> bool:
        """Track the start and end of blocks, values and brackets; return whether a mark delimits one."""
        match text:
            case "{":
                # Blocks of these at-rules contain rules; other blocks contain declarations.
                self.blocks.append(self.at_rule not in ("media", "supports", "layer", "keyframes", "container"))
                self.at_rule, self.value = "", False
            case "}":
                if len(self.blocks) > 1:
                    self.blocks.pop()
                self.value = False
            case ";":
                self.at_rule, self.value = "", False
            case ":" if self.blocks[-1] and not self.value:
                self.value = True
            case "(":
                self.brackets += 1
            case ")":
                self.brackets = max(0, self.brackets - 1)
            case _:
                return False
        return True

    def _sign(self, index: int, text: str) -> Role:
        """Return the role of a mark in a selector or value."""
        match text:
            case ":" | "::" if not self.at_rule:
                return Role.ATTRIBUTE
            case "." | "#" if not self.value and not self.blocks[-1]:
                return Role.ATTRIBUTE
            case "@":
                return Role.KEYWORD
            case "*" | "/" | "+" | "-" if self.value:
                return Role.OPERATOR if self.brackets and self.text(index - 1) != "" else Role.TEXT
            case "*" if not self.value:
                return Role.TAG
            case ">" | "+" | "~" | "=" | "^=" | "$=" | "*=" | "~=" | "|=" | "^" | "$":
                return Role.OPERATOR
            case _:
                return Role.PUNCTUATION

    def _word(self, index: int, token: Token) -> Role:
        text = token.text
        before, after = self.text(index - 1), self.text(index + 1)
        if before == "@":
            self.at_rule = text.lower()
            return Role.KEYWORD
        if text.startswith("--"):
            return Role.VARIABLE
        if self.value or self.at_rule == "import":
            return Role.BUILTIN if after == "(" else Role.VALUE
        if self.at_rule:
            return self._condition(text, after)
        return Role.KEY if self.blocks[-1] else self._selector(index, text, before)

    def _condition(self, text: str, after: str) -> Role:
        """Return the role of a word after the name of an at-rule."""
        if self.at_rule == "keyframes":
            return Role.PARAMETER
        if text in ("and", "or", "not", "only"):
            return Role.LOGICAL
        return Role.KEY if after == ":" else Role.TEXT

    def _selector(self, index: int, text: str, before: str) -> Role:
        if before in (":", "::", ".", "#", "["):
            return Role.ATTRIBUTE
        if re.match(r"[+-]?\d", text):
            return Role.NUMBER
        if (text == "n" or before in ("+", "-")) and self.tokens[index - 1].role is Role.NUMBER:
            return Role.NUMBER
        if text in ("from", "to") and len(self.blocks) > 1:
            return Role.ATTRIBUTE
        return Role.TAG if _ELEMENT.fullmatch(text) else Role.TEXT
