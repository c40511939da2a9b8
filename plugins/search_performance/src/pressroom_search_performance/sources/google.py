"""Google Search Console: search figures, index status and sitemaps, and the access tokens for its APIs."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote, urlencode

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey
from pressroom.sdk import BackendError, Fetcher, InvalidInput, Rejected
from pressroom_content.contract import CredentialField, Grain, SearchQuery, SearchRow, SearchSource

from pressroom_search_performance.config import SearchPerformanceConfig
from pressroom_search_performance.days import today
from pressroom_search_performance.sources.requesting import ask, number, objects, text

SCOPE: Final = "https://www.googleapis.com/auth/webmasters"
_LIFETIME: Final = 3600
_EARLY: Final = 300
_MAX_CACHED: Final = 512
_JWT_BEARER: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"


class GoogleAuth:
    """Gets access tokens and remembers them while they are valid.

    Args:
        token_url: the token endpoint. What a key file says of it is not followed, since key files are untrusted.
        account: the operator's key file (JSON), or nothing; it is used for credentials without any field.
    """

    def __init__(self, token_url: str, account: str) -> None:
        self._token_url = token_url
        self._account = account
        self._known: OrderedDict[str, tuple[float, str]] = OrderedDict()

    async def header(self, credential: Mapping[str, str], fetcher: Fetcher) -> Mapping[str, str]:
        """Return the header `Authorization` for a credential.

        Raises `Rejected` if absent or Google does not accept it, and `BackendError`.
        """
        name = _name_of(credential)
        until, token = self._known.get(name, (0.0, ""))
        if time.monotonic() >= until:
            token, lifetime = await self._new(credential, fetcher)
            self._known[name] = time.monotonic() + lifetime - _EARLY, token
            self._known.move_to_end(name)
            while len(self._known) > _MAX_CACHED:
                self._known.popitem(last=False)
        return {"Authorization": f"Bearer {token}"}

    def remembers(self, credential: Mapping[str, str]) -> bool:
        """Tell whether the next header holds a token that was used before."""
        return time.monotonic() < self._known.get(_name_of(credential), (0.0, ""))[0]

    def forget(self, credential: Mapping[str, str]) -> None:
        """Forget the token of a credential: it is not accepted any more."""
        self._known.pop(_name_of(credential), None)

    async def _new(self, credential: Mapping[str, str], fetcher: Fetcher) -> tuple[str, float]:
        form = urlencode(await self._grant(credential)).encode()
        answer = await ask(fetcher, "Google", "POST", self._token_url, form=form)
        token = answer.get("access_token") if isinstance(answer, dict) else None
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise BackendError("Google gave no access token")
        return token, number(answer.get("expires_in")) or _LIFETIME

    async def _grant(self, credential: Mapping[str, str]) -> Mapping[str, str]:
        if credential.get("refresh_token"):
            return {
                "grant_type": "refresh_token",
                "client_id": credential.get("client_id", ""),
                "client_secret": credential.get("client_secret", ""),
                "refresh_token": credential["refresh_token"],
            }
        account = credential.get("service_account") or self._account
        if not account:
            raise Rejected("there is no credential for Google: enter a service account's key or a refresh token")
        try:
            return {"grant_type": _JWT_BEARER, "assertion": await asyncio.to_thread(self._assertion, account)}
        except InvalidInput as error:
            raise Rejected(error.problem) from None

    def _assertion(self, account: str) -> str:
        """Return the signed assertion. Call it in a thread: it takes milliseconds, as the key was checked before."""
        document, key = key_file(account)
        now = int(time.time())
        claims = {
            "iss": document["client_email"],
            "scope": SCOPE,
            "aud": self._token_url,
            "iat": now,
            "exp": now + _LIFETIME,
        }
        header = {"alg": "RS256", "typ": "JWT"}
        if isinstance(document.get("private_key_id"), str):
            header["kid"] = document["private_key_id"]
        return jwt.encode(header, claims, key, algorithms=["RS256"])


_MAX_KEY_LENGTH: Final = 3_500
"""Characters of a private key, one of 4096 bits. Reading one of 16,384 bits takes minutes."""


def key_file(text: str) -> tuple[Mapping[str, Any], RSAKey]:
    """Return the content of a service account's key file, and its key. Raises `InvalidInput`."""
    problem = "must be the whole JSON text of a service account's key file"
    try:
        document = json.loads(text)
        pem = document["private_key"]
        key = RSAKey.import_key(pem) if len(pem) <= _MAX_KEY_LENGTH else None
        email = document["client_email"]
    except (ValueError, KeyError, TypeError, RecursionError, JoseError):
        raise InvalidInput("service_account", problem) from None
    if key is None:
        raise InvalidInput("service_account", "must have a private key of at most 4096 bits; those of Google have 2048")
    if not isinstance(email, str) or not email or not key.is_private:
        raise InvalidInput("service_account", problem)
    return document, key


