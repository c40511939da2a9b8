"""Preparation in the server before a worker renders an image.

Offers the templates, looks up the requested one, and fetches the images that the client's HTML or props refer to.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import Any, Final

from pressroom.graphics.image_types import type_of_image
from pressroom.sdk import Call, Fetcher, FetchFailed, FetchRefused, InvalidInput, PluginContext
from pydantic.json_schema import JsonSchemaMode

from pressroom_image_generator.params import ImageParams, TemplateProps
from pressroom_image_generator.templates import BUILT_IN, ImageTemplate, image_templates

MAX_IMAGES: Final = 10
MAX_BYTES: Final = 5 * 2**20
SECONDS_EACH: Final = 5.0
SECONDS_TOGETHER: Final = 8.0

ACCEPT: Final = "image/avif,image/webp,image/png,image/jpeg,image/svg+xml,image/gif"

_CACHE_SECONDS: Final = 120.0
_CACHE_BYTES: Final = 32 * 2**20
_MAX_SHOWN_LENGTH: Final = 120

_numbers: Final = count(1)
IMAGE_PROPS = ("logoUrl", "imageUrl", "avatarUrl")


@dataclass(frozen=True, slots=True)
class RemoteImages:
    """The results of the fetches: content by URL, `None` for failed ones, and a warning for each failure."""

    contents: Mapping[str, bytes | None] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


NO_IMAGES: Final = RemoteImages()


class ImageFetcher:
    """Fetches images, and caches them for a short time.

    Args:
        kept_seconds: how long an image is reused.
        kept_bytes: maximum total size of the cache.
    """

    def __init__(self, *, kept_seconds: float = _CACHE_SECONDS, kept_bytes: int = _CACHE_BYTES) -> None:
        self._kept_seconds = kept_seconds
        self._max_cached_bytes = kept_bytes
        self._kept: OrderedDict[str, tuple[float, bytes]] = OrderedDict()
        self._bytes = 0

    async def fetch(self, fetcher: Fetcher, urls: Sequence[str], field_name: str) -> RemoteImages:
        """Fetch images concurrently, and return their contents.

        Raises:
            InvalidInput: there are too many; the error contains the field.
        """
        unique_urls = tuple(dict.fromkeys(urls))
        if len(unique_urls) > MAX_IMAGES:
            raise InvalidInput(
                field_name, f"has {len(unique_urls)} images with a URL; at most {MAX_IMAGES} are allowed"
            )
        tasks = {url: asyncio.create_task(self._one(fetcher, url)) for url in unique_urls}
        try:
            if tasks:
                await asyncio.wait(tasks.values(), timeout=SECONDS_TOGETHER)
        finally:
            for task in tasks.values():
                task.cancel()
        contents: dict[str, bytes | None] = {}
        warnings = []
        for url, task in tasks.items():
            outcome = task.result() if task.done() and not task.cancelled() else "it did not arrive in time"
            contents[url] = outcome if isinstance(outcome, bytes) else None
            if isinstance(outcome, str):
                warnings.append(f"The image {_printable(url)} is missing: {outcome}.")
        return RemoteImages(contents, tuple(warnings))

    async def _one(self, fetcher: Fetcher, url: str) -> bytes | str:
        """Return an image, or the reason why it is missing."""
        cached = self._recall(url)
        if cached is not None:
            return cached
        try:
            fetched = await fetcher.get(url, accept=ACCEPT, max_bytes=MAX_BYTES, seconds=SECONDS_EACH)
        except (FetchRefused, FetchFailed) as error:
            return error.message
        if fetched.status != 200:
            return f"its server returned status {fetched.status}"
        if not type_of_image(fetched.content):
            return "it is not a PNG, JPEG, GIF, WebP, AVIF or SVG image"
        self._keep(url, fetched.content)
        return fetched.content

    def _recall(self, url: str) -> bytes | None:
        expires, content = self._kept.get(url, (0.0, b""))
        return content if expires > time.monotonic() else None

    def _keep(self, url: str, content: bytes) -> None:
        self._forget(url)
        self._kept[url] = (time.monotonic() + self._kept_seconds, content)
        self._bytes += len(content)
        now = time.monotonic()
        while self._kept:
            oldest, (expires, _) = next(iter(self._kept.items()))
            if self._bytes <= self._max_cached_bytes and expires > now:
                break
            self._forget(oldest)

    def _forget(self, url: str) -> None:
        _, content = self._kept.pop(url, (0.0, b""))
        self._bytes -= len(content)


def _printable(url: str) -> str:
    flat = "".join(character if character.isprintable() else " " for character in url)
    return flat if len(flat) <= _MAX_SHOWN_LENGTH else f"{flat[: _MAX_SHOWN_LENGTH - 1]}…"


def added_templates(plugin: PluginContext) -> dict[str, ImageTemplate]:
    """Return the templates that other plugins add, by name in alphabetical order.

    Raises:
        RuntimeError: not all plugins are loaded yet.
    """
    return dict(sorted((template.name, template) for _, template in image_templates(plugin)))


def offered_params(plugin: PluginContext) -> type[ImageParams]:
    """Return the class of the parameters that a server offers. Instances are pickled as plain `ImageParams`.

    The schema is generated when the server compiles its catalog, after all plugins are loaded; before that, it only
    contains the built-in templates.
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
        def model_json_schema(cls, *_: Any, mode: JsonSchemaMode = "validation", **__: Any) -> dict[str, Any]:
            schema = _schema(mode)
            properties = schema["properties"]
            template = {**properties["template"], "enum": names()}
            return {**schema, "properties": {**properties, "template": template}}

        def __reduce__(self) -> tuple[Any, ...]:
            return _plain, (self.__getstate__(),)

    # Pickle finds a class by its name: each server in a process has its own class.
    Offered.__name__ = ImageParams.__name__
    Offered.__qualname__ = f"ImageParams{next(_numbers)}"
    setattr(sys.modules[__name__], Offered.__qualname__, Offered)
    return Offered


