"""One table over another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return both tables as one: tables are merged, anything else in `above` replaces what is in `below`."""
    merged = dict(below)
    for key, value in above.items():
        present = merged.get(key)
        if isinstance(present, Mapping) and isinstance(value, Mapping):
            merged[key] = merge(present, value)
        else:
            merged[key] = value
    return merged


def nested(path: Sequence[str], value: Any) -> dict[str, Any]:
    """Return the table that holds one value, at the key that `path` gives in parts (at least one)."""
    *outer, last = path
    table = {last: value}
    for part in reversed(outer):
        table = {part: table}
    return table
