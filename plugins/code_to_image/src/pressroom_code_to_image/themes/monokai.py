"""Monokai."""

from typing import Final

from pressroom_code_to_image.themes.theme import theme

MONOKAI: Final = theme(
    background="#272822",
    foreground="#f8f8f2",
    styles={
        "#88846f": "comment",
        "#e6db74": "docstring string quote regex",
        "#f92672": "keyword modifier operator logical word_operator placeholder unit tag",
        "#66d9ef italic": "declaration builtin_type",
        "#ae81ff": "escape number literal color",
        "#a6e22e": "function macro type class namespace attribute decorator lifetime",
        "#66d9ef": "builtin value",
        "#a6e22e italic": "base",
        "#fd971f italic": "parameter argument",
        "#fd971f": "self",
    },
    languages={
        "python": {
            "#ae81ff": "placeholder constant",
            "#66d9ef italic": "base",
        },
        "go": {
            "#f92672": "declaration",
            "#ae81ff": "placeholder",
            "#a6e22e": "builtin",
        },
        "rust": {
            "#e6db74": "placeholder",
            "#ae81ff": "constant",
            "#a6e22e": "builtin_type",
        },
        "bash": {
            "#e6db74": "placeholder literal",
            "#ae81ff": "constant",
        },
        "json": {
            "#cfcfc2": "string quote",
            "#66d9ef italic": "key",
        },
        "html": {
            "#66d9ef italic": "key",
        },
        "css": {
            "#66d9ef italic": "key",
        },
        "sql": {
            "#ae81ff": "constant",
        },
    },
)
