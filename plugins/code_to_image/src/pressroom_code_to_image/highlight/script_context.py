"""What the brackets around a place of a JavaScript or TypeScript text hold."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from pressroom_code_to_image.highlight.script_lookahead import BEFORE_OBJECT, CONTROL, DECLARING, Lookahead
from pressroom_code_to_image.highlight.tokens import Role, Token


class Bracket(Enum):
    """What a bracket holds."""

    BLOCK = auto()
    OBJECT = auto()
    MEMBERS = auto()
    """The body of a class, an interface or a type."""
    ENUM = auto()
    PARAMETERS = auto()
    PATTERN = auto()
    """Names that a destructuring declares; the role beside it on the stack is what they become."""
    IMPORTS = auto()
    OTHER = auto()


class ScriptContext(Lookahead):
    """A script with the stack of its open brackets: what each holds, and the role of names that are declared in it."""

    def __init__(self, tokens: Sequence[Token], *, typed: bool) -> None:
        super().__init__(tokens, typed=typed)
        self.stack: list[tuple[Bracket, Role]] = [(Bracket.BLOCK, Role.VARIABLE)]

    def opened(self, index: int, text: str) -> tuple[Bracket, Role]:
        """Return what the bracket at a place opens."""
        before = self.text(index - 1)
        inside, role = self.stack[-1]
        if text == "${":
            return Bracket.OTHER, Role.VARIABLE
        if text == "(":
            return (Bracket.PARAMETERS, Role.PARAMETER) if self._has_parameters(index) else (Bracket.OTHER, role)
        if before in DECLARING:
            return Bracket.PATTERN, Role.CONSTANT if before == "const" else Role.VARIABLE
        if inside is Bracket.PATTERN and before in ("{", "[", ",", ":", "..."):
            return Bracket.PATTERN, role
        if inside is Bracket.PARAMETERS and before in ("(", ",", "..."):
            return Bracket.PATTERN, Role.PARAMETER
        if text == "[":
            return Bracket.OTHER, role
        return self._braced(index, before), Role.VARIABLE

    def _braced(self, index: int, before: str) -> Bracket:
        head = self._head(index)
        if "import" in head or (before in ("export", "import", "type") and "from" not in head):
            return Bracket.IMPORTS
        if "class" in head or "interface" in head:
            return Bracket.MEMBERS
        if "enum" in head:
            return Bracket.ENUM
        if before == "=>":
            return Bracket.BLOCK
        if before == ":" and self.stack[-1][0] is Bracket.BLOCK:
            return Bracket.BLOCK  # after a label or a case
        return (
            Bracket.OBJECT if before in BEFORE_OBJECT or self.tokens[index - 1].role is Role.OPERATOR else Bracket.BLOCK
        )

    def _head(self, index: int) -> list[str]:
        """Return the words of the statement before a brace, back to the last mark that ends one."""
        found: list[str] = []
        at = index - 1
        while at > max(-1, index - 80):
            text = self.text(at)
            if text in (";", "{", "}", "=>", ")", "=", "("):
                break
            found.append(text)
            at = (self.generic_start(at) if text == ">" else at) - 1
        return found

    def _has_parameters(self, index: int) -> bool:
        end = self.partners.get(index)
        if end is None:
            return self.text(index - 1) == "function" or self.text(index - 2) == "function"
        after = self.text(end + 1)
        if after == "=>":
            return True
        if "function" in (self.text(index - 1), self.text(index - 2), self.text(index - 3)):
            return self.text(index - 1) not in (",", "=", "(")
        start = index - 1
        if self.text(start) == ">":
            start = self.generic_start(start) - 1
            if self.text(start - 1) == "function":
                return True
        if self.typed and after == ":" and self.arrow_follows(end + 1):
            return True
        inside = self.stack[-1][0]
        member = inside in (Bracket.MEMBERS, Bracket.OBJECT) and self.word(start) and self.text(start) not in CONTROL
        if not member:
            return False
        return after == "{" or (inside is Bracket.MEMBERS and after in (":", ";"))
