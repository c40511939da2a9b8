"""Light themes: GitHub Light, One Light, Light+, and cross-editor colour schemes."""

from __future__ import annotations

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


CATPPUCCIN_LATTE: Final = theme(
    background="#eff1f5",
    foreground="#4c4f69",
    styles={
        "#7c7f93 italic": "comment docstring",
        "#7c7f93": "punctuation accessor tag_bracket",
        "#8839ef": "keyword declaration modifier word_operator",
        "#179299": "operator logical type class base builtin_type namespace attribute lifetime",
        "#40a02b": "string quote",
        "#fe640b": "number unit literal constant builtin decorator value color",
        "#1e66f5": "function call macro tag property key",
        "#e64553": "escape placeholder regex parameter argument",
        "#d20f39": "self",
    },
    languages={},
)

GRUVBOX_LIGHT: Final = theme(
    background="#fbf1c7",
    foreground="#3c3836",
    styles={
        "#928374 italic": "comment",
        "#9d0006": "keyword declaration modifier word_operator self",
        "#427b58": "operator logical function call macro builtin",
        "#7c6f64": "punctuation accessor tag_bracket",
        "#79740e": "string quote docstring regex",
        "#af3a03": "escape placeholder decorator unit",
        "#8f3f71": "number literal constant value color",
        "#b57614": "type class base builtin_type namespace attribute lifetime",
        "#076678": "property key parameter argument tag",
    },
    languages={},
)

ONE_LIGHT: Final = theme(
    background="#fafafa",
    foreground="#383a42",
    styles={
        "#a0a1a7 italic": "comment",
        "#a626a4": "keyword declaration modifier word_operator",
        "#0184bc": "operator logical escape builtin regex",
        "#383a42": "punctuation accessor tag_bracket",
        "#50a14f": "string quote docstring",
        "#ca1243": "placeholder",
        "#986801": "number unit literal constant attribute parameter argument value color",
        "#4078f2": "function call macro decorator",
        "#c18401": "type class base builtin_type namespace lifetime",
        "#e45649": "property key tag self",
    },
    languages={},
)

LIGHT_PLUS: Final = theme(
    background="#ffffff",
    foreground="#000000",
    styles={
        "#008000": "comment docstring",
        "#af00db": "keyword",
        "#0000ff": "declaration modifier word_operator literal self placeholder lifetime",
        "#a31515": "string quote",
        "#ee0000": "escape",
        "#811f3f": "regex",
        "#098658": "number unit color",
        "#795e26": "function call macro builtin decorator",
        "#267f99": "type class base builtin_type namespace",
        "#001080": "variable assigned object property key parameter argument",
        "#0070c1": "constant",
        "#800000": "tag tag_bracket",
        "#e50000": "attribute",
        "#0451a5": "value",
    },
    languages={"css": {"#e50000": "key"}, "json": {"#0451a5": "key"}},
)

SOLARIZED_LIGHT: Final = theme(
    background="#fdf6e3",
    foreground="#657b83",
    styles={
        "#93a1a1 italic": "comment",
        "#2aa198": "docstring string quote placeholder",
        "#859900": "keyword operator logical word_operator unit builtin_type",
        "#586e75 bold": "declaration modifier",
        "#cb4b16": "escape type class namespace lifetime color",
        "#dc322f": "regex",
        "#d33682": "number",
        "#b58900": "literal",
        "#268bd2": "constant function builtin macro variable assigned object property self tag decorator",
        "#6c71c4": "base",
        "#93a1a1": "tag_bracket",
        "#586e75": "attribute",
    },
    languages={"json": {"#859900": "key"}, "html": {"#859900": "key"}, "css": {"#859900": "key"}},
)
