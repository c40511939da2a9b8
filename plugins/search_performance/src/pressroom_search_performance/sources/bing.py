"""Figures from Bing Webmaster Tools (Bing Webmaster API, JSON).

The API returns all its data at once, so one response serves all days of a run. Totals are daily; queries and pages are
counted weekly, each week under a single date. There are no countries, no devices, and no positions for daily totals.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections import OrderedDict, defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urlencode

from pressroom.sdk import BackendError, Fetcher, InvalidInput, Rejected
from pressroom_content.contract import CredentialField, Grain, SearchLimited, SearchQuery, SearchRow, SearchSource

from pressroom_search_performance.sources.requesting import SourceRefused, ask, number, objects, text

NAME: Final = "bing"
TITLE: Final = "Bing Webmaster Tools"
GRAINS: Final[tuple[Grain, ...]] = ("day", "page", "query", "page_query")
NOTE: Final = (
    "Bing counts queries and pages by the week, each under one date; it gives no position of daily totals, which is 0."
)
MAX_PAGES: Final = 40
"""Maximum number of pages whose queries are fetched, one request each: those with the most impressions."""

FIELDS: Final = (
    CredentialField(
        "api_key",
        "API key",
        "Bing Webmaster Tools, Settings, API access. It reads all sites of your account there.",
        pattern=r"[A-Za-z0-9]{16,128}",
    ),
)

_METHODS: Final[Mapping[Grain, str]] = {
    "day": "GetRankAndTrafficStats",
    "page": "GetPageStats",
    "query": "GetQueryStats",
}
_CACHE_SECONDS: Final = 900
_MAX_CACHED: Final = 256
_WEEK: Final = timedelta(days=7)
_OLDEST: Final = timedelta(days=21)
_PAUSE: Final = 3600
_DATE: Final = re.compile(r"/Date\((-?\d{1,15})(?:[+-]\d{4})?\)/", re.ASCII)

# Microsoft.Bing.Webmaster.Api.Interfaces.ApiErrorCode
_NO_ACCESS: Final = frozenset({3, 6, 10, 13, 14})
_RATE_LIMIT_CODES: Final = frozenset({4, 5})

_Days = Mapping[date, Sequence[SearchRow]]


class BingWebmaster:
    """Client for the API that caches responses for 15 minutes.

    All methods raise `Rejected`, `SearchLimited`, `SourceRefused` and `BackendError`.
    """

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._cache: OrderedDict[str, tuple[float, _Days]] = OrderedDict()

    async def sites(self, credential: Mapping[str, str], fetcher: Fetcher) -> Sequence[str]:
        """Return the URLs of the account's verified sites."""
        sites = objects(await self._ask("GetUserSites", {}, credential, fetcher), "d")
        return [text(site.get("Url")) for site in sites if site.get("IsVerified") is True]

    async def days(self, grain: Grain, site_url: str, credential: Mapping[str, str], fetcher: Fetcher) -> _Days:
        """Return all rows of a grain by date, most clicks first."""
        name = hashlib.sha256(f"{credential.get('api_key', '')}\0{site_url}\0{grain}".encode()).hexdigest()
        until, days = self._cache.get(name, (0.0, {}))
        if time.monotonic() >= until:
            days = await self._days(grain, site_url, credential, fetcher)
            self._cache[name] = time.monotonic() + _CACHE_SECONDS, days
            self._cache.move_to_end(name)
            while len(self._cache) > _MAX_CACHED:
                self._cache.popitem(last=False)
        return days

    async def _days(self, grain: Grain, site_url: str, credential: Mapping[str, str], fetcher: Fetcher) -> _Days:
        rows: list[SearchRow] = []
        if grain != "page_query":
            entries = objects(await self._ask(_METHODS[grain], {"siteUrl": site_url}, credential, fetcher), "d")
            rows = [row for entry in entries if (row := _row(grain, entry)) is not None]
        else:
            pages = await self.days("page", site_url, credential, fetcher)
            for page in _most_seen_pages(pages):
                parameters = {"siteUrl": site_url, "page": page}
                entries = objects(await self._ask("GetPageQueryStats", parameters, credential, fetcher), "d")
                rows += [replace(row, page=page) for entry in entries if (row := _row("query", entry)) is not None]
        days: dict[date, list[SearchRow]] = defaultdict(list)
        for row in rows:
            days[row.day].append(row)
        return {
            day: sorted(day_rows, key=lambda row: (-row.clicks, -row.impressions)) for day, day_rows in days.items()
        }

    async def _ask(
        self, method: str, parameters: Mapping[str, str], credential: Mapping[str, str], fetcher: Fetcher
    ) -> Any:
        query = urlencode({**parameters, "apikey": credential.get("api_key", "")})
        return await ask(fetcher, TITLE, "GET", f"{self._url}/{method}?{query}", failure=_failure)


