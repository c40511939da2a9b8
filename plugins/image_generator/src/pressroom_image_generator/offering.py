"""The parameters of one server: their schema names the templates of its other plugins as well."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import count
from typing import Any, Final

from pressroom.sdk import PluginContext
from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from pressroom_image_generator.params import ImageParams
from pressroom_image_generator.templates import BUILT_IN, ImageTemplate

HOOK: Final = "pressroom_image_templates"

_numbers: Final = count(1)


def added_templates(plugin: PluginContext) -> dict[str, ImageTemplate]:
    """Return the templates that other plugins add, by name and in its order.

    Raises:
        RuntimeError: not all plugins are loaded yet.
    """
    return dict(sorted((template.name, template) for _, template in plugin.extensions.of(HOOK)))


def offered_params(plugin: PluginContext) -> type[ImageParams]:
    """Return the parameters that a server offers. What they hold is pickled as plain `ImageParams`.

    The schema is made when the server compiles its catalog, once all plugins are loaded; before, it names the
    built-in templates alone.
    """

    def names() -> list[str]:
        try:
            return [*BUILT_IN, *added_templates(plugin)]
        except RuntimeError:
            return list(BUILT_IN)

    return _with_templates(names)


def _with_templates(names: Callable[[], list[str]]) -> type[ImageParams]:
    class Offered(ImageParams):
        __doc__ = ImageParams.__doc__

        @classmethod
        def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
            schema = handler(core)
            handler.resolve_ref_schema(schema)["properties"]["template"]["enum"] = names()
            return schema

        def __reduce__(self) -> tuple[Any, ...]:
            return _plain, (self.__getstate__(),)

    # A class is pickled by its name: each server of a process has one of its own.
    Offered.__name__ = ImageParams.__name__
    Offered.__qualname__ = f"ImageParams{next(_numbers)}"
    setattr(sys.modules[__name__], Offered.__qualname__, Offered)
    return Offered


def _plain(state: dict[Any, Any]) -> ImageParams:
    params = ImageParams.__new__(ImageParams)
    params.__setstate__(state)
    return params
