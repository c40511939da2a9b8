"""The words and marks of JavaScript and TypeScript, and looking around in a text of them."""

from __future__ import annotations

from collections.abc import Sequence
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
"""Words that are names, too, where no keyword can stand."""

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
    """The significant tokens of a script, and questions about what stands around a place."""

    def __init__(self, tokens: Sequence[Token], *, typed: bool) -> None:
        self.tokens = tokens
        self.typed = typed
        self.partners = partners(tokens)

    def text(self, index: int) -> str:
        """Return the text of a token, or an empty one if absent."""
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def word(self, index: int) -> bool:
        """Tell whether a token is a word."""
        return 0 <= index < len(self.tokens) and self.tokens[index].kind is TokenKind.WORD

    def generic_start(self, index: int) -> int:
        """Return where the list of types that ends with `>` begins."""
        depth = 0
        for at in range(index, max(-1, index - 60), -1):
            depth += (self.text(at) == ">") - (self.text(at) == "<")
            if not depth:
                return at
        return index

    def arrow_follows(self, index: int) -> bool:
        """Tell whether an arrow stands after the type that begins here, before the statement ends."""
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
        """Return where a list of types that begins with `<` ends, or 0 where it is a comparison."""
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
        """Tell whether the value after `=` or `:` is a function."""
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
        """Tell whether the type here is that of a function."""
        end = self.partners.get(index)
        return self.text(index) == "(" and end is not None and self.text(end + 1) == "=>"
