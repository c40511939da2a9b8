"""Warnings of a render."""

from __future__ import annotations

from typing import Final

MAX_WARNINGS: Final = 50
_MAX_SHOWN_LENGTH: Final = 60
_MAX_WARNING_LENGTH: Final = 300


class Notes:
    """The distinct warnings of one render, in order."""

    def __init__(self) -> None:
        self._seen: dict[str, None] = {}

    def warn(self, text: str) -> None:
        """Add a warning, unless it is a duplicate or there are already `MAX_WARNINGS`.

        Warnings quote document content, so each one is reduced to a printable line of bounded length.
        """
        if len(self._seen) < MAX_WARNINGS:
            self._seen.setdefault(_cut(_printable(text), _MAX_WARNING_LENGTH), None)

    @property
    def warnings(self) -> tuple[str, ...]:
        """All warnings."""
        return tuple(self._seen)


def quoted(text: str) -> str:
    """Quote a text for a message: on one line, printable and truncated."""
    return f'"{_cut(_printable(text), _MAX_SHOWN_LENGTH)}"'


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in " ".join(text.split()))


def _cut(text: str, max_length: int) -> str:
    return text if len(text) <= max_length else f"{text[:max_length]}…"
