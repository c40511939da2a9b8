"""Client for the Matomo Reporting API (`index.php?module=API`). Sends the token in the body, never in a URL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final
from urllib.parse import urlencode

from pressroom.sdk import BackendError, Fetcher, InvalidInput, Rejected
from pressroom_content.contract import CredentialField

from pressroom_search_performance.contract import AnalyticsSource, By, Traffic, TrafficQuestion, Visits
from pressroom_search_performance.sources.requesting import (
    SourceRefused,
    ask,
    counted,
    fraction,
    mean,
    server_of,
    share,
    text,
    unreadable,
)

NAME: Final = "matomo"
TITLE: Final = "Matomo"
FIELDS: Final = (
    CredentialField(
        "server",
        "URL of your Matomo",
        "Such as https://example.matomo.cloud, or https://example.com/matomo.",
        secret=False,
    ),
    CredentialField(
        "token", "Auth token", "Matomo, personal settings, security. Of a user who may only view.", pattern=r"[ -~]+"
    ),
)

_METHODS: Final[Mapping[By, str]] = {
    "page": "Actions.getPageUrls",
    "source": "Referrers.getAll",
    "country": "UserCountry.getCountry",
    "device": "DevicesDetection.getType",
}
_MAX_SITE_ID_LENGTH: Final = 9


class Matomo:
    """See `Analytics`."""

    async def check(self, site_url: str, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        """See `Analytics`."""
        if not site_url.isascii() or not site_url.isdecimal() or len(site_url) > _MAX_SITE_ID_LENGTH:
            raise InvalidInput("property", "must be the number of a site in Matomo, such as 1")
        if not server_of(credential):
            raise InvalidInput("server", "is required")
        try:
            await _ask("VisitsSummary.getVisits", site_url, credential, fetcher, period="day", date="yesterday")
        except SourceRefused as error:
            raise InvalidInput("property", error.message) from None

    async def traffic(
        self, site: str, credential: Mapping[str, str], question: TrafficQuestion, fetcher: Fetcher
    ) -> Traffic:
        """See `Analytics`."""
        days = f"{question.start.isoformat()},{question.end.isoformat()}"
        totals = _visits(await _ask("API.get", site, credential, fetcher, period="range", date=days))
        if question.by == "date":
            rows = await _dates(site, credential, question, days, fetcher)
        else:
            extra = {"flat": "1"} if question.by == "page" else {}
            limit = str(question.limit + 1)
            method = _METHODS[question.by]
            response = await _ask(
                method, site, credential, fetcher, period="range", date=days, filter_limit=limit, **extra
            )
            rows = [_row(question.by, entry) for entry in _objects(response)]
        return Traffic(totals, tuple(rows[: question.limit]), truncated=len(rows) > question.limit)

    async def page(
        self, site: str, credential: Mapping[str, str], url: str, start: date, end: date, fetcher: Fetcher
    ) -> Visits:
        """See `Analytics`."""
        days = f"{start.isoformat()},{end.isoformat()}"
        rows = _objects(
            await _ask("Actions.getPageUrl", site, credential, fetcher, period="range", date=days, pageUrl=url)
        )
        return _row("page", rows[0])[1] if rows else Visits(visits=0, pageviews=0)


def source() -> AnalyticsSource:
    """Return the Matomo analytics source."""
    hint = "The number of the site: Matomo, administration, websites."
    return AnalyticsSource(NAME, TITLE, "Site ID", hint, FIELDS, Matomo())


async def _dates(
    site: str, credential: Mapping[str, str], question: TrafficQuestion, days: str, fetcher: Fetcher
) -> Sequence[tuple[str, Visits]]:
    period = "month" if question.monthly else "day"
    response = await _ask("API.get", site, credential, fetcher, period=period, date=days)
    if not isinstance(response, dict | list):
        raise unreadable(TITLE)
    entries = response.items() if isinstance(response, dict) else ()
    length = 7 if question.monthly else 10
    rows = [(text(day, length), _visits(entry)) for day, entry in entries]
    return sorted(rows, key=lambda row: row[0], reverse=True)


async def _ask(method: str, site: str, credential: Mapping[str, str], fetcher: Fetcher, **parameters: str) -> Any:
    query = urlencode({"module": "API", "method": method, "idSite": site, "format": "JSON", **parameters})
    form = urlencode({"token_auth": credential.get("token", "")}).encode()
    return await ask(fetcher, TITLE, "POST", f"{server_of(credential)}/index.php?{query}", form=form, failure=_failure)


def _failure(status: int, document: Any) -> BackendError | Rejected | None:
    """Return the error in a response, or `None`. Some Matomo versions send errors with status 200."""
    if not isinstance(document, dict) or document.get("result") != "error":
        return None
    message = " ".join(text(document.get("message"), 300).split())
    words = message.lower()
    if status in (401, 403) or "authenticate" in words or "can't access this resource" in words.replace("&#039;", "'"):
        return Rejected(f"{TITLE} does not accept the token, or it may not view this site: {message}")
    if status // 100 == 5:
        return BackendError(f"{TITLE} is not available right now: {message}")
    return SourceRefused(f"{TITLE} refused the request: {message}")


def _objects(response: Any) -> list[dict[str, Any]]:
    if not isinstance(response, list):
        raise unreadable(TITLE)
    return [entry for entry in response if isinstance(entry, dict)]


def _visits(totals: Any) -> Visits:
    """Parse totals. Matomo sends an empty list for days without visits."""
    if totals == []:
        return Visits(0, 0, 0)
    if not isinstance(totals, dict) or "nb_visits" not in totals:
        raise unreadable(TITLE)
    visits = fraction(totals.get("nb_visits"))
    return Visits(
        visitors=counted(totals.get("nb_uniq_visitors")),
        visits=counted(visits),
        pageviews=counted(totals.get("nb_pageviews")),
        bounce_rate=share(fraction(totals.get("bounce_count")), visits),
        seconds=mean(fraction(totals.get("sum_visit_length")), visits),
    )


def _row(by: By, entry: Mapping[str, Any]) -> tuple[str, Visits]:
    key = text(entry.get("label"), 500)
    if by == "country":
        key = text(entry.get("code"), 16).upper() or key
    if by == "device":
        key = key.lower()
    return key, Visits(
        visitors=counted(entry.get("nb_uniq_visitors")),
        visits=counted(entry.get("nb_visits")),
        pageviews=counted(entry.get("nb_hits")) if by == "page" else None,
    )
