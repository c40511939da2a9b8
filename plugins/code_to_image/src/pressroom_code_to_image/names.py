"""The names of languages, themes and fonts that the parameters accept."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from typing import Final, Literal, get_args

from pressroom.sdk import InvalidInput

AUTO: Final = "auto"
PLAIN: Final = "plaintext"

Language = Literal[
    "javascript", "typescript", "python", "go", "rust", "bash", "json", "html", "css", "sql", "plaintext"
]
"""Languages with their own rules, and text without colours."""

LANGUAGES: Final = (
    *get_args(Language), AUTO,
    "c", "clojure", "cmake", "cpp", "csharp", "dart", "diff", "docker", "elixir", "elm", "erlang", "fsharp", "fortran",
    "graphql", "groovy", "haskell", "ini", "java", "jsx", "julia", "kotlin", "less", "lua", "make", "markdown",
    "matlab", "nginx", "nim", "nix", "objective-c", "ocaml", "perl", "php", "powershell", "protobuf",
    "r", "ruby", "scala", "scheme", "scss", "solidity", "swift", "terraform", "tex", "toml", "tsx",
    "vim", "vue", "xml", "yaml", "zig",
)  # fmt: skip
"""The languages that forms offer. Any other Pygments name is accepted too."""

_OWN_ALIASES: Final = {
    "text": PLAIN,
    "plain": PLAIN,
    "txt": PLAIN,
    "none": PLAIN,
    "jsonc": "json",
    "svelte": "html",
    "html5": "html",
}
"""Common names that Pygments lacks, or that the rules here handle better."""

ThemeName = Literal[
    "dracula",
    "nord",
    "github-dark",
    "github-light",
    "monokai",
    "one-dark",
    "solarized-dark",
    "tokyo-night",
    "catppuccin-latte",
    "catppuccin-mocha",
    "everforest-dark",
    "gruvbox-dark",
    "gruvbox-light",
    "kanagawa",
    "light-plus",
    "night-owl",
    "one-light",
    "palenight",
    "rose-pine",
    "solarized-light",
]


FontName = Literal["jetbrains-mono", "fira-code", "source-code-pro"]

FONT_FAMILIES: Final[Mapping[str, str]] = {
    "jetbrains-mono": "JetBrains Mono",
    "fira-code": "Fira Code",
    "source-code-pro": "Source Code Pro",
}
"""Font families, also used as display names. The advance of each is 600 of 1000 units."""

DEFAULT_FONT: Final[FontName] = "jetbrains-mono"

_WORDS: Final = {"github": "GitHub", "one": "One", "rose": "Rosé", "pine": "Pine", "light-plus": "Light Plus"}

THEME_TITLES: Final[Mapping[str, str]] = {
    name: _WORDS.get(name) or " ".join(_WORDS.get(word, word.capitalize()) for word in name.split("-"))
    for name in get_args(ThemeName)
}
"""Display names of the themes."""

_TITLES: Final = {
    "auto": "Detect", "bash": "Bash", "c": "C", "cmake": "CMake", "cpp": "C++", "csharp": "C#", "css": "CSS",
    "fsharp": "F#", "graphql": "GraphQL", "html": "HTML", "ini": "INI", "javascript": "JavaScript", "json": "JSON",
    "jsx": "JSX", "matlab": "MATLAB", "nginx": "nginx", "objective-c": "Objective-C", "ocaml": "OCaml", "php": "PHP",
    "plaintext": "Plain text", "powershell": "PowerShell", "protobuf": "Protocol Buffers", "scss": "SCSS", "sql": "SQL",
    "tex": "TeX", "toml": "TOML", "tsx": "TSX", "typescript": "TypeScript", "vim": "Vim script", "xml": "XML",
    "yaml": "YAML",
}  # fmt: skip

LANGUAGE_TITLES: Final[Mapping[str, str]] = {name: _TITLES.get(name, name.capitalize()) for name in LANGUAGES}
"""Display names of the languages."""


def language_of(name: str) -> str:
    """Return the language for a name or an alias: one of `LANGUAGES`, or Pygments' own name.

    Raises:
        InvalidInput: the language is unknown; the message suggests similar names.
    """
    key = name.strip().lower()
    languages = _known()
    if key not in languages:
        near = list(dict.fromkeys(languages[match] for match in get_close_matches(key, languages, 6, 0.6)))[:3]
        hint = f"did you mean {' or '.join(near)}?" if near else f"use auto, {PLAIN}, or a name that Pygments has"
        raise InvalidInput("language", f'"{name[:40]}" is not a language known here; {hint}')
    return languages[key]


@cache
def _known() -> dict[str, str]:
    """Return a map from lower-case names and aliases to languages."""
    from pygments.lexers._mapping import LEXERS  # noqa: PLC0415 - a table without the lexers, loaded with the first call

    languages: dict[str, str] = {}
    for _, _, aliases, _, _ in LEXERS.values():
        names = [alias.lower() for alias in aliases]
        if names:
            language = next((name for name in names if name in LANGUAGES), names[0])
            for name in names:
                languages.setdefault(name, language)
    return languages | _OWN_ALIASES | {name: name for name in LANGUAGES if name not in _OWN_ALIASES}
