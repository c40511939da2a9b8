"""Solarized Dark."""

from typing import Final

from pressroom_code_to_image.themes.theme import theme

SOLARIZED_DARK: Final = theme(
    background="#002b36",
    foreground="#839496",
    styles={
        "#586e75 italic": "comment",
        "#2aa198": "docstring string quote placeholder",
        "#859900": "keyword operator logical word_operator unit builtin_type",
        "#93a1a1 bold": "declaration modifier",
        "#cb4b16": "escape type class namespace lifetime color",
        "#dc322f": "regex",
        "#d33682": "number",
        "#b58900": "literal",
        "#268bd2": "constant function builtin macro variable assigned object property self tag decorator",
        "#6c71c4": "base",
        "#586e75": "tag_bracket",
        "#93a1a1": "attribute",
    },
    languages={
        "python": {
            "#cb4b16": "placeholder constant base",
            "#839496": "variable property",
        },
        "go": {
            "#859900": "declaration",
            "#cb4b16": "placeholder",
            "#93a1a1 bold": "builtin_type",
        },
        "rust": {
            "#cb4b16": "constant builtin_type",
            "#839496": "property",
        },
        "bash": {
            "#2aa198": "literal",
            "#cb4b16": "constant",
        },
        "json": {
            "#859900": "key",
        },
        "html": {
            "#859900": "key",
        },
        "css": {
            "#839496": "variable",
            "#859900": "key",
        },
        "sql": {
            "#cb4b16": "constant",
        },
    },
)
