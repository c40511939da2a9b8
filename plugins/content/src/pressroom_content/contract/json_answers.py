"""Reading the JSON of other people's servers."""

from __future__ import annotations

import json
from typing import Any, Final

MAX_VALUES: Final = 500_000
"""Values of an answer. What JSON costs is decided by their number: 16 MiB of `[]` take over a second, of text 15 ms."""

_SIGNS: Final = (b"[", b"{", b",", b":")


class UnreadableJson(ValueError):
    """An answer is not JSON, or more of it than is read. The message ends a sentence that begins with the source."""


def read_json(content: bytes, *, max_values: int = MAX_VALUES) -> Any:
    """Return the JSON of an answer that was bounded in bytes when it was fetched.

    Nothing else runs while JSON is parsed, in a thread neither, so the number of values is bounded before: 16 MiB take
    at most a tenth of a second.

    Raises `UnreadableJson`.
    """
    if _signs(content) > max_values and not _is_mostly_text(content, max_values):
        raise UnreadableJson(f"answered with more than {max_values:,} values")
    try:
        return json.loads(content, parse_constant=_refuse)
    except RecursionError:
        raise UnreadableJson("answered with JSON that is nested too deep") from None
    except ValueError:
        raise UnreadableJson("answered with something that is not JSON") from None


def read_json_or_none(content: bytes, *, max_values: int = MAX_VALUES) -> Any:
    """Return the JSON of an answer, `None` for what cannot be read."""
    try:
        return read_json(content, max_values=max_values)
    except UnreadableJson:
        return None


def _signs(content: bytes) -> int:
    return sum(map(content.count, _SIGNS))


def _is_mostly_text(content: bytes, max_values: int) -> bool:
    """Return whether so many signs are in strings that the values are few enough after all."""
    if b"\0" in content:  # UTF-16 and UTF-32, where a quotation mark is not one byte
        return False
    plain = content.replace(b"\\\\", b"").replace(b'\\"', b"")
    if plain.count(b'"') > 2 * max_values:
        return False
    return _signs(b"".join(plain.split(b'"')[::2])) <= max_values


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON (RFC 8259, section 6)")
