"""The words and marks of JavaScript and TypeScript."""

from __future__ import annotations

from typing import Final

from pressroom_code_to_image.highlight.roles import Role
from pressroom_code_to_image.highlight.tokens import word_set

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
