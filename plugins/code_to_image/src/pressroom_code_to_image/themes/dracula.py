"""Dracula."""

from typing import Final

from pressroom_code_to_image.themes.theme import theme

DRACULA: Final = theme(
    background="#282a36",
    foreground="#f8f8f2",
    styles={
        "#6272a4": "comment docstring",
        "#ff79c6": "keyword declaration modifier operator logical word_operator escape placeholder unit tag",
        "#f1fa8c": "string regex",
        "#e9f284": "quote",
        "#bd93f9": "number literal constant value color",
        "#50fa7b": "function macro decorator",
        "#8be9fd": "builtin",
        "#8be9fd italic": "type class base builtin_type namespace lifetime",
        "#ffb86c italic": "parameter argument",
        "#bd93f9 italic": "self",
        "#50fa7b italic": "attribute",
    },
    languages={
        "javascript": {
            "#f8f8f2": "constant",
            "#8be9fd": "class",
        },
        "typescript": {
            "#f8f8f2": "constant",
        },
        "python": {
            "#bd93f9": "placeholder",
            "#8be9fd": "class",
        },
        "go": {
            "#bd93f9": "placeholder",
            "#50fa7b": "builtin",
        },
        "rust": {
            "#f1fa8c": "quote placeholder",
            "#f8f8f2": "namespace",
        },
        "bash": {
            "#f1fa8c": "placeholder literal",
            "#bd93f9": "variable",
        },
        "json": {
            "#8be9fd": "key",
        },
        "html": {
            "#ff79c6": "punctuation",
            "#bd93f9": "escape",
            "#f8f8f2": "constant",
            "#8be9fd": "key",
        },
        "css": {
            "#8be9fd": "key",
        },
    },
)
