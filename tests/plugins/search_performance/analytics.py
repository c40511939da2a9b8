"""Stand-ins for Plausible, Umami and Matomo, which count the same visits by the rules of each API."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from .standing_in import ApiRequest, Refused, Response

SITE_ID = "4fb7fa4c-5b46-438d-94b3-3a8fb9bc2e8b"
DOMAIN = "notes.example"


@dataclass(frozen=True)
class Visit:
    """One visitor's visit to some pages."""

    day: date
    visitor: str
    pages: tuple[str, ...]
    source: str = ""
    country: str = "DE"
    device: str = "Desktop"
    seconds: int = 60


def _grouped(visits: Sequence[Visit], keys: Callable[[Visit], Sequence[str]]) -> dict[str, list[Visit]]:
    groups: dict[str, list[Visit]] = {}
    for visit in visits:
        for key in dict.fromkeys(keys(visit)):
            groups.setdefault(key, []).append(visit)
    return groups


def _visitors(visits: Sequence[Visit]) -> int:
    return len({visit.visitor for visit in visits})


class Counting:
    """The data shared by all three stand-ins."""

    def __init__(self, visits: list[Visit]) -> None:
        self.visits = visits
        self.failing: Response | None = None

    def between(self, start: date, end: date) -> list[Visit]:
        """Return the visits between two days, inclusive."""
        return [visit for visit in self.visits if start <= visit.day <= end]


class Plausible(Counting):
    """`POST /api/v2/query`. A key grants access to the sites of its account."""

    KEY = "plausible-stats-key"
    METRICS = ("visitors", "visits", "pageviews", "bounce_rate", "visit_duration")
    DIMENSIONS: Mapping[str, Callable[[Visit], Sequence[str]]] = {
        "event:page": lambda visit: visit.pages,
        "visit:source": lambda visit: (visit.source or "Direct / None",),
        "visit:country": lambda visit: (visit.country,),
        "visit:device": lambda visit: (visit.device,),
        "time:day": lambda visit: (visit.day.isoformat(),),
        "time:month": lambda visit: (visit.day.replace(day=1).isoformat(),),
    }

    def respond(self, request: ApiRequest) -> Any:
        if (request.method, request.path) != ("POST", "/api/v2/query"):
            raise Refused(404, {"error": "Not found"})
        body = request.json
        allowed = {"site_id", "metrics", "date_range", "dimensions", "filters", "order_by", "include", "pagination"}
        if request.headers.get("authorization") != f"Bearer {self.KEY}" or body.get("site_id") != DOMAIN:
            message = (
                "Invalid API key or site ID. Please make sure you're using a valid API key with access to the site."
            )
            raise Refused(401, {"error": message})
        if set(body) - allowed or not body.get("metrics") or set(body["metrics"]) - set(self.METRICS):
            raise Refused(400, {"error": "Invalid metrics, or schema validation failed"})
        dimensions = body.get("dimensions", [])
        if set(dimensions) - set(self.DIMENSIONS) or len(dimensions) > 1:
            raise Refused(400, {"error": f"Invalid dimensions: {dimensions}"})
        if "bounce_rate" in body["metrics"] and dimensions not in ([], ["event:page"]):
            raise Refused(400, {"error": "Session metric(s) cannot be queried with this dimension"})
        visits = [visit for visit in self._range(body["date_range"]) if _allowed(visit, body.get("filters", []))]
        groups = _grouped(visits, self.DIMENSIONS[dimensions[0]]) if dimensions else {"": visits}
        rows: list[dict[str, Any]] = [
            {"dimensions": [key] if dimensions else [], "metrics": self._metrics(body["metrics"], key, group)}
            for key, group in groups.items()
        ]
        for name, direction in body.get("order_by", []):
            if name not in (*body["metrics"], *dimensions) or direction not in ("asc", "desc"):
                raise Refused(400, {"error": f"Invalid order_by entry: {name}"})
            by_metric = name in body["metrics"]
            rows.sort(
                key=lambda row: row["metrics"][body["metrics"].index(name)] if by_metric else row["dimensions"][0],
                reverse=direction == "desc",
            )
        page = {"limit": 10_000, "offset": 0, **body.get("pagination", {})}
        return {"results": rows[page["offset"] :][: page["limit"]], "meta": {}, "query": body}

    def _range(self, date_range: Any) -> list[Visit]:
        today = datetime.now(UTC).date()
        if date_range == "day":
            return self.between(today, today)
        if not isinstance(date_range, list) or len(date_range) != 2:
            raise Refused(400, {"error": f"Invalid date_range {date_range}"})
        return self.between(*(date.fromisoformat(day) for day in date_range))

    @staticmethod
    def _metrics(names: Sequence[str], page: str, visits: Sequence[Visit]) -> list[int]:
        pages = [viewed for visit in visits for viewed in visit.pages if not page.startswith("/") or viewed == page]
        bounced = sum(1 for visit in visits if len(visit.pages) == 1)
        values = {
            "visitors": _visitors(visits),
            "visits": len(visits),
            "pageviews": len(pages),
            "bounce_rate": round(bounced / len(visits) * 100) if visits else 0,
            "visit_duration": round(sum(visit.seconds for visit in visits) / len(visits)) if visits else 0,
        }
        return [values[name] for name in names]


