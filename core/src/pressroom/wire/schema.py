"""JSON Schema of models, as pydantic writes it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel


@lru_cache(maxsize=2048)
def json_schema(
    model: type[BaseModel], mode: Literal["validation", "serialization"] = "validation", *, by_alias: bool = True
) -> Mapping[str, Any]:
    """Return the JSON Schema of what a model takes, or of what it is written as, with `$defs` and references.

    It is generated once for each model, since that takes milliseconds: callers must not change any part of it.

    Raises whatever pydantic, or the model's own part in its schema, raises.
    """
    return model.model_json_schema(by_alias=by_alias, mode=mode)
