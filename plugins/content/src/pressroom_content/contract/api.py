"""Requests to a website's API. The errors separate requests without effect from those that may have had one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pressroom.sdk import Fetcher, FetchFailed, FetchRefused, FetchUnknown

from pressroom_content.contract.json_api import ErrorPolicy, JsonApi, JsonResponse, with_query
from pressroom_content.contract.site_errors import (
    SiteError,
    SiteGone,
    SiteRefused,
    SiteRejected,
    SiteUnavailable,
    UnknownOutcome,
)

_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_SECONDS: Final = 30.0
_MAX_REPORTED_LENGTH: Final = 300
_MAX_WORDS: Final = 5_000
_MAX_ID_LENGTH: Final = 200
_TAG = re.compile(r"<[^<>]*+>")

_OK, _REDIRECT, _REFUSED, _FAILED = 200, 300, 400, 500
_UNAUTHORIZED: Final = frozenset({401, 403})
_GONE: Final = frozenset({404, 410})
_TOO_LARGE: Final = 413
_NOT_NOW: Final = frozenset({429, 503})
"""Statuses of requests that had no effect and can be retried later (RFC 9110, 15.6.4; RFC 6585, section 4)."""

_PAGES: Final = frozenset({"text/html", "application/xhtml+xml"})
_FIREWALLS: Final[Mapping[str, str]] = {
    "cloudflare": "Cloudflare",
    "cf-mitigated": "Cloudflare",
    "sucuri": "Sucuri",
    "x-sucuri-id": "Sucuri",
    "x-iinfo": "Imperva",
    "akamaighost": "Akamai",
    "ddos-guard": "DDoS-Guard",
}
"""Substrings of the `Server` header, and names of headers, that identify firewalls."""


@dataclass(frozen=True, slots=True)
class SiteResponse:
    """A response with a status below 300. `body` is its JSON, or `None` if it has none; `source` is the API's name."""

    status: int
    headers: Mapping[str, str]
    body: Any
    source: str = "the site"

    def rows(self, name: str = "", *, with_ids: bool = False) -> list[dict[str, Any]]:
        """Return the list of objects that is the body, or that is the body's member `name`.

        Raises `SiteUnavailable` for anything else, since treating it as an empty list would do harm. With `with_ids`,
        also raises it if an object has no `id` that can be stored.
        """
        rows = self.body.get(name) if name and isinstance(self.body, dict) else None if name else self.body
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise SiteUnavailable(f"{self.source} returned something other than a list of {name or 'objects'}")
        if with_ids and not all(_has_id(row) for row in rows):
            raise SiteUnavailable(f"{self.source} did not say which object it is about")
        return rows

    def row(self, name: str = "", *, written: bool) -> dict[str, Any]:
        """Return the object with an `id` that is the body, or the first object in the body's list `name`.

        For anything else, raises `UnknownOutcome` if something was `written`, and `SiteUnavailable` otherwise.
        """
        row = self.body
        if name:
            listed = row.get(name) if isinstance(row, dict) else None
            row = listed[0] if isinstance(listed, list) and listed else None
        if not isinstance(row, dict) or not _has_id(row):
            message = f"{self.source} did not say which object it is about"
            raise UnknownOutcome(message) if written else SiteUnavailable(message)
        return row


class SiteApi:
    """The API of one website.

    Args:
        fetcher: sends the requests.
        name: the name of the site in messages, such as `WordPress at example.org`.
        root: the URL that paths are appended to.
        headers: headers for every request, such as the credential. Errors never show them.
        errors: creates the errors, if the API reports some of them in its own way; `SiteErrors` by default.
    """

    def __init__(
        self, fetcher: Fetcher, name: str, root: str, headers: Mapping[str, str], errors: ErrorPolicy | None = None
    ) -> None:
        self._fetcher = fetcher
        self._root = root
        self._api = JsonApi(name, errors or SiteErrors(), headers, seconds=_SECONDS)

    async def get(self, path: str, query: Mapping[str, Any] | None = None) -> SiteResponse:
        """Send a GET request. Raises `SiteError`, but never `UnknownOutcome`."""
        return await self.send("GET", path, query=query)

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
        """Send a request with a JSON document or with bytes, and return the response.

        Raises:
            SiteUnavailable: nothing was done; it may work later.
            SiteRejected: the credential is not accepted, or does not allow this.
            SiteGone: the path does not exist.
            SiteRefused: the site refused the request; the message quotes it.
            UnknownOutcome: it may have taken effect: the method changes something, and the response is missing,
                unreadable or larger than 16 MiB.
        """
        url = with_query(f"{self._root}{path}", query or {})
        response = await self._api.request(
            self._fetcher, method, url, document=document, content=content, headers=headers
        )
        return SiteResponse(response.status, response.headers, response.body, self._api.title)