def _allowed(visit: Visit, filters: Sequence[Any]) -> bool:
    for operator, dimension, values in filters:
        if (operator, dimension) != ("is", "event:page"):
            raise Refused(400, {"error": f"Invalid filter {operator} {dimension}"})
        if not set(values).intersection(visit.pages):
            return False
    return True


class Umami(Counting):
    """Umami Cloud with a key, or a self-hosted server with a login; API version 2 or 3."""

    KEY = "umami-cloud-key-123"
    USER, PASSWORD = "viewer", "open sesame"

    def __init__(self, visits: list[Visit], *, cloud: bool, version: int = 3) -> None:
        super().__init__(visits)
        self.cloud = cloud
        self.version = version
        self.tokens: set[str] = set()

    def respond(self, request: ApiRequest) -> Any:
        path = request.path
        if not self.cloud:
            if not path.startswith("/api/"):
                raise Refused(404, {"error": "Not found"})
            path = path.removeprefix("/api")
            if (request.method, path) == ("POST", "/auth/login"):
                return self._login(request.json)
        if not self._may(request):
            raise Refused(401, {"error": {"message": "Unauthorized", "code": "unauthorized", "status": 401}})
        match = re.fullmatch(r"/websites/([^/]+)(/stats|/metrics|/pageviews)?", path)
        if request.method != "GET" or match is None:
            raise Refused(404, {"error": {"message": "Not found", "code": "not-found", "status": 404}})
        if match[1] != SITE_ID:
            raise Refused(401, {"error": {"message": "Unauthorized", "code": "unauthorized", "status": 401}})
        if match[2] is None:
            return {"id": SITE_ID, "name": "Notes", "domain": DOMAIN}
        visits = self._between(request.query)
        match match[2]:
            case "/stats":
                return self._stats(visits, request.query)
            case "/metrics":
                return self._metrics(visits, request.query)
            case _:
                return self._pageviews(visits, request.query)

    def _login(self, body: Mapping[str, str]) -> Any:
        if (body["username"], body["password"]) != (self.USER, self.PASSWORD):
            raise Refused(401, {"error": {"message": "Unauthorized", "code": "incorrect-username-password"}})
        token = f"token-{len(self.tokens)}"
        self.tokens.add(token)
        return {"token": token, "user": {"id": "u", "username": self.USER, "role": "view-only", "isAdmin": False}}

    def _may(self, request: ApiRequest) -> bool:
        if self.cloud:
            return request.headers.get("x-umami-api-key") == self.KEY
        return request.headers.get("authorization", "").removeprefix("Bearer ") in self.tokens

    def _between(self, query: Mapping[str, str]) -> list[Visit]:
        try:
            start, end = (datetime.fromtimestamp(int(query[name]) / 1000, UTC) for name in ("startAt", "endAt"))
        except (KeyError, ValueError):
            raise Refused(400, {"error": {"message": "Bad request", "code": "bad-request", "status": 400}}) from None
        noon = timedelta(hours=12)
        return [
            visit
            for visit in self.visits
            if start <= datetime.combine(visit.day, datetime.min.time(), UTC) + noon <= end
        ]

    def _stats(self, visits: Sequence[Visit], query: Mapping[str, str]) -> Any:
        page = query.get("path" if self.version == 3 else "url")
        matching = [visit for visit in visits if page is None or page in visit.pages]
        values = {
            "pageviews": sum(1 for visit in matching for viewed in visit.pages if page in (None, viewed)),
            "visitors": _visitors(matching),
            "visits": len(matching),
            "bounces": sum(1 for visit in matching if len(visit.pages) == 1),
            "totaltime": sum(visit.seconds for visit in matching),
        }
        if self.version == 3:
            return {**values, "comparison": dict.fromkeys(values, 0)}
        return {name: {"value": value, "prev": 0} for name, value in values.items()}

    def _metrics(self, visits: Sequence[Visit], query: Mapping[str, str]) -> Any:
        keys: dict[str, Callable[[Visit], Sequence[str]]] = {
            "path" if self.version == 3 else "url": lambda visit: visit.pages,
            "referrer": lambda visit: (visit.source,) if visit.source else (),
            "country": lambda visit: (visit.country,),
            "device": lambda visit: (visit.device.lower(),),
        }
        if query.get("type") not in keys:
            raise Refused(400, {"error": {"message": "Bad request", "code": "bad-request", "status": 400}})
        groups = _grouped(visits, keys[query["type"]])
        rows: list[dict[str, Any]] = [{"x": key, "y": _visitors(group)} for key, group in groups.items()]
        return sorted(rows, key=lambda row: -int(row["y"]))[: int(query.get("limit", 500))]

    @staticmethod
    def _pageviews(visits: Sequence[Visit], query: Mapping[str, str]) -> Any:
        if query.get("unit") not in ("year", "month", "hour", "day") or query.get("timezone") != "UTC":
            raise Refused(400, {"error": {"message": "Invalid unit", "code": "bad-request", "status": 400}})
        monthly = query["unit"] == "month"
        groups = _grouped(visits, lambda visit: ((visit.day.replace(day=1) if monthly else visit.day).isoformat(),))
        views = [
            {"x": f"{day}T00:00:00Z", "y": sum(len(visit.pages) for visit in group)} for day, group in groups.items()
        ]
        return {
            "pageviews": views,
            "sessions": [{"x": f"{day}T00:00:00Z", "y": _visitors(group)} for day, group in groups.items()],
        }


