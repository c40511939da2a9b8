"""One Dark."""

from typing import Final

from pressroom_code_to_image.themes.theme import theme

ONE_DARK: Final = theme(
    background="#282c34",
    foreground="#abb2bf",
    styles={
        "#7f848e italic": "comment",
        "#98c379": "docstring string quote",
        "#c678dd": "keyword declaration modifier word_operator placeholder",
        "#56b6c2": "operator logical escape builtin",
        "#e06c75": "regex unit variable assigned property key tag",
        "#d19a66": "number literal attribute value color",
        "#e5c07b": "constant type class base builtin_type namespace object self lifetime",
        "#61afef": "function call macro decorator",
        "#e06c75 italic": "parameter argument",
    },
    languages={
        "javascript": {
            "#e5c07b italic": "type",
        },
        "typescript": {
            "#abb2bf": "operator",
        },
        "python": {
            "#d19a66": "placeholder constant",
            "#abb2bf": "base variable property",
            "#56b6c2": "builtin_type",
            "#d19a66 italic": "parameter",
        },
        "go": {
            "#e5c07b": "operator",
            "#d19a66": "placeholder",
            "#61afef": "builtin",
            "#c678dd": "builtin_type",
        },
        "rust": {
            "#abb2bf": "operator property",
            "#98c379": "placeholder",
            "#d19a66": "constant",
        },
        "bash": {
            "#abb2bf": "operator",
            "#98c379": "placeholder literal",
            "#d19a66": "constant",
        },
        "html": {
            "#e06c75": "escape",
            "#abb2bf": "key",
        },
        "css": {
            "#abb2bf": "operator key",
            "#56b6c2": "attribute",
        },
        "sql": {
            "#d19a66": "constant",
        },
    },
)
