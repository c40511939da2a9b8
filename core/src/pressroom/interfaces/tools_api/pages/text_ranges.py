"""Locate the part of a text that an error message refers to.

A message states a position such as `line 3, column 12`, quotes the text in straight quotation marks, or names a
`property` or an `attribute`. `editor.js` locates the same positions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_LINE: Final = re.compile(r"\bline (\d{1,6})(?:, column (\d{1,6}))?")
_QUOTED: Final = re.compile(r'(?:(?<![\w-])([\w-]++): [^"]{0,300}?)?"([^"]{2,}+)"')
_NAMED: Final = re.compile(r"\b(?:property|attribute) ([\w-]+)")
_WORD: Final = re.compile(r"[^\s<>\"']+")
_MAX_LINE_LENGTH: Final = 72
_BEFORE: Final = 24


@dataclass(frozen=True, slots=True)
class TextRange:
    """The start and end offsets of part of a text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The line that a message refers to. `line` and `column` count from 1; `marked` is the faulty part."""

    line: int
    column: int
    before: str
    marked: str
    after: str


def find_range(text: str, message: str) -> TextRange | None:
    """Return the part of a text that a message refers to, or `None` if it cannot be located."""
    return _numbered(text, message) or _quoted(text, message) or _named(text, message)


def excerpt(text: str, message: str) -> Excerpt | None:
    """Return the line that a message refers to, truncated if it is long, or `None` if it cannot be located."""
    text = text.replace("\r\n", "\n")
    text_range = find_range(text, message)
    if text_range is None:
        return None
    line_start = text.rfind("\n", 0, text_range.start) + 1
    end = text.find("\n", text_range.start)
    line = text[line_start : len(text) if end < 0 else end]
    offset = text_range.start - line_start
    marked = line[offset : text_range.end - line_start][:_MAX_LINE_LENGTH]
    before, after = line[:offset], line[offset + len(marked) :]
    available = max(0, _MAX_LINE_LENGTH - len(marked) - _BEFORE)
    return Excerpt(
        line=text.count("\n", 0, text_range.start) + 1,
        column=offset + 1,
        before=before if len(before) <= _BEFORE else f"…{before[-_BEFORE:]}",
        marked=marked,
        after=after if len(after) <= available else f"{after[:available]}…",
    )


def _numbered(text: str, message: str) -> TextRange | None:
    match = _LINE.search(message)
    lines = text.split("\n")
    if match is None or not 1 <= int(match[1]) <= len(lines):
        return None
    number, column = int(match[1]), int(match[2] or 1)
    line = lines[number - 1]
    offset = min(max(column - 1, 0), len(line))
    line_start = sum(len(previous) + 1 for previous in lines[: number - 1])
    quoted = _quoted(text[line_start + offset :], message[match.end() :])
    if quoted is not None and quoted.start == 0:
        return TextRange(line_start + offset, line_start + offset + quoted.end)
    word = _WORD.search(line, offset)
    stop = len(line) if match[2] is None or word is None else word.end()
    return TextRange(line_start + offset, line_start + max(stop, min(offset + 1, len(line))))


def _quoted(text: str, message: str) -> TextRange | None:
    for match in _QUOTED.finditer(message):
        phrase = r"\s+".join(re.escape(word) for word in match[2].rstrip("…").split())
        if not phrase:
            continue
        patterns = [rf"\b{re.escape(match[1])}\s*:\s*(?:{phrase})", phrase] if match[1] else [phrase]
        for pattern in patterns:
            if occurrence := re.search(pattern, text, re.IGNORECASE):
                return TextRange(occurrence.start(), occurrence.end())
    return None


def _named(text: str, message: str) -> TextRange | None:
    match = _NAMED.search(message)
    occurrence = re.search(rf"(?<![\w-]){re.escape(match[1])}\s*[:=]", text, re.IGNORECASE) if match else None
    return TextRange(occurrence.start(), occurrence.end() - 1) if occurrence else None
