"""The interface of built-in sites in the language of what it is around: its words, its dates, its direction."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from typing import Final
from zoneinfo import ZoneInfo

from icu4py.messageformat import MessageFormat

from pressroom_content.language import primary_subtag

FALLBACK: Final = "en"
_RTL: Final = frozenset({"ar", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})


class Wording:
    """The words of one language.

    `language` is the one that they are in: English for tags without words of their own. Dates are in
    the language of that tag even so.
    """

    def __init__(self, tag: str) -> None:
        self.tag = tag or FALLBACK
        primary = primary_subtag(self.tag)
        self.language = primary if primary in _tables() else FALLBACK
        self.is_rtl = is_rtl(self.language)
        self._words = _tables()[self.language]

    def __getitem__(self, name: str) -> str:
        """Return a text without variables."""
        return self._words[name]

    def say(self, name: str, /, **values: str | int) -> str:
        """Return a text with its variables filled in."""
        return str(_message(self._words[name], self.language).format({**values}))

    def date(self, at: datetime, zone: ZoneInfo) -> str:
        """Return a day in words, such as 3 March 2026."""
        return self._formatted("{at, date, long}", at, zone)

    def month(self, at: datetime, zone: ZoneInfo) -> str:
        """Return a month in words, such as March 2026."""
        return self._formatted("{at, date, ::yMMMM}", at, zone)

    def _formatted(self, pattern: str, at: datetime, zone: ZoneInfo) -> str:
        # A MessageFormat has no time zone of its own: it gets the wall time of the site's, as if it were UTC.
        wall = at.astimezone(zone).replace(hour=12, tzinfo=ZoneInfo("UTC"))
        return str(_message(pattern, self.tag).format({"at": wall}))


@lru_cache(maxsize=256)
def wording(tag: str) -> Wording:
    """Return the words for a language tag (BCP 47)."""
    return Wording(tag)


def languages() -> frozenset[str]:
    """Return the languages that there are words for."""
    return frozenset(_tables())


def is_rtl(tag: str) -> bool:
    """Tell whether a language is written from right to left."""
    return primary_subtag(tag) in _RTL


@lru_cache(maxsize=1)
def _tables() -> Mapping[str, Mapping[str, str]]:
    """Return the texts of all languages. Raises `ValueError` where one of them lacks a text."""
    text = files(__package__).joinpath("wording.toml").read_text("utf-8")
    tables: dict[str, dict[str, str]] = tomllib.loads(text)
    for language, words in tables.items():
        if differing := words.keys() ^ tables[FALLBACK].keys():
            raise ValueError(f"wording.toml: {language} and {FALLBACK} differ in {', '.join(sorted(differing))}")
    return tables


@lru_cache(maxsize=2048)
def _message(pattern: str, language: str) -> MessageFormat:
    return MessageFormat(pattern, language.replace("-", "_"))
