"""How a built-in site looks, as people choose it on the website's page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pressroom.sdk import InvalidInput

from pressroom_content.builtin_site.appearance import theme_colors
from pressroom_content.contract import BUILTIN
from pressroom_content.records import Website
from pressroom_content.websites import settings as site_settings

DO: Final = "look"
"""What the button of the form asks for."""

_THEMES: Final = (
    ("classic", "Classic", "A list, in a serif type"),
    ("modern", "Modern", "Cards, in a sans serif"),
    ("magazine", "Magazine", "Large covers"),
)
_TEXTS: Final = ("theme", "color_scheme", "accent_color", "logo", "favicon")
_DEFAULT_ACCENT: Final = "#b9502a"
_MENU_PROBLEM: Final = re.compile(r"menu(?:\.(\d+)(?:\.(label|url))?)?")


@dataclass(frozen=True, slots=True)
class ThemeView:
    """A theme to choose from: its name, what it is, and the colours of the drawing of it."""

    value: str
    title: str
    note: str
    colors: Mapping[str, str]
    accent: str


@dataclass(frozen=True, slots=True)
class LookView:
    """The form: the themes, the other values, the menu with one link to a line, and what is wrong."""

    themes: Sequence[ThemeView]
    values: Mapping[str, str]
    menu: str
    errors: Mapping[str, str]


def look_view(website: Website, typed: Mapping[str, str], errors: Mapping[str, str]) -> LookView | None:
    """Return the form of a website, as it was `typed` where that was refused; `None` for other than built-in sites."""
    if website.platform != BUILTIN:
        return None
    settings = site_settings.read(website.settings)
    values = {name: str(getattr(settings, name)) for name in _TEXTS}
    menu = "\n".join(f"{item.label} | {item.url}" for item in settings.menu)
    if typed.get("do") == DO:
        values |= {name: typed[name] for name in _TEXTS if name in typed}
        menu = typed.get("menu", menu)
    accent = settings.accent_color or _DEFAULT_ACCENT
    return LookView(
        themes=[ThemeView(value, title, note, theme_colors(value), accent) for value, title, note in _THEMES],
        values=values,
        menu=menu,
        errors=_errors(errors),
    )


def look_changes(typed: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings that were typed. Raises `InvalidInput` for a line of the menu that is not a link."""
    changes: dict[str, Any] = {name: typed[name].strip() for name in _TEXTS if name in typed}
    if "menu" in typed:
        changes["menu"] = [_item(number, line) for number, line in _lines(typed["menu"])]
    return changes


def names() -> frozenset[str]:
    """Return the names of the settings that the form shows, with what is wrong about each."""
    return frozenset({*_TEXTS, "menu"})


def _lines(text: str) -> list[tuple[int, str]]:
    return [(number, line.strip()) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]


def _item(number: int, line: str) -> dict[str, str]:
    label, bar, url = line.rpartition("|")
    if not bar:
        raise InvalidInput("menu", f"line {number} must be a label, | and a URL, such as: About | /about")
    return {"label": label.strip(), "url": url.strip()}


def _errors(errors: Mapping[str, str]) -> dict[str, str]:
    """Return what is wrong by field, with the link of a menu that is meant."""
    found = {}
    for name, problem in errors.items():
        match = _MENU_PROBLEM.fullmatch(name)
        if match is None:
            found[name] = problem
        elif match[1] is None:
            found["menu"] = problem
        else:
            part = {"label": "the label ", "url": "the URL "}.get(match[2] or "", "")
            found["menu"] = f"Link {int(match[1]) + 1}: {part}{problem[:1].lower()}{problem[1:]}"
    return found
