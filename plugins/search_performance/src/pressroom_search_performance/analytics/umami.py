"""Client for the Umami API, versions 2 and 3: Umami Cloud with an API key, other servers with a login."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from pressroom.sdk import Fetcher, InvalidInput, Rejected
from pressroom_content.contract import CredentialField

from pressroom_search_performance.contract import AnalyticsSource, By, Traffic, TrafficQuestion, Visits
from pressroom_search_performance.sources.requesting import (
    SourceRefused,
    ask,
    counted,
    fraction,
    mean,
    objects,
    path_of,
    server_of,
    share,
    text,
    unreadable,
)

NAME: Final = "umami"
TITLE: Final = "Umami"
FIELDS: Final = (
    CredentialField("api_key", "API key", "For Umami Cloud: settings, API keys.", required=False),
    CredentialField(
        "server",
        "URL of your server",
        "Where you run Umami yourself, such as https://umami.example.com; then with a user name and password.",
        secret=False,
        required=False,
    ),
    CredentialField("username", "User name", "Of a user with view access only.", secret=False, required=False),
    CredentialField("password", "Password", required=False),
)

_TYPES: Final[Mapping[By, tuple[str, ...]]] = {
    "page": ("path", "url"),
    "source": ("referrer",),
    "country": ("country",),
    "device": ("device",),
}
"""Metric types to try for each breakdown. Version 2 uses `url` for pages and rejects `path`."""

_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Access:
    """Base URL of the API and the headers that authenticate requests."""

    root: str
    headers: Mapping[str, str]


class Umami:
    """See `Analytics`. `url` is the base URL of the Umami Cloud API."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def check(self, site_url: str, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        """See `Analytics`."""
        if not _UUID.fullmatch(site_url):
            raise InvalidInput("property", "must be a website ID such as 4fb7fa4c-5b46-438d-94b3-3a8fb9bc2e8b")
        access = await self._access(credential, fetcher)
        try:
            website = await _get(access, f"/websites/{site_url.lower()}", {}, fetcher)
        except SourceRefused as error:
            raise InvalidInput("property", error.message) from None
        if not isinstance(website, dict) or text(website.get("id"), 36).lower() != site_url.lower():
            raise InvalidInput("property", "is not a website that this account may view in Umami")

    async def traffic(
        self, site: str, credential: Mapping[str, str], question: TrafficQuestion, fetcher: Fetcher
    ) -> Traffic:
        """See `Analytics`."""
        access = await self._access(credential, fetcher)
        days = _days(question.start, question.end)
        site = site.lower()
        totals = _totals(await _get(access, f"/websites/{site}/stats", days, fetcher))
        if question.by == "date":
            rows = await self._dates(access, site, question, fetcher)
        else:
            rows = await self._metrics(access, site, question, fetcher)
        return Traffic(totals, tuple(rows[: question.limit]), truncated=len(rows) > question.limit)

    async def page(
        self, site: str, credential: Mapping[str, str], url: str, start: date, end: date, fetcher: Fetcher
    ) -> Visits:
        """See `Analytics`."""
        access = await self._access(credential, fetcher)
        # Each version supports one of the two names and ignores the other.
        narrowed = {**_days(start, end), "path": path_of(url), "url": path_of(url)}
        return _totals(await _get(access, f"/websites/{site.lower()}/stats", narrowed, fetcher))

    async def _dates(
        self, access: _Access, site: str, question: TrafficQuestion, fetcher: Fetcher
    ) -> Sequence[tuple[str, Visits]]:
        unit = "month" if question.monthly else "day"
        query = {**_days(question.start, question.end), "unit": unit, "timezone": "UTC"}
        response = await _get(access, f"/websites/{site}/pageviews", query, fetcher)
        length = 7 if question.monthly else 10
        views = {text(point.get("x"), length): counted(point.get("y")) for point in objects(response, "pageviews")}
        visitors = {text(point.get("x"), length): counted(point.get("y")) for point in objects(response, "sessions")}
        dates = sorted({*views, *visitors} - {""}, reverse=True)
        return [(day, Visits(visitors=visitors.get(day), pageviews=views.get(day))) for day in dates]

    async def _metrics(
        self, access: _Access, site: str, question: TrafficQuestion, fetcher: Fetcher
    ) -> Sequence[tuple[str, Visits]]:
        query = {**_days(question.start, question.end), "limit": str(question.limit + 1)}
        name, *fallbacks = _TYPES[question.by]
        try:
            response = await _get(access, f"/websites/{site}/metrics", {**query, "type": name}, fetcher)
        except SourceRefused:
            if not fallbacks:
                raise
            response = await _get(access, f"/websites/{site}/metrics", {**query, "type": fallbacks[0]}, fetcher)
        if not isinstance(response, list):
            raise unreadable(TITLE)
        rows = [
            (text(entry.get("x"), 500), Visits(visitors=counted(entry.get("y"))))
            for entry in response
            if isinstance(entry, dict)
        ]
        return sorted(rows, key=lambda row: -(row[1].visitors or 0))

    async def _access(self, credential: Mapping[str, str], fetcher: Fetcher) -> _Access:
        server = server_of(credential)
        if not server:
            if not credential.get("api_key"):
                raise InvalidInput("api_key", "is required unless you enter the URL of your own server")
            return _Access(self._url.rstrip("/"), {"x-umami-api-key": credential["api_key"]})
        for name in ("username", "password"):
            if not credential.get(name):
                raise InvalidInput(name, "is required: a server of your own needs a login")
        body = {name: credential[name] for name in ("username", "password")}
        response = await ask(fetcher, TITLE, "POST", f"{server}/api/auth/login", body=body)
        token = response.get("token") if isinstance(response, dict) else None
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise Rejected("Umami gave no token for this login")
        return _Access(f"{server}/api", {"Authorization": f"Bearer {token}"})


def source(url: str) -> AnalyticsSource:
    """Return the Umami analytics source."""
    hint = "Umami, settings of the website: a text such as 4fb7fa4c-5b46-438d-94b3-3a8fb9bc2e8b."
    return AnalyticsSource(NAME, TITLE, "Website ID", hint, FIELDS, Umami(url))


async def _get(access: _Access, path: str, query: Mapping[str, str], fetcher: Fetcher) -> Any:
    url = f"{access.root}{path}" + (f"?{urlencode(query)}" if query else "")
    return await ask(fetcher, TITLE, "GET", url, headers=access.headers)


def _days(start: date, end: date) -> dict[str, str]:
    """Return the query parameters for a period in milliseconds, up to the end of the last day."""
    first = datetime.combine(start, time(), UTC)
    last = datetime.combine(end + timedelta(days=1), time(), UTC)
    return {"startAt": str(int(first.timestamp() * 1000)), "endAt": str(int(last.timestamp() * 1000) - 1)}


def _totals(response: Any) -> Visits:
    if not isinstance(response, dict) or "pageviews" not in response:
        raise unreadable(TITLE)

    def value(name: str) -> float | None:
        metric = response.get(name)  # version 2 nests each value next to that of the previous period
        return fraction(metric.get("value") if isinstance(metric, dict) else metric)

    visits = value("visits")
    return Visits(
        visitors=counted(value("visitors")),
        visits=counted(visits),
        pageviews=counted(value("pageviews")),
        bounce_rate=share(value("bounces"), visits),
        seconds=mean(value("totaltime"), visits),
    )
