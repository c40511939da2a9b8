"""Rules for Rust."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pygments.token import Comment, Name, String

from pressroom_code_to_image.highlight.tokens import Role, Token, TokenKind, is_a, pieces, significant, split, word_set

_CONSTANT: Final = re.compile(r"[A-Z][A-Z0-9_]+")
_TYPE: Final = re.compile(r"[A-Z]\w*")
_FORMAT: Final = re.compile(r"\{[^{}\"]*\}")

_KEYWORDS: Final = {
    **dict.fromkeys(word_set("if else match for while loop break continue return await yield"), Role.KEYWORD),
    **dict.fromkeys(
        word_set("use as impl fn dyn in where unsafe extern trait move ref"),
        Role.WORD_OPERATOR,
    ),
    **dict.fromkeys(word_set("let const struct enum mod type union"), Role.DECLARATION),
    **dict.fromkeys(word_set("pub mut static async"), Role.MODIFIER),
    **dict.fromkeys(word_set("self Self super crate"), Role.SELF),
    **dict.fromkeys(word_set("true false"), Role.LITERAL),
}
_BASIC: Final = word_set("bool char str i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64")
_DECLARED: Final = {
    "fn": Role.FUNCTION,
    "mod": Role.NAMESPACE,
    **dict.fromkeys(word_set("struct enum trait type union"), Role.CLASS),
}
"""Role of the name after each of these words."""

_CALLED_TYPES: Final = word_set("Some None Ok Err Fn FnMut FnOnce")
"""Types that occur before parentheses, where other names are functions."""

_MARKS: Final = word_set("( ) [ ] { } , ; #")


def refined(tokens: list[Token]) -> list[Token]:
    """Return the tokens of Rust code with their roles."""
    tokens = [part for token in tokens for part in _parts(token)]
    words = significant(tokens)
    attribute = 0
    for index, token in enumerate(words):
        if token.text == "[" and index and words[index - 1].text in ("#", "!") and is_a(token.type, Comment.Preproc):
            attribute = 1
        elif attribute and token.text in "[]":
            attribute += 1 if token.text == "[" else -1
        if token.kind is TokenKind.PUNCTUATION:
            token.role = _mark(words, index)
        elif token.kind is TokenKind.WORD:
            token.role = _word(words, index, in_attribute=bool(attribute))
    return tokens


def _parts(token: Token) -> Iterator[Token]:
    if is_a(token.type, Comment.Preproc):
        yield from pieces(token.text, token.type)
    elif is_a(token.type, String.Doc):
        token.role = Role.COMMENT
        yield token
    elif token.kind is TokenKind.WORD and token.text.startswith("'"):
        yield Token("'", TokenKind.PUNCTUATION, token.type, Role.PUNCTUATION)
        yield Token(token.text[1:], TokenKind.WORD, Name.Attribute, Role.LIFETIME)
    elif token.kind is TokenKind.STRING:
        yield from _string(token)
    else:
        yield token


def _string(token: Token) -> Iterator[Token]:
    if is_a(token.type, String.Escape):
        token.role = Role.ESCAPE
        yield token
    elif token.text.strip("b'\"r#") == "" and not is_a(token.type, String.Char):
        token.role = Role.QUOTE
        yield token
    elif is_a(token.type, String.Char):
        opening = token.text.find("'") + 1
        for text, role in (
            (token.text[:opening], Role.QUOTE),
            (token.text[opening:-1], Role.ESCAPE if token.text[opening : opening + 1] == "\\" else Role.STRING),
            (token.text[-1:] if len(token.text) > opening else "", Role.QUOTE),
        ):
            if text:
                yield Token(text, TokenKind.STRING, token.type, role)
    else:
        yield from split(token, _FORMAT, Role.PLACEHOLDER)


def _mark(words: list[Token], index: int) -> Role:
    text = words[index].text
    if text in ("<", ">"):
        return Role.PUNCTUATION if _brackets_types(words, index) else Role.OPERATOR
    if text == "!" and words[index - 1].role is Role.MACRO:
        return Role.MACRO
    if text == "'":
        return Role.PUNCTUATION
    return Role.PUNCTUATION if text in _MARKS else Role.OPERATOR


def _brackets_types(words: list[Token], index: int) -> bool:
    if words[index].text == "<":
        before = words[index - 1] if index else None
        return before is not None and (
            before.text in ("impl", "::", "&")
            or bool(_TYPE.fullmatch(before.text))
            or words[max(0, index - 2)].text == "fn"
        )
    depth = 0
    for at in range(index, max(-1, index - 60), -1):
        text = words[at].text
        if text in (";", "{", "}", "&&", "||"):
            return False
        depth += (text == ">") - (text == "<")
        if not depth:
            return words[at].role is Role.PUNCTUATION
    return False


def _word(words: list[Token], index: int, *, in_attribute: bool) -> Role:
    token = words[index]
    text = token.text
    if is_a(token.type, Name.Attribute) and token.role is Role.LIFETIME:
        return Role.LIFETIME
    if in_attribute:
        return Role.TYPE if _TYPE.fullmatch(text) else Role.TEXT
    before = words[index - 1].text if index else ""
    if text in _KEYWORDS and before != ".":
        return _KEYWORDS[text]
    after, next_but_one = _text(words, index + 1), _text(words, index + 2)
    if text.endswith("!") or (after == "!" and next_but_one in ("(", "[", "{")):
        return Role.MACRO
    if before in _DECLARED:
        return _DECLARED[before]
    if text in _BASIC:
        return Role.BUILTIN_TYPE
    if _CONSTANT.fullmatch(text):
        return Role.CONSTANT
    return _name(text, before, after, next_but_one)


def _text(words: list[Token], index: int) -> str:
    return words[index].text if index < len(words) else ""


def _name(text: str, before: str, after: str, next_but_one: str) -> Role:
    """Return the role of a name based on its neighbours."""
    if _TYPE.fullmatch(text):
        return Role.FUNCTION if after == "(" and text not in _CALLED_TYPES else Role.TYPE
    if after == "(" or (after == "::" and next_but_one == "<"):
        return Role.FUNCTION
    if before == ".":
        return Role.PROPERTY
    return Role.NAMESPACE if after == "::" else Role.VARIABLE
