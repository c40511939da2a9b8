"""Dark themes: Dracula, GitHub Dark, Monokai, Nord and One Dark."""

from __future__ import annotations

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
