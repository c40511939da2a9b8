"""A client for one WordPress site: discovery of its REST API (developer.wordpress.org/rest-api), and requests to it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import urlsplit

from pressroom.sdk import Fetched, Fetcher, FetchFailed, FetchRefused
from pressroom_content.contract import (
    SiteApi,
    SiteGone,
    SiteInfo,
    SiteRefused,
    SiteResponse,
    SiteUnavailable,
    read_json_or_none,
    retry_after_of,
)

from pressroom_wordpress import parsing

_POSTS: Final = "/wp/v2/posts"


class WordPressClient:
    """Sends requests with an application password.

    The first request tries the usual location of the API. Discovery runs only if that fails.
    """

    def __init__(self, info: SiteInfo, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        pair = f"{credential.get('username', '')}:{credential.get('application_password', '')}"
        self.url = info.url
        self.fetcher = fetcher
        self._headers = {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
        self._discovered: DiscoveredSite | None = None
        self._root = ""
        self._keys: Mapping[str, tuple[str, ...]] | None = None
        self.skew = 0.0
        """Seconds by which the site's clock is ahead, according to its last response."""

    async def discovered(self) -> DiscoveredSite:
        """Return the site's self-description. Raises `SiteUnavailable` or `SiteRefused`."""
        if self._discovered is None:
            self._discovered = await discover(self.url, self.fetcher)
            self._root, self.skew = self._discovered.root, self._discovered.skew
        return self._discovered

    async def get(self, path: str, query: Mapping[str, Any] | None = None) -> SiteResponse:
        """Send a GET request. Raises `SiteError`, but never `UnknownOutcome`."""
        return await self._ask("GET", path, query)

    async def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        document: Any = None,
        content: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> SiteResponse:
        """Send a request that changes something. Raises `SiteError`."""
        api = await self.api()
        return self._noted(
            await api.send(method, path, query=query, document=document, content=content, headers=headers)
        )

    async def api(self) -> SiteApi:
        """Return the site's API, discovering it if necessary."""
        if not self._root:
            await self.discovered()
        return self._at(self._root)

    async def meta_keys(self) -> Mapping[str, tuple[str, ...]]:
        """Return the writable meta keys of posts, by field."""
        if self._keys is None:
            self._keys = parsing.writable((await self._ask("OPTIONS", _POSTS)).body)
        return self._keys

    async def _ask(self, method: str, path: str, query: Mapping[str, Any] | None = None) -> SiteResponse:
        if self._root:
            return self._noted(await self._at(self._root).send(method, path, query=query))
        pretty_root = f"{self.url}{PRETTY}"
        try:
            response = await self._at(pretty_root).send(method, path, query=query)
        except (SiteGone, SiteUnavailable) as error:
            if isinstance(error, SiteUnavailable) and error.retry_after is not None:
                raise  # the site asked to wait
            if (await self.discovered()).root == pretty_root:
                raise
            return await self._ask(method, path, query)
        self._root = pretty_root
        return self._noted(response)

    def _at(self, root: str) -> SiteApi:
        return SiteApi(self.fetcher, f"WordPress at {urlsplit(root).netloc}", root, self._headers)

    def _noted(self, response: SiteResponse) -> SiteResponse:
        self.skew = skew_of(response.headers.get("date", ""), otherwise=self.skew)
        return response


_MAX_BODY_BYTES: Final = 8_388_608
_SECONDS: Final = 20.0
HOSTED: Final = ".wordpress.com"
PRETTY: Final = "/wp-json"
_PLAIN: Final = "/?rest_route="
"""This form works on sites without permalinks, and on those whose server blocks the first one."""

_BUSY, _FAILED = 429, 500


@dataclass(frozen=True, slots=True)
class DiscoveredSite:
    """A WordPress site. `root` is the prefix of routes such as `/wp/v2/posts`; `skew` is in seconds.

    `home` is the URL that the site reports as its own, empty if the response came after a redirect. `hosted` is whether
    it is on WordPress.com.
    """

    root: str
    name: str
    namespaces: frozenset[str]
    approval_url: str
    timezone: str
    skew: float
    home: str = ""
    hosted: bool = False


