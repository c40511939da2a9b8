"""Rules for Go."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pressroom_code_to_image.highlight.tokens import (
    Role,
    Token,
    TokenKind,
    partners,
    quoted,
    significant,
    split,
    word_set,
)

_ESCAPE: Final = re.compile(r"\\(?:[0-7]{3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)")
_PLACEHOLDER: Final = re.compile(r"%[-+# 0]*[\d.*]*[a-zA-Z%]")

_CONTROL: Final = word_set(
    "break case continue default defer else fallthrough for go goto if range return select switch package import"
)
_DECLARING: Final = word_set("func type struct interface var const map chan")
_BASIC: Final = word_set(
    "bool byte complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint "
    "uint8 uint16 uint32 uint64 uintptr"
)
_BUILTIN: Final = word_set(
    "append cap clear close complex copy delete imag len make max min new panic print println real recover"
)
_LITERALS: Final = word_set("true false nil iota")
_MARKS: Final = word_set("( ) [ ] { } , ; : . ...")
_ASSIGNING: Final = word_set(":= = += -= *= /= %= &= |= ^= <<=")


class _Go:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.partners = partners(tokens)

    def text(self, index: int) -> str:
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def word(self, index: int) -> bool:
        return 0 <= index < len(self.tokens) and self.tokens[index].kind is TokenKind.WORD

    def run(self) -> None:
        for index, token in enumerate(self.tokens):
            if token.kind is TokenKind.PUNCTUATION:
                token.role = self._mark(token.text)
            elif token.kind is TokenKind.WORD:
                token.role = self._word(index, token.text)
        for index, token in enumerate(self.tokens):
            if token.role is Role.DECLARATION:
                self._declaration(index, token.text)
            elif token.text in _ASSIGNING and token.kind is TokenKind.PUNCTUATION:
                self._assigned(index)
            elif token.text == "{" and self._literal(index):
                self._literal_type(index - 1)

    def _mark(self, text: str) -> Role:
        if text == ".":
            return Role.ACCESSOR
        return Role.PUNCTUATION if text in _MARKS else Role.OPERATOR

    def _word(self, index: int, text: str) -> Role:
        before, after = self.text(index - 1), self.text(index + 1)
        if before == ".":
            return Role.FUNCTION if after == "(" else Role.PROPERTY
        if text in _CONTROL:
            return Role.KEYWORD
        if text in _DECLARING:
            return Role.DECLARATION
        if text in _BASIC:
            return Role.BUILTIN_TYPE
        if text == "any":
            return Role.TYPE
        if text in _LITERALS:
            return Role.LITERAL
        if before == "package":
            return Role.NAMESPACE
        if after == "(":
            return Role.BUILTIN if text in _BUILTIN else Role.FUNCTION
        if after == ":" and before in ("{", ",") and self._in_braces(index):
            return Role.PROPERTY
        return Role.VARIABLE

    def _in_braces(self, index: int) -> bool:
        depth = 0
        for at in range(index - 1, max(-1, index - 200), -1):
            text = self.text(at)
            depth += (text in (")", "]", "}")) - (text in ("(", "[", "{"))
            if depth < 0:
                return text == "{"
        return False

    def _declaration(self, index: int, text: str) -> None:
        match text:
            case "func":
                self._function(index + 1)
            case "type":
                self._type_declaration(index + 1)
            case "struct" | "interface" if self.text(index + 1) == "{":
                self._fields(index + 1, text)
            case "var" | "const":
                self._variables(index + 1, text)
            case "map" | "chan":
                self._type(index)

    def _function(self, index: int) -> None:
        """Mark the parts after `func`: receiver, name, parameters and results."""
        if (
            self.text(index) == "("
            and self.word(self.partners.get(index, index) + 1)
            and (self.text(self.partners.get(index, index) + 2) in ("(", "["))
        ):
            self._parameters(index)
            index = self.partners.get(index, index) + 1
        if self.word(index):
            self.tokens[index].role = Role.FUNCTION
            index += 1
        self._signature(index)

    def _signature(self, index: int) -> int:
        if self.text(index) == "[":
            self._parameters(index)
            index = self.partners.get(index, index) + 1
        if self.text(index) != "(" or index not in self.partners:
            return index
        self._parameters(index)
        index = self.partners[index] + 1
        if index >= len(self.tokens) or self.tokens[index].newline:
            return index
        if self.text(index) == "(":
            self._parameters(index)
            return self.partners.get(index, index) + 1
        return self._type(index)

    def _parameters(self, index: int) -> None:
        """Mark a list of parameters or results; without names it contains only types."""
        end = self.partners.get(index)
        if end is None:
            return
        parts = self._parts(index + 1, end)
        has_names = any(
            stop - start > 1
            and self.word(start)
            and (self.word(start + 1) or self.text(start + 1) in ("*", "[", "...", "<-", "~"))
            and self.text(start) not in ("chan", "map", "func", "struct", "interface")
            for start, stop in parts
        )
        for start, stop in parts:
            at = start
            if has_names and self.word(start):
                self.tokens[start].role = Role.PARAMETER
                at += 1
            while at < stop:
                at = max(self._type(at), at + 1)

    def _parts(self, start: int, end: int) -> list[tuple[int, int]]:
        parts: list[tuple[int, int]] = []
        at = begin = start
        while at < end:
            if self.text(at) in ("(", "[", "{"):
                at = self.partners.get(at, at)
            elif self.text(at) == ",":
                parts.append((begin, at))
                begin = at + 1
            at += 1
        if begin < end:
            parts.append((begin, end))
        return parts

    def _type(self, index: int) -> int:
        """Mark a type; return the index after it."""
        while self.text(index) in ("*", "[", "...", "<-", "chan", "map", "~", "&"):
            if self.text(index) == "[" and (end := self.partners.get(index, index)) != index:
                self._types_within(index, end)
                index = end
            elif self.text(index) == "[":
                return index + 1
            index += 1
        if self.text(index) == "func":
            return self._signature(index + 1)
        if self.text(index) in ("struct", "interface", "(") or not self.word(index):
            return index
        index = self._qualified(index) + 1
        if self.text(index) == "[" and not self.tokens[index].newline:
            end = self.partners.get(index, index)
            self._types_within(index, end)
            index = end + 1
        return self._type(index + 1) if self.text(index) == "|" else index

    def _types_within(self, start: int, end: int) -> None:
        """Mark the types between two brackets."""
        inner = start + 1
        while inner < end:
            inner = max(self._type(inner), inner + 1)

    def _qualified(self, index: int) -> int:
        """Mark a type's name with its package; return the index of its last word."""
        self._named(index)
        while self.text(index + 1) == "." and self.word(index + 2):
            index += 2
            self._named(index)
        return index

    def _named(self, index: int) -> None:
        token = self.tokens[index]
        if token.role in (Role.VARIABLE, Role.PROPERTY, Role.FUNCTION, Role.NAMESPACE):
            token.role = Role.TYPE

    def _type_declaration(self, index: int) -> None:
        if self.text(index) == "(":
            end = self.partners.get(index, index)
            for at in range(index + 1, end):
                if self.tokens[at].newline and self.word(at) and self._depth(index, at) == 1:
                    self._type_declaration(at)
            return
        if not self.word(index):
            return
        self.tokens[index].role = Role.CLASS
        index += 1
        if self.text(index) == "[" and self.word(index + 1) and self.text(index + 2) != "]":
            self._parameters(index)
            index = self.partners.get(index, index) + 1
        self._type(index + 1 if self.text(index) == "=" else index)

    def _depth(self, start: int, end: int) -> int:
        return sum((self.text(at) in ("(", "[", "{")) - (self.text(at) in (")", "]", "}")) for at in range(start, end))

    def _fields(self, index: int, kind: str) -> None:
        end = self.partners.get(index, index)
        at = index + 1
        while at < end:
            if self.tokens[at].newline and self.word(at):
                at = self._field(at, end, kind)
            else:
                at += 1

    def _field(self, at: int, end: int, kind: str) -> int:
        if kind == "interface":
            if self.text(at + 1) == "(":
                self.tokens[at].role = Role.FUNCTION
                return max(self._signature(at + 1), at + 1)
            return max(self._type(at), at + 1)
        if self.text(at + 1) == "." or self.tokens[at + 1].newline or at + 1 >= end:
            return max(self._type(at), at + 1)
        while self.word(at) and self.text(at + 1) == ",":
            self.tokens[at].role = Role.PROPERTY
            at += 2
        self.tokens[at].role = Role.PROPERTY
        return max(self._type(at + 1), at + 1)

    def _variables(self, index: int, kind: str) -> None:
        if self.text(index) == "(":
            end = self.partners.get(index, index)
            for at in range(index + 1, end):
                if self.tokens[at].newline and self.word(at) and self._depth(index, at) == 1:
                    self._variables(at, kind)
            return
        role = Role.CONSTANT if kind == "const" else Role.ASSIGNED
        while self.word(index):
            self.tokens[index].role = role
            index += 1
            if self.text(index) != ",":
                break
            index += 1
        if self.text(index) != "=" and index < len(self.tokens) and not self.tokens[index].newline:
            self._type(index)

    def _assigned(self, index: int) -> None:
        """Mark the names on the left of an assignment."""
        at = index - 1
        while at >= 0 and not (self.tokens[at + 1].newline):
            if self.tokens[at].kind is TokenKind.WORD and self.tokens[at].role in (Role.VARIABLE, Role.PROPERTY):
                self.tokens[at].role = Role.ASSIGNED
            elif self.text(at) not in (".", ","):
                return
            at -= 1

    def _literal(self, index: int) -> bool:
        """Return whether a brace starts a composite literal: it follows a type in a position for a value."""
        before = index - 1
        if self.text(before) == "]":
            before = self.partners.get(before, before) - 1
        if not self.word(before) or self.tokens[before].role not in (Role.VARIABLE, Role.PROPERTY, Role.ASSIGNED):
            return False
        while self.text(before - 1) == "." and self.word(before - 2):
            before -= 2
        return self.text(before - 1) in ("&", "=", ":=", "(", ",", "return", ":", "{", "]", "*")

    def _literal_type(self, index: int) -> None:
        if self.text(index) == "]":
            start = self.partners.get(index, index)
            inner = start + 1
            while inner < index:
                inner = max(self._type(inner), inner + 1)
            index = start - 1
        self._named(index)
        while self.text(index - 1) == "." and self.word(index - 2):
            index -= 2
            self._named(index)


def refined(tokens: list[Token]) -> list[Token]:
    """Return the tokens of Go code with their roles."""
    _Go(significant(tokens)).run()
    return [part for token in tokens for part in _strings(token)]


def _strings(token: Token) -> Iterator[Token]:
    if token.kind is TokenKind.STRING or (token.kind is TokenKind.NUMBER and token.text.startswith("'")):
        for part in quoted(token):
            if part.role is Role.STRING and not token.text.startswith("`"):
                for piece in split(part, _ESCAPE, Role.ESCAPE):
                    yield from split(piece, _PLACEHOLDER, Role.PLACEHOLDER) if piece.role is Role.STRING else (piece,)
            else:
                yield part
    else:
        yield token
