"""Reading `llms.txt`: a title, a summary, and sections of links (the llms.txt convention)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pressroom_seo.crawler.urls import normalise

MAX_LLMS_TXT_BYTES: Final = 2_000_000
"""How many bytes of one are read."""

_ENTRY = re.compile(r"^\s*[-*+]\s+\[([^\]]*)\]\(\s*<?([^)\s>]+)[^)]*\)\s*:?\s*(.*)$")
_LIST = re.compile(r"^\s*[-*+]\s+")
_MAX_LINE_LENGTH = 4000
_MAX_ENTRIES = 5000
_MAX_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class LlmsEntry:
    """One link of the file, normalised."""

    title: str
    url: str
    note: str
    section: str


@dataclass(frozen=True, slots=True)
class LlmsTxt:
    """What the file says; `problems` are sentences."""

    title: str
    summary: str
    sections: tuple[str, ...]
    entries: tuple[LlmsEntry, ...]
    problems: tuple[str, ...]


def read_llms_txt(content: bytes, url: str) -> LlmsTxt:
    """Return what a file says, and what of it breaks the convention.

    Args:
        content: its bytes; they are UTF-8.
        url: where it lies; relative links are relative to it.
    """
    text = content[:MAX_LLMS_TXT_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")
    title = summary = ""
    sections: list[str] = []
    entries: list[LlmsEntry] = []
    problems: list[str] = []
    for number, whole in enumerate(text.splitlines(), 1):
        line = whole[:_MAX_LINE_LENGTH]
        if line.startswith("# "):
            problems += [f"line {number}: a second title"] if title else []
            title = title or line[2:].strip()[:200]
        elif line.startswith("## "):
            sections.append(line[3:].strip()[:200])
        elif line.startswith(">") and not sections:
            summary = f"{summary} {line[1:].strip()}".strip()[:1000]
        elif _LIST.match(line) and sections and len(entries) < _MAX_ENTRIES:
            entry = _entry(line, url, sections[-1])
            if entry is None:
                problems.append(f"line {number}: no link of the form - [title](url): note")
            else:
                entries.append(entry)
    if not title:
        problems.insert(0, "it has no title: its first line must be # and the site's name")
    if not entries:
        problems.append("it lists no pages: below a line of ## come lines of the form - [title](url): note")
    return LlmsTxt(title, summary, tuple(sections[:100]), tuple(entries), tuple(problems[:_MAX_PROBLEMS]))


def _entry(line: str, base: str, section: str) -> LlmsEntry | None:
    match = _ENTRY.match(line)
    url = normalise(match[2], base) if match else None
    if match is None or url is None:
        return None
    return LlmsEntry(match[1].strip()[:200], url, match[3].strip()[:300], section)
