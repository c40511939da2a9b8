"""Nord."""

from typing import Final

from pressroom_code_to_image.themes.theme import theme

NORD: Final = theme(
    background="#2e3440",
    foreground="#d8dee9",
    styles={
        "#616e88": "comment",
        "#a3be8c": "docstring string",
        "#81a1c1": (
            "keyword declaration modifier operator logical word_operator unit literal self tag tag_bracket value"
        ),
        "#eceff4": "punctuation accessor quote",
        "#ebcb8b": "escape placeholder regex",
        "#b48ead": "number color",
        "#88c0d0": "function call builtin",
        "#88c0d0 bold": "macro",
        "#8fbcbb": "type class builtin_type attribute lifetime",
        "#8fbcbb bold": "base",
        "#d08770": "decorator",
    },
    languages={
        "javascript": {
            "#81a1c1": "placeholder",
            "#616e88": "type",
            "#88c0d0": "key",
        },
        "typescript": {
            "#eceff4": "placeholder",
        },
        "python": {
            "#8fbcbb": "base",
            "#88c0d0": "builtin_type",
        },
        "go": {
            "#d8dee9": "type class",
            "#81a1c1": "builtin_type",
        },
        "rust": {
            "#5e81ac": "text",
        },
        "bash": {
            "#eceff4": "placeholder",
            "#a3be8c": "literal constant",
        },
        "json": {
            "#8fbcbb": "key",
        },
        "html": {
            "#81a1c1": "placeholder",
        },
    },
)
