"""A stand-in for Google: sign-in, tokens, and Search Console with the rules of its documentation.

It rejects what the real API rejects, withholds days that are not final, omits rare queries from rows by query, returns
at most 25,000 rows at once, and counts quotas.
"""

from __future__ import annotations

import json
import re
import secrets
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit
from zoneinfo import ZoneInfo

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

from support.standin_google_accounts import AUTHORIZE, REVOKE, TOKEN, AuthorizationRefused, GoogleAccounts

EMAIL = "figures@pressroom.iam.gserviceaccount.com"
KEY = RSAKey.generate_key(2048)
SCOPES = ("https://www.googleapis.com/auth/webmasters", "https://www.googleapis.com/auth/webmasters.readonly")
DIMENSIONS = ("date", "query", "page", "country", "device", "searchAppearance", "hour")
TYPES = ("web", "image", "video", "news", "discover", "googleNews")
OPERATORS = ("equals", "notEquals", "contains", "notContains", "includingRegex", "excludingRegex")
FIELDS = {
    "startDate",
    "endDate",
    "dimensions",
    "type",
    "dimensionFilterGroups",
    "aggregationType",
    "rowLimit",
    "startRow",
    "dataState",
}
MAX_ROWS = 25_000
LAG = timedelta(days=2)


def key_file(key: RSAKey = KEY, email: str = EMAIL) -> str:
    """Return a service account's key file."""
    return json.dumps(
        {
            "type": "service_account",
            "private_key_id": "0a1b",
            "private_key": key.as_pem(private=True).decode(),
            "client_email": email,
            "token_uri": "http://127.0.0.1:9/never-asked",
        }
    )


def today() -> date:
    """Return today's date in California."""
    return datetime.now(ZoneInfo("America/Los_Angeles")).date()


