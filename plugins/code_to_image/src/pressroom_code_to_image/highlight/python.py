"""Rules for Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pygments.token import Name, String

from pressroom_code_to_image.highlight.tokens import (
    Role,
    Token,
    TokenKind,
    is_a,
    partners,
    pieces,
    significant,
    word_set,
)

_CONSTANT: Final = re.compile(r"_*[A-Z][A-Z0-9_]*")

_KEYWORDS: Final = {
    **dict.fromkeys(
        word_set(
            "if elif else for while try except finally with return yield raise import from as pass break "
            "continue await assert del match case"
        ),
        Role.KEYWORD,
    ),
    **dict.fromkeys(word_set("def class lambda async"), Role.DECLARATION),
    **dict.fromkeys(word_set("global nonlocal"), Role.MODIFIER),
    **dict.fromkeys(word_set("and or not in is"), Role.WORD_OPERATOR),
    **dict.fromkeys(word_set("True False None NotImplemented Ellipsis"), Role.LITERAL),
}
_TYPES: Final = word_set(
    "bool bytearray bytes classmethod complex dict float frozenset int list object property set slice "
    "staticmethod str super tuple type memoryview"
)
_FUNCTIONS: Final = word_set(
    "__import__ abs aiter all any anext ascii bin breakpoint callable chr compile delattr dir divmod "
    "enumerate eval exec filter format getattr globals hasattr hash help hex id input isinstance "
    "issubclass iter len locals map max min next oct open ord pow print range repr reversed round setattr "
    "sorted sum vars zip"
)
_MARKS: Final = word_set("( ) [ ] { } , ; : -> @")
_LOGICAL: Final = word_set("== != < > <= >=")


def refined(tokens: list[Token]) -> list[Token]:
    """Return the tokens of Python code with their roles."""
    tokens = [part for token in tokens for part in _parts(token)]
    _strings(tokens)
    words = significant(tokens)
    brackets = partners(words)
    for index, token in enumerate(words):
        if token.kind is TokenKind.PUNCTUATION:
            if token.role is not Role.PLACEHOLDER:
                token.role = _mark(token.text)
        elif token.kind is TokenKind.WORD:
            token.role = _word(words, index, brackets)
    _parameters(words, brackets)
    return tokens


def _parts(token: Token) -> Iterator[Token]:
    if is_a(token.type, Name) and not token.text.isidentifier():
        # Decorators and module names contain their dots.
        yield from pieces(token.text, token.type)
    elif token.kind is TokenKind.WORD and " " in token.text:
        # The lexer returns `yield from` as one word.
        yield from pieces(token.text, token.type)
    else:
        yield token


def _strings(tokens: list[Token]) -> None:
    raw = False
    for token in tokens:
        if is_a(token.type, String.Doc):
            token.kind, token.role = TokenKind.STRING, Role.DOCSTRING
        elif is_a(token.type, String.Affix):
            token.role = Role.DECLARATION
            raw = "r" in token.text.lower()
        elif is_a(token.type, String.Escape):
            token.role = Role.ESCAPE
        elif token.kind is TokenKind.STRING:
            if token.text.strip("'\"") == "":
                token.role = Role.QUOTE
            elif raw:
                token.role = Role.REGEX
        elif token.role is not Role.PLACEHOLDER:
            raw = False


def _mark(text: str) -> Role:
    if text == ".":
        return Role.ACCESSOR
    if text in _MARKS:
        return Role.PUNCTUATION
    return Role.LOGICAL if text in _LOGICAL else Role.OPERATOR


def _word(words: list[Token], index: int, brackets: dict[int, int]) -> Role:
    token = words[index]
    before = words[index - 1] if index else None
    if before is None:
        return _keyword(words, index) or _name(token, _text(words, index + 1))
    if before.text == "@" and before.newline:
        before.role = Role.DECORATOR
        return Role.BUILTIN_TYPE if token.text in _TYPES else Role.DECORATOR
    if before.text == ".":
        return _member(words, index, _text(words, index + 1))
    if (keyword := _keyword(words, index)) is not None:
        return keyword
    if before.text == "def":
        return Role.BUILTIN if _dunder(token.text) else Role.FUNCTION
    if before.text == "class":
        _bases(words, index + 1, brackets)
        return Role.CLASS
    return Role.BASE if token.role is Role.BASE else _name(token, _text(words, index + 1))


def _text(words: list[Token], index: int) -> str:
    return words[index].text if index < len(words) else ""


def _keyword(words: list[Token], index: int) -> Role | None:
    """Return the role of a keyword, or `None` for a name, which `match` and `case` can be."""
    text = words[index].text
    if text not in _KEYWORDS or (text in ("match", "case") and not _statement(words, index)):
        return None
    if (text == "in" and _in_loop(words, index)) or (text == "async" and _text(words, index + 1) != "def"):
        return Role.KEYWORD
    return _KEYWORDS[text]


def _name(token: Token, after: str) -> Role:
    """Return the role of a name that is neither a declaration nor a member."""
    text = token.text
    if text in ("self", "cls"):
        return Role.SELF
    if _dunder(text):
        return Role.BUILTIN
    if text in _TYPES:
        return Role.VARIABLE if after == "[" else Role.BUILTIN_TYPE
    if is_a(token.type, Name.Exception):
        return Role.BUILTIN_TYPE
    if text in _FUNCTIONS and (after == "(" or is_a(token.type, Name.Builtin)):
        return Role.BUILTIN
    if after == "(":
        return Role.CALL
    return Role.CONSTANT if _CONSTANT.fullmatch(text) else Role.VARIABLE


def _dunder(text: str) -> bool:
    return text.startswith("__") and text.endswith("__")


def _member(words: list[Token], index: int, after: str) -> Role:
    start = index
    while start >= 2 and words[start - 1].text == "." and words[start - 2].kind is TokenKind.WORD:
        start -= 2
    if start and words[start - 1].text == "@" and words[start - 1].newline:
        return Role.DECORATOR
    if after == "(":
        return Role.CALL
    return Role.CONSTANT if _CONSTANT.fullmatch(words[index].text) else Role.PROPERTY


def _statement(words: list[Token], index: int) -> bool:
    """Return whether `match` or `case` starts a statement."""
    if not words[index].newline or index + 1 >= len(words):
        return False
    after = words[index + 1]
    return (
        after.kind is not TokenKind.PUNCTUATION
        or after.text in ("[", "{", "-", "*")
        or (after.text == "(" and _ends(words, index))
    )


def _ends(words: list[Token], index: int) -> bool:
    for token in words[index + 1 :]:
        if token.newline:
            return False
        if token.text == ":":
            return True
    return False


def _in_loop(words: list[Token], index: int) -> bool:
    for at in range(index - 1, max(-1, index - 24), -1):
        if words[at].text == "for":
            return True
        if words[at].kind is TokenKind.WORD and words[at].text in ("if", "in", "and", "or", "not", "while", "return"):
            return False
    return False


def _bases(words: list[Token], index: int, brackets: dict[int, int]) -> None:
    if index < len(words) and words[index].text == "(":
        for at in range(index + 1, brackets.get(index, index)):
            if words[at].kind is TokenKind.WORD and words[at - 1].text in ("(", ",", "."):
                words[at].role = Role.BASE


def _parameters(words: list[Token], brackets: dict[int, int]) -> None:
    for index, token in enumerate(words):
        if token.text == "def" and token.role is Role.DECLARATION:
            start = index + 2
            if start < len(words) and words[start].text == "[":
                start = brackets.get(start, start) + 1
            if start < len(words) and words[start].text == "(":
                _declared(words, start + 1, brackets.get(start, len(words)), brackets)
        elif token.text == "lambda" and token.role is Role.DECLARATION:
            end = next((at for at in range(index, len(words)) if words[at].text == ":"), index)
            _declared(words, index + 1, end, brackets)
        elif token.text == "(" and index and words[index - 1].kind is TokenKind.WORD and index in brackets:
            _named_arguments(words, index + 1, brackets[index], brackets)


def _declared(words: list[Token], start: int, end: int, brackets: dict[int, int]) -> None:
    index = start
    while index < end:
        token = words[index]
        if token.kind is TokenKind.WORD and (index == start or words[index - 1].text in (",", "*", "**")):
            if token.role is not Role.SELF:
                token.role = Role.PARAMETER
        elif token.text in ("(", "[", "{"):
            index = brackets.get(index, index)
        index += 1


def _named_arguments(words: list[Token], start: int, end: int, brackets: dict[int, int]) -> None:
    index = start
    while index < end:
        token = words[index]
        if token.kind is TokenKind.WORD and words[index - 1].text in ("(", ",") and words[index + 1].text == "=":
            token.role = Role.ARGUMENT
        elif token.text in ("(", "[", "{"):
            index = brackets.get(index, index)
        index += 1
