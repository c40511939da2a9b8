"""A canonical form of a call's arguments, independent of how the client wrote them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pressroom.sdk import Params


def canonical(value: Any) -> str:
    """Serialise a JSON value so that equal values give the same text, whatever the order of their keys.

    `1` and `1.0` are equal, as in JSON.
    """
    return json.dumps(_with_whole_numbers(value), sort_keys=True, separators=(",", ":"))


def canonical_arguments(params: Params) -> dict[str, str]:
    """Return each argument's canonical text by name, leaving out arguments that have their default value."""
    defaults = _defaults(type(params))
    texts = {name: canonical(value) for name, value in params.model_dump(mode="json").items()}
    return {name: text for name, text in texts.items() if defaults.get(name) != text}


@lru_cache(maxsize=1024)
def _defaults(model: type[Params]) -> Mapping[str, str]:
    dumped = model.model_construct().model_dump(mode="json", warnings=False)
    return {name: canonical(value) for name, value in dumped.items()}


def _with_whole_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _with_whole_numbers(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_with_whole_numbers(item) for item in value]
    return value
