"""Tokens as the rules see them: Pygments' tokens in a common form, each with a role for its colour."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from typing import Final

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Error, Keyword, Literal, Number, Operator, Punctuation, String, Text
from pygments.token import _TokenType as TokenType


class Role(Enum):
    """The role of a piece of code. Beside each stands the TextMate scope that themes colour it by."""

    TEXT = auto()
    """Nothing special: names that a grammar leaves alone."""
    COMMENT = auto()
    """`comment`"""
    DOCSTRING = auto()
    """`string.quoted.docstring`"""
    KEYWORD = auto()
    """`keyword.control`"""
    DECLARATION = auto()
    """`storage.type`: words that begin a declaration, such as `const`, `class`, `def`"""
    MODIFIER = auto()
    """`storage.modifier`"""
    OPERATOR = auto()
    """`keyword.operator`"""
    LOGICAL = auto()
    """`keyword.operator.logical` and the comparisons"""
    WORD_OPERATOR = auto()
    """`keyword.operator.new` and other operators that are words"""
    PUNCTUATION = auto()
    """`punctuation`"""
    ACCESSOR = auto()
    """`punctuation.accessor`: the point before a member"""
    STRING = auto()
    """`string`"""
    QUOTE = auto()
    """`punctuation.definition.string`"""
    ESCAPE = auto()
    """`constant.character.escape`"""
    PLACEHOLDER = auto()
    """`constant.other.placeholder`, and the braces of an interpolation"""
    REGEX = auto()
    """`string.regexp`"""
    NUMBER = auto()
    """`constant.numeric`"""
    UNIT = auto()
    """`keyword.other.unit`"""
    LITERAL = auto()
    """`constant.language`: true, null and the like"""
    CONSTANT = auto()
    """`variable.other.constant`"""
    FUNCTION = auto()
    """`entity.name.function`"""
    CALL = auto()
    """`meta.function-call.generic`: a call whose name most themes leave alone"""
    BUILTIN = auto()
    """`support.function`"""
    MACRO = auto()
    """`entity.name.function.macro`"""
    TYPE = auto()
    """`entity.name.type`"""
    CLASS = auto()
    """`entity.name.type.class` at its declaration"""
    BASE = auto()
    """`entity.other.inherited-class`"""
    BUILTIN_TYPE = auto()
    """`support.type`"""
    NAMESPACE = auto()
    """`entity.name.namespace`"""
    PARAMETER = auto()
    """`variable.parameter`"""
    ARGUMENT = auto()
    """`variable.parameter.function-call`: the name of an argument"""
    VARIABLE = auto()
    """`variable.other.readwrite`"""
    ASSIGNED = auto()
    """`variable.other.assignment`"""
    OBJECT = auto()
    """`variable.other.object`: a name whose member follows"""
    PROPERTY = auto()
    """`variable.other.property`"""
    KEY = auto()
    """`meta.object-literal.key`, `support.type.property-name`"""
    SELF = auto()
    """`variable.language`"""
    TAG = auto()
    """`entity.name.tag`"""
    TAG_BRACKET = auto()
    """`punctuation.definition.tag`"""
    ATTRIBUTE = auto()
    """`entity.other.attribute-name`"""
    DECORATOR = auto()
    """`entity.name.function.decorator`"""
    LIFETIME = auto()
    """`entity.name.type.lifetime`"""
    VALUE = auto()
    """`support.constant.property-value`"""
    COLOR = auto()
    """`constant.other.color`"""


class TokenKind(Enum):
    """The lexical class of a token."""

    WORD = auto()
    NUMBER = auto()
    STRING = auto()
    REGEX = auto()
    COMMENT = auto()
    PUNCTUATION = auto()
    SPACE = auto()


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(text.split())


def is_a(type_: TokenType, parent: TokenType) -> bool:
    """Tell whether a token type of Pygments' is another one, or a part of it."""
    return type_[: len(parent)] == parent


@dataclass(slots=True)
class Token:
    """A piece of code. `type` is Pygments'; `newline` tells whether a line ends between it and the one before."""

    text: str
    kind: TokenKind
    type: TokenType
    role: Role
    newline: bool = False


FIRST_ROLES: Final = {
    TokenKind.WORD: Role.TEXT,
    TokenKind.NUMBER: Role.NUMBER,
    TokenKind.STRING: Role.STRING,
    TokenKind.REGEX: Role.REGEX,
    TokenKind.COMMENT: Role.COMMENT,
    TokenKind.PUNCTUATION: Role.PUNCTUATION,
    TokenKind.SPACE: Role.TEXT,
}

# A pair of closing angle brackets stays two tokens: it ends two lists of types more often than it shifts.
_PUNCTUATION: Final = re.compile(
    r"\.\.\.|\.\.=|===|!==|\*\*=|<<=|&&=|\|\|=|\?\?=|=>|->|<-|:=|::|\.\.|==|!=|<=|>=|&&|\|\||\?\?|\?\.(?!\d)"
    r"|\+\+|--|\+=|-=|\*=|//=|/=|%=|&=|\|=|\^=|~=|\*\*|<<|//|\s+|."
)
_PIECES: Final = re.compile(r"(?P<space>\s+)|(?P<number>\d[\w.]*)|(?P<word>[^\W\d]\w*)|(?P<other>.)")
_ANY_WORD: Final = re.compile(r"[\w$]+")


