"""The structure of a theme."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from pressroom_code_to_image.highlight.tokens import Role

_BOLD: Final = 700
_REGULAR: Final = 400


@dataclass(frozen=True, slots=True)
class TokenStyle:
    """The style of a piece of code. `color` is `#rrggbb`."""

    color: str
    italic: bool = False
    weight: int = _REGULAR


@dataclass(frozen=True, slots=True)
class CodeTheme:
    """A theme: the styles of roles, and overrides by language."""

    background: str
    foreground: str
    styles: Mapping[Role, TokenStyle]
    languages: Mapping[str, Mapping[Role, TokenStyle]]

    def style(self, role: Role, language: str) -> TokenStyle:
        """Return the style of a role in a language."""
        override = self.languages.get(language, {}).get(role)
        return override or self.styles.get(role) or TokenStyle(self.foreground)

    @property
    def dark(self) -> bool:
        """Whether the background is darker than the text."""
        return _lightness(self.background) < _lightness(self.foreground)


def theme(
    background: str, foreground: str, styles: Mapping[str, str], languages: Mapping[str, Mapping[str, str]]
) -> CodeTheme:
    """Build a theme from tables that map a colour, optionally followed by `italic` or `bold`, to role names."""
    return CodeTheme(
        background,
        foreground,
        _by_role(styles),
        MappingProxyType({language: _by_role(table) for language, table in languages.items()}),
    )


def _by_role(table: Mapping[str, str]) -> Mapping[Role, TokenStyle]:
    styles: dict[Role, TokenStyle] = {}
    for look, roles in table.items():
        color, *traits = look.split()
        style = TokenStyle(color, "italic" in traits, _BOLD if "bold" in traits else _REGULAR)
        styles |= {Role[name.upper()]: style for name in roles.split()}
    return MappingProxyType(styles)


def _lightness(color: str) -> int:
    return sum(bytes.fromhex(color.removeprefix("#")))