async def discover(url: str, fetcher: Fetcher) -> DiscoveredSite:
    """Return the self-description of a site.

    Raises:
        SiteUnavailable: it cannot be reached, or is temporarily failing, as during its own updates.
        SiteRefused: it is not a WordPress site, its API is disabled, or its URL is not allowed.
    """
    problem = ""
    for form in (PRETTY, _PLAIN):
        response = await _get(f"{url}{form}/", fetcher)
        document = read_json_or_none(response.content)
        if response.status < 300 and isinstance(document, dict) and isinstance(document.get("namespaces"), list):
            return _read(f"{url}{form}", document, response)
        if response.status == _BUSY or response.status >= _FAILED:
            reason = "limits the number of requests" if response.status == _BUSY else "is not available right now"
            message = f"{url} {reason} (HTTP {response.status})"
            raise SiteUnavailable(message, retry_after=retry_after_of(response.headers))
        problem = problem or f"HTTP {response.status}"
    if (urlsplit(url).hostname or "").endswith(HOSTED):
        raise SiteRefused(
            f"{url} is on WordPress.com, where only plans that allow plugins have the REST API of WordPress with "
            "application passwords; change the plan, or publish on a WordPress of your own"
        )
    raise SiteRefused(
        f"{url} does not show the REST API of WordPress ({problem}); check the URL, and that no plugin or firewall "
        "disables the API"
    )


async def _get(url: str, fetcher: Fetcher) -> Fetched:
    headers = {"Accept": "application/json"}
    try:
        return await fetcher.request(
            "GET", url, headers=headers, max_bytes=_MAX_BODY_BYTES, seconds=_SECONDS, redirects=3
        )
    except FetchRefused as error:
        raise SiteRefused(f"{url} cannot be used: {error.message}") from None
    except FetchFailed as error:
        raise SiteUnavailable(f"{url} cannot be reached: {error.message}") from None


def _read(root: str, document: dict[str, Any], response: Fetched) -> DiscoveredSite:
    authentication = document.get("authentication")
    passwords = authentication.get("application-passwords") if isinstance(authentication, dict) else None
    endpoints = passwords.get("endpoints") if isinstance(passwords, dict) else None
    approval = endpoints.get("authorization") if isinstance(endpoints, dict) else ""
    return DiscoveredSite(
        root=root,
        name=str(document.get("name") or ""),
        namespaces=frozenset(map(str, document["namespaces"])),
        approval_url=str(approval or ""),
        timezone=_timezone(document),
        skew=skew_of(response.headers.get("date", "")),
        hosted=_is_hosted(root, response.headers),
        home="" if response.redirects else str(document.get("home") or "")[:2048].rstrip("/"),
    )


_PARTS_OF_HOURS: Final[Mapping[float, str]] = {
    -9.5: "Pacific/Marquesas",
    3.5: "Asia/Tehran",
    4.5: "Asia/Kabul",
    5.5: "Asia/Kolkata",
    5.75: "Asia/Kathmandu",
    6.5: "Asia/Yangon",
    8.75: "Australia/Eucla",
    9.5: "Australia/Darwin",
}
"""Time zones with these constant offsets in hours: the database has names only for offsets of whole hours."""


def _timezone(document: Mapping[str, Any]) -> str:
    """Return the name of a site's time zone, from its name or its offset from UTC in hours."""
    name, offset = document.get("timezone_string"), document.get("gmt_offset")
    try:
        hours = float(offset) if not name and offset is not None else 0.0
    except (TypeError, ValueError):
        return ""
    if name or not hours:
        return str(name or "")
    # The names have the opposite sign: Etc/GMT-2 is two hours ahead.
    return f"Etc/GMT{-hours:+.0f}" if hours.is_integer() else _PARTS_OF_HOURS.get(hours, "")


def language_tag(locale: object) -> str:
    """Return the language tag of a WordPress locale such as `de_CH_informal`. An empty locale is American English."""
    if not isinstance(locale, str):
        return ""
    parts = (locale or "en_US").split("_")
    return "-".join(parts[:2] if len(parts) > 1 and len(parts[1]) == 2 else parts[:1])


def skew_of(date: str, *, otherwise: float = 0.0) -> float:
    """Return the seconds by which a clock that shows this HTTP date is ahead."""
    try:
        return (parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return otherwise


def _is_hosted(url: str, headers: Mapping[str, str]) -> bool:
    """Check whether a site is on WordPress.com, which identifies itself in response headers."""
    host = urlsplit(url).hostname or ""
    return host.endswith(HOSTED) or headers.get("host-header", "").lower() == "wordpress.com" or "x-ac" in headers
