"""A search over several providers at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from pressroom.sdk import CallError, PluginContext
from pressroom_content.contract import FoundImage, ImagePage, ImageQuery, ImageSource

from pressroom_images.sources.licenses import allows

_SQUARE_WITHIN = 0.1


@dataclass(frozen=True, slots=True)
class CombinedResults:
    """What several providers found, in turns; `notes` say what any of them could not do."""

    images: tuple[FoundImage, ...]
    more: bool
    notes: tuple[str, ...]


async def search(plugin: PluginContext, sources: Sequence[ImageSource], query: ImageQuery) -> CombinedResults:
    """Ask all providers at the same time. One that fails leaves a note, and the others' results.

    Raises:
        CallError: the only provider that was asked failed, or all of them did.
    """
    pages = await asyncio.gather(*(source.search(plugin, query) for source in sources), return_exceptions=True)
    notes: list[str] = []
    found: list[Iterable[FoundImage]] = []
    more = False
    failures: list[CallError] = []
    for page in pages:
        match page:
            case ImagePage():
                found.append([image for image in page.images if _fits(image, query)])
                more = more or page.more
                notes += [page.note] if page.note else []
            case CallError():
                failures.append(page)
                notes.append(page.message)
            case BaseException():
                raise page
    if failures and len(failures) == len(pages):
        raise failures[0]
    return CombinedResults(tuple(_in_turns(found))[: query.per_page], more, tuple(dict.fromkeys(notes)))


def _in_turns(pages: Iterable[Iterable[FoundImage]]) -> Iterator[FoundImage]:
    """Yield the best of each provider, then the second best of each; the same file only once."""
    seen: set[str] = set()
    for row in zip_longest(*pages):
        for image in row:
            if image is not None and image.file_url not in seen:
                seen.add(image.file_url)
                yield image


def _fits(image: FoundImage, query: ImageQuery) -> bool:
    """Tell whether an image is what was asked for: not every provider knows every filter."""
    if image.sensitive or not allows(image.license, query.license):
        return False
    if query.min_width and image.width and image.width < query.min_width:
        return False
    if query.orientation == "any" or not (image.width and image.height):
        return True
    ratio = image.width / image.height
    square = abs(ratio - 1) <= _SQUARE_WITHIN
    return {"square": square, "landscape": ratio > 1 and not square, "portrait": ratio < 1 and not square}[
        query.orientation
    ]
