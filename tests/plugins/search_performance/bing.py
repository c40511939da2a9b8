"""A stand-in for the Bing Webmaster API: JSON, a key in the URL, dates in WCF format."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from .standing_in import ApiRequest, Refused, Response

KEY = "0123456789abcdef0123456789abcdef"
API = "Microsoft.Bing.Webmaster.Api"


def wcf(day: date, zone: str) -> str:
    """Return a day in the API's format: its midnight in `zone`, with the offset unless `zone` is UTC."""
    at = datetime.combine(day, time(), ZoneInfo(zone))
    return f"/Date({int(at.timestamp() * 1000)}{'' if zone == 'UTC' else at.strftime('%z')})/"


class Bing:
    """Bing's data on the sites of one account."""

    def __init__(self) -> None:
        self.failing: Response | None = None
        self.sites: dict[str, bool] = {}
        self.days: list[dict[str, Any]] = []
        self.queries: list[dict[str, Any]] = []
        self.pages: list[dict[str, Any]] = []
        self.page_queries: dict[str, list[dict[str, Any]]] = {}
        self.error = 0

    def total(self, day: date, clicks: int, impressions: int) -> None:
        """Add the totals of a day."""
        common = {"__type": f"RankAndTrafficStats:#{API}", "Date": wcf(day, "UTC")}
        self.days.append({**common, "Clicks": clicks, "Impressions": impressions})

    def week(self, day: date, query: str, page: str, clicks: int, impressions: int, position: float) -> None:
        """Add the figures of a query and a page for the week of a date."""
        figures = {"Clicks": clicks, "Impressions": impressions, "AvgImpressionPosition": position}
        common = {
            "__type": f"QueryStats:#{API}",
            "Date": wcf(day, "America/Los_Angeles"),
            "AvgClickPosition": -1,
            **figures,
        }
        self.queries.append({**common, "Query": query})
        self.pages.append({**common, "Query": page})
        self.page_queries.setdefault(page, []).append({**common, "Query": query})

    def respond(self, request: ApiRequest) -> Any:
        if request.method != "GET":
            raise Refused(405, {})
        if self.error:
            raise Refused(400, {"ErrorCode": self.error, "Message": "ERROR!!! ThrottleUser"})
        if request.query.get("apikey") != KEY:
            raise Refused(400, {"ErrorCode": 3, "Message": "ERROR!!! InvalidApiKey"})
        if request.path == "/GetUserSites":
            common = {"__type": f"Site:#{API}", "AuthenticationCode": "A", "DnsVerificationCode": "B"}
            return {"d": [{**common, "IsVerified": verified, "Url": url} for url, verified in self.sites.items()]}
        if not self.sites.get(request.query.get("siteUrl", "")):
            raise Refused(400, {"ErrorCode": 14, "Message": "ERROR!!! NotAuthorized"})
        match request.path:
            case "/GetRankAndTrafficStats":
                return {"d": self.days}
            case "/GetQueryStats":
                return {"d": self.queries}
            case "/GetPageStats":
                return {"d": self.pages}
            case "/GetPageQueryStats":
                return {"d": self.page_queries.get(request.query.get("page", ""))}
        raise Refused(404, {})


def today() -> date:
    """Return the current day in UTC."""
    return datetime.now(UTC).date()
