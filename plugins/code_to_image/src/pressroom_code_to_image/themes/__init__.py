"""The themes, with the colours that their originals publish."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pressroom_code_to_image.names import ThemeName
from pressroom_code_to_image.themes.dracula import DRACULA
from pressroom_code_to_image.themes.github_dark import GITHUB_DARK
from pressroom_code_to_image.themes.github_light import GITHUB_LIGHT
from pressroom_code_to_image.themes.monokai import MONOKAI
from pressroom_code_to_image.themes.nord import NORD
from pressroom_code_to_image.themes.one_dark import ONE_DARK
from pressroom_code_to_image.themes.solarized_dark import SOLARIZED_DARK
from pressroom_code_to_image.themes.theme import CodeTheme, TokenStyle
from pressroom_code_to_image.themes.tokyo_night import TOKYO_NIGHT

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
    }
)
