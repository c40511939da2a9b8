"""The names of languages and themes, which the parameters take."""

from typing import Literal

Language = Literal[
    "javascript", "typescript", "python", "go", "rust", "bash", "json", "html", "css", "sql", "plaintext"
]

ThemeName = Literal[
    "dracula", "nord", "github-dark", "github-light", "monokai", "one-dark", "solarized-dark", "tokyo-night"
]