class SiteErrors:
    """The errors of a website's API. It implements `ErrorPolicy`."""

    def no_response(self, title: str, error: FetchFailed | FetchRefused | FetchUnknown) -> SiteError:
        """Return `SiteRefused`, `SiteUnavailable`, or `UnknownOutcome` if the request may have taken effect."""
        if isinstance(error, FetchRefused):
            return SiteRefused(f"{title} cannot be used: {error.message}")
        if isinstance(error, FetchFailed):
            return SiteUnavailable(f"{title} cannot be reached: {error.message}")
        return UnknownOutcome(f"{title} did not say what it did: {error.message}")

    def failure(self, title: str, method: str, response: JsonResponse) -> SiteError | None:
        """Return the error for a response that is not JSON, or has a status of 300 or above."""
        status, reason = response.status, f"HTTP {response.status}{_words(response.body)}"
        if _OK <= status < _REDIRECT and (response.body is not None or response.empty):
            return None
        if status < _REDIRECT:
            description = (
                _page(response) or f"{response.problem or 'returned nothing'} instead of its API; is there a firewall?"
            )
            message = f"{title} {description}"
            return SiteUnavailable(message) if method in _SAFE else UnknownOutcome(message)
        if status < _REFUSED:
            location = response.headers.get("location", "elsewhere")[:_MAX_REPORTED_LENGTH]
            return SiteRefused(f"{title} redirects to {location}; change the website's URL to where it is now")
        if status in _UNAUTHORIZED:
            if page := _page(response):
                return SiteRejected(f"{title} {page}")
            return SiteRejected(f"{title} does not allow this ({reason}); connect the website again if it did before")
        if status in _GONE:
            return SiteGone(f"{title} does not have this ({reason})")
        if status == _TOO_LARGE:
            return SiteRefused(
                f"{title} takes no request of this size ({reason}); make the article or its images smaller, or have "
                "the site's host raise its limit for uploads"
            )
        if status in _NOT_NOW:
            description = _page(response) or f"does not accept requests right now ({reason})"
            return SiteUnavailable(f"{title} {description}", retry_after=response.retry_after)
        if status < _FAILED:
            return SiteRefused(f"{title} refused this ({reason})")
        message = f"{title} failed with an internal error ({reason}); its error log says why"
        return SiteUnavailable(message) if method in _SAFE else UnknownOutcome(message)


def _has_id(row: Mapping[str, Any]) -> bool:
    """Return whether an object has an `id` that every database can store: an integer or a short printable text."""
    id_ = row.get("id")
    if isinstance(id_, bool) or not isinstance(id_, int | str):
        return False
    return 0 < len(str(id_)) <= _MAX_ID_LENGTH and str(id_).isprintable()


def _page(response: JsonResponse) -> str:
    """Return the description of a web page that came instead of an API response, or an empty text if none did."""
    if response.body is not None or response.empty or response.media_type not in _PAGES:
        return ""
    server = response.headers.get("server", "").lower()
    names = [name for sign, name in _FIREWALLS.items() if sign in server or sign in response.headers]
    by = f" of {names[0]}" if names else ""
    return (
        f"showed a web page instead of its API (HTTP {response.status}): a firewall{by}, bot protection or a "
        "maintenance page is in the way; allow this server's requests to the API there"
    )


def _words(body: Any) -> str:
    """Return the error message of an API response as `: message`, from the usual members; empty if not found."""
    if not isinstance(body, dict):
        return ""
    errors = body.get("errors")
    first = errors[0] if isinstance(errors, list) and errors and isinstance(errors[0], dict) else {}
    for words in (body.get("message"), body.get("error"), first.get("context"), first.get("message")):
        if isinstance(words, str) and words.strip():
            return f": {' '.join(_TAG.sub(' ', words[:_MAX_WORDS]).split())[:_MAX_REPORTED_LENGTH]}"
    return ""
