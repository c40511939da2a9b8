"""Making text from elsewhere safe for a terminal."""

from __future__ import annotations

import re

_CONTROL = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and line feed, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction marks and overrides (Unicode TR 9)
    "\u2028\u2029\ufff9-\ufffb"  # separators that some terminals obey, interlinear annotation
    "\ud800-\udfff"  # lone surrogates: bytes of a name that are not UTF-8
    "]"
)


def safe(text: str) -> str:
    r"""Return text of one line or more in which nothing can steer a terminal or mislead the eye.

    What could is shown as an escape, such as `\x1b`. Values come from plugins and files that others wrote: an escape
    sequence could retitle the window, hide what follows, or type a command.
    """
    return _CONTROL.sub(_escape, text.expandtabs(4))


def safe_cell(value: object) -> str:
    """Return a value as text of one line; line ends are shown as escapes too."""
    return safe("" if value is None else str(value)).replace("\n", "\\n")


def safe_json(document: str) -> str:
    r"""Return a JSON document that means the same, with the characters that `safe` replaces as `\u` escapes."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", document)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