class Matomo(Counting):
    """`index.php?module=API`. The token has to be in the body; it is refused in the URL."""

    TOKEN = "c" * 32
    FORBIDDEN = "You can't access this resource as it requires 'view' access for the website id = {}."

    def __init__(self, visits: list[Visit], *, statuses: bool = True) -> None:
        super().__init__(visits)
        self.statuses = statuses

    def respond(self, request: ApiRequest) -> Any:
        query = request.query
        if (request.method, request.path) != ("POST", "/index.php") or query.get("module") != "API":
            raise Refused(404, {"result": "error", "message": "not the API"})
        if "token_auth" in query or query.get("format") != "JSON":
            return self._error(400, "the token belongs into the body")
        if request.form.get("token_auth") != self.TOKEN:
            message = "Unable to authenticate with the provided token. It is either invalid or expired."
            return self._error(401, message)
        if query.get("idSite") != "3":
            return self._error(401, self.FORBIDDEN.format(query.get("idSite")))
        methods: Mapping[str, Callable[[], Any]] = {
            "VisitsSummary.getVisits": lambda: {"value": len(self.visits)},
            "API.get": lambda: self._totals(query),
            "Actions.getPageUrl": lambda: self._page(query),
            "Actions.getPageUrls": lambda: self._rows(query, lambda visit: visit.pages),
            "Referrers.getAll": lambda: self._rows(query, lambda visit: (visit.source or "Direct Entry",)),
            "UserCountry.getCountry": lambda: self._rows(query, lambda visit: (visit.country,), "code"),
            "DevicesDetection.getType": lambda: self._rows(query, lambda visit: (visit.device,)),
        }
        method = query.get("method", "")
        if method not in methods or (method == "Actions.getPageUrls" and query.get("flat") != "1"):
            return self._error(400, f"The method '{method}' does not exist or is not available.")
        return methods[method]()

    def _page(self, query: Mapping[str, str]) -> Any:
        path = query["pageUrl"].partition("//")[2].partition("/")[2]
        return [row for row in self._rows(query, lambda visit: visit.pages) if row["label"] == f"/{path}"]

    def _error(self, status: int, message: str) -> Any:
        document = {"result": "error", "message": message}
        if self.statuses:
            raise Refused(status, document)
        return document

    def _range(self, query: Mapping[str, str]) -> tuple[date, date]:
        start, _, end = query["date"].partition(",")
        return date.fromisoformat(start), date.fromisoformat(end)

    def _totals(self, query: Mapping[str, str]) -> Any:
        start, end = self._range(query)
        match query["period"]:
            case "range":
                return self._summary(self.between(start, end), unique=False)
            case "day":
                days = [start + timedelta(days=number) for number in range((end - start).days + 1)]
                periods = {day.isoformat(): self.between(day, day) for day in days}
            case _:
                months = _grouped(self.between(start, end), lambda visit: (visit.day.isoformat()[:7],))
                periods = {month: list(visits) for month, visits in months.items()}
        return {name: self._summary(visits, unique=True) if visits else [] for name, visits in periods.items()}

    @staticmethod
    def _summary(visits: Sequence[Visit], *, unique: bool) -> Any:
        figures = {
            "nb_visits": len(visits),
            "nb_actions": sum(len(visit.pages) for visit in visits),
            "nb_pageviews": sum(len(visit.pages) for visit in visits),
            "bounce_count": sum(1 for visit in visits if len(visit.pages) == 1),
            "sum_visit_length": sum(visit.seconds for visit in visits),
            "bounce_rate": "50%",
        }
        return {"nb_uniq_visitors": _visitors(visits), **figures} if unique else figures

    def _rows(self, query: Mapping[str, str], keys: Callable[[Visit], Sequence[str]], code: str = "") -> Any:
        groups = _grouped(self.between(*self._range(query)), keys)
        rows: list[dict[str, Any]] = []
        for key, group in groups.items():
            hits = sum(viewed == key for visit in group for viewed in visit.pages)
            row: dict[str, Any] = {"label": "Germany" if code and key == "DE" else key, "nb_visits": len(group)}
            rows.append({**row, "nb_hits": hits} | ({code: key.lower()} if code else {}))
        rows.sort(key=lambda row: -row["nb_visits"])
        return rows[: int(query.get("filter_limit", 100))]
