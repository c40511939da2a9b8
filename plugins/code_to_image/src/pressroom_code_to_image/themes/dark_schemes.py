"""Dark themes based on cross-editor colour schemes: Catppuccin Mocha, Solarized Dark, Tokyo Night and others."""

from __future__ import annotations

from typing import Final

from pressroom_code_to_image.themes.theme import theme

CATPPUCCIN_MOCHA: Final = theme(
    background="#1e1e2e",
    foreground="#cdd6f4",
    styles={
        "#9399b2 italic": "comment docstring",
        "#cba6f7": "keyword declaration modifier word_operator",
        "#94e2d5": "operator logical",
        "#9399b2": "punctuation accessor tag_bracket",
        "#a6e3a1": "string quote",
        "#f5c2e7": "escape placeholder regex",
        "#fab387": "number unit literal constant builtin decorator value color",
        "#89b4fa": "function call macro tag key",
        "#f9e2af": "type class base builtin_type namespace attribute lifetime",
        "#eba0ac italic": "parameter argument",
        "#f38ba8": "self",
    },
    languages={},
)

EVERFOREST_DARK: Final = theme(
    background="#2d353b",
    foreground="#d3c6aa",
    styles={
        "#859289 italic": "comment",
        "#e67e80": "keyword declaration",
        "#e69875": "modifier operator logical word_operator tag unit",
        "#859289": "punctuation accessor tag_bracket",
        "#83c092": "string quote docstring constant",
        "#dbbc7f": "type class base builtin_type namespace escape placeholder",
        "#a7c080": "function call macro builtin attribute regex",
        "#d699b6": "number literal self decorator lifetime value color",
        "#7fbbb3": "property key",
    },
    languages={},
)

GRUVBOX_DARK: Final = theme(
    background="#282828",
    foreground="#ebdbb2",
    styles={
        "#928374 italic": "comment",
        "#fb4934": "keyword declaration modifier word_operator self",
        "#8ec07c": "operator logical function call macro builtin",
        "#a89984": "punctuation accessor tag_bracket",
        "#b8bb26": "string quote docstring regex",
        "#fe8019": "escape placeholder decorator unit",
        "#d3869b": "number literal constant value color",
        "#fabd2f": "type class base builtin_type namespace attribute lifetime",
        "#83a598": "property key parameter argument tag",
    },
    languages={},
)

KANAGAWA: Final = theme(
    background="#1f1f28",
    foreground="#dcd7ba",
    styles={
        "#727169 italic": "comment docstring",
        "#957fb8": "keyword declaration modifier word_operator",
        "#c0a36e": "operator logical placeholder regex",
        "#9cabca": "punctuation accessor tag_bracket",
        "#98bb6c": "string quote",
        "#d27e99": "number unit value color",
        "#ffa066": "literal constant decorator",
        "#7e9cd8": "function call macro",
        "#7fb4ca": "builtin tag escape",
        "#7aa89f": "type class base builtin_type namespace lifetime",
        "#e6c384": "property key attribute",
        "#ff5d62": "self",
    },
    languages={},
)

NIGHT_OWL: Final = theme(
    background="#011627",
    foreground="#d6deeb",
    styles={
        "#637777 italic": "comment docstring",
        "#c792ea": "keyword declaration modifier operator logical word_operator",
        "#7fdbca": "punctuation accessor tag_bracket self property key",
        "#ecc48d": "string quote",
        "#f78c6c": "number unit escape",
        "#d3423e": "placeholder",
        "#5ca7e4": "regex",
        "#ff5874": "literal",
        "#82aaff": "function call macro builtin constant decorator value",
        "#ffcb8b": "type class builtin_type namespace lifetime color",
        "#c5e478": "base attribute",
        "#d7dbe0": "parameter argument",
        "#caece6": "tag",
    },
    languages={},
)

PALENIGHT: Final = theme(
    background="#292d3e",
    foreground="#a6accd",
    styles={
        "#676e95 italic": "comment docstring",
        "#c792ea": "keyword declaration modifier word_operator attribute",
        "#89ddff": "operator logical punctuation accessor tag_bracket quote escape placeholder regex",
        "#c3e88d": "string",
        "#f78c6c": "number unit literal parameter argument",
        "#82aaff": "function call macro builtin constant decorator",
        "#ffcb6b": "type class base builtin_type namespace lifetime color value",
        "#f07178": "property key tag self",
    },
    languages={},
)

ROSE_PINE: Final = theme(
    background="#191724",
    foreground="#e0def4",
    styles={
        "#6e6a86 italic": "comment docstring",
        "#31748f": "keyword declaration modifier word_operator",
        "#908caa": "operator logical punctuation accessor tag_bracket",
        "#f6c177": "string quote number unit literal",
        "#ebbcba": "function call macro constant regex escape placeholder",
        "#eb6f92": "builtin self color",
        "#9ccfd8": "type class base builtin_type namespace property key tag value lifetime",
        "#c4a7e7 italic": "parameter argument attribute decorator",
    },
    languages={},
)


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
