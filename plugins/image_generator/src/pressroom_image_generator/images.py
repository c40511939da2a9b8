"""The images that a client's HTML names: fetched by the server before it is drawn."""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pressroom.sdk import Fetcher, FetchFailed, FetchRefused, InvalidInput

MAX_IMAGES: Final = 10
MAX_BYTES: Final = 5 * 2**20
SECONDS_EACH: Final = 5.0
SECONDS_TOGETHER: Final = 8.0

ACCEPT: Final = "image/avif,image/webp,image/png,image/jpeg,image/svg+xml,image/gif"

_KEPT_SECONDS: Final = 120.0
_KEPT_BYTES: Final = 32 * 2**20
_MAX_SHOWN_LENGTH: Final = 120
_SVG: Final = re.compile(rb"(?>\s+|<\?xml[^>]*>|<!--.*?-->|<!DOCTYPE[^>\[]*>)*+<svg[\s>/]", re.DOTALL | re.IGNORECASE)
"""The beginning of an SVG. Atomic groups keep a hostile one from being read in many ways."""

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class RemoteImages:
    """The outcome of the fetches: the content by URL, `None` for one that failed, and a warning for each of those."""

    contents: Mapping[str, bytes | None] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


NO_IMAGES: Final = RemoteImages()


class ImageFetcher:
    """Fetches images, and keeps the latest ones for a short time.

    Args:
        kept_seconds: how long an image is reused.
        kept_bytes: the maximum size of all kept images together.
    """

    def __init__(self, *, kept_seconds: float = _KEPT_SECONDS, kept_bytes: int = _KEPT_BYTES) -> None:
        self._kept_seconds = kept_seconds
        self._most_kept = kept_bytes
        self._kept: OrderedDict[str, tuple[float, bytes]] = OrderedDict()
        self._bytes = 0

    async def fetch(self, fetcher: Fetcher, addresses: Sequence[str], field_name: str) -> RemoteImages:
        """Return the content at the URLs, all fetched at once.

        Raises:
            InvalidInput: there are too many; the error names the field.
        """
        wanted = tuple(dict.fromkeys(addresses))
        if len(wanted) > MAX_IMAGES:
            raise InvalidInput(field_name, f"has {len(wanted)} images with a URL; at most {MAX_IMAGES} are allowed")
        tasks = {address: asyncio.create_task(self._one(fetcher, address)) for address in wanted}
        try:
            if tasks:
                await asyncio.wait(tasks.values(), timeout=SECONDS_TOGETHER)
        finally:
            for task in tasks.values():
                task.cancel()
        contents: dict[str, bytes | None] = {}
        warnings = []
        for address, task in tasks.items():
            outcome = task.result() if task.done() and not task.cancelled() else "it did not arrive in time"
            contents[address] = outcome if isinstance(outcome, bytes) else None
            if isinstance(outcome, str):
                warnings.append(f"The image {_shown(address)} is missing: {outcome}.")
        return RemoteImages(contents, tuple(warnings))

    async def _one(self, fetcher: Fetcher, address: str) -> bytes | str:
        """Return an image, or why it is missing."""
        kept = self._recall(address)
        if kept is not None:
            return kept
        try:
            fetched = await fetcher.get(address, accept=ACCEPT, max_bytes=MAX_BYTES, seconds=SECONDS_EACH)
        except (FetchRefused, FetchFailed) as error:
            return error.message
        if fetched.status != 200:
            return f"its server answered with status {fetched.status}"
        if not is_image(fetched.content):
            return "it is not a PNG, JPEG, GIF, WebP, AVIF or SVG image"
        self._keep(address, fetched.content)
        return fetched.content

    def _recall(self, address: str) -> bytes | None:
        expires, content = self._kept.get(address, (0.0, b""))
        return content if expires > time.monotonic() else None

    def _keep(self, address: str, content: bytes) -> None:
        self._forget(address)
        self._kept[address] = (time.monotonic() + self._kept_seconds, content)
        self._bytes += len(content)
        now = time.monotonic()
        while self._kept:
            oldest, (expires, _) = next(iter(self._kept.items()))
            if self._bytes <= self._most_kept and expires > now:
                break
            self._forget(oldest)

    def _forget(self, address: str) -> None:
        _, content = self._kept.pop(address, (0.0, b""))
        self._bytes -= len(content)


def is_image(content: bytes) -> bool:
    """Tell from its first bytes whether content is of a kind that can be drawn, whatever type its sender declared."""
    head = content[:2048]
    return (
        head.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a"))
        or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")
        or (head[4:8] == b"ftyp" and head[8:12] in (b"avif", b"avis", b"mif1"))
        or _SVG.match(head.removeprefix(_BYTE_ORDER_MARK)) is not None
    )


def _shown(address: str) -> str:
    flat = "".join(one if one.isprintable() else " " for one in address)
    return flat if len(flat) <= _MAX_SHOWN_LENGTH else f"{flat[: _MAX_SHOWN_LENGTH - 1]}…"
