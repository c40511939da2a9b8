"""What the server does before a worker draws: it offers the templates, finds the one wanted, and fetches the images."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from pressroom.sdk import Call, InvalidInput, PluginContext
from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from pressroom_image_generator.images import NO_IMAGES, ImageFetcher, RemoteImages
from pressroom_image_generator.params import ImageParams, TemplateProps
from pressroom_image_generator.templates import BUILT_IN, ImageTemplate, image_templates

_numbers: Final = count(1)


def added_templates(plugin: PluginContext) -> dict[str, ImageTemplate]:
    """Return the templates that other plugins add, by name and in its order.

    Raises:
        RuntimeError: not all plugins are loaded yet.
    """
    return dict(sorted((template.name, template) for _, template in image_templates(plugin)))


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


IMAGE_PROPS = ("logoUrl", "imageUrl", "avatarUrl")


@dataclass(frozen=True, slots=True)
class WorkerInput:
    """What a worker needs besides the parameters. `template` is one that another plugin added."""

    images: RemoteImages = NO_IMAGES
    template: ImageTemplate | None = None


class Preparation:
    """Prepares the runs of one host's generator."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin
        self._images = ImageFetcher()

    async def prepare(self, params: ImageParams, call: Call) -> WorkerInput:
        """Return what the run needs. Raises `InvalidInput` for an unknown template, or where nothing may be fetched."""
        template = None
        if params.html is not None:
            field, addresses = "html", await self._addresses_in(params.html)
        else:
            field, addresses = "props", _addresses_of(params.props or TemplateProps())
            if params.template not in BUILT_IN:
                template = self._added(str(params.template))
                params.size(template.size)
        if not addresses:
            return WorkerInput(template=template)
        return WorkerInput(await self._images.fetch(self._plugin.services.fetcher, addresses, field), template)

    async def _addresses_in(self, html: str) -> tuple[str, ...]:
        # `<img` and its old name `<image` cannot be written in any other way; most HTML has neither.
        if "<im" not in html.lower():
            return ()
        return await self._plugin.services.workers.run(_read_addresses, html, what="the HTML", seconds=5)

    def _added(self, name: str) -> ImageTemplate:
        added = added_templates(self._plugin)
        found = added.get(name)
        if found is None:
            raise InvalidInput("template", f"must be one of {', '.join([*BUILT_IN, *added])} (got {name[:64]!r})")
        return found


def _read_addresses(html: str) -> tuple[str, ...]:
    from pressroom_image_generator.engine import image_addresses  # noqa: PLC0415 - loads with the first image

    return tuple(image_addresses(html))


def _addresses_of(props: TemplateProps) -> tuple[str, ...]:
    addresses = (getattr(props, name) for name in IMAGE_PROPS)
    return tuple(address for address in addresses if address and address[:8].lower() == "https://")
