"""A readable transcript of an AI client's session: the user's requests, the client's calls, and the results."""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from textwrap import fill
from typing import Any, Final

_LINES: Final = 12
_LINE: Final = 300
_ARGUMENT: Final = 160
_WIDTH: Final = 120

_IDS = re.compile(r"(?<![0-9A-Za-z])([a-z]{1,2})_[0-9A-Za-z]{22}(?![0-9A-Za-z])")
_FILES = re.compile(r"\bm[0-9a-f]{24}\b")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)(?:([T ])(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(Z|\+00:00)?)?(?!\d)")
_DAY: Final = date(2026, 11, 21)
"""The date of every session as shown on its page."""

_VARYING: Final = (
    (re.compile(r"(/connect/)[\w-]{12,}"), r"\1…"),
    (re.compile(r"(\?p=)\d+"), r"\g<1>8"),
    (re.compile(r"(?<![\d:])\d\d:\d\d UTC"), "10:30 UTC"),
    (re.compile(r'("bytes": )\d+'), r"\g<1>41627"),
    (re.compile(r"\b\d[\d,.]* (ms|milliseconds|bytes|kB|MB)\b"), r"… \1"),
)


class Transcript:
    """Records the session; `addresses` maps machine-specific URLs, for example with ports, to those on the page."""

    def __init__(self, title: str, opening: str, addresses: Mapping[str, str]) -> None:
        self._parts = [f"# {title}\n", f"{opening.strip()}\n"]
        self._addresses = addresses
        self._ids: dict[str, str] = {}
        self._today = datetime.now(UTC).date()

    def heading(self, text: str) -> None:
        """Begin a section."""
        self._parts.append(f"## {text}\n")

    def add_text(self, text: str) -> None:
        """Add a narrative paragraph."""
        self._parts.append(f"{fill(text, _WIDTH, break_on_hyphens=False)}\n")

    def says(self, name: str, text: str) -> None:
        """Add a user's request to the client."""
        self._parts.append(fill(f"**{name}:** “{text}”", _WIDTH) + "\n")

    def called(self, tool: str, arguments: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        """Add a call and its result."""
        text = "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
        self._parts.append(f"The client calls `{tool}`" + (":\n" if arguments else ".\n"))
        if arguments:
            formatted = json.dumps(_short(arguments), indent=2, ensure_ascii=False)
            self._parts.append(f"```json\n{formatted}\n```\n")
        self._parts.append(f"The tool returns:\n\n```text\n{_shortened(text)}\n```\n")

    def page(self) -> str:
        """Return the page, with values that vary between runs replaced by constants."""
        text = "\n".join(self._parts)
        for url, replacement in self._addresses.items():
            text = text.replace(url, replacement).replace(url.partition("://")[2], replacement.partition("://")[2])
        text = _FILES.sub("m0123456789abcdef", text)
        text = _IDS.sub(self._named, text)
        text = _TIME.sub(self._moved, text)
        for pattern, replacement in _VARYING:
            text = pattern.sub(replacement, text)
        return text

    def compare(self, file: Path) -> None:
        """Write the page if `PRESSROOM_TEST_UPDATE` is set; otherwise check that it equals the file."""
        page = self.page()
        if os.environ.get("PRESSROOM_TEST_UPDATE"):
            file.write_text(page)
            return
        expected = file.read_text() if file.exists() else ""
        changes = "\n".join(
            difflib.unified_diff(expected.splitlines(), page.splitlines(), file.name, "played", lineterm="")
        )
        assert expected == page, f"the story has changed; write it anew with PRESSROOM_TEST_UPDATE=1\n{changes}"

    def _moved(self, match: re.Match[str]) -> str:
        """Return a time shifted to the page's date. Times until the next day become 10:00 on that date."""
        days = (date.fromisoformat(match[1]) - self._today).days
        later = days > 1  # a session that continues past midnight still counts as one day
        day = (_DAY + timedelta(days=days if later else 0)).isoformat()
        return f"{day}{match[2]}{match[3] if later else '10:00'}{match[4] or ''}" if match[2] else day

    def _named(self, match: re.Match[str]) -> str:
        """Return a short name for an id: the first article is `a_1`."""
        letter = match[1]
        known = sum(id_.startswith(f"{letter}_") for id_ in self._ids.values())
        return self._ids.setdefault(match[0], f"{letter}_{known + 1}")


def _short(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _short(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_short(member) for member in value]
    if isinstance(value, str) and len(value) > _ARGUMENT:
        return f"{value[:_ARGUMENT].rsplit(' ', 1)[0]} … ({len(value)} characters)"
    return value


def _shortened(text: str) -> str:
    if text.startswith("{"):
        text = json.dumps(_short(json.loads(text)), indent=2, ensure_ascii=False)
    lines = [line if len(line) <= _LINE else f"{line[:_LINE].rsplit(' ', 1)[0]} …" for line in text.splitlines()]
    if len(lines) > _LINES:
        lines = [*lines[:_LINES], f"… and {len(lines) - _LINES} more lines"]
    return "\n".join(lines)
