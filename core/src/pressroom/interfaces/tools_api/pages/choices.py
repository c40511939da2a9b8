"""Inputs that show what a choice looks like: an example with one parameter changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def with_choice(samples: Sequence[Mapping[str, Any]], path: Sequence[str], value: Any) -> dict[str, Any]:
    """Return a sample in which a parameter has that value.

    Args:
        samples: inputs of the generator; the first one that sets the parameter is taken, else the first one.
        path: the names that lead to the parameter: its own, or that of an object and that of its member.
        value: the value to show.
    """
    chosen = next((one for one in samples if _has(one, path)), samples[0])
    outer, *inner = path
    if not inner:
        return {**chosen, outer: value}
    members = chosen.get(outer)
    return {**chosen, outer: {**(members if isinstance(members, dict) else {}), inner[0]: value}}


def _has(values: Mapping[str, Any], path: Sequence[str]) -> bool:
    found: Any = values
    for name in path:
        if not isinstance(found, Mapping) or name not in found:
            return False
        found = found[name]
    return True
