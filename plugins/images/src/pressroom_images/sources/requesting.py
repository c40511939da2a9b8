"""One request to a provider's API, and what went wrong with it in words."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

from pressroom.sdk import CallError, FetchFailed, FetchRefused, FetchUnknown, NotFound, PluginContext
from pressroom_content.contract import JsonAnswer, JsonApi, with_query

_MAX_BODY_BYTES: Final = 4_194_304
_SECONDS: Final = 10.0
_MAX_CACHED: Final = 256
_MAX_CACHED_BYTES: Final = 262_144
_MAX_INTEGER: Final = 2_147_483_647
"""What a column holds."""

_GONE: Final = frozenset({404, 410})
_DENIED: Final = frozenset({401, 403})
_TOO_MANY: Final = 429
_OK: Final = 200


class ImageProviderUnavailable(CallError):
    """A provider of images did not answer, or not as its documentation says. Another one may."""

    code = "provider_unavailable"


class ImageProviderUnreachable(ImageProviderUnavailable):
    """No answer came at all."""


class ProviderApi:
    """A provider's API. Answers are remembered for a while, which spares its quota; Pixabay demands a whole day.

    Args:
        title: the provider's name, for people.
        url: the URL that paths are added to.
        headers: what is sent with every request, such as a key. It never shows in an error.
        remember: for how many seconds an answer is used again.
    """

    def __init__(self, title: str, url: str, headers: Mapping[str, str], *, remember: float) -> None:
        self._url = url
        self._api = JsonApi(title, ProviderErrors(), headers, max_bytes=_MAX_BODY_BYTES, seconds=_SECONDS, redirects=2)
        self._remember = remember
        self._known: OrderedDict[str, tuple[float, Any]] = OrderedDict()

    async def get(self, plugin: PluginContext, path: str, query: Mapping[str, Any]) -> Any:
        """Return the JSON at a path.

        Raises:
            NotFound: it does not exist.
            ProviderUnavailable: the provider refused, failed, or answered something else.
        """
        url = with_query(f"{self._url}{path}", query)
        until, document = self._known.get(url, (0.0, None))
        if time.monotonic() < until:
            return document
        answer = await self._api.request(plugin.services.fetcher, "GET", url)
        if answer.size > _MAX_CACHED_BYTES:
            return answer.body
        self._known[url] = time.monotonic() + self._remember, answer.body
        self._known.move_to_end(url)
        while len(self._known) > _MAX_CACHED:
            self._known.popitem(last=False)
        return answer.body

    async def ping(self, plugin: PluginContext, url: str) -> None:
        """Ask for a URL that the provider named, such as the one that counts a download."""
        await self._api.request(plugin.services.fetcher, "GET", url)


class ProviderErrors:
    """The errors of a provider. It implements `ErrorPolicy`."""

    def no_answer(self, title: str, error: FetchFailed | FetchRefused | FetchUnknown) -> ImageProviderUnreachable:
        """Return that the provider is away."""
        del error
        return ImageProviderUnreachable(f"{title} cannot be reached at the moment")

    def failure(self, title: str, method: str, answer: JsonAnswer) -> NotFound | ImageProviderUnavailable | None:
        """Return the error for an answer that is not JSON with a status of 200."""
        del method
        if answer.status in _GONE:
            return NotFound(f"{title} no longer has this image")
        if answer.status in _DENIED:
            return ImageProviderUnavailable(f"{title} does not accept this server's key; the operator has to check it")
        if answer.status == _TOO_MANY:
            return ImageProviderUnavailable(f"{title} gets too many requests; try again later")
        if answer.status != _OK or answer.body is None:
            return ImageProviderUnavailable(f"{title} answered with HTTP {answer.status} and nothing that can be read")
        return None


def listed(document: Any, *path: str) -> list[dict[str, Any]]:
    """Return the objects of a list inside an answer; what is missing or not a list counts as empty."""
    for name in path:
        document = document.get(name) if isinstance(document, dict) else None
    return [one for one in document if isinstance(one, dict)] if isinstance(document, list) else []


def text(value: Any, longest: int = 500) -> str:
    """Return a text of an answer without surrounding space; empty if it is invalid."""
    return value.strip()[:longest] if isinstance(value, str) else ""


def number(value: Any) -> int:
    """Return a number of pixels or of an image; 0 where an answer has none, or a larger one than can be kept."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MAX_INTEGER else 0


def member(document: Any, *path: str) -> str:
    """Return a text inside nested objects; empty if absent."""
    for name in path:
        document = document.get(name) if isinstance(document, dict) else None
    return text(document, 2048)


def is_address(value: str) -> bool:
    """Tell whether a text of an answer is the URL of something on the web."""
    return value.startswith(("https://", "http://"))
