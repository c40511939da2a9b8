"""The style sheet of a built-in site: theme, colours, and light and dark modes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from html import escape
from importlib.resources import files
from types import MappingProxyType
from typing import Final

from pressroom_content.websites.settings import WebsiteSettings

AA_TEXT: Final = 4.5
"""The minimum contrast of text (WCAG 2.2, success criterion 1.4.3)."""

_WHITE, _BLACK = "#ffffff", "#000000"

_Tokens = Mapping[str, str]
_LIGHT: Final[Mapping[str, _Tokens]] = MappingProxyType(
    {
        "classic": {
            "paper": "#faf7f2", "surface": "#fffdfa", "sunken": "#f3ede4", "ink": "#1d1a17", "muted": "#645c53",
            "line": "#e7e0d5", "edge": "#8c8377",
        },
        "modern": {
            "paper": "#f6f7f9", "surface": "#ffffff", "sunken": "#eceff3", "ink": "#14181f", "muted": "#566070",
            "line": "#dfe3ea", "edge": "#7d8796",
        },
        "magazine": {
            "paper": "#ffffff", "surface": "#ffffff", "sunken": "#f4f4f2", "ink": "#111111", "muted": "#5c5c5c",
            "line": "#d9d9d6", "edge": "#858585",
        },
    }
)  # fmt: skip
_DARK: Final[Mapping[str, _Tokens]] = MappingProxyType(
    {
        "classic": {
            "paper": "#161311", "surface": "#1f1b18", "sunken": "#1a1714", "ink": "#f1ebe3", "muted": "#b3a99d",
            "line": "#352f2a", "edge": "#857a6e",
        },
        "modern": {
            "paper": "#0f1319", "surface": "#181d25", "sunken": "#151a21", "ink": "#edf1f7", "muted": "#a4afbf",
            "line": "#2a323d", "edge": "#768294",
        },
        "magazine": {
            "paper": "#101010", "surface": "#181818", "sunken": "#1b1b1a", "ink": "#f4f4f2", "muted": "#adadaa",
            "line": "#333331", "edge": "#83837f",
        },
    }
)  # fmt: skip
_CODE_LIGHT: Final[_Tokens] = MappingProxyType(
    {
        "code-ink": "#2a2521", "hl-comment": "#63594f", "hl-keyword": "#8a1f5c", "hl-string": "#2f5d1e",
        "hl-number": "#8a3d00", "hl-name": "#1f4f8f", "hl-type": "#5b3a9b", "hl-inserted": "#1d5c2e",
        "hl-deleted": "#a3231a",
    }
)  # fmt: skip
_CODE_DARK: Final[_Tokens] = MappingProxyType(
    {
        "code-ink": "#f1ebe3", "hl-comment": "#a69a8c", "hl-keyword": "#f5a3cf", "hl-string": "#b4d891",
        "hl-number": "#f5b37a", "hl-name": "#9ec5f5", "hl-type": "#cbb5f7", "hl-inserted": "#9ad9a8",
        "hl-deleted": "#ff9d8f",
    }
)  # fmt: skip


@lru_cache(maxsize=256)
def style(theme: str, color_scheme: str, accent: str) -> tuple[bytes, str]:
    """Return the style sheet for these settings, and a hash of it as its version."""
    parts = [files(__package__).joinpath("static", "site.css").read_text("utf-8")]
    light, dark = _tokens(theme, accent, dark=False), _tokens(theme, accent, dark=True)
    # Paper is white: printed pages are always light.
    if color_scheme == "auto":
        parts += [f":root{{{light}}}", f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"]
    elif color_scheme == "dark":
        parts += [f":root{{{light}}}", f"@media screen{{:root{{color-scheme:dark;{dark}}}}}"]
    else:
        parts.append(f":root{{color-scheme:light;{light}}}")
    content = "\n".join([*parts, ""]).encode()
    return content, hashlib.sha256(content).hexdigest()[:16]


def style_of(settings: WebsiteSettings) -> tuple[bytes, str]:
    """Return the style sheet of a site, and its version."""
    return style(settings.theme, settings.color_scheme, settings.accent_color)


def icon_of(name: str, settings: WebsiteSettings) -> tuple[bytes, str]:
    """Return the default icon of a site as SVG, and its version: the site's initial on its accent colour."""
    letter = next((character for character in name if character.isalnum()), name.strip()[:1]).upper()[:1]
    ground = settings.accent_color or _LIGHT[settings.theme]["ink"]
    content = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">'
        f'<rect width="64" height="64" rx="14" fill="{ground}"/>'
        '<text x="32" y="46" text-anchor="middle" font-family="Georgia, serif" font-size="42" font-weight="700" '
        f'fill="{_text_on(ground)}">{escape(letter)}</text></svg>\n'
    ).encode("utf-8", "replace")
    return content, hashlib.sha256(content).hexdigest()[:16]


def theme_colors(theme: str) -> Mapping[str, str]:
    """Return the light colours of a theme by name, such as `paper`, `surface`, `ink` and `line`."""
    return _LIGHT[theme]


def grounds(settings: WebsiteSettings) -> tuple[str, str]:
    """Return the colours that browsers may apply around the page, in light and in dark mode."""
    light, dark = _LIGHT[settings.theme]["paper"], _DARK[settings.theme]["paper"]
    match settings.color_scheme:
        case "light":
            return light, light
        case "dark":
            return dark, dark
        case _:
            return light, dark


def _tokens(theme: str, accent: str, *, dark: bool) -> str:
    tokens = dict((_DARK if dark else _LIGHT)[theme])
    tokens |= _CODE_DARK if dark else _CODE_LIGHT
    tokens["code-paper"] = tokens["surface"] if dark else tokens["sunken"]
    if accent:
        tokens |= _accent_tokens(accent, tokens)
    return "".join(f"--{name}:{value};" for name, value in tokens.items())


def _accent_tokens(accent: str, tokens: _Tokens) -> _Tokens:
    """Return the accent colours: as a background, and as text with a contrast of at least 4.5."""
    soft, hover = _mix(tokens["paper"], accent, 0.1), _mix(accent, tokens["ink"], 0.14)
    grounds = (tokens["paper"], tokens["surface"], tokens["sunken"], soft)
    return {
        "accent": accent,
        "accent-hover": hover,
        "on-accent": _text_on(accent),
        "on-accent-hover": _text_on(hover),
        "accent-soft": soft,
        "accent-text": _readable(accent, grounds, tokens["ink"]),
    }


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours in the format `#rrggbb`, from 1 to 21 (WCAG 2.2)."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _text_on(ground: str) -> str:
    return max((_WHITE, _BLACK), key=lambda color: contrast(color, ground))


def _readable(color: str, grounds: tuple[str, ...], towards: str) -> str:
    steps = (_mix(color, towards, step / 20) for step in range(21))
    return next(
        (candidate for candidate in steps if all(contrast(candidate, ground) >= AA_TEXT for ground in grounds)), towards
    )


def _mix(one: str, other: str, share: float) -> str:
    pairs = zip(_channels(one), _channels(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _channels(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _luminance(color: str) -> float:
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in _channels(color))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
