"""The themes, with the published colours of their originals."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pressroom_code_to_image.names import ThemeName
from pressroom_code_to_image.themes.dark import DRACULA, GITHUB_DARK, MONOKAI, NORD, ONE_DARK
from pressroom_code_to_image.themes.dark_schemes import (
    CATPPUCCIN_MOCHA,
    EVERFOREST_DARK,
    GRUVBOX_DARK,
    KANAGAWA,
    NIGHT_OWL,
    PALENIGHT,
    ROSE_PINE,
    SOLARIZED_DARK,
    TOKYO_NIGHT,
)
from pressroom_code_to_image.themes.light import (
    CATPPUCCIN_LATTE,
    GITHUB_LIGHT,
    GRUVBOX_LIGHT,
    LIGHT_PLUS,
    ONE_LIGHT,
    SOLARIZED_LIGHT,
)
from pressroom_code_to_image.themes.theme import CodeTheme, TokenStyle

__all__ = ["THEMES", "CodeTheme", "TokenStyle"]

THEMES: Final[Mapping[ThemeName, CodeTheme]] = MappingProxyType(
    {
        "dracula": DRACULA,
        "nord": NORD,
        "github-dark": GITHUB_DARK,
        "github-light": GITHUB_LIGHT,
        "monokai": MONOKAI,
        "one-dark": ONE_DARK,
        "solarized-dark": SOLARIZED_DARK,
        "tokyo-night": TOKYO_NIGHT,
        "catppuccin-latte": CATPPUCCIN_LATTE,
        "catppuccin-mocha": CATPPUCCIN_MOCHA,
        "everforest-dark": EVERFOREST_DARK,
        "gruvbox-dark": GRUVBOX_DARK,
        "gruvbox-light": GRUVBOX_LIGHT,
        "kanagawa": KANAGAWA,
        "light-plus": LIGHT_PLUS,
        "night-owl": NIGHT_OWL,
        "one-light": ONE_LIGHT,
        "palenight": PALENIGHT,
        "rose-pine": ROSE_PINE,
        "solarized-light": SOLARIZED_LIGHT,
    }
)
