"""Roles of JavaScript and TypeScript names, based on their context.

TypeScript types occur after a colon, in angle brackets, after `as`, and after the name of a type alias.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Final

from pressroom_code_to_image.highlight.script_context import (
    BUILTIN_TYPES,
    DECLARING,
    KEYWORDS,
    MEMBER_WORDS,
    SOMETIMES,
    TYPE_OPERATORS,
    Bracket,
    ScriptContext,
)
from pressroom_code_to_image.highlight.tokens import Role, Token, TokenKind, word_set

_TYPE_WORDS: Final = {
    **dict.fromkeys(word_set("extends readonly"), Role.MODIFIER),
    **dict.fromkeys(word_set("keyof typeof is infer in new asserts unique"), Role.WORD_OPERATOR),
    "as": Role.KEYWORD,
}
_TYPE_MARKS: Final = {"=>": Role.DECLARATION, **dict.fromkeys((",", ".", ";"), Role.PUNCTUATION)}

_CONSTANT: Final = re.compile(r"[A-Z][A-Z0-9_$]*")
_BEFORE_PARAMETER: Final = frozenset({"(", ",", "...", "private", "public", "protected", "readonly", "override"})


class Types(ScriptContext, ABC):
    """A script with its types marked."""

    @abstractmethod
    def step(self, index: int) -> int:
        """Mark the token at an index outside of types; return the index after it."""

    def type_arguments(self, start: int, end: int) -> None:
        """Mark a list of types in angle brackets."""
        self.types(start + 1, end)
        self.tokens[start].role = self.tokens[end].role = Role.PUNCTUATION

    def annotates_result(self, index: int) -> bool:
        """Return whether the colon after a closing bracket precedes a result type."""
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
        """Return whether a colon precedes the type of a name."""
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
        """Mark the words of a type up to `end`, or the first token that cannot belong to it; return the next index."""
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
        """Mark a part of a type; return the index after it, and whether the type can end there."""
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
        # In malformed code, a bracket in between can close more than was opened there.
        del self.stack[depth:]
        self.tokens[closing].role = Role.PUNCTUATION
        if parameters:
            self.tokens[closing + 1].role = Role.DECLARATION
            return self.types(closing + 2, None)
        return closing + 1


class Names(Types):
    """A script with its names and keywords marked."""

    def name(self, index: int, token: Token) -> int:
        """Mark a word and anything that belongs to it; return the index after that."""
        text = token.text
        before, after = self.text(index - 1), self.text(index + 1)
        inside, declares = self.stack[-1]
        if before in (".", "?."):
            token.role = self._member(index, after)
            return index + 1
        if text in KEYWORDS and not self._plain_name(index, inside, before, after):
            return self._keyword(index, token)
        token.role = self._role(index, inside, declares, before, after)
        if self.typed and before == "type" and self.tokens[index - 1].role is Role.DECLARATION:
            return self._alias(index)
        return index + 1

    def _plain_name(self, index: int, inside: Bracket, before: str, after: str) -> bool:
        """Return whether a potential keyword is a name here."""
        text = self.text(index)
        if inside in (Bracket.OBJECT, Bracket.MEMBERS) and after == ":" and before in ("{", ",", ";", "readonly"):
            return True
        if inside is Bracket.MEMBERS and after == "(" and text not in ("constructor", "super"):
            return True
        return text in SOMETIMES and not self._is_contextual_keyword(index, inside, before, after)

    def _is_contextual_keyword(self, index: int, inside: Bracket, before: str, after: str) -> bool:
        """Return whether a contextual keyword is a keyword here."""
        follows = self.word(index + 1)
        match self.text(index):
            case "get" | "set" | "static" | "async" if inside in (Bracket.MEMBERS, Bracket.OBJECT):
                is_keyword = follows or after in ("[", "*", "#")
            case "async":
                is_keyword = follows or after in ("function", "(")
            case "from":
                is_keyword = index + 1 < len(self.tokens) and self.tokens[index + 1].kind is TokenKind.STRING
            case "as":
                is_keyword = follows and (self.word(index - 1) or before in (")", "]", "}", "*", "!"))
            case "of":
                is_keyword = self.word(index - 1) or before in ("]", "}")
            case "constructor":
                is_keyword = inside is Bracket.MEMBERS
            case "default":
                is_keyword = True
            case _:
                is_keyword = self.typed and (follows or after == "{")
        return is_keyword

    def _keyword(self, index: int, token: Token) -> int:
        text = token.text
        token.role = KEYWORDS[text]
        if text == "type" and (self.text(index - 1) in ("import", "export") and self.text(index + 2) != "="):
            token.role = Role.KEYWORD if self.text(index + 1) in ("{", "*") else Role.DECLARATION
        if self.typed and text in ("as", "satisfies") and self.stack[-1][0] is not Bracket.IMPORTS:
            return self.types(index + 1, None)
        if text in ("extends", "implements"):
            return self._bases(index + 1)
        if text == "void" and self.typed and self.text(index - 1) in (":", "=>", "|", "<"):
            token.role = Role.BUILTIN_TYPE
        return index + 1

    def _bases(self, index: int) -> int:
        while index < len(self.tokens) and self.text(index) not in ("{", ";"):
            token = self.tokens[index]
            if token.text == "<" and (end := self.type_list(index)):
                self.types(index + 1, end)
                index = end
            elif token.text in ("extends", "implements"):
                token.role = Role.MODIFIER
            elif token.kind is TokenKind.WORD:
                token.role = Role.FUNCTION if self.text(index + 1) == "(" else Role.BASE
            elif token.text in ("(", ")"):
                return index
            index += 1
        return index

    def _alias(self, index: int) -> int:
        """Mark a type alias, starting at its name."""
        self.tokens[index].role = Role.TYPE
        index += 1
        if self.text(index) == "<" and (end := self.type_list(index)):
            self.types(index + 1, end)
            index = end + 1
        if self.text(index) == "=":
            self.tokens[index].role = Role.OPERATOR
            return self.types(index + 1, None)
        return index

    def _member(self, index: int, after: str) -> Role:
        if self._called(index):
            return Role.FUNCTION
        if _CONSTANT.fullmatch(self.text(index)):
            return Role.CONSTANT
        return Role.OBJECT if after in (".", "?.") and self.text(index) == "prototype" else Role.PROPERTY

    def _called(self, index: int) -> bool:
        after = self.text(index + 1)
        if after == "(" or (after == "?." and self.text(index + 2) == "("):
            return True
        if after == "!" and self.typed and self.text(index + 2) == "(":
            return True
        if after == "<" and self.typed and (end := self.type_list(index + 1)):
            return self.text(end + 1) == "("
        return self.tokens[index + 1].kind is TokenKind.STRING and after.startswith("`") if after else False

    def _role(self, index: int, inside: Bracket, declares: Role, before: str, after: str) -> Role:
        """Return the role of a name that is not a member: the first matching rule wins."""
        return (
            self._declared(index, before)
            or self._part_of_list(index, inside, declares, before, after)
            or self._part_of_body(index, inside, before, after)
            or self._used(index, after)
        )

    def _declared(self, index: int, before: str) -> Role | None:
        if before in ("class", "interface", "enum", "namespace", "module"):
            return Role.CLASS
        if before not in DECLARING:
            return None
        if self.is_function(index + 1):
            return Role.FUNCTION
        return Role.CONSTANT if before == "const" or _CONSTANT.fullmatch(self.text(index)) else Role.VARIABLE

    def _part_of_list(self, index: int, inside: Bracket, declares: Role, before: str, after: str) -> Role | None:
        """Return the role of a parameter, or of a name in a pattern."""
        if inside is Bracket.PARAMETERS and before in _BEFORE_PARAMETER:
            return Role.FUNCTION if self.typed and after == ":" and self.is_function_type(index + 2) else Role.PARAMETER
        if inside is Bracket.PATTERN:
            if after == ":":
                return Role.PROPERTY
            if before in ("{", "[", ",", ":", "..."):
                return declares
        return None

    def _part_of_body(self, index: int, inside: Bracket, before: str, after: str) -> Role | None:
        """Return the role of an enum constant, a class member or an object key."""
        if inside is Bracket.ENUM and before in ("{", ","):
            return Role.CONSTANT
        if inside is Bracket.MEMBERS and not self._called(index) and self._begins_member(index, before):
            return Role.PROPERTY
        if inside is Bracket.OBJECT and before in ("{", ",", "async", "get", "set", "*") and after in (":", "?"):
            return Role.FUNCTION if self.is_function(index + 1) else Role.KEY
        return None

    def _used(self, index: int, after: str) -> Role:
        if after == "=>":
            return Role.PARAMETER
        if self._called(index):
            return Role.FUNCTION
        constant = _CONSTANT.fullmatch(self.text(index))
        if after in (".", "?.") and not constant:
            return Role.OBJECT
        return Role.CONSTANT if constant else Role.VARIABLE

    def _begins_member(self, index: int, before: str) -> bool:
        return before in ("{", ";", "}", ",", *MEMBER_WORDS) or self.tokens[index].newline
