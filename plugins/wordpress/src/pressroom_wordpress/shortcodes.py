"""Shortcodes in bodies of WordPress: `[gallery ids="1,2"]`, `[caption]…[/caption]` (developer.wordpress.org).

Which names a site knows cannot be asked, so whatever looks like a shortcode counts as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_TAG = re.compile(
    r"\[(/?)(\[?)([A-Za-z0-9_][\w:.-]{0,60}+)(?=[\s\]/])((?:[^\[\]<\"']++|\"[^\"\[\]]*+\"|'[^'\[\]]*+')*+)\]", re.ASCII
)
_ARGUMENTS = re.compile(r"[=\"']|://|/\Z")
_WORDS: Final = frozenset({"sic", "ibid", "emphasis", "citation"})
"""What authors put in brackets and WordPress leaves alone."""


class Shortcode(NamedTuple):
    """One tag of a shortcode, from `start` to `end`."""

    name: str
    start: int
    end: int
    closes: bool


def shortcodes(text: str) -> Iterator[Shortcode]:
    """Yield the tags of shortcodes in a text, wherever they are, in attributes and code too."""
    for match in _TAG.finditer(text):
        closes, _, name, arguments = match.groups()
        arguments = arguments.strip()
        has_arguments = bool(arguments)
        if name.lower() in _WORDS or (has_arguments and not _ARGUMENTS.search(arguments)):
            continue
        if not any(map(str.isalpha, name)) or (len(name) == 1 and not has_arguments and not closes):
            continue
        yield Shortcode(name, match.start(), match.end(), closes=bool(closes))


def has_shortcodes(text: str) -> bool:
    """Tell whether there is a shortcode in a text."""
    return "[" in text and next(shortcodes(text), None) is not None