class Refused(Exception):
    """A request that the real API would reject."""

    def __init__(self, status: int, message: str, reason: str = "badRequest", retry_after: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.retry_after = retry_after

    def body(self) -> bytes:
        error = {
            "code": self.status,
            "message": str(self),
            "errors": [{"message": str(self), "domain": "global", "reason": self.reason}],
        }
        return json.dumps({"error": error}).encode()


@dataclass(frozen=True)
class Search:
    """Searches on one day that showed a page. Too few people searched for a `rare` query for it to be reported."""

    day: date
    query: str
    page: str
    clicks: int
    impressions: int
    position: float
    country: str = "usa"
    device: str = "DESKTOP"
    kind: str = "web"
    rare: bool = False
    appearance: str = ""
    hour: int = 12


class Google:
    """The data of the stand-in, and the requests it received."""

    def __init__(self) -> None:
        self.url = ""
        self.searches: list[Search] = []
        self.properties: dict[str, set[str]] = defaultdict(set)
        self.refresh_tokens: dict[str, str] = {}
        self.accounts = GoogleAccounts()
        self.tokens: dict[str, tuple[str, float]] = {}
        self.token_seconds = 3599
        self.queries: list[tuple[str, dict[str, Any]]] = []
        self.grants = 0
        self.per_minute = 1200
        self.inspections_a_day = 2000
        self.inspected = 0
        self.sitemaps: dict[str, dict[str, str]] = defaultdict(dict)
        self.failing: tuple[int, bytes, dict[str, str]] | None = None
        self.gate: threading.Event | None = None
        self.arrived = threading.Event()
        self._query_times: dict[str, list[float]] = defaultdict(list)
        self._lock = threading.Lock()

    def add(
        self, day: date, query: str, page: str, clicks: int, impressions: int, position: float, **more: Any
    ) -> None:
        """Record searches."""
        self.searches.append(Search(day, query, page, clicks, impressions, position, **more))

    def requested_days(self, dimensions: list[str]) -> list[str]:
        """Return the requested days of queries with these dimensions, in order."""
        return [body["startDate"] for _, body in self.queries if body.get("dimensions") == dimensions]

    def token(self, form: Mapping[str, str]) -> dict[str, Any]:
        """Return the response of the token endpoint (RFC 6749, section 5; RFC 7523)."""
        self.grants += 1
        fields: dict[str, Any] = {}
        pasted = self.refresh_tokens.get(form.get("refresh_token", ""))
        if pasted is not None and form.get("client_id") and form.get("client_secret"):
            owner = pasted
        elif form.get("grant_type") in ("authorization_code", "refresh_token"):
            owner, fields = self.accounts.exchange(form)
        elif form.get("grant_type") == "urn:ietf:params:oauth:grant-type:jwt-bearer":
            owner = self._account(form.get("assertion", ""))
        else:
            raise Refused(400, "Invalid grant_type", "unsupported_grant_type")
        token = f"ya29.{secrets.token_hex(8)}"  # random, because a server caches tokens of earlier tests
        self.tokens[token] = owner, time.monotonic() + self.token_seconds
        return {"access_token": token, "expires_in": self.token_seconds, "token_type": "Bearer", **fields}

    def _account(self, assertion: str) -> str:
        try:
            claims = jwt.decode(assertion, KEY, algorithms=["RS256"]).claims
        except (JoseError, ValueError):
            raise Refused(400, "Invalid JWT Signature.", "invalid_grant") from None
        now = time.time()
        if claims.get("aud") != f"{self.url}/token" or claims.get("scope") not in SCOPES:
            raise Refused(400, "Invalid JWT: audience or scope", "invalid_grant")
        if not now - 300 <= claims["iat"] <= now + 60 or not 0 < claims["exp"] - claims["iat"] <= 3600:
            raise Refused(400, "Invalid JWT: Token must be a short-lived token", "invalid_grant")
        return str(claims["iss"])

    def respond(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, bytes, Mapping[str, str]]:
        """Return status, content and headers of the response to a request."""
        path = urlsplit(target).path
        if path == AUTHORIZE:
            return self.accounts.respond(method, target, body)
        if path != TOKEN and self.failing is not None:
            return self.failing
        try:
            if path == TOKEN:
                document: Any = self.token(dict(parse_qsl(body.decode())))
            elif path == REVOKE:
                document = self.accounts.revoke(dict(parse_qsl(body.decode())))
            else:
                document = self.search_console(method, path, headers, body)
        except AuthorizationRefused as refusal:
            error_body = {"error": refusal.error, "error_description": str(refusal)}
            return refusal.status, json.dumps(error_body).encode(), {}
        except Refused as refusal:
            extra_headers = {"Retry-After": str(refusal.retry_after)} if refusal.retry_after else {}
            if path != TOKEN:
                return refusal.status, refusal.body(), extra_headers
            error_body = {"error": refusal.reason, "error_description": str(refusal)}
            return refusal.status, json.dumps(error_body).encode(), extra_headers
        return 200, b"" if document is None else json.dumps(document).encode(), {}

    def search_console(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Any:
        """Return the response document of a Search Console request. Raises `Refused`."""
        if self.gate is not None:
            self.arrived.set()
            self.gate.wait(20)
        owner = self._who(headers.get("Authorization", ""))
        if (method, path) == ("GET", "/webmasters/v3/sites"):
            levels = dict.fromkeys(self.properties[owner], "siteFullUser") | {
                "https://other.example/": "siteUnverifiedUser"
            }
            return {"siteEntry": [{"siteUrl": name, "permissionLevel": level} for name, level in levels.items()]}
        if (method, path) == ("POST", "/v1/urlInspection/index:inspect"):
            return self._inspect(owner, json.loads(body))
        match = re.fullmatch(r"/webmasters/v3/sites/([^/]+)/(searchAnalytics/query|sitemaps)(?:/([^/]+))?", path)
        if match is None:
            raise Refused(404, "Not Found", "notFound")
        site = unquote(match[1])
        self._check_site(owner, site)
        if match[2] == "searchAnalytics/query":
            if method != "POST" or headers.get("Content-Type") != "application/json":
                raise Refused(400, "Invalid request")
            return self._query(site, json.loads(body))
        return self._sitemaps(method, site, unquote(match[3] or ""))

    def _who(self, authorization: str) -> str:
        owner, expiry = self.tokens.get(authorization.removeprefix("Bearer "), ("", 0.0))
        if not authorization.startswith("Bearer ") or time.monotonic() > expiry:
            raise Refused(401, "Request had invalid authentication credentials.", "authError")
        return owner

    def _check_site(self, owner: str, site: str) -> None:
        if site not in self.properties[owner]:
            raise Refused(403, f"User does not have sufficient permission for site '{site}'.", "forbidden")

    def _query(self, site: str, body: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            self._count(site)
            self.queries.append((site, body))
        start, end, dimensions, kind, state = self._checked(body)
        first_incomplete = today() - LAG
        groups: dict[tuple[str, ...], list[Search]] = defaultdict(list)
        filters = [condition for group in body.get("dimensionFilterGroups", ()) for condition in group["filters"]]
        by_query = "query" in dimensions or any(condition["dimension"] == "query" for condition in filters)
        for search in self.searches:
            hidden = (search.rare and by_query) or (state == "final" and search.day >= first_incomplete)
            if search.kind != kind or not start <= search.day <= end or hidden:
                continue
            if "searchAppearance" in dimensions and not search.appearance:
                continue
            if all(_holds(search, condition) for condition in filters):
                groups[tuple(_value(search, name) for name in dimensions)].append(search)
        rows = sorted((_row(keys, searches) for keys, searches in groups.items()), key=lambda row: -row["clicks"])
        skipped, limit = body.get("startRow", 0), body.get("rowLimit", 1000)
        response: dict[str, Any] = {"responseAggregationType": "byPage" if "page" in dimensions else "byProperty"}
        if rows[skipped : skipped + limit]:
            response["rows"] = rows[skipped : skipped + limit]
        if state == "all" and "date" in dimensions and end >= first_incomplete:
            response["metadata"] = {"first_incomplete_date": first_incomplete.isoformat()}
        return response

    def _checked(self, body: dict[str, Any]) -> tuple[date, date, list[str], str, str]:
        unknown = set(body) - FIELDS
        if unknown:
            raise Refused(400, f"Unknown name {sorted(unknown)}: Cannot find field.")
        start, end = _day(body, "startDate"), _day(body, "endDate")
        if start > end:
            raise Refused(400, "'startDate' is after 'endDate'")
        dimensions, kind, state = body.get("dimensions", []), body.get("type", "web"), body.get("dataState", "final")
        for problem in _problems(body, dimensions, kind, state):
            raise Refused(400, problem)
        return start, end, dimensions, kind, state

    def _count(self, site: str) -> None:
        now = time.monotonic()
        recent = self._query_times[site] = [moment for moment in self._query_times[site] if moment > now - 60]
        if len(recent) >= self.per_minute:
            raise Refused(403, "Search Analytics QPS quota exceeded.", "quotaExceeded")
        recent.append(now)

    def _inspect(self, owner: str, body: dict[str, Any]) -> dict[str, Any]:
        if set(body) - {"inspectionUrl", "siteUrl", "languageCode"}:
            raise Refused(400, "Unknown name")
        self._check_site(owner, body["siteUrl"])
        prefix = body["siteUrl"]
        if not prefix.startswith("sc-domain:") and not body["inspectionUrl"].startswith(prefix):
            raise Refused(400, "You do not own this site, or the inspected URL is not part of this property.")
        self.inspected += 1
        if self.inspected > self.inspections_a_day:
            raise Refused(429, "Quota exceeded for sc-domain", "rateLimitExceeded", 3600)
        status = {
            "verdict": "PASS",
            "coverageState": "Submitted and indexed",
            "robotsTxtState": "ALLOWED",
            "indexingState": "INDEXING_ALLOWED",
            "lastCrawlTime": "2026-11-19T05:11:21Z",
            "pageFetchState": "SUCCESSFUL",
            "googleCanonical": body["inspectionUrl"],
            "userCanonical": body["inspectionUrl"],
            "sitemap": [f"{prefix}sitemap.xml"],
        }
        return {
            "inspectionResult": {"inspectionResultLink": "https://search.google.com/x", "indexStatusResult": status}
        }

    def _sitemaps(self, method: str, site: str, feed: str) -> Any:
        if method == "GET":
            return {
                "sitemap": [self._sitemap(path, submitted_at) for path, submitted_at in self.sitemaps[site].items()]
            }
        if method != "PUT":
            raise Refused(404, "Not Found")
        if not site.startswith("sc-domain:") and not feed.startswith(site):
            raise Refused(400, "Invalid sitemap: it is not part of the property")
        self.sitemaps[site][feed] = "2026-11-20T10:00:00.000Z"
        return None

    def _sitemap(self, path: str, submitted_at: str) -> dict[str, Any]:
        counts = [{"type": "web", "submitted": "12", "indexed": "0"}]
        numbers = {"warnings": "1", "errors": "0"}
        return {
            "path": path,
            "lastSubmitted": submitted_at,
            "isPending": False,
            "type": "sitemap",
            "contents": counts,
            **numbers,
        }


def _day(body: Mapping[str, Any], name: str) -> date:
    try:
        return datetime.strptime(body[name], "%Y-%m-%d").replace(tzinfo=UTC).date()
    except (KeyError, ValueError, TypeError):
        raise Refused(400, f"{name} is required, as YYYY-MM-DD") from None


def _problems(body: Mapping[str, Any], dimensions: list[str], kind: str, state: str) -> Iterator[str]:
    if any(name not in DIMENSIONS for name in dimensions) or len(set(dimensions)) < len(dimensions):
        yield "Invalid value at 'dimensions'"
    if kind not in TYPES or state not in ("final", "all", "hourly_all"):
        yield "Invalid value at 'type' or 'dataState'"
    if ("hour" in dimensions) != (state == "hourly_all"):
        yield "HOUR needs the data state hourly_all"
    if "searchAppearance" in dimensions and len(dimensions) > 1:
        yield "searchAppearance cannot be grouped with other dimensions"
    if kind in ("discover", "googleNews") and "query" in dimensions:
        yield f"Request contains an invalid argument: {kind} has no queries"
    if not 1 <= body.get("rowLimit", 1000) <= MAX_ROWS or body.get("startRow", 0) < 0:
        yield "'rowLimit' must be within 1 and 25000"
    filters = [condition for group in body.get("dimensionFilterGroups", ()) for condition in group["filters"]]
    if any(
        condition["dimension"] not in DIMENSIONS[1:6] or condition["operator"] not in OPERATORS for condition in filters
    ):
        yield "Invalid value at 'dimension_filter_groups'"


def _value(search: Search, name: str) -> str:
    moment = datetime(
        search.day.year, search.day.month, search.day.day, search.hour, tzinfo=ZoneInfo("America/Los_Angeles")
    )
    values = {
        "date": search.day.isoformat(),
        "query": search.query,
        "page": search.page,
        "country": search.country,
        "device": search.device,
        "searchAppearance": search.appearance,
        "hour": moment.isoformat(),
    }
    return values[name]


def _holds(search: Search, condition: Mapping[str, str]) -> bool:
    value, expression = _value(search, condition["dimension"]), condition["expression"]
    if condition["dimension"] in ("country", "device"):
        value, expression = value.lower(), expression.lower()
    match condition.get("operator", "equals"):
        case "equals":
            return value == expression
        case "notEquals":
            return value != expression
        case "contains":
            return expression.lower() in value.lower()
        case "notContains":
            return expression.lower() not in value.lower()
        case "includingRegex":
            return re.search(expression, value) is not None
        case _:
            return re.search(expression, value) is None


def _row(keys: tuple[str, ...], searches: list[Search]) -> dict[str, Any]:
    clicks, impressions = sum(search.clicks for search in searches), sum(search.impressions for search in searches)
    position = sum(search.position * search.impressions for search in searches) / impressions
    row = {"clicks": clicks, "impressions": impressions, "ctr": clicks / impressions, "position": position}
    return {"keys": list(keys), **row} if keys else row


@contextmanager
def serving(google: Google) -> Iterator[Google]:
    """Run the stand-in on 127.0.0.1."""

    class Handler(BaseHTTPRequestHandler):
        def _respond(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, content, extra_headers = google.respond(self.command, self.path, dict(self.headers.items()), body)
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **extra_headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            self._respond()

        def do_POST(self) -> None:
            self._respond()

        def do_PUT(self) -> None:
            self._respond()

        def log_message(self, *args: Any) -> None:
            del args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    google.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield google
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
