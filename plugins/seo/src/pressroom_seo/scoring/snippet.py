"""Search result previews: title, URL and description with their widths, and where they are truncated.

Search engines truncate by pixel width and change their layouts without notice. The limits here are commonly measured
on Google's result pages: a title line of 600 px at 20 px Arial on desktops, descriptions of about 160 characters there
and 120 on phones. Google also rewrites titles and descriptions, so the preview is an estimate. Phones truncate nearly
every description, so that causes no warning.
"""

from __future__ import annotations

import tomllib
import unicodedata
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, Final
from urllib.parse import unquote

from pressroom_seo.document import clean_text
from pressroom_seo.scoring.rules import plural
from pressroom_seo.urls import split_url

_ELLIPSIS: Final = " ..."
_READ: Final = 5_000
"""Maximum number of characters of a text to measure."""


@dataclass(frozen=True, slots=True)
class Room:
    """The space for one part of a search result: font size, and total width of its lines, in px."""

    font_size: int
    width: int


@dataclass(frozen=True, slots=True)
class SnippetLayout:
    """The space for each part of a search result on one kind of device."""

    title: Room
    url: Room
    description: Room


DESKTOP: Final = SnippetLayout(title=Room(20, 600), url=Room(14, 600), description=Room(14, 990))
MOBILE: Final = SnippetLayout(title=Room(18, 640), url=Room(12, 330), description=Room(14, 740))
_SHORT_TITLE: Final = 200
_SHORT_DESCRIPTION: Final = 121
_LONG_DESCRIPTION: Final = 156
"""Limits of a description that fits, in columns."""


@dataclass(frozen=True, slots=True)
class Line:
    """A displayed text. Widths are in px; if `truncated`, `text` ends in an ellipsis and `cut` is the rest."""

    text: str
    width: int
    limit: int
    truncated: bool
    cut: str


@dataclass(frozen=True, slots=True)
class DeviceSnippet:
    """A search result on one kind of device."""

    title: Line
    url: Line
    description: Line


@dataclass(frozen=True)
class SnippetPreview:
    """A search result on desktops and phones. `warnings` list truncated, missing and short parts."""

    desktop: DeviceSnippet
    mobile: DeviceSnippet
    warnings: tuple[str, ...]

    @cached_property
    def _plain(self) -> dict[str, Any]:
        return {"desktop": asdict(self.desktop), "mobile": asdict(self.mobile), "warnings": list(self.warnings)}

    def to_dict(self) -> dict[str, Any]:
        """Return the preview as plain JSON data."""
        return self._plain


def preview_snippet(title: str, description: str = "", url: str = "") -> SnippetPreview:
    """Preview a page with this title, meta description and URL in search results. Accepts any text."""
    title, description = _flat(title), _flat(description)
    display_url = displayed_url(url)
    desktop = _preview(DESKTOP, title, description, display_url)
    mobile = _preview(MOBILE, title, description, display_url)
    return SnippetPreview(desktop, mobile, tuple(_warnings(title, description, url, desktop, mobile)))


def displayed_url(url: str) -> str:
    """Format a URL as search results show it: scheme and host, then the path as a breadcrumb trail."""
    parts = split_url(url[:_READ])
    if parts is None:
        return ""
    host = parts.netloc.rpartition("@")[2]
    trail = [clean_text(unquote(part, errors="replace")) for part in parts.path.split("/") if part]
    return " › ".join([f"{parts.scheme}://{host}" if host else "", *trail]).strip(" ›")  # noqa: RUF001


def _flat(text: str) -> str:
    return " ".join(clean_text(text[:_READ]).split())


def _preview(layout: SnippetLayout, title: str, description: str, url: str) -> DeviceSnippet:
    return DeviceSnippet(_fit(title, layout.title), _fit(url, layout.url), _fit(description, layout.description))


