"""The types of TypeScript: after a colon, in angle brackets, after `as`, and behind a type's name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

from pressroom_code_to_image.highlight.script_context import Bracket, ScriptContext
from pressroom_code_to_image.highlight.script_lookahead import BUILTIN_TYPES, DECLARING, TYPE_OPERATORS
from pressroom_code_to_image.highlight.tokens import Role, Token, TokenKind, word_set

_TYPE_WORDS: Final = {
    **dict.fromkeys(word_set("extends readonly"), Role.MODIFIER),
    **dict.fromkeys(word_set("keyof typeof is infer in new asserts unique"), Role.WORD_OPERATOR),
    "as": Role.KEYWORD,
}
_TYPE_MARKS: Final = {"=>": Role.DECLARATION, **dict.fromkeys((",", ".", ";"), Role.PUNCTUATION)}


class Types(ScriptContext, ABC):
    """A script whose types are marked."""

    @abstractmethod
    def step(self, index: int) -> int:
        """Mark what is at a place outside of types; return the index after it."""

    def type_arguments(self, start: int, end: int) -> None:
        """Mark a list of types in angle brackets."""
        self.types(start + 1, end)
        self.tokens[start].role = self.tokens[end].role = Role.PUNCTUATION

    def annotates_result(self, index: int) -> bool:
        """Tell whether the colon after a closing bracket is before the type of a result."""
        start = self.partners.get(index)
        if start is None:
            return False
        return self.tokens[start].role is Role.PUNCTUATION and (
            self.text(start - 2) in ("function", "async", "get", "*")
            or self.text(start - 1) in ("function", ">")
            or self.stack[-1][0] is Bracket.MEMBERS
            or self.arrow_follows(index + 1)
            or (self.word(start - 1) and self._braces_follow(index + 1) and self.stack[-1][0] is Bracket.OBJECT)
        )

    def _braces_follow(self, index: int) -> bool:
        return any(self.text(at) == "{" for at in range(index, min(len(self.tokens), index + 12)))

    def annotates(self, index: int) -> bool:
        """Tell whether a colon is before the type of a name."""
        inside = self.stack[-1][0]
        if inside in (Bracket.PARAMETERS, Bracket.MEMBERS):
            return True
        name = index - 2 if self.text(index - 1) in ("?", "!") else index - 1
        if self.text(name - 1) in DECLARING:
            return True
        start = self.partners.get(name)
        return start is not None and self.text(start - 1) in DECLARING

    def type_after(self, index: int) -> int:
        """Mark the type after a colon; return the index after it."""
        self.tokens[index].role = Role.OPERATOR
        return self.types(index + 1, None)

    def types(self, index: int, end: int | None) -> int:
        """Mark the words of a type up to `end`, or to what cannot belong to it; return the index after it."""
        complete = False
        while index < len(self.tokens) if end is None else index < end:
            token = self.tokens[index]
            text = token.text
            if end is None and text in (")", "]", "}", ";", "=", ",", ">", "=>", "${"):
                return index
            if end is None and complete and (text == "{" or (token.newline and text not in TYPE_OPERATORS)):
                return index
            index, complete = self._type_part(index, token)
        return index

    def _type_part(self, index: int, token: Token) -> tuple[int, bool]:
        """Mark a part of a type; return the index after it, and whether the type may end there."""
        if token.kind is TokenKind.WORD:
            token.role = self._type_word(index, token.text)
            return index + 1, token.role in (Role.TYPE, Role.BUILTIN_TYPE)
        if token.kind is not TokenKind.PUNCTUATION:
            return index + 1, True
        closing = self.partners.get(index, -1)
        if token.text == "<" and (end := self.type_list(index)):
            self.type_arguments(index, end)
            return end + 1, True
        if token.text in ("{", "(", "[") and closing > index:
            return self._type_brackets(index, closing, token.text), True
        token.role = _TYPE_MARKS.get(token.text, Role.OPERATOR)
        return index + 1, token.text in ("]", ")", "}")

    def _type_word(self, index: int, text: str) -> Role:
        if text in _TYPE_WORDS:
            return _TYPE_WORDS[text]
        if self.text(index + 1) == "is":
            return Role.PARAMETER
        return Role.BUILTIN_TYPE if text in BUILTIN_TYPES else Role.TYPE

    def _type_brackets(self, index: int, closing: int, text: str) -> int:
        self.tokens[index].role = self.tokens[closing].role = Role.PUNCTUATION
        if text == "[":
            self.types(index + 1, closing)
            return closing + 1
        parameters = text == "(" and self.text(closing + 1) == "=>"
        if text == "(" and not parameters:
            self.types(index + 1, closing)
            return closing + 1
        depth = len(self.stack)
        self.stack.append((Bracket.PARAMETERS, Role.PARAMETER) if parameters else (Bracket.MEMBERS, Role.VARIABLE))
        at = index + 1
        while at < closing:
            if text == "{" and self.text(at) == "[":
                self.tokens[at].role = Role.PUNCTUATION
                end = self.partners.get(at, at)
                self.types(at + 1, end)
                at = end + 1
            else:
                at = self.step(at)
        # In broken code, a bracket between these may have closed more than was opened there.
        del self.stack[depth:]
        self.tokens[closing].role = Role.PUNCTUATION
        if parameters:
            self.tokens[closing + 1].role = Role.DECLARATION
            return self.types(closing + 2, None)
        return closing + 1
