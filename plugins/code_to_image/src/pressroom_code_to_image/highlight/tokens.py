"""Common token model for the rules: Pygments' tokens, each with a role that determines its colour."""

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
    """The role of a piece of code. Each lists the TextMate scope whose colour themes give it."""

    TEXT = auto()
    """Names without a scope of their own."""
    COMMENT = auto()
    """`comment`"""
    DOCSTRING = auto()
    """`string.quoted.docstring`"""
    KEYWORD = auto()
    """`keyword.control`"""
    DECLARATION = auto()
    """`storage.type`: words that start a declaration, such as `const`, `class`, `def`"""
    MODIFIER = auto()
    """`storage.modifier`"""
    OPERATOR = auto()
    """`keyword.operator`"""
    LOGICAL = auto()
    """`keyword.operator.logical` and the comparisons"""
    WORD_OPERATOR = auto()
    """`keyword.operator.new` and other word operators"""
    PUNCTUATION = auto()
    """`punctuation`"""
    ACCESSOR = auto()
    """`punctuation.accessor`: the dot before a member"""
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
    """`constant.language`: true, null and similar"""
    CONSTANT = auto()
    """`variable.other.constant`"""
    FUNCTION = auto()
    """`entity.name.function`"""
    CALL = auto()
    """`meta.function-call.generic`: a call whose name most themes do not colour"""
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
    """`variable.other.object`: a name followed by a member"""
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
    """Split a string into a set of words."""
    return frozenset(text.split())


def is_a(type_: TokenType, parent: TokenType) -> bool:
    """Return whether a Pygments token type equals another one or is a subtype of it."""
    return type_[: len(parent)] == parent


@dataclass(slots=True)
class Token:
    """A piece of code. `type` is the Pygments type; `newline` is whether a line break precedes it."""

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

# Consecutive closing angle brackets stay separate: they end two type lists more often than they shift.
_PUNCTUATION: Final = re.compile(
    r"\.\.\.|\.\.=|===|!==|\*\*=|<<=|&&=|\|\|=|\?\?=|=>|->|<-|:=|::|\.\.|==|!=|<=|>=|&&|\|\||\?\?|\?\.(?!\d)"
    r"|\+\+|--|\+=|-=|\*=|//=|/=|%=|&=|\|=|\^=|~=|\*\*|<<|//|\s+|."
)
_PIECES: Final = re.compile(r"(?P<space>\s+)|(?P<number>\d[\w.]*)|(?P<word>[^\W\d]\w*)|(?P<other>.)")
_ANY_WORD: Final = re.compile(r"[\w$]+")


@cache
def _lexer(name: str) -> Lexer:
    # By default, the lexer strips leading lines and appends a newline.
    return get_lexer_by_name(name, stripnl=False, ensurenl=False)


def lexed(code: str, lexer: str) -> list[Token]:
    """Return the tokens of a text without carriage returns. Their concatenation is the input."""
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
            # After a syntax error, the lexer can return the rest of the code as a single error token.
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
    """Return the kind for a Pygments type, before the text decides between words and punctuation."""
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
    for part in _PUNCTUATION.findall(text):
        kind = TokenKind.SPACE if part.isspace() else TokenKind.PUNCTUATION
        yield Token(part, kind, Punctuation, FIRST_ROLES[kind])


def pieces(text: str, type_: TokenType) -> Iterator[Token]:
    """Split a text into words, numbers, white space and single punctuation characters."""
    for match in _PIECES.finditer(text):
        kind = {"space": TokenKind.SPACE, "number": TokenKind.NUMBER, "word": TokenKind.WORD}.get(
            match.lastgroup or "", TokenKind.PUNCTUATION
        )
        yield Token(match[0], kind, type_, FIRST_ROLES[kind])


def split(token: Token, pattern: re.Pattern[str], role: Role) -> Iterator[Token]:
    """Split a token: matches of the pattern get the role, the rest keeps the token's."""
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
    """Split a string into its opening quote, content and closing quote."""
    text = token.text
    opening = len(prefix) + 1
    if len(text) <= opening:
        return [Token(text, TokenKind.STRING, token.type, Role.QUOTE)]
    ended = text[-1] == text[len(prefix)]
    parts = (text[:opening], text[opening:-1] if ended else text[opening:], text[-1] if ended else "")
    roles = (Role.QUOTE, Role.STRING, Role.QUOTE)
    return [Token(part, TokenKind.STRING, token.type, role) for part, role in zip(parts, roles, strict=True) if part]


def significant(tokens: Iterable[Token]) -> list[Token]:
    """Return the tokens without white space and comments, with `newline` set on those that start a line."""
    words: list[Token] = []
    newline = True
    for token in tokens:
        if token.kind in (TokenKind.SPACE, TokenKind.COMMENT):
            newline = newline or "\n" in token.text
            continue
        token.newline = newline
        newline = "\n" in token.text
        words.append(token)
    return words


OPENING: Final[Mapping[str, str]] = {"(": ")", "[": "]", "{": "}", "${": "}"}
_CLOSING: Final = frozenset(OPENING.values())


def partners(tokens: Sequence[Token]) -> dict[int, int]:
    """Return a map from the index of each matched bracket to that of its partner."""
    pairs: dict[int, int] = {}
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
                pairs[start], pairs[index] = index, start
    return pairs
