"""Static files of pages: style sheets in the operator's colours with readable contrast (WCAG 2.2), scripts, icon."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Final

from pressroom.plugins.template_folder import MEDIA_TYPES, TemplateFolder, TemplateProblem
from pressroom.sdk import Branding

AA_TEXT = 4.5
"""The minimum contrast ratio of text (WCAG 2.2, success criterion 1.4.3)."""

_WHITE = "#ffffff"
_BLACK = "#000000"


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour `#rrggbb`, from 0 (black) to 1 (white)."""
    shares = (channel / 255 for channel in _channels(colour))
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours `#rrggbb`, from 1 (equal) to 21 (black on white)."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def mix(one: str, other: str, share: float) -> str:
    """Mix two colours `#rrggbb`. `share` (0 to 1) is the portion of `other`."""
    pairs = zip(_channels(one), _channels(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def text_on(background: str, preferred: str) -> str:
    """Return a colour that is readable on the background: `preferred` if possible, otherwise white or black.

    White or black always reaches 4.5, since their contrast ratios with any colour multiply to 21.
    """
    return max((preferred, _WHITE, _BLACK), key=lambda colour: min(contrast(colour, background), AA_TEXT))


def readable(colour: str, backgrounds: tuple[str, ...], towards: str) -> str:
    """Return the colour, moved towards another one just far enough to be readable as text on all the backgrounds."""
    steps = (mix(colour, towards, step / 20) for step in range(21))
    return next(
        (mixed for mixed in steps if all(contrast(mixed, background) >= AA_TEXT for background in backgrounds)), towards
    )


IMMUTABLE = "public, max-age=31536000, immutable"
"""`Cache-Control` of content that never changes under its URL."""


@dataclass(frozen=True, slots=True)
class Asset:
    """A static file. `etag` is strong (RFC 9110, section 8.8.3) and includes the quotes."""

    content: bytes
    media_type: str
    etag: str

    @property
    def version(self) -> str:
        """The content hash in the file's URL, `?v=…`."""
        return self.etag.strip('"')

    def cache_control(self, version: str) -> str:
        """Return the `Cache-Control` for a request with this version in its URL (an empty string if it has none)."""
        return IMMUTABLE if version == self.version else "no-cache"


@dataclass(frozen=True, slots=True)
class ColorScheme:
    """Background and text colours of the light or the dark theme, the same as in `pressroom.css`."""

    paper: str
    surface: str
    ink: str


LIGHT: Final = ColorScheme(paper="#faf7f2", surface="#fffdfa", ink="#1d1a17")
DARK: Final = ColorScheme(paper="#161311", surface="#1f1b18", ink="#f1ebe3")


def _accent_tokens(accent: str, theme: ColorScheme) -> str:
    soft = mix(theme.paper, accent, 0.1)
    tokens = {
        "accent": accent,
        "accent-hover": mix(accent, theme.ink, 0.14),
        "on-accent": text_on(accent, theme.surface),
        "on-accent-hover": text_on(mix(accent, theme.ink, 0.14), text_on(accent, theme.surface)),
        "accent-soft": soft,
        "accent-text": readable(accent, (theme.paper, theme.surface, soft), theme.ink),
    }
    return "".join(f"--{name}:{value};" for name, value in tokens.items())


def brand_css(branding: Branding) -> str:
    """Return the CSS rules that set the design tokens of the operator's accent colour.

    Text on the accent and text in the accent have a contrast of at least 4.5 for any accent.
    """
    light = _accent_tokens(branding.accent, LIGHT)
    dark = _accent_tokens(branding.accent_dark, DARK)
    return f":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"


def brand_icon(branding: Branding) -> str:
    """Return the site icon as SVG: the initial of the operator's name on the accent colour."""
    letter = escape(branding.name.strip()[:1].upper())
    ink = text_on(branding.accent, LIGHT.surface)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">'
        f'<rect width="64" height="64" rx="14" fill="{branding.accent}"/>'
        f'<text x="32" y="46" text-anchor="middle" font-family="Georgia, serif" font-size="42" font-weight="700" '
        f'fill="{ink}">{letter}</text></svg>\n'
    )


OWN_CSS: Final = "own.css"
"""The name of the operator's style sheet."""


def load_assets(branding: Branding, font_css: str, replaced: TemplateFolder) -> Mapping[str, Asset]:
    """Return all static files by name.

    Style sheets are served without their comments. `font_css` contains the `@font-face` rules of the pages. `replaced`
    provides the operator's own files, which cannot replace those of the server.
    """
    static = files(__package__).joinpath("static")

    def text(*names: str) -> str:
        return "".join(static.joinpath(name).read_text("utf-8") for name in names)

    def styles(*names: str) -> str:
        return _without_comments(text(*names))

    css, script = "text/css; charset=utf-8", "text/javascript; charset=utf-8"
    operator_css = {OWN_CSS: _asset(replaced.stylesheet, css)} if replaced.stylesheet else {}
    host = {
        "pressroom.css": _asset(font_css + styles("pressroom.css") + brand_css(branding), css),
        "icons.css": _asset(styles("icons.css"), css),
        "account.css": _asset(styles("account.css", "charts.css", "writing.css"), css),
        "studio.css": _asset(styles("studio.css"), css),
        "editor.css": _asset(styles("editor.css"), css),
        "pages.js": _asset(text("shared.js", "fields.js", "editor.js", "studio.js", "pages.js"), script),
        "in_place.js": _asset(text("in_place.js"), script),
        "uploads.js": _asset(text("uploads.js"), script),
        "account.js": _asset(text("shared.js", "account.js"), script),
        "writing.js": _asset(text("shared.js", "media.js", "drafts.js", "writing.js"), script),
        "icon.svg": _asset(brand_icon(branding), "image/svg+xml"),
    }
    operator_files = {
        name: _asset(content, MEDIA_TYPES[Path(name).suffix.lower()]) for name, content in replaced.static.items()
    }
    for name in operator_files.keys() & (host.keys() | operator_css.keys()):
        problem = TemplateProblem(f"static/{name}", "the server has a file of this name", "choose another name")
        replaced.problems.append(problem)
    return {**operator_files, **host, **operator_css}


def _without_comments(css: str) -> str:
    first, *others = css.split("/*")
    return first + "".join(other.partition("*/")[2].lstrip("\n") for other in others)


def _asset(text: str | bytes, media_type: str) -> Asset:
    content = text.encode() if isinstance(text, str) else text
    return Asset(content=content, media_type=media_type, etag=f'"{hashlib.sha256(content).hexdigest()[:16]}"')