@cache
def _lexer(name: str) -> Lexer:
    # The lexer's own tidying would drop leading lines and add one at the end.
    return get_lexer_by_name(name, stripnl=False, ensurenl=False)


def lexed(code: str, lexer: str) -> list[Token]:
    """Return the tokens of a text that has no carriage returns. Their texts together are the text."""
    tokens: list[Token] = []
    pending = ""
    for type_, text in _lexer(lexer).get_tokens(code):
        kind = _kind(type_, text)
        if is_a(type_, String.Interpol):
            tokens += _punctuation(pending)
            pending = ""
            tokens.append(Token(text, TokenKind.PUNCTUATION, type_, Role.PLACEHOLDER))
            continue
        if len(text) > 1 and is_a(type_, Error):
            # The lexer gave up here, and takes what follows for one error: up to the end of the code, it may be.
            tokens += [*_punctuation(pending), *pieces(text, type_)]
            pending = ""
            continue
        if kind is TokenKind.PUNCTUATION:
            pending += text
            continue
        if pending:
            tokens += _punctuation(pending)
            pending = ""
        tokens.append(Token(text, kind, type_, FIRST_ROLES[kind]))
    tokens += _punctuation(pending)
    return tokens


def _kind(type_: TokenType, text: str) -> TokenKind:
    if text.isspace():
        return TokenKind.SPACE
    kind = _kind_of(type_)
    if kind is TokenKind.WORD and is_a(type_, Keyword.Type) and text == "%":
        return TokenKind.NUMBER
    if kind is TokenKind.PUNCTUATION:
        return TokenKind.WORD if _ANY_WORD.fullmatch(text) else kind
    if kind is TokenKind.WORD and not is_a(type_, Text):
        return kind if _ANY_WORD.search(text) else TokenKind.PUNCTUATION
    return kind


@cache
def _kind_of(type_: TokenType) -> TokenKind:
    """Return the class of a type of Pygments'; words and marks may turn out to be each other."""
    if is_a(type_, Comment) or is_a(type_, String.Doc):
        return TokenKind.COMMENT
    if is_a(type_, Number):
        return TokenKind.NUMBER
    if is_a(type_, String.Regex):
        return TokenKind.REGEX
    if is_a(type_, Literal):
        return TokenKind.STRING
    return (
        TokenKind.PUNCTUATION
        if is_a(type_, Punctuation) or is_a(type_, Operator) or is_a(type_, Error)
        else TokenKind.WORD
    )


def _punctuation(text: str) -> Iterator[Token]:
    for found in _PUNCTUATION.findall(text):
        kind = TokenKind.SPACE if found.isspace() else TokenKind.PUNCTUATION
        yield Token(found, kind, Punctuation, FIRST_ROLES[kind])


def pieces(text: str, type_: TokenType) -> Iterator[Token]:
    """Yield a text as words, numbers, white space and single marks."""
    for match in _PIECES.finditer(text):
        kind = {"space": TokenKind.SPACE, "number": TokenKind.NUMBER, "word": TokenKind.WORD}.get(
            match.lastgroup or "", TokenKind.PUNCTUATION
        )
        yield Token(match[0], kind, type_, FIRST_ROLES[kind])


def split(token: Token, pattern: re.Pattern[str], role: Role) -> Iterator[Token]:
    """Yield a token in parts: what the pattern matches has the role, the rest keeps its own."""
    start = 0
    for match in pattern.finditer(token.text):
        if match.start() > start:
            yield Token(token.text[start : match.start()], token.kind, token.type, token.role)
        if match[0]:
            yield Token(match[0], token.kind, token.type, role)
        start = match.end()
    if start < len(token.text):
        yield Token(token.text[start:], token.kind, token.type, token.role)


def quoted(token: Token, prefix: str = "") -> list[Token]:
    """Return a whole string in three parts: the quotes, and what is between them."""
    text = token.text
    opening = len(prefix) + 1
    if len(text) <= opening:
        return [Token(text, TokenKind.STRING, token.type, Role.QUOTE)]
    ended = text[-1] == text[len(prefix)]
    parts = (text[:opening], text[opening:-1] if ended else text[opening:], text[-1] if ended else "")
    roles = (Role.QUOTE, Role.STRING, Role.QUOTE)
    return [Token(part, TokenKind.STRING, token.type, role) for part, role in zip(parts, roles, strict=True) if part]


def significant(tokens: Iterable[Token]) -> list[Token]:
    """Return the tokens without white space and comments; `newline` is set on those that begin a line."""
    found: list[Token] = []
    newline = True
    for token in tokens:
        if token.kind in (TokenKind.SPACE, TokenKind.COMMENT):
            newline = newline or "\n" in token.text
            continue
        token.newline = newline
        newline = "\n" in token.text
        found.append(token)
    return found


OPENING: Final[Mapping[str, str]] = {"(": ")", "[": "]", "{": "}", "${": "}"}
_CLOSING: Final = frozenset(OPENING.values())


def partners(tokens: Sequence[Token]) -> dict[int, int]:
    """Return the index of the other bracket for each bracket that has one."""
    found: dict[int, int] = {}
    stack: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind is not TokenKind.PUNCTUATION:
            continue
        if token.text in OPENING:
            stack.append(index)
        elif token.text in _CLOSING:
            depth = next(
                (at for at in reversed(range(len(stack))) if OPENING[tokens[stack[at]].text] == token.text), -1
            )
            if depth >= 0:
                start = stack[depth]
                del stack[depth:]
                found[start], found[index] = index, start
    return found