@cache
def _schema(mode: JsonSchemaMode) -> dict[str, Any]:
    # Generating it takes milliseconds at each start; no parameter has an alias.
    return ImageParams.model_json_schema(mode=mode)


def _plain(state: dict[Any, Any]) -> ImageParams:
    params = ImageParams.__new__(ImageParams)
    params.__setstate__(state)
    return params


@dataclass(frozen=True, slots=True)
class WorkerInput:
    """The input of a worker besides the parameters. `template` is set if another plugin provides it."""

    images: RemoteImages = NO_IMAGES
    template: ImageTemplate | None = None


class Preparation:
    """Prepares the calls of one host's generator."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin
        self._images = ImageFetcher()

    async def prepare(self, params: ImageParams, call: Call) -> WorkerInput:
        """Return the worker's input. Raises `InvalidInput` for unknown templates, refused HTML, or too many images."""
        template = None
        if params.html is not None:
            field, urls = "html", await self._urls_in(params.html)
        else:
            field, urls = "props", _urls_of(params.props or TemplateProps())
            if params.template not in BUILT_IN:
                template = self._added(str(params.template))
                params.size(template.size)
        if not urls:
            return WorkerInput(template=template)
        return WorkerInput(await self._images.fetch(self._plugin.services.fetcher, urls, field), template)

    async def _urls_in(self, html: str) -> tuple[str, ...]:
        # `<img` and its alias `<image` have no other spelling; most HTML contains neither.
        if "<im" not in html.lower():
            return ()
        return await self._plugin.services.workers.run(_read_addresses, html, what="the HTML", seconds=5)

    def _added(self, name: str) -> ImageTemplate:
        added = added_templates(self._plugin)
        template = added.get(name)
        if template is None:
            raise InvalidInput("template", f"must be one of {', '.join([*BUILT_IN, *added])} (got {name[:64]!r})")
        return template


def _read_addresses(html: str) -> tuple[str, ...]:
    from pressroom_image_generator.engine import image_addresses  # noqa: PLC0415 - loads with the first image

    return tuple(image_addresses(html))


def _urls_of(props: TemplateProps) -> tuple[str, ...]:
    urls = (getattr(props, name) for name in IMAGE_PROPS)
    return tuple(url for url in urls if url and url[:8].lower() == "https://")
