"""Google Search Console: search figures, index status and sitemaps.

Days run from midnight to midnight in California.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote
from zoneinfo import ZoneInfo

from pressroom.sdk import Fetcher, InvalidInput, Rejected
from pressroom_content.contract import CredentialField, Grain, SearchQuery, SearchRow, SearchSource

from pressroom_search_performance.config import SearchPerformanceConfig
from pressroom_search_performance.sources.google_auth import GoogleAuth, OAuthClient
from pressroom_search_performance.sources.requesting import ask, number, objects, text

NAME: Final = "google"
TITLE: Final = "Google Search Console"
MAX_ROWS: Final = 25_000
"""Maximum rows of one response (`rowLimit`)."""

LAG_DAYS: Final = 3
_LOOK_BACK: Final = 10
_UNVERIFIED: Final = "siteUnverifiedUser"

DIMENSIONS: Final[Mapping[str, str]] = {
    "date": "date",
    "query": "query",
    "page": "page",
    "country": "country",
    "device": "device",
    "search_appearance": "searchAppearance",
    "hour": "hour",
}
TYPES: Final[Mapping[str, str]] = {
    "web": "web",
    "image": "image",
    "video": "video",
    "news": "news",
    "discover": "discover",
    "google_news": "googleNews",
}
GRAINS: Final[Mapping[Grain, tuple[str, ...]]] = {
    "day": ("country", "device"),
    "page": ("page",),
    "query": ("query",),
    "page_query": ("page", "query"),
}
WITHOUT_QUERIES: Final = frozenset({"discover", "google_news"})
"""Search types that Google does not split by query."""

FIELDS: Final = (
    CredentialField(
        "service_account",
        "Key file of a service account",
        "The whole JSON text. Add the account's e-mail address to the property as a user first.",
        required=False,
        multiline=True,
    ),
    CredentialField(
        "client_id", "OAuth client id", "Only together with a refresh token.", secret=False, required=False
    ),
    CredentialField("client_secret", "OAuth client secret", required=False),
    CredentialField("refresh_token", "Refresh token", "With the scope for Search Console.", required=False),
)


class GoogleConsole:
    """Client for Search Console. All methods raise `Rejected`, `SearchLimited`, `SourceRefused` and `BackendError`."""

    def __init__(self, config: SearchPerformanceConfig) -> None:
        account = config.google_service_account
        key = account.get_secret_value() if account else ""
        self.auth = GoogleAuth(config.google_token_url, key, OAuthClient.of(config))
        self._url = config.google_url.rstrip("/")

    async def query(
        self, site_url: str, body: Mapping[str, Any], credential: Mapping[str, str], fetcher: Fetcher
    ) -> Mapping[str, Any]:
        """Return the response of `searchAnalytics/query`."""
        path = f"/webmasters/v3/sites/{quote(site_url, safe='')}/searchAnalytics/query"
        response = await self._ask(credential, fetcher, "POST", path, dict(body))
        return response if isinstance(response, dict) else {}

    async def sites(self, credential: Mapping[str, str], fetcher: Fetcher) -> Mapping[str, str]:
        """Return the properties that the credential can read, with their permission levels."""
        response = await self._ask(credential, fetcher, "GET", "/webmasters/v3/sites")
        return {
            text(entry.get("siteUrl")): text(entry.get("permissionLevel"))
            for entry in objects(response, "siteEntry")
            if entry.get("permissionLevel") != _UNVERIFIED
        }

    async def inspect(
        self, site_url: str, url: str, credential: Mapping[str, str], fetcher: Fetcher
    ) -> Mapping[str, Any]:
        """Return the `indexStatusResult` of a URL."""
        body = {"inspectionUrl": url, "siteUrl": site_url}
        response = await self._ask(credential, fetcher, "POST", "/v1/urlInspection/index:inspect", body)
        result = response.get("inspectionResult") if isinstance(response, dict) else None
        status = result.get("indexStatusResult") if isinstance(result, dict) else None
        return status if isinstance(status, dict) else {}

    async def sitemaps(
        self, site_url: str, credential: Mapping[str, str], fetcher: Fetcher
    ) -> Sequence[Mapping[str, Any]]:
        """Return the sitemaps of a property."""
        path = f"/webmasters/v3/sites/{quote(site_url, safe='')}/sitemaps"
        return objects(await self._ask(credential, fetcher, "GET", path), "sitemap")

    async def submit_sitemap(
        self, site_url: str, sitemap: str, credential: Mapping[str, str], fetcher: Fetcher
    ) -> None:
        """Submit a sitemap. Idempotent."""
        path = f"/webmasters/v3/sites/{quote(site_url, safe='')}/sitemaps/{quote(sitemap, safe='')}"
        await self._ask(credential, fetcher, "PUT", path)

    async def _ask(
        self, credential: Mapping[str, str], fetcher: Fetcher, method: str, path: str, body: Any = None
    ) -> Any:
        remembered = self.auth.remembers(credential)
        headers = await self.auth.header(credential, fetcher)
        try:
            return await ask(fetcher, TITLE, method, f"{self._url}{path}", headers=headers, body=body)
        except Rejected:
            self.auth.forget(credential)
            if not remembered:
                raise
        # A token can end before it expires: only a new one shows whether the credential itself is rejected.
        headers = await self.auth.header(credential, fetcher)
        return await ask(fetcher, TITLE, method, f"{self._url}{path}", headers=headers, body=body)


@lru_cache(maxsize=8)
def console_of(config: SearchPerformanceConfig) -> GoogleConsole:
    """Return the client for a configuration; always the same instance, because it caches access tokens."""
    return GoogleConsole(config)


def source(console: GoogleConsole) -> SearchSource:
    """Return the source for the nightly job."""
    reader = _Reader(console)
    return SearchSource(
        NAME,
        TITLE,
        reader.rows,
        lag_days=LAG_DAYS,
        grains=tuple(GRAINS),
        fields=FIELDS,
        site_hint="The property as Search Console names it: sc-domain:example.com, or https://www.example.com/.",
        check=reader.check,
        first_incomplete=reader.first_incomplete,
    )


class _Reader:
    """Implements the callbacks of `SearchSource`."""

    def __init__(self, console: GoogleConsole) -> None:
        self._console = console

    async def rows(
        self, query: SearchQuery, credential: Mapping[str, str], fetcher: Fetcher
    ) -> AsyncIterator[SearchRow]:
        if "query" in query.grain and query.search_type in WITHOUT_QUERIES:
            return
        dimensions = GRAINS[query.grain]
        offset = 0
        while offset < query.most_rows:
            row_limit = min(MAX_ROWS, query.most_rows - offset)
            body = {
                "startDate": query.day.isoformat(),
                "endDate": query.day.isoformat(),
                "dimensions": list(dimensions),
                "type": TYPES[query.search_type],
                "dataState": "all",
                "rowLimit": row_limit,
                "startRow": offset,
            }
            entries = objects(await self._console.query(query.site_url, body, credential, fetcher), "rows")
            for entry in entries:
                row = _row(query.day, dimensions, entry)
                if row is not None:
                    yield row
            offset += len(entries)
            if len(entries) < row_limit:
                return

    async def first_incomplete(self, site_url: str, credential: Mapping[str, str], fetcher: Fetcher) -> date:
        now = today()
        body = {
            "startDate": (now - timedelta(days=_LOOK_BACK)).isoformat(),
            "endDate": now.isoformat(),
            "dimensions": ["date"],
            "dataState": "all",
        }
        return _first_incomplete(await self._console.query(site_url, body, credential, fetcher), now)

    async def check(self, site_url: str, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        properties = await self._console.sites(credential, fetcher)
        if site_url in properties:
            return
        # Do not reveal which other properties the operator's account can read.
        listed = f"; it may read {', '.join(sorted(properties)[:10])}" if credential and properties else ""
        raise InvalidInput(
            "property",
            f"the credential may not read {site_url[:200]!r} in Search Console; add it to the property as a user"
            f"{listed}",
        )


def keys_of(entry: Mapping[str, Any], count: int) -> Sequence[str] | None:
    """Return the keys of a row, or `None` if their number is not `count`."""
    keys = entry.get("keys", [])
    return [text(key) for key in keys] if isinstance(keys, list) and len(keys) == count else None


def _row(day: date, dimensions: Sequence[str], entry: Mapping[str, Any]) -> SearchRow | None:
    keys = keys_of(entry, len(dimensions))
    if keys is None:
        return None
    by_dimension = dict(zip(dimensions, keys, strict=True))
    return SearchRow(
        day=day,
        page=by_dimension.get("page", ""),
        query=by_dimension.get("query", ""),
        country=by_dimension.get("country", "").lower()[:16],
        device=by_dimension.get("device", "").lower()[:16],
        clicks=int(number(entry.get("clicks"))),
        impressions=int(number(entry.get("impressions"))),
        position=number(entry.get("position")),
    )


def _first_incomplete(response: Mapping[str, Any], now: date) -> date:
    metadata = response.get("metadata")
    incomplete = ""
    if isinstance(metadata, dict):
        incomplete = text(metadata.get("first_incomplete_date") or metadata.get("firstIncompleteDate"))
    try:
        return min(date.fromisoformat(incomplete), now)
    except ValueError:
        return now - timedelta(days=LAG_DAYS - 1)


PACIFIC: Final = ZoneInfo("America/Los_Angeles")
_NIGHT: Final = time(3, 0)
_SPREAD_SECONDS: Final = 3 * 3600


def today(now: datetime | None = None) -> date:
    """Return the current date in California."""
    return (now or datetime.now(UTC)).astimezone(PACIFIC).date()


def next_night(connection_id: str, now: datetime) -> datetime:
    """Return the time of the next fetch: between 3 and 6 o'clock in California, spread by connection."""
    offset = int.from_bytes(hashlib.sha256(connection_id.encode()).digest()[:4]) % _SPREAD_SECONDS
    local = now.astimezone(PACIFIC)
    for day in (local.date(), local.date() + timedelta(days=1)):
        at = datetime.combine(day, _NIGHT, PACIFIC).astimezone(UTC) + timedelta(seconds=offset)
        if at > now:
            return at
    return now + timedelta(days=1)


def span(start: date, end: date) -> list[date]:
    """Return the days from `start` to `end`, inclusive; empty if `end` is earlier."""
    return [start + timedelta(days=number) for number in range((end - start).days + 1)]


def year_before(day: date) -> date:
    """Return the same day one year earlier; 28 February for 29 February."""
    try:
        return day.replace(year=day.year - 1)
    except ValueError:
        return day.replace(year=day.year - 1, day=28)
