"""GitHub Light."""

from typing import Final

from pressroom_code_to_image.themes.theme import theme

GITHUB_LIGHT: Final = theme(
    background="#ffffff",
    foreground="#24292e",
    styles={
        "#6a737d": "comment",
        "#032f62": "docstring string quote placeholder regex",
        "#d73a49": "keyword declaration modifier operator logical word_operator unit",
        "#005cc5": "escape number literal constant builtin builtin_type self value color",
        "#6f42c1": "function macro type class base namespace attribute decorator lifetime",
        "#e36209": "parameter argument",
        "#22863a": "tag",
    },
    languages={
        "python": {
            "#005cc5": "placeholder base",
            "#24292e": "parameter",
        },
        "go": {
            "#005cc5": "placeholder",
            "#6f42c1": "builtin",
            "#d73a49": "builtin_type",
        },
        "rust": {
            "#6f42c1": "builtin_type",
        },
        "bash": {
            "#032f62": "literal",
        },
        "json": {
            "#005cc5": "key",
        },
        "html": {
            "#005cc5": "key",
        },
        "css": {
            "#e36209": "variable",
            "#005cc5": "key",
        },
    },
)
