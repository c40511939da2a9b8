"""The form for the appearance of a built-in site: themes, colour, images, and the rows of its menu."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from pressroom_content.builtin_site.appearance import theme_colors
from pressroom_content.contract import BUILTIN
from pressroom_content.records import Website
from pressroom_content.websites import settings as site_settings

_THEMES: Final = (
    ("classic", "Classic", "A list, in a serif typeface"),
    ("modern", "Modern", "Cards, in a sans-serif typeface"),
    ("magazine", "Magazine", "Large covers"),
)
_TEXTS: Final = ("theme", "color_scheme", "accent_color", "logo", "logo_dark", "favicon")
_IMAGES: Final = ("logo", "logo_dark", "favicon")
_DEFAULT_ACCENT: Final = "#b9502a"
_EMPTY_ROWS: Final = 3
_MENU_FIELD: Final = re.compile(r"menu-([1-9][0-9]?)-(?:label|url)", re.ASCII)
_MOVE: Final = re.compile(r"move-([1-9][0-9]?)-(up|down)", re.ASCII)
_MENU_PROBLEM: Final = re.compile(r"menu\.([0-9]{1,2})(?:\.(label|url))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class ThemeView:
    """A theme to choose from: its name, a description, and the colours of its preview drawing."""

    value: str
    title: str
    note: str
    colors: Mapping[str, str]
    accent: str


@dataclass(frozen=True, slots=True)
class MenuRow:
    """A row of the menu, and its problem. `part` is the affected field, `label` or `url`, or empty for both."""

    number: int
    label: str = ""
    url: str = ""
    problem: str = ""
    part: str = ""


@dataclass(frozen=True, slots=True)
class LookView:
    """The form: the themes, the other values, the menu with some empty rows, and the errors.

    `accent` is the accent colour of the site, or the default if it is not set. `version` is the version of the website
    that the form is based on. `focus` is the button that has the initial focus, such as `move-2-up`.
    """

    themes: Sequence[ThemeView]
    values: Mapping[str, str]
    menu: Sequence[MenuRow]
    max_menu: int
    accent: str
    logo_has_name: bool
    errors: Mapping[str, str]
    version: str
    focus: str = ""


def look_view(website: Website, typed: Mapping[str, str], errors: Mapping[str, str]) -> LookView | None:
    """Return the form of a website, with the `typed` values if they were not saved; `None` unless it is built in."""
    if website.platform != BUILTIN:
        return None
    settings = site_settings.read(website.settings)
    values = {name: str(getattr(settings, name)) for name in _TEXTS}
    has_name = settings.logo_has_name
    menu = [MenuRow(number, item.label, item.url) for number, item in enumerate(settings.menu, start=1)]
    version, focus = str(website.version), ""
    if typed.get("do") == "look":
        version, focus = (version if errors else typed.get("version", version)), typed.get("moved", "")
        values |= {name: typed[name] for name in _TEXTS if name in typed}
        menu = [_with_problem(row, index, errors) for index, row in enumerate(_filled_rows(typed))]
        has_name = typed.get("logo_has_name") == "true"
    accent = settings.accent_color or _DEFAULT_ACCENT
    max_rows = site_settings.MAX_MENU
    last = max((row.number for row in menu), default=0)
    filled = {row.number: row for row in menu}
    row_count = max(last, min(max_rows, last + _EMPTY_ROWS))
    return LookView(
        themes=[ThemeView(value, title, note, theme_colors(value), accent) for value, title, note in _THEMES],
        values=values,
        menu=[filled.get(number) or MenuRow(number) for number in range(1, row_count + 1)],
        max_menu=max_rows,
        accent=accent,
        logo_has_name=has_name,
        errors=errors,
        version=version,
        focus=focus,
    )


def moved(typed: Mapping[str, str]) -> Mapping[str, str] | None:
    """Return a submitted form with a menu row and its neighbour swapped, without saving it.

    Return `None` if another button was pressed.
    """
    match = _MOVE.fullmatch(typed.get("do", ""))
    if match is None:
        return None
    row, way = int(match[1]), match[2]
    other = row - 1 if way == "up" else row + 1
    if other < 1:
        other = row
    rows = {f"menu-{row}-{part}": typed.get(f"menu-{other}-{part}", "") for part in ("label", "url")}
    rows |= {f"menu-{other}-{part}": typed.get(f"menu-{row}-{part}", "") for part in ("label", "url")}
    return {**typed, **rows, "do": "look", "moved": f"move-{other}-{way}"}


def look_changes(typed: Mapping[str, str], base_url: str) -> dict[str, Any]:
    """Return the submitted settings. URLs of images on this server become paths; empty rows are left out."""
    changes: dict[str, Any] = {name: typed[name].strip() for name in _TEXTS if name in typed}
    host = base_url.removesuffix(urlsplit(base_url).path)
    changes |= {
        name: changes[name].removeprefix(host) for name in _IMAGES if changes.get(name, "").startswith(f"{host}/")
    }
    if "logo" in typed:
        changes["logo_has_name"] = typed.get("logo_has_name") == "true"
    if any(_MENU_FIELD.fullmatch(name) for name in typed):
        changes["menu"] = [{"label": row.label, "url": row.url} for row in _filled_rows(typed)]
    return changes


def look_names() -> frozenset[str]:
    """Return the names of the settings whose errors the form shows."""
    return frozenset({*_TEXTS, "menu"})


def _filled_rows(typed: Mapping[str, str]) -> Iterator[MenuRow]:
    numbers = sorted({int(match[1]) for name in typed if (match := _MENU_FIELD.fullmatch(name))})
    for number in numbers:
        label, url = (typed.get(f"menu-{number}-{part}", "").strip() for part in ("label", "url"))
        if label or url:
            yield MenuRow(number, label, url)


def _with_problem(row: MenuRow, index: int, errors: Mapping[str, str]) -> MenuRow:
    """Return the row with the error about the link at that index of the menu, if any."""
    for name, problem in errors.items():
        match = _MENU_PROBLEM.fullmatch(name)
        if match is not None and int(match[1]) == index:
            part = match[2] or ""
            subject = {"label": "The label", "url": "The URL"}.get(part, "")
            text = f"{subject} {problem[:1].lower()}{problem[1:]}" if subject else problem
            if (part == "label" and not row.label) or (part == "url" and not row.url):
                text = f"{subject} is missing"
            return MenuRow(row.number, row.label, row.url, text, part)
    return row
