"""What the server does before a worker draws: it finds the template and fetches the pictures."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from pressroom.sdk import Call, InvalidInput, PluginContext

from pressroom_image_generator.images import NO_IMAGES, ImageFetcher, RemoteImages
from pressroom_image_generator.offering import added_templates
from pressroom_image_generator.params import ImageParams, TemplateProps
from pressroom_image_generator.templates import BUILT_IN, ImageTemplate

PICTURE_PROPS = ("logoUrl", "imageUrl", "avatarUrl")


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a worker needs besides the parameters. `template` is one that another plugin added."""

    images: RemoteImages = NO_IMAGES
    template: ImageTemplate | None = None


class Preparation:
    """Prepares the runs of one host's generator."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin
        self._images = ImageFetcher()

    async def prepare(self, params: ImageParams, call: Call) -> Prepared:
        """Return what the run needs. Raises `InvalidInput` for an unknown template, or where nothing may be fetched."""
        template = None
        if params.html is not None:
            field, addresses = "html", await asyncio.to_thread(_addresses_in, params.html)
        else:
            field, addresses = "props", _addresses_of(params.props or TemplateProps())
            if params.template not in BUILT_IN:
                template = self._added(str(params.template))
                params.size(template.size)
        if not addresses:
            return Prepared(template=template)
        return Prepared(await self._images.fetch(self._plugin.services.fetcher, addresses, field), template)

    def _added(self, name: str) -> ImageTemplate:
        added = added_templates(self._plugin)
        found = added.get(name)
        if found is None:
            raise InvalidInput("template", f"must be one of {', '.join([*BUILT_IN, *added])} (got {name[:64]!r})")
        return found


def _addresses_in(html: str) -> tuple[str, ...]:
    # `<img` and its old name `<image` cannot be written in any other way; most HTML has neither.
    if "<im" not in html.lower():
        return ()
    from pressroom_image_generator.engine import image_addresses  # noqa: PLC0415 - loads with the first picture

    return tuple(image_addresses(html))


def _addresses_of(props: TemplateProps) -> tuple[str, ...]:
    addresses = (getattr(props, name) for name in PICTURE_PROPS)
    return tuple(address for address in addresses if address and address[:8].lower() == "https://")