def _fit(text: str, room: Room) -> Line:
    width = pixel_width(text, room.font_size)
    if width <= room.width:
        return Line(text, round(width), room.width, truncated=False, cut="")
    available = room.width - pixel_width(_ELLIPSIS, room.font_size)
    end = _letters_within(text, available, room.font_size)
    if not text[end].isspace():
        blank = text.rfind(" ", 0, end)
        # Cut inside a word that fills half of the line, and in scripts without spaces.
        end = blank if blank > end // 2 else end
    visible = text[:end].rstrip(" ,;:–—-|")  # noqa: RUF001
    return Line(f"{visible}{_ELLIPSIS}", round(width), room.width, truncated=True, cut=text[len(visible) :].strip())


def _letters_within(text: str, width: float, size: int) -> int:
    used = 0.0
    for index, letter in enumerate(text):
        used += pixel_width(letter, size)
        if used > width:
            return index
    return len(text)


def _warnings(title: str, description: str, url: str, desktop: DeviceSnippet, mobile: DeviceSnippet) -> list[str]:
    warnings = [*_title_warnings(title, desktop, mobile), *_description_warnings(description, desktop)]
    parts = split_url(url)
    if url.strip() and (parts is None or parts.scheme not in {"http", "https"} or not parts.hostname):
        warnings.append("url: is not a URL with https and a host; the trail is shown as far as possible.")
    elif not url.strip():
        warnings.append("url: is not given, so its line is empty.")
    return warnings


def _title_warnings(title: str, desktop: DeviceSnippet, mobile: DeviceSnippet) -> list[str]:
    if not title:
        return ["title: is missing; a search engine will make one up from the page."]
    for device, line in (("desktops", desktop.title), ("phones", mobile.title)):
        if line.truncated:
            return [f"title: is {line.width} px wide of {line.limit} on {device}; “{_short(line.cut)}” is cut."]
    if desktop.title.width < _SHORT_TITLE:
        return [
            f"title: is only {desktop.title.width} px wide of {desktop.title.limit}; say more about what readers get."
        ]
    return []


def _description_warnings(description: str, desktop: DeviceSnippet) -> list[str]:
    if not description:
        return ["description: is missing; search engines will show part of the text."]
    line = desktop.description
    if line.truncated:
        return [f"description: is {line.width} px wide of {line.limit} on desktops; “{_short(line.cut)}” is cut."]
    size = columns(description)
    if size < _SHORT_DESCRIPTION:
        room = _LONG_DESCRIPTION * len(description) // size
        return [f"description: has only {plural(len(description), 'character')}; up to {room} are shown on desktops."]
    return []


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"


_AVERAGE: Final = 1139
"""Width of characters missing from the table: that of most lower-case letters and all digits."""

_EMOJI: Final = range(0x1F000, 0x20000)
_JOINERS: Final = frozenset("\u200b\u200c\u200d\u2060\ufe0e\ufe0f\u00ad")


def pixel_width(text: str, size: float) -> float:
    """Return the width of a text on one line at a font size, both in CSS pixels, ignoring kerning."""
    widths, em = _table()
    return sum(widths.get(letter) or _other(letter, em) for letter in text) * size / em


def columns(text: str) -> int:
    """Return the length of a text in characters; those of Chinese, Japanese and Korean are wide and count twice."""
    return len(text) if text.isascii() else len(text) + sum(map(_is_wide, text))


def _is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in {"W", "F"}


def _other(letter: str, em: int) -> int:
    if letter in _JOINERS or unicodedata.combining(letter) or unicodedata.category(letter) in {"Mn", "Me", "Cf", "Cc"}:
        return 0
    return em if _is_wide(letter) or ord(letter) in _EMOJI else _AVERAGE


@cache
def _table() -> tuple[dict[str, int], int]:
    raw = tomllib.loads((files(__package__) / "arial.toml").read_text("utf-8"))
    widths: dict[str, int] = {}
    for width, ranges in raw["widths"].items():
        for entry in ranges.split():
            first, _, last = entry.partition("-")
            widths.update((chr(code), int(width)) for code in range(int(first, 16), int(last or first, 16) + 1))
    return widths, raw["units_per_em"]
