"""Rules for JavaScript and TypeScript."""

from __future__ import annotations

from pressroom_code_to_image.highlight.script_context import Bracket
from pressroom_code_to_image.highlight.script_lookahead import LOGICAL, MARKS
from pressroom_code_to_image.highlight.script_names import Names
from pressroom_code_to_image.highlight.script_texts import joined, parts
from pressroom_code_to_image.highlight.tokens import Role, Token, TokenKind, significant


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
    """Return the tokens of a script with their roles; `typed` tells whether it is TypeScript."""
    tokens = list(joined(tokens))
    _Script(significant(tokens), typed=typed).run()
    return [part for token in tokens for part in parts(token)]