_MAX_NUMBERS: Final = {"n": 683, "p": 342, "q": 342, "e": 8}
"""Base64url characters of the numbers of a key of 4096 bits, whose factors have half of them."""


def check_key_file(text: str) -> None:
    """Check what somebody sent as a key file. Made-up factors take seconds: call it in a worker process.

    Raises:
        InvalidInput: it is not a key file, or its key is not of a kind that Google makes.
    """
    _, key = key_file(text)
    numbers = key.as_dict(private=True)
    if any(len(str(numbers.get(name, ""))) > most for name, most in _MAX_NUMBERS.items()):
        raise InvalidInput("service_account", "must have a private key of at most 4096 bits, with factors of one size")


def _name_of(credential: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps(sorted(credential.items())).encode()).hexdigest()


NAME: Final = "google"
TITLE: Final = "Google Search Console"
MAX_ROWS: Final = 25_000
"""Rows of one answer (`rowLimit`)."""

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
"""Types whose figures Google does not split by queries."""

FIELDS: Final = (
    CredentialField(
        "service_account",
        "Key file of a service account",
        "The whole JSON text. Add the account's e-mail address to the property as a user first.",
        required=False,
    ),
    CredentialField(
        "client_id", "OAuth client id", "Only together with a refresh token.", secret=False, required=False
    ),
    CredentialField("client_secret", "OAuth client secret", required=False),
    CredentialField("refresh_token", "Refresh token", "With the scope for Search Console.", required=False),
)


class GoogleConsole:
    """Speaks to Search Console. All methods raise `Rejected`, `SearchLimited`, `SourceRefused` and `BackendError`."""

    def __init__(self, config: SearchPerformanceConfig) -> None:
        account = config.google_service_account
        self._auth = GoogleAuth(config.google_token_url, account.get_secret_value() if account else "")
        self._url = config.google_url.rstrip("/")

    async def query(
        self, site_url: str, body: Mapping[str, Any], credential: Mapping[str, str], fetcher: Fetcher
    ) -> Mapping[str, Any]:
        """Return the answer of `searchAnalytics/query`."""
        path = f"/webmasters/v3/sites/{quote(site_url, safe='')}/searchAnalytics/query"
        answer = await self._ask(credential, fetcher, "POST", path, dict(body))
        return answer if isinstance(answer, dict) else {}

    async def sites(self, credential: Mapping[str, str], fetcher: Fetcher) -> Mapping[str, str]:
        """Return the properties that the credential may read, with the level of its permission."""
        answer = await self._ask(credential, fetcher, "GET", "/webmasters/v3/sites")
        return {
            text(one.get("siteUrl")): text(one.get("permissionLevel"))
            for one in objects(answer, "siteEntry")
            if one.get("permissionLevel") != _UNVERIFIED
        }

    async def inspect(
        self, site_url: str, url: str, credential: Mapping[str, str], fetcher: Fetcher
    ) -> Mapping[str, Any]:
        """Return the `indexStatusResult` of a URL."""
        body = {"inspectionUrl": url, "siteUrl": site_url}
        answer = await self._ask(credential, fetcher, "POST", "/v1/urlInspection/index:inspect", body)
        found = answer.get("inspectionResult") if isinstance(answer, dict) else None
        status = found.get("indexStatusResult") if isinstance(found, dict) else None
        return status if isinstance(status, dict) else {}

    async def sitemaps(
        self, site_url: str, credential: Mapping[str, str], fetcher: Fetcher
    ) -> Sequence[Mapping[str, Any]]:
        """Return the sitemaps that Google knows of a property."""
        path = f"/webmasters/v3/sites/{quote(site_url, safe='')}/sitemaps"
        return objects(await self._ask(credential, fetcher, "GET", path), "sitemap")

    async def submit_sitemap(
        self, site_url: str, sitemap: str, credential: Mapping[str, str], fetcher: Fetcher
    ) -> None:
        """Tell Google about a sitemap. Repeating it is harmless."""
        path = f"/webmasters/v3/sites/{quote(site_url, safe='')}/sitemaps/{quote(sitemap, safe='')}"
        await self._ask(credential, fetcher, "PUT", path)

    async def _ask(
        self, credential: Mapping[str, str], fetcher: Fetcher, method: str, path: str, body: Any = None
    ) -> Any:
        remembered = self._auth.remembers(credential)
        headers = await self._auth.header(credential, fetcher)
        try:
            return await ask(fetcher, TITLE, method, f"{self._url}{path}", headers=headers, body=body)
        except Rejected:
            self._auth.forget(credential)
            if not remembered:
                raise
        # A token can end before its time: only a new one tells if the credential itself is at fault.
        headers = await self._auth.header(credential, fetcher)
        return await ask(fetcher, TITLE, method, f"{self._url}{path}", headers=headers, body=body)


