"""The images of a generator's examples, which its page shows."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
import structlog

from pressroom.catalog.tool import ANONYMOUS, PlanTool
from pressroom.errors import CallError, InternalError, NotFound, Overloaded
from pressroom.host.host import Host
from pressroom.pipeline.context import ValidatedCall
from pressroom.sdk import Generator

log = structlog.get_logger()

RETRY_SECONDS: Final = 60
"""How long an image that could not be made is left alone."""

_AS_IT_IS: Final = frozenset({"image/svg+xml", "image/webp"})


@dataclass(frozen=True, slots=True)
class ExamplePicture:
    """An image that is small enough for a page."""

    media_type: str
    content: bytes


class Gallery:
    """Makes the images of examples when they are asked for first, and keeps them while the process lives.

    There are as many as examples, so that what is kept is bounded by the plugins, and anyone can make it do no more
    than one run an example. `addresses` holds, by the tool's slug, what follows `/tools/<slug>/` in each
    image's URL.
    """

    def __init__(self, host: Host) -> None:
        self._pipeline = host.pipeline
        self._files = host.services.files
        self._tools: dict[str, Generator] = {}
        self._made: dict[tuple[str, int], asyncio.Task[ExamplePicture]] = {}
        self._failed: dict[tuple[str, int], float] = {}
        self._versions: dict[str, list[str]] = {}
        for entry in host.services.catalog.plan(ANONYMOUS).generators:
            declaration = entry.tool.declaration
            if isinstance(declaration, Generator) and declaration.page.gallery:
                self._tools[entry.tool.name] = declaration
                self._versions[entry.tool.name] = [_version(entry, one.params) for one in declaration.examples]
        self.addresses: Mapping[str, tuple[str, ...]] = {
            slug: tuple(f"examples/{number}?v={version}" for number, version in enumerate(versions))
            for slug, versions in self._versions.items()
        }

    def is_current(self, slug: str, number: int, version: str) -> bool:
        """Tell whether a URL with this version always leads to the image that is made now."""
        return self._versions[slug][number] == version

    async def picture(self, slug: str, number: int) -> ExamplePicture:
        """Return the image of an example, by its number from 0.

        Raises:
            NotFound: there is no such example, or the tool makes no images.
            CallError: the generator could not make it.
        """
        if slug not in self._tools or not 0 <= number < len(self._tools[slug].examples):
            raise NotFound("there is no such example")
        key = slug, number
        if self._failed.get(key, 0.0) > time.monotonic():
            raise Overloaded("the image could not be made; try again in a minute", retry_after=RETRY_SECONDS)
        task = self._made.get(key)
        if task is None:
            task = self._made[key] = asyncio.create_task(self._make(slug, number))
        try:
            return await asyncio.shield(task)
        except CallError:
            if self._made.get(key) is task:
                del self._made[key]
                self._failed[key] = time.monotonic() + RETRY_SECONDS
            raise

    async def _make(self, slug: str, number: int) -> ExamplePicture:
        example = self._tools[slug].examples[number]
        try:
            call = await self._pipeline.run_internally(slug, example.params, f"example-{number}")
            media_type, content = await self._shown(call)
            return await asyncio.to_thread(_small, media_type, content)
        except CallError as error:
            log.warning("an example could not be drawn", tool=slug, example=example.title, error=error.message)
            raise
        except Exception as error:
            log.exception("an example could not be drawn", tool=slug, example=example.title)
            raise InternalError("the image could not be made") from error

    async def _shown(self, call: ValidatedCall) -> tuple[str, bytes]:
        if call.file is None:
            raise InternalError("the image could not be made")
        entry = call.file.entry
        if entry.preview:
            return _picture_type(entry.preview), await self._files.read(entry.preview)
        return entry.media_type, call.content


def _picture_type(key: str) -> str:
    return "image/svg+xml" if key.endswith(".svg") else "image/png"


def _small(media_type: str, content: bytes) -> ExamplePicture:
    if not media_type.startswith("image/"):
        raise NotFound("this tool makes no images")
    if media_type in _AS_IT_IS:
        return ExamplePicture(media_type, content)
    try:
        from pressroom.graphics.thumbnails import thumbnail  # noqa: PLC0415 - Pillow is an extra, and loads with the first
    except ImportError:
        return ExamplePicture(media_type, content)
    return ExamplePicture("image/webp", thumbnail(content))


def _version(entry: PlanTool, params: Mapping[str, Any]) -> str:
    digest = hashlib.sha256(entry.tool.content_salt)
    digest.update(orjson.dumps(dict(params), option=orjson.OPT_SORT_KEYS))
    return digest.hexdigest()[:16]