@lru_cache(maxsize=8)
def webmaster_of(url: str) -> BingWebmaster:
    """Return the client for a URL; always the same instance, because it caches responses."""
    return BingWebmaster(url)


def source(webmaster: BingWebmaster) -> SearchSource:
    """Return the source for the nightly job."""
    reader = _Reader(webmaster)
    return SearchSource(
        NAME,
        TITLE,
        reader.rows,
        lag_days=_OLDEST.days,
        grains=GRAINS,
        fields=FIELDS,
        site_hint="The site as Bing Webmaster Tools lists it, such as https://www.example.com/.",
        check=reader.check,
        first_incomplete=reader.first_incomplete,
        without=frozenset({"country", "device", "search_appearance", "hour"}),
        search_types=frozenset({"web"}),
        note=NOTE,
    )


class _Reader:
    """Implements the callbacks of `SearchSource`."""

    def __init__(self, webmaster: BingWebmaster) -> None:
        self._webmaster = webmaster

    async def rows(
        self, query: SearchQuery, credential: Mapping[str, str], fetcher: Fetcher
    ) -> AsyncIterator[SearchRow]:
        if query.search_type != "web":
            return
        days = await self._webmaster.days(query.grain, query.site_url, credential, fetcher)
        for row in days.get(query.day, ())[: query.most_rows]:
            yield row

    async def first_incomplete(self, site_url: str, credential: Mapping[str, str], fetcher: Fetcher) -> date:
        """Return the day after the newest week that is at least seven days old, when its rows cannot change.

        A site without traffic has no weeks; its days are final after three weeks.
        """
        now = datetime.now(UTC).date()
        weeks = [
            day
            for grain in ("query", "page")
            for day in await self._webmaster.days(grain, site_url, credential, fetcher)
            if day <= now
        ]
        newest = max(weeks, default=date.min)
        if newest > now - _WEEK:
            newest = max((day for day in weeks if day <= now - _WEEK), default=date.min)
        return max(newest, now - _OLDEST) + timedelta(days=1)

    async def check(self, site_url: str, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        sites = await self._webmaster.sites(credential, fetcher)
        if site_url not in sites:
            listed = f"; it has {', '.join(sorted(sites)[:10])}" if sites else "; it has none"
            raise InvalidInput("property", f"is not a verified site of this API key in Bing Webmaster Tools{listed}")


def _failure(status: int, document: Any) -> BackendError | Rejected | None:
    code = document.get("ErrorCode") if isinstance(document, dict) else None
    if not isinstance(code, int) or code == 0:
        return None
    message = " ".join(text(document.get("Message"), 300).split()) or f"error {code}"
    if code in _NO_ACCESS:
        return Rejected(f"{TITLE} does not accept the API key, or it may not read this site: {message}")
    if code in _RATE_LIMIT_CODES:
        return SearchLimited(f"{TITLE} gets too many requests: {message}", retry_after=_PAUSE)
    if status // 100 == 5 or code in (1, 2):
        return BackendError(f"{TITLE} is not available right now: {message}")
    return SourceRefused(f"{TITLE} refused the request: {message}")


def _row(grain: Grain, entry: Mapping[str, Any]) -> SearchRow | None:
    day = _day(entry.get("Date"))
    name = text(entry.get("Query"))
    if day is None or (grain != "day" and not name):
        return None
    return SearchRow(
        day=day,
        page=name if grain == "page" else "",
        query=name if grain == "query" else "",
        country="",
        device="",
        clicks=int(number(entry.get("Clicks"))),
        impressions=int(number(entry.get("Impressions"))),
        position=number(entry.get("AvgImpressionPosition")),
    )


def _day(value: Any) -> date | None:
    """Parse `/Date(milliseconds)/`. Days start at midnight in UTC or California: both have the same UTC date."""
    match = _DATE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    try:
        return datetime.fromtimestamp(int(match[1]) / 1000, UTC).date()
    except (ValueError, OverflowError, OSError):
        return None


def _most_seen_pages(pages: _Days) -> Sequence[str]:
    impressions: dict[str, int] = defaultdict(int)
    for rows in pages.values():
        for row in rows:
            impressions[row.page] += row.impressions
    return sorted(impressions, key=lambda page: (-impressions[page], page))[:MAX_PAGES]
