"""Predefined images on tool pages: of examples, and of the effect of choices."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal
from urllib.parse import quote

import orjson
import structlog

from pressroom.catalog.schema import form_parameters
from pressroom.catalog.tool import ANONYMOUS, PlanTool
from pressroom.errors import CallError, InternalError, NotFound, Overloaded
from pressroom.host.host import Host
from pressroom.interfaces.tools_api.pages.declared import with_choice
from pressroom.interfaces.tools_api.pages.fields import shows_choices
from pressroom.interfaces.tools_api.pages.forms import form_params, text_of
from pressroom.interfaces.tools_api.pages.views import MEDIUM, ImageUrls
from pressroom.sdk import EditableText, Example, Generator

log = structlog.get_logger()

RETRY_SECONDS: Final = 60
"""Seconds before an image that failed is tried again."""

Size = Literal["choice", "tile", "card", "medium", "large"]

_SIZES: Final[Mapping[Size, tuple[int, int, int]]] = {
    "choice": (180, 120, 70),
    "tile": (256, 132, 70),
    "card": (480, 480, 75),
    "medium": (*MEDIUM, 80),
    "large": (1600, 1600, 75),
}
"""Maximum width and height in pixels, and the WebP quality.

The dimensions are twice those in CSS pixels on the page; `medium` is `large` for screens that show it at half its size.
"""


_CANVAS: Final = "examples/0/large"
_FIRST: Final[tuple[tuple[Literal["card", "canvas", "canvas_medium"], str, Size], ...]] = (
    ("card", "examples/0", "card"),
    ("canvas", _CANVAS, "large"),
    ("canvas_medium", "examples/0/medium", "medium"),
)
"""Further uses of the first example: the field of `ImageUrls`, the image's name and its size."""


@dataclass(frozen=True, slots=True)
class ExampleImage:
    """An image for a page. `size` is its width and height in pixels, or `None` if unknown, as for SVG.

    `editable` locates a parameter's text in the image.
    """

    media_type: str
    content: bytes
    size: tuple[int, int] | None = None
    editable: EditableText | None = None


@dataclass(frozen=True, slots=True)
class _Order:
    """An image to create: its input, its size, and the version of its URL."""

    slug: str
    title: str
    params: Mapping[str, Any]
    size: Size
    version: str


