"""What a page says of itself to search engines, link previews and feed readers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_DESCRIPTION_LENGTH = 160


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a page. `canonical` and `alternate` are empty for a page that has no URL of its own."""

    title: str
    description: str
    canonical: str = ""
    alternate: str = ""
    linked_data: Any = None


def clip(text: str, length: int = _DESCRIPTION_LENGTH) -> str:
    """Return a text on one line, cut between words where it is longer than `length` characters."""
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    return line[: length - 1].rsplit(" ", 1)[0].rstrip(" ,;:.") + "…"
