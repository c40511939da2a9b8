"""One request to a provider's API, and what went wrong with it in words."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from pressroom.sdk import CallError, FetchFailed, FetchRefused, NotFound, PluginContext
from pressroom_content.contract import read_json_or_none

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


class ProviderUnavailable(CallError):
    """A provider of images did not answer, or not as its documentation says. Another one may."""

    code = "provider_unavailable"


class JsonApi:
    """A provider's API. Answers are remembered for a while, which spares its quota; Pixabay demands a whole day.

    Args:
        title: the provider's name, for people.
        url: the address that paths are added to.
        headers: what is sent with every request, such as a key. It never shows in an error.
        remember: for how many seconds an answer is used again.
    """

    def __init__(self, title: str, url: str, headers: Mapping[str, str], *, remember: float) -> None:
        self._title = title
        self._url = url
        self._headers = {"Accept": "application/json", **headers}
        self._remember = remember
        self._known: OrderedDict[str, tuple[float, Any]] = OrderedDict()

    async def get(self, plugin: PluginContext, path: str, query: Mapping[str, Any]) -> Any:
        """Return the JSON at a path.

        Raises:
            NotFound: there is none.
            ProviderUnavailable: the provider refused, failed, or answered something else.
        """
        words = urlencode({name: value for name, value in query.items() if value not in ("", None)})
        url = f"{self._url}{path}?{words}" if words else f"{self._url}{path}"
        until, document = self._known.get(url, (0.0, None))
        if time.monotonic() < until:
            return document
        document, size = await self._ask(plugin, url)
        if size > _MAX_CACHED_BYTES:
            return document
        self._known[url] = time.monotonic() + self._remember, document
        self._known.move_to_end(url)
        while len(self._known) > _MAX_CACHED:
            self._known.popitem(last=False)
        return document

    async def ping(self, plugin: PluginContext, url: str) -> None:
        """Ask for an address that the provider named, such as the one that counts a download."""
        await self._ask(plugin, url)

    async def _ask(self, plugin: PluginContext, url: str) -> tuple[Any, int]:
        """Return the JSON of an answer, and how many bytes it had."""
        try:
            answer = await plugin.services.fetcher.request(
                "GET", url, headers=self._headers, max_bytes=_MAX_BODY_BYTES, seconds=_SECONDS, redirects=2
            )
        except (FetchFailed, FetchRefused):
            raise ProviderUnavailable(f"{self._title} cannot be reached at the moment; try another provider") from None
        if answer.status in _GONE:
            raise NotFound(f"{self._title} does not have this image any more")
        if answer.status in _DENIED:
            raise ProviderUnavailable(f"{self._title} does not accept this server's key; the operator has to look")
        if answer.status == _TOO_MANY:
            raise ProviderUnavailable(f"{self._title} has been asked too often; try another provider, or again later")
        document = read_json_or_none(answer.content) if answer.status == _OK else None
        if document is None:
            message = f"{self._title} answered with HTTP {answer.status} and nothing that can be read"
            raise ProviderUnavailable(f"{message}; try another provider")
        return document, len(answer.content)


def listed(document: Any, *path: str) -> list[dict[str, Any]]:
    """Return the objects of a list inside an answer; what is not there, or is none, counts as empty."""
    for name in path:
        document = document.get(name) if isinstance(document, dict) else None
    return [one for one in document if isinstance(one, dict)] if isinstance(document, list) else []


def text(value: Any, longest: int = 500) -> str:
    """Return a text of an answer without surrounding space; empty where it is none."""
    return value.strip()[:longest] if isinstance(value, str) else ""


def number(value: Any) -> int:
    """Return a number of pixels or of an image; 0 where an answer has none, or a larger one than can be kept."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MAX_INTEGER else 0


def member(document: Any, *path: str) -> str:
    """Return a text inside nested objects; empty where there is none."""
    for name in path:
        document = document.get(name) if isinstance(document, dict) else None
    return text(document, 2048)


def is_address(value: str) -> bool:
    """Tell whether a text of an answer is the address of something on the web."""
    return value.startswith(("https://", "http://"))