class Gallery:
    """Creates images on first request, and caches them for the lifetime of the process.

    The number of images is limited by the examples and choices of plugins, so anonymous requests cannot cause more work
    than that. They are neither counted nor stored. `urls` holds the URLs of the images by the tool's slug.
    """

    def __init__(self, host: Host) -> None:
        self._previews = host.previews
        self._orders: dict[tuple[str, str], _Order] = {}
        self._tasks: dict[tuple[str, str], asyncio.Task[ExampleImage]] = {}
        self._failed: dict[tuple[str, str], float] = {}
        entries = host.services.catalog.plans[ANONYMOUS].generators
        self.urls: Mapping[str, ImageUrls] = {
            entry.tool.name: self._urls(entry, declaration)
            for entry in entries
            if isinstance(declaration := entry.tool.declaration, Generator) and makes_images(declaration)
        }

    def is_current(self, slug: str, name: str, version: str) -> bool:
        """Return whether a URL with this version permanently refers to the current image."""
        order = self._orders.get((slug, name))
        return order is not None and order.version == version

    def canvas(self, slug: str) -> ExampleImage | None:
        """Return the initial image of a tool's page if it has been created, otherwise `None`."""
        task = self._tasks.get((slug, _CANVAS))
        if task is None or not task.done() or task.cancelled() or task.exception() is not None:
            return None
        return task.result()

    async def image(self, slug: str, name: str) -> ExampleImage:
        """Return an image by its path below the tool's URL, without a query: `examples/0`, `choices/theme/nord`.

        Raises:
            NotFound: the image does not exist.
            CallError: the generator failed, or has failed within the last `RETRY_SECONDS`.
        """
        key = slug, name
        order = self._orders.get(key)
        if order is None:
            raise NotFound("there is no such image")
        if self._failed.get(key, 0.0) > time.monotonic():
            raise Overloaded("the image could not be rendered; try again in a minute", retry_after=RETRY_SECONDS)
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.create_task(self._make(order))
        try:
            return await asyncio.shield(task)
        except CallError:
            if self._tasks.get(key) is task:
                del self._tasks[key]
                self._failed[key] = time.monotonic() + RETRY_SECONDS
            raise

    def _urls(self, entry: PlanTool, generator: Generator) -> ImageUrls:
        slug, examples = entry.tool.name, generator.examples

        def ordered(name: str, title: str, params: Mapping[str, Any], size: Size) -> str:
            version = _version(entry, params, size)
            self._orders[slug, name] = _Order(slug, title, params, size, version)
            return f"{quote(name)}?v={version}"

        return ImageUrls(
            examples=tuple(
                ordered(f"examples/{n}" if n else "examples/0/tile", example.title, example.params, "tile")
                for n, example in enumerate(examples)
            ),
            # The first example is also in the list of tools, where images are larger, and in full on the tool's page.
            **{
                where: ordered(name, example.title, example.params, size)
                for example in examples[:1]
                for where, name, size in _FIRST
            },
            choices={
                name: {
                    value: ordered(f"choices/{name}/{value}", value, params, "choice")
                    for value, params in values.items()
                }
                for name, values in _choices(generator, examples).items()
            },
        )

    async def _make(self, order: _Order) -> ExampleImage:
        try:
            sample = await self._previews.sample(order.slug, order.params)
            artifact = sample.artifact
            media_type, content = artifact.preview or (artifact.media_type, artifact.content)
            image = await asyncio.to_thread(_small, media_type, content, order.size)
            return replace(image, editable=artifact.editable)
        except CallError as error:
            log.warning("an example could not be drawn", tool=order.slug, example=order.title, error=error.message)
            raise
        except Exception as error:
            log.exception("an example could not be drawn", tool=order.slug, example=order.title)
            raise InternalError("the image could not be made") from error


def makes_images(generator: Generator) -> bool:
    """Return whether a generator creates images, or declares previews or a gallery."""
    images = any(media_type.startswith("image/") for media_type in generator.produces)
    return images or generator.preview.kind == "icons" or generator.preview.live or generator.page.gallery


def _choices(generator: Generator, examples: Iterable[Example]) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Return the input of each choice's image, by parameter and value."""
    choices: dict[str, dict[str, Mapping[str, Any]]] = {}
    samples = [example.params for example in examples]
    for param in form_params(form_parameters(generator.params)):
        if samples and shows_choices(param):
            path = param.get("path", (param["name"],))
            thumbnail = generator.page.thumbnails.get(param["name"])
            candidates = samples if thumbnail is None else [thumbnail]
            choices[param["name"]] = {
                text_of(value): with_choice(candidates, path, value) for value in param.get("enumValues", ())
            }
    return choices


def _small(media_type: str, content: bytes, size: Size) -> ExampleImage:
    if media_type == "image/svg+xml":
        return ExampleImage(media_type, content)
    try:
        from pressroom.graphics.thumbnails import size_of, thumbnail  # noqa: PLC0415 - Pillow is an extra, loads late
    except ImportError:
        return ExampleImage(media_type, content)
    width, height, quality = _SIZES[size]
    scaled = thumbnail(content, (width, height), quality)
    return ExampleImage("image/webp", scaled, size_of(scaled))


def _version(entry: PlanTool, params: Mapping[str, Any], size: Size) -> str:
    digest = hashlib.sha256(entry.tool.content_salt)
    digest.update(repr((size, _SIZES[size])).encode())
    digest.update(orjson.dumps(dict(params), option=orjson.OPT_SORT_KEYS))
    return digest.hexdigest()[:16]
