"""Tokyo Night."""

from typing import Final

from pressroom_code_to_image.themes.theme import theme

TOKYO_NIGHT: Final = theme(
    background="#1a1b26",
    foreground="#a9b1d6",
    styles={
        "#51597d italic": "comment docstring",
        "#bb9af7": "keyword declaration logical base attribute",
        "#9d7cd8 italic": "modifier",
        "#89ddff": "operator word_operator punctuation accessor quote escape",
        "#9ece6a": "string",
        "#7dcfff": "placeholder",
        "#b4f9f8": "regex",
        "#ff9e64": "number literal constant value",
        "#f7768e": "unit self tag",
        "#7aa2f7": "function call macro decorator",
        "#0db9d7": "builtin builtin_type",
        "#c0caf5": "type class namespace variable assigned object property lifetime",
        "#e0af68": "parameter argument",
        "#73daca": "key",
        "#ba3c97": "tag_bracket",
        "#9aa5ce": "color",
    },
    languages={
        "javascript": {
            "#bb9af7 italic": "keyword",
            "#9d7cd8 italic": "declaration",
            "#9abdf5": "punctuation",
            "#bb9af7": "constant",
            "#646e9c italic": "type",
            "#7dcfff": "property",
        },
        "typescript": {
            "#bb9af7 italic": "keyword",
            "#9abdf5": "punctuation",
            "#bb9af7": "constant",
            "#7dcfff": "property",
        },
        "python": {
            "#bb9af7": "word_operator placeholder",
            "#9abdf5": "punctuation",
            "#0db9d7": "base",
            "#a9b1d6": "variable",
        },
        "go": {
            "#9abdf5": "punctuation",
            "#c0caf5": "placeholder",
            "#7aa2f7": "builtin",
            "#bb9af7": "builtin_type",
        },
        "rust": {
            "#89ddff": "placeholder",
            "#c0caf5": "builtin_type",
            "#0db9d7": "namespace",
            "#a9b1d6": "property",
        },
        "bash": {
            "#89ddff": "placeholder",
            "#9ece6a": "literal",
            "#e0af68": "constant",
            "#c0caf5": "function",
        },
        "json": {
            "#7aa2f7": "key",
        },
        "html": {
            "#9aa5ce": "text",
            "#9d7cd8 italic": "declaration",
            "#0db9d7": "escape",
            "#bb9af7": "constant",
            "#7dcfff": "property",
            "#7aa2f7": "key",
        },
        "css": {
            "#bb9af7": "word_operator",
            "#7aa2f7": "key",
            "#0db9d7": "tag",
        },
        "sql": {
            "#89ddff": "keyword",
            "#bb9af7": "operator",
            "#e0af68": "constant",
        },
    },
)
