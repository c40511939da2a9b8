"""Cached requests to provider APIs, their errors, and helpers for reading untrusted JSON."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

from pressroom.sdk import CallError, FetchFailed, FetchRefused, FetchUnknown, NotFound, PluginContext
from pressroom_content.contract import JsonApi, JsonResponse, with_query

_MAX_BODY_BYTES: Final = 4_194_304
_SECONDS: Final = 10.0
_MAX_CACHED: Final = 256
_MAX_CACHED_BYTES: Final = 262_144
_MAX_INTEGER: Final = 2_147_483_647
"""The maximum of an integer column."""

_GONE: Final = frozenset({404, 410})
_DENIED: Final = frozenset({401, 403})
_TOO_MANY: Final = 429
_OK: Final = 200


class ImageProviderUnavailable(CallError):
    """An image provider failed or sent an unexpected response. Other providers may still work."""

    code = "provider_unavailable"


class ImageProviderUnreachable(ImageProviderUnavailable):
    """An image provider sent no response."""


class ProviderApi:
    """A provider's API. Responses are cached to save quota; Pixabay requires a whole day.

    Args:
        title: display name of the provider.
        url: base URL.
        headers: headers of every request, such as a key. They never appear in an error.
        remember: cache lifetime of a response, in seconds.
    """

    def __init__(self, title: str, url: str, headers: Mapping[str, str], *, remember: float) -> None:
        self._url = url
        self._api = JsonApi(title, ProviderErrors(), headers, max_bytes=_MAX_BODY_BYTES, seconds=_SECONDS, redirects=2)
        self._remember = remember
        self._known: OrderedDict[str, tuple[float, Any]] = OrderedDict()

    async def get(self, plugin: PluginContext, path: str, query: Mapping[str, Any]) -> Any:
        """Return the JSON at a path.

        Raises:
            NotFound: the resource does not exist.
            ImageProviderUnavailable: the provider refused the request, failed, or sent no valid JSON.
        """
        url = with_query(f"{self._url}{path}", query)
        until, document = self._known.get(url, (0.0, None))
        if time.monotonic() < until:
            return document
        response = await self._api.request(plugin.services.fetcher, "GET", url)
        if response.size > _MAX_CACHED_BYTES:
            return response.body
        self._known[url] = time.monotonic() + self._remember, response.body
        self._known.move_to_end(url)
        while len(self._known) > _MAX_CACHED:
            self._known.popitem(last=False)
        return response.body

    async def ping(self, plugin: PluginContext, url: str) -> None:
        """Request a URL given by the provider, such as one that counts a download."""
        await self._api.request(plugin.services.fetcher, "GET", url)


class ProviderErrors:
    """Maps failed responses to errors. Implements `ErrorPolicy`."""

    def no_response(self, title: str, error: FetchFailed | FetchRefused | FetchUnknown) -> ImageProviderUnreachable:
        """Return the error for a missing response."""
        del error
        return ImageProviderUnreachable(f"{title} cannot be reached at the moment")

    def failure(self, title: str, method: str, response: JsonResponse) -> NotFound | ImageProviderUnavailable | None:
        """Return the error for a response that is not JSON with status 200, or `None` for one that is."""
        del method
        if response.status in _GONE:
            return NotFound(f"{title} no longer has this image")
        if response.status in _DENIED:
            return ImageProviderUnavailable(f"{title} does not accept this server's key; the operator has to check it")
        if response.status == _TOO_MANY:
            return ImageProviderUnavailable(f"{title} gets too many requests; try again later")
        if response.status != _OK or response.body is None:
            return ImageProviderUnavailable(f"{title} returned HTTP {response.status} and nothing that can be read")
        return None


def listed(document: Any, *path: str) -> list[dict[str, Any]]:
    """Return the objects in a nested list; empty if it is missing or not a list."""
    for name in path:
        document = document.get(name) if isinstance(document, dict) else None
    return [element for element in document if isinstance(element, dict)] if isinstance(document, list) else []


def text(value: Any, max_length: int = 500) -> str:
    """Return a string, stripped and cut to `max_length` characters; empty if the value is not a string."""
    return value.strip()[:max_length] if isinstance(value, str) else ""


def number(value: Any) -> int:
    """Return a positive integer; 0 if the value is not one or does not fit a column."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MAX_INTEGER else 0


def member(document: Any, *path: str) -> str:
    """Return a string from nested objects; empty if missing."""
    for name in path:
        document = document.get(name) if isinstance(document, dict) else None
    return text(document, 2048)


def is_url(value: str) -> bool:
    """Return whether a string is an http or https URL."""
    return value.startswith(("https://", "http://"))
