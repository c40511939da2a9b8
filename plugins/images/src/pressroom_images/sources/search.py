"""Concurrent search over several providers, and the licences and credits of its results.

Sources: the deeds of Creative Commons (creativecommons.org/licenses), and the licences that Unsplash, Pexels and
Pixabay publish on their sites. Licence codes are SPDX identifiers if they exist.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import zip_longest
from typing import Final, TypeVar

import structlog
from pressroom.sdk import BackendError, CallError, PluginContext, PluginError
from pressroom_content.contract import Credit, FoundImage, ImageLicense, ImagePage, ImageQuery, ImageSource

from pressroom_images.sources.requesting import ImageProviderUnavailable, ImageProviderUnreachable

log = structlog.get_logger()

T = TypeVar("T")

PUBLIC_DOMAIN: Final = frozenset({"CC0-1.0", "PDM-1.0", "LicenseRef-public-domain"})

_CC = re.compile(r"(?:cc[ -])?(by(?:[ -](?:nc|nd|sa))*)(?:[ -](\d\.\d))?(?:[ -]([a-z]{2}))?", re.IGNORECASE)


def creative_commons(code: str, version: str = "", url: str = "") -> ImageLicense | None:
    """Parse a provider's licence name, such as `by-sa`, `CC BY-SA 4.0`, `cc0` or `pdm`.

    Returns `None` for an unknown licence. Never offer such an image, since its permitted uses are unknown.
    """
    name = code.strip().lower()
    if name.startswith("cc0") or name in ("cc zero", "zero"):
        return ImageLicense("CC0-1.0", url or "https://creativecommons.org/publicdomain/zero/1.0/", True, True, False)
    if name.startswith("pdm") or "public domain" in name or name == "pd":
        is_mark = name.startswith("pdm") or "mark" in name
        deed = "https://creativecommons.org/publicdomain/mark/1.0/" if is_mark else ""
        return ImageLicense("PDM-1.0" if is_mark else "LicenseRef-public-domain", url or deed, True, True, False)
    match = _CC.fullmatch(name)
    if match is None:
        return None
    parts = match[1].lower().replace(" ", "-")
    number = version or match[2] or "4.0"
    return ImageLicense(
        code=f"CC-{parts.upper()}-{number}",
        url=url or f"https://creativecommons.org/licenses/{parts}/{number}/",
        commercial="nc" not in parts.split("-"),
        modification="nd" not in parts.split("-"),
        attribution_required=True,
    )


def allows(license_: ImageLicense, license_filter: str) -> bool:
    """Return whether a licence matches a filter: `any`, `commercial`, `modification` or `public_domain`."""
    match license_filter:
        case "commercial":
            return license_.commercial
        case "modification":
            return license_.modification
        case "public_domain":
            return license_.code in PUBLIC_DOMAIN
        case _:
            return True


def credit_line(
    *,
    title: str,
    page_url: str,
    creator: str,
    creator_url: str,
    provider: str,
    license_: ImageLicense | None = None,
) -> Credit:
    """Return an image's credit as text, HTML and Markdown: title, author, source and licence (CC's "TASL")."""
    label = title or "Photo"
    author = creator or "unknown"
    code = _readable_code(license_.code) if license_ is not None else ""
    tail_text = f", {code}" if code else f" on {provider}"
    html = _link(label, page_url) + " by " + _link(author, creator_url)
    markdown = _markdown_link(label, page_url) + " by " + _markdown_link(author, creator_url)
    if license_ is not None and code:
        html += ", " + _link(code, license_.url)
        markdown += ", " + _markdown_link(code, license_.url)
    else:
        html += f" on {escape(provider)}"
        markdown += f" on {_markdown(provider)}"
    return Credit(text=f"{label} by {author}{tail_text}", html=html, markdown=markdown)


def _readable_code(code: str) -> str:
    if code.startswith("CC-"):
        name, _, version = code.removeprefix("CC-").rpartition("-")
        return f"CC {name} {version}"
    return {"CC0-1.0": "CC0 1.0", "PDM-1.0": "Public Domain Mark", "LicenseRef-public-domain": "public domain"}.get(
        code, ""
    )


def _link(label: str, url: str) -> str:
    if not url.startswith(("https://", "http://")):
        return escape(label)
    return f'<a href="{escape(url)}" rel="noopener">{escape(label)}</a>'


def _markdown_link(label: str, url: str) -> str:
    safe = re.sub(r"[()\s<>]", lambda match: f"%{ord(match[0]):02X}", url)
    return f"[{_markdown(label)}]({safe})" if url.startswith(("https://", "http://")) else _markdown(label)


def _markdown(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>&#])", r"\\\1", text.replace("\n", " "))


_SQUARE_WITHIN = 0.1

_PAUSE: Final = 1.0
"""Seconds before the retry of an unreachable provider."""

_SOON: Final = 3.0
"""An attempt is only retried if it failed within this many seconds."""

PROVIDER_SECONDS: Final = 15.0
"""Timeout in seconds of one call to a provider, including those of other plugins."""


@dataclass(frozen=True, slots=True)
class CombinedResults:
    """The interleaved results of several providers. `notes` describe failures and limitations."""

    images: tuple[FoundImage, ...]
    more: bool
    notes: tuple[str, ...]


async def search(plugin: PluginContext, sources: Sequence[ImageSource], query: ImageQuery) -> CombinedResults:
    """Search all providers concurrently. A provider that fails only adds a note.

    Raises:
        ImageProviderUnavailable: all providers were unavailable; the message lists each of them.
        CallError: all providers failed, at least one for another reason; the first error is raised.
    """
    pages = await asyncio.gather(*(_results_of(plugin, source, query) for source in sources), return_exceptions=True)
    notes: list[str] = []
    results: list[Iterable[FoundImage]] = []
    more = False
    failures: list[CallError] = []
    for page in pages:
        match page:
            case ImagePage():
                results.append([image for image in page.images if _fits(image, query)])
                more = more or page.more
                notes += [page.note] if page.note else []
            case CallError():
                failures.append(page)
                notes.append(page.message)
            case BaseException():
                raise page
    if failures and len(failures) == len(pages):
        if all(isinstance(failure, ImageProviderUnavailable) for failure in failures):
            raise ImageProviderUnavailable("; ".join(dict.fromkeys(notes)))
        raise failures[0]
    return CombinedResults(tuple(_interleaved(results))[: query.per_page], more, tuple(dict.fromkeys(notes)))


async def _results_of(plugin: PluginContext, source: ImageSource, query: ImageQuery) -> ImagePage:
    """Search a provider, retrying once after a pause if it was unreachable and failed fast."""
    started = time.monotonic()
    try:
        return await contained(plugin, source, source.search(plugin, query))
    except ImageProviderUnreachable:
        if time.monotonic() - started > _SOON:
            raise
    await asyncio.sleep(_PAUSE)
    return await contained(plugin, source, source.search(plugin, query))


async def contained(plugin: PluginContext, source: ImageSource, awaitable: Awaitable[T]) -> T:
    """Await a call to a provider, which may come from another plugin, and convert its exceptions.

    Raises:
        ImageProviderUnavailable: the provider is unreachable, timed out or raised an unexpected exception.
        CallError: the provider raised it.
    """
    try:
        description = f"image source {source.name}"
        with plugin.extensions.calling(description, source, passes=(TimeoutError,), seconds=PROVIDER_SECONDS):
            return await awaitable
    except CallError:
        raise
    except TimeoutError as error:
        raise ImageProviderUnreachable(f"{source.title} does not respond") from error
    except PluginError as error:
        if isinstance(error.__cause__, TimeoutError):
            raise ImageProviderUnreachable(f"{source.title} does not respond") from error
        raise ImageProviderUnavailable(f"{source.title} failed; the server's log has the reason") from error
    except BackendError as error:
        log.warning("a provider of images is away", provider=source.name, error=error.message)
        raise ImageProviderUnreachable(f"{source.title} cannot be reached at the moment") from error
    except Exception as error:
        log.exception("a provider of images failed", provider=source.name)
        raise ImageProviderUnavailable(f"{source.title} failed; the server's log has the reason") from error


def _interleaved(pages: Iterable[Iterable[FoundImage]]) -> Iterator[FoundImage]:
    """Interleave the results of the providers: the first of each, then the second of each. Skips duplicate files."""
    known_urls: set[str] = set()
    for row in zip_longest(*pages):
        for image in row:
            if image is not None and image.file_url not in known_urls:
                known_urls.add(image.file_url)
                yield image


def _fits(image: FoundImage, query: ImageQuery) -> bool:
    """Return whether an image matches the query's filters, which not every provider supports."""
    if image.sensitive or not allows(image.license, query.license):
        return False
    return has_shape(image.width, image.height, query.orientation, query.min_width)


def has_shape(width: int, height: int, orientation: str, min_width: int) -> bool:
    """Return whether an image has an orientation and a minimum width. A size of 0 is unknown, and matches."""
    if min_width and width and width < min_width:
        return False
    if orientation == "any" or not (width and height):
        return True
    ratio = width / height
    square = abs(ratio - 1) <= _SQUARE_WITHIN
    return {"square": square, "landscape": ratio > 1 and not square, "portrait": ratio < 1 and not square}[orientation]
