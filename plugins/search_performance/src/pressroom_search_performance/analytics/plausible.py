"""Client for the Plausible Stats API, version 2 (`POST /api/v2/query`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Final

from pressroom.sdk import Fetcher, InvalidInput
from pressroom_content.contract import CredentialField

from pressroom_search_performance.contract import AnalyticsSource, By, Traffic, TrafficQuestion, Visits
from pressroom_search_performance.sources.requesting import (
    SourceRefused,
    ask,
    counted,
    fraction,
    objects,
    path_of,
    server_of,
    text,
    unreadable,
)

NAME: Final = "plausible"
TITLE: Final = "Plausible"
FIELDS: Final = (
    CredentialField("api_key", "Stats API key", "Plausible, account settings, API keys. One that reads statistics."),
    CredentialField(
        "server",
        "URL of your server",
        "Only where you run Plausible yourself, such as https://plausible.example.com.",
        secret=False,
        required=False,
    ),
)

_DIMENSIONS: Final[Mapping[By, str]] = {
    "page": "event:page",
    "source": "visit:source",
    "country": "visit:country",
    "device": "visit:device",
    "date": "time:day",
}
_COUNTS: Final = ("visitors", "visits", "pageviews")
_TOTALS: Final = (*_COUNTS, "bounce_rate", "visit_duration")


class Plausible:
    """See `Analytics`. `url` is the server for credentials that do not contain one."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def check(self, site_url: str, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        """See `Analytics`."""
        try:
            await self._query(site_url, credential, fetcher, {"metrics": ["visitors"], "date_range": "day"})
        except SourceRefused as error:
            raise InvalidInput("property", error.message) from None

    async def traffic(
        self, site: str, credential: Mapping[str, str], question: TrafficQuestion, fetcher: Fetcher
    ) -> Traffic:
        """See `Analytics`."""
        dimension = "time:month" if question.monthly and question.by == "date" else _DIMENSIONS[question.by]
        days = [question.start.isoformat(), question.end.isoformat()]
        totals = await self._query(site, credential, fetcher, {"metrics": list(_TOTALS), "date_range": days})
        order = [dimension if question.by == "date" else "visitors", "desc"]
        body = {
            "metrics": list(_COUNTS),
            "date_range": days,
            "dimensions": [dimension],
            "order_by": [order],
            "pagination": {"limit": question.limit + 1, "offset": 0},
        }
        results = await self._query(site, credential, fetcher, body)
        rows = [(_key(question.by, result), _visits(_COUNTS, result)) for result in results]
        length = 7 if question.monthly else 10
        if question.by == "date":
            rows = [(key[:length], visits) for key, visits in rows]
        total = _visits(_TOTALS, totals[0]) if totals else Visits(0, 0, 0)
        return Traffic(total, tuple(rows[: question.limit]), truncated=len(rows) > question.limit)

    async def page(
        self, site: str, credential: Mapping[str, str], url: str, start: date, end: date, fetcher: Fetcher
    ) -> Visits:
        """See `Analytics`."""
        path = path_of(url)
        paths = sorted({path, f"{path.rstrip('/')}/", path.rstrip("/") or "/"})
        body = {
            "metrics": list(_COUNTS),
            "date_range": [start.isoformat(), end.isoformat()],
            "filters": [["is", "event:page", paths]],
        }
        results = await self._query(site, credential, fetcher, body)
        return _visits(_COUNTS, results[0]) if results else Visits(0, 0, 0)

    async def _query(
        self, site: str, credential: Mapping[str, str], fetcher: Fetcher, body: Mapping[str, Any]
    ) -> Sequence[Mapping[str, Any]]:
        url = f"{server_of(credential, self._url)}/api/v2/query"
        headers = {"Authorization": f"Bearer {credential.get('api_key', '')}"}
        response = await ask(fetcher, TITLE, "POST", url, headers=headers, body={"site_id": site, **body})
        if not isinstance(response, dict) or not isinstance(response.get("results"), list):
            raise unreadable(TITLE)
        return objects(response, "results")


def source(url: str) -> AnalyticsSource:
    """Return the Plausible analytics source."""
    return AnalyticsSource(
        NAME, TITLE, "Domain", "The site's domain as Plausible lists it, such as example.com.", FIELDS, Plausible(url)
    )


def _key(by: By, result: Mapping[str, Any]) -> str:
    names = result.get("dimensions")
    key = text(names[0], 500) if isinstance(names, list) and names else ""
    return key.lower() if by == "device" else key


def _visits(metrics: Sequence[str], result: Mapping[str, Any]) -> Visits:
    values = result.get("metrics")
    metric_values = values if isinstance(values, list) and len(values) == len(metrics) else [None] * len(metrics)
    by_name = dict(zip(metrics, metric_values, strict=True))
    visits = Visits(counted(by_name["visitors"]), counted(by_name["visits"]), counted(by_name["pageviews"]))
    if "bounce_rate" not in by_name:
        return visits
    percent = fraction(by_name["bounce_rate"])
    return replace(
        visits,
        bounce_rate=None if percent is None else round(min(percent, 100) / 100, 4),
        seconds=fraction(by_name["visit_duration"]),
    )
