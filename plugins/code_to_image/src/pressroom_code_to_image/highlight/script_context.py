"""Context of JavaScript and TypeScript tokens: word lists, lookahead, and the contents of brackets."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import Final

from pressroom_code_to_image.highlight.tokens import Role, Token, TokenKind, partners, word_set

KEYWORDS: Final = {
    **dict.fromkeys(
        word_set(
            "import export from as default return await yield throw try catch finally if else for while do "
            "switch case break continue with debugger"
        ),
        Role.KEYWORD,
    ),
    **dict.fromkeys(
        word_set("const let var function class interface enum type namespace module constructor get set"),
        Role.DECLARATION,
    ),
    **dict.fromkeys(
        word_set("async static extends implements public private protected readonly abstract declare override"),
        Role.MODIFIER,
    ),
    **dict.fromkeys(
        word_set("new typeof instanceof in of delete void keyof is infer satisfies asserts unique"),
        Role.WORD_OPERATOR,
    ),
    **dict.fromkeys(word_set("true false null undefined NaN Infinity"), Role.LITERAL),
    **dict.fromkeys(word_set("this super"), Role.SELF),
}
SOMETIMES: Final = word_set(
    "from as type namespace module constructor get set async static implements public private protected "
    "readonly abstract declare override of keyof is infer satisfies asserts unique default"
)
"""Contextual keywords, which can also be names."""

BUILTIN_TYPES: Final = word_set(
    "string number boolean void any unknown never object symbol bigint undefined null true false"
)
CONTROL: Final = word_set("if for while switch catch with return await of in typeof")
LOGICAL: Final = word_set("&& || ?? ! === !== == !=")
MARKS: Final = word_set("( ) [ ] { } , ; : . ?.")
BEFORE_OBJECT: Final = word_set("( , = : [ ? && || ?? return ... += yield default =>")
TYPE_OPERATORS: Final = word_set("| &")
DECLARING: Final = word_set("const let var")

MEMBER_WORDS: Final = ("readonly", "static", "public", "private", "protected", "abstract", "override", "declare")


class Lookahead:
    """The significant tokens of a script, with lookups around an index."""

    def __init__(self, tokens: Sequence[Token], *, typed: bool) -> None:
        self.tokens = tokens
        self.typed = typed
        self.partners = partners(tokens)

    def text(self, index: int) -> str:
        """Return the text of a token, or an empty string if the index is out of range."""
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def word(self, index: int) -> bool:
        """Return whether a token is a word."""
        return 0 <= index < len(self.tokens) and self.tokens[index].kind is TokenKind.WORD

    def generic_start(self, index: int) -> int:
        """Return the start of the type list that ends with `>`."""
        depth = 0
        for at in range(index, max(-1, index - 60), -1):
            depth += (self.text(at) == ">") - (self.text(at) == "<")
            if not depth:
                return at
        return index

    def arrow_follows(self, index: int) -> bool:
        """Return whether an arrow follows the type that starts here, before the statement ends."""
        depth = 0
        for at in range(index + 1, min(len(self.tokens), index + 40)):
            text = self.text(at)
            if text == "=>" and depth == 0:
                return True
            depth += (text in "([{<") - (text in ")]}>") if text else 0
            if depth < 0 or text in (";", "=", "?") or (text == "," and not depth):
                return False
        return False

    def type_list(self, index: int) -> int:
        """Return the end of a type list that starts with `<`, or 0 if it is a comparison."""
        before = self.tokens[index - 1] if index else None
        depth = 0
        for at in range(index, min(len(self.tokens), index + 80)):
            text = self.text(at)
            if text == "<":
                depth += 1
            elif text == ">":
                depth -= 1
                if not depth:
                    end = at
                    break
            elif text in (";", "&&", "||", "===", "!==", "==", "${", "++", "+", "-") or (
                text in (")", "}", "]") and self.partners.get(at, at) < index
            ):
                return 0
        else:
            return 0
        if before is not None and before.kind is TokenKind.WORD and before.text not in ("return", "=", "of", "in"):
            return end
        return end if self.text(end + 1) == "(" and (before is None or before.kind is TokenKind.PUNCTUATION) else 0

    def is_function(self, index: int) -> bool:
        """Return whether the value after `=` or `:` is a function."""
        if self.text(index) not in ("=", ":"):
            return False
        at = index + 1
        if self.text(at) == "async":
            at += 1
        if self.text(at) == "function":
            return True
        if self.text(at) == "<" and self.typed and (end := self.type_list(at)):
            at = end + 1
        if self.text(at) == "(":
            end = self.partners.get(at, -1)
            return end >= 0 and (
                self.text(end + 1) == "=>" or (self.typed and self.text(end + 1) == ":" and self.arrow_follows(end + 1))
            )
        return self.word(at) and self.text(at + 1) == "=>"

    def is_function_type(self, index: int) -> bool:
        """Return whether the type here is a function type."""
        end = self.partners.get(index)
        return self.text(index) == "(" and end is not None and self.text(end + 1) == "=>"


class Bracket(Enum):
    """The contents of a bracket."""

    BLOCK = auto()
    OBJECT = auto()
    MEMBERS = auto()
    """The body of a class, an interface or a type."""
    ENUM = auto()
    PARAMETERS = auto()
    PATTERN = auto()
    """Names declared by destructuring; the role next to it on the stack is theirs."""
    IMPORTS = auto()
    OTHER = auto()


class ScriptContext(Lookahead):
    """A script with the stack of its open brackets: the contents of each, and the role of names declared in it."""

    def __init__(self, tokens: Sequence[Token], *, typed: bool) -> None:
        super().__init__(tokens, typed=typed)
        self.stack: list[tuple[Bracket, Role]] = [(Bracket.BLOCK, Role.VARIABLE)]

    def opened(self, index: int, text: str) -> tuple[Bracket, Role]:
        """Return the contents of the bracket that opens at an index, and the role of names declared in it."""
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
        """Return the words of the statement before a brace, back to the last delimiter, in reverse order."""
        words: list[str] = []
        at = index - 1
        while at > max(-1, index - 80):
            text = self.text(at)
            if text in (";", "{", "}", "=>", ")", "=", "("):
                break
            words.append(text)
            at = (self.generic_start(at) if text == ">" else at) - 1
        return words

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
