"""GitHub Dark."""

from typing import Final

from pressroom_code_to_image.themes.theme import theme

GITHUB_DARK: Final = theme(
    background="#24292e",
    foreground="#e1e4e8",
    styles={
        "#6a737d": "comment",
        "#9ecbff": "docstring string quote placeholder",
        "#f97583": "keyword declaration modifier operator logical word_operator unit",
        "#79b8ff": "escape number literal constant builtin builtin_type self value color",
        "#dbedff": "regex",
        "#b392f0": "function macro type class base namespace attribute decorator lifetime",
        "#ffab70": "parameter argument",
        "#85e89d": "tag",
    },
    languages={
        "python": {
            "#79b8ff": "placeholder base",
            "#e1e4e8": "parameter",
        },
        "go": {
            "#79b8ff": "placeholder",
            "#b392f0": "builtin",
            "#f97583": "builtin_type",
        },
        "rust": {
            "#b392f0": "builtin_type",
        },
        "bash": {
            "#9ecbff": "literal",
        },
        "json": {
            "#79b8ff": "key",
        },
        "html": {
            "#79b8ff": "key",
        },
        "css": {
            "#ffab70": "variable",
            "#79b8ff": "key",
        },
    },
)