@lru_cache(maxsize=8)
def console_of(config: SearchPerformanceConfig) -> GoogleConsole:
    """Return what speaks to Google by a configuration: always the same, since it remembers access tokens."""
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
    """What the contract of `SearchSource` asks for."""

    def __init__(self, console: GoogleConsole) -> None:
        self._console = console

    async def rows(
        self, query: SearchQuery, credential: Mapping[str, str], fetcher: Fetcher
    ) -> AsyncIterator[SearchRow]:
        if "query" in query.grain and query.search_type in WITHOUT_QUERIES:
            return
        dimensions = GRAINS[query.grain]
        read = 0
        while read < query.most_rows:
            asked = min(MAX_ROWS, query.most_rows - read)
            body = {
                "startDate": query.day.isoformat(),
                "endDate": query.day.isoformat(),
                "dimensions": list(dimensions),
                "type": TYPES[query.search_type],
                "dataState": "all",
                "rowLimit": asked,
                "startRow": read,
            }
            found = objects(await self._console.query(query.site_url, body, credential, fetcher), "rows")
            for one in found:
                row = _row(query.day, dimensions, one)
                if row is not None:
                    yield row
            read += len(found)
            if len(found) < asked:
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
        known = await self._console.sites(credential, fetcher)
        if site_url in known:
            return
        # What the operator's account may read besides is nobody else's business.
        listed = f"; it may read {', '.join(sorted(known)[:10])}" if credential and known else ""
        raise InvalidInput(
            "property",
            f"the credential may not read {site_url[:200]!r} in Search Console; add it to the property as a user"
            f"{listed}",
        )


def keys_of(one: Mapping[str, Any], count: int) -> Sequence[str] | None:
    """Return the keys of a row, or `None` where it has another number of them."""
    keys = one.get("keys", [])
    return [text(key) for key in keys] if isinstance(keys, list) and len(keys) == count else None


def _row(day: date, dimensions: Sequence[str], one: Mapping[str, Any]) -> SearchRow | None:
    keys = keys_of(one, len(dimensions))
    if keys is None:
        return None
    named = dict(zip(dimensions, keys, strict=True))
    return SearchRow(
        day=day,
        page=named.get("page", ""),
        query=named.get("query", ""),
        country=named.get("country", "").lower()[:16],
        device=named.get("device", "").lower()[:16],
        clicks=int(number(one.get("clicks"))),
        impressions=int(number(one.get("impressions"))),
        position=number(one.get("position")),
    )


def _first_incomplete(answer: Mapping[str, Any], now: date) -> date:
    metadata = answer.get("metadata")
    told = ""
    if isinstance(metadata, dict):
        told = text(metadata.get("first_incomplete_date") or metadata.get("firstIncompleteDate"))
    try:
        return min(date.fromisoformat(told), now)
    except ValueError:
        return now - timedelta(days=LAG_DAYS - 1)
