"""Requests to the APIs of sources, error messages for them, and parsing of the values they return."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from pressroom.sdk import BackendError, Fetcher, FetchFailed, FetchRefused, FetchUnknown, InvalidInput, Rejected
from pressroom_content.contract import JsonApi, JsonResponse, SearchLimited

_SECONDS: Final = 60.0
_MAX_BODY_BYTES: Final = 33_554_432
_MAX_VALUES: Final = 1_000_000
"""Google returns up to 25,000 rows."""

_PAUSE: Final = 900
"""Seconds to wait if a rate-limited response has no `Retry-After`."""

_MAX_MESSAGE_LENGTH: Final = 300
_MAX_INTEGER: Final = 2_147_483_647
Failure = Callable[[int, Any], BackendError | Rejected | None]
"""Returns the source's own error for a status and a JSON body, or `None`."""

_QUOTA_REASONS: Final = frozenset(
    {"quotaExceeded", "rateLimitExceeded", "userRateLimitExceeded", "dailyLimitExceeded", "RESOURCE_EXHAUSTED"}
)


class SourceRefused(BackendError):
    """The source understood a request and refused it. Repeating it would fail again."""

    code = "source_refused"


async def ask(
    fetcher: Fetcher,
    title: str,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: Any = None,
    form: bytes = b"",
    failure: Failure | None = None,
) -> Any:
    """Send a request and return the JSON of the response; `None` if the body is empty.

    Args:
        fetcher: the HTTP client.
        title: the source's name, for error messages.
        method: the HTTP method.
        url: the full URL.
        headers: extra headers, such as a key. They never appear in errors.
        body: JSON body.
        form: body to send as `application/x-www-form-urlencoded` instead.
        failure: recognises the source's own errors; called first, even for responses with status 200.

    Raises:
        Rejected: the credential is not accepted.
        SearchLimited: a quota is used up.
        SourceRefused: the source refuses the request for another reason.
        BackendError: the source is unavailable, or its response is malformed.
    """
    api = JsonApi(
        title, SourceErrors(failure), headers or {}, max_bytes=_MAX_BODY_BYTES, max_values=_MAX_VALUES, seconds=_SECONDS
    )
    kind = {"Content-Type": "application/x-www-form-urlencoded"} if form else {}
    document = None if form else body
    response = await api.request(fetcher, method, url, headers=kind, document=document, content=form)
    return response.body


@dataclass(frozen=True, slots=True)
class SourceErrors:
    """Maps failed responses to errors; `own` recognises the source's own ones. Implements `ErrorPolicy`."""

    own: Failure | None = None

    def no_response(self, title: str, error: FetchFailed | FetchRefused | FetchUnknown) -> BackendError:
        """Return the error for a source that cannot be reached."""
        return BackendError(f"{title} cannot be reached at the moment: {error.message}")

    def failure(self, title: str, method: str, response: JsonResponse) -> BackendError | Rejected | None:
        """Return the source's own error if there is one, or else the error for the status."""
        del method
        error = self.own(response.status, response.body) if self.own is not None else None
        if error is not None:
            return error
        if response.status // 100 == 2:
            malformed = response.body is None and not response.empty
            return BackendError(f"{title} returned something that is not JSON") if malformed else None
        return _failure(title, response)


def _failure(title: str, response: JsonResponse) -> BackendError | Rejected:
    document, message = response.body, _error_message(response.body)
    detail = f": {message}" if message else ""
    if response.status == 429 or (response.status == 403 and _reasons(document) & _QUOTA_REASONS):
        pause = _PAUSE if response.retry_after is None else max(1, response.retry_after)
        return SearchLimited(f"{title} gets too many requests{detail}", retry_after=pause)
    if response.status in (401, 403) or _error(document) in ("invalid_grant", "invalid_client", "unauthorized_client"):
        return Rejected(f"{title} does not accept the credential, or it may not read this site{detail}")
    if response.status in (400, 402, 404, 422):
        return SourceRefused(f"{title} refused the request{detail or f' with HTTP {response.status}'}")
    if response.status // 100 == 3:
        return SourceRefused(f"{title} is not at this URL: it returned HTTP {response.status} and redirects elsewhere")
    return BackendError(f"{title} is not available right now: it returned HTTP {response.status}{detail}")


def _error(document: Any) -> Any:
    error = document.get("error") if isinstance(document, dict) else None
    return error if isinstance(error, str | dict) else None


def _error_message(document: Any) -> str:
    error = _error(document)
    if isinstance(error, dict):
        message = error.get("message")
    else:
        message = document.get("error_description", error) if isinstance(document, dict) else None
    return " ".join(message.split())[:_MAX_MESSAGE_LENGTH] if isinstance(message, str) else ""


def _reasons(document: Any) -> set[str]:
    error = _error(document)
    if not isinstance(error, dict):
        return set()
    details = error.get("errors")
    entries = details if isinstance(details, list) else []
    return {str(entry.get("reason")) for entry in entries if isinstance(entry, dict)} | {str(error.get("status"))}


def number(value: Any) -> float:
    """Return a number from a response, clamped to 0 and the maximum of an integer column; 0 if invalid."""
    if not isinstance(value, int | float) or isinstance(value, bool) or value != value:  # noqa: PLR0124 - NaN
        return 0.0
    return float(min(max(value, 0), _MAX_INTEGER))


def text(value: Any, max_length: int = 2048) -> str:
    """Return a string from a response, made safe for the database; empty if invalid."""
    if not isinstance(value, str):
        return ""
    return value.replace("\0", "").encode("utf-8", "replace").decode()[:max_length]


def objects(document: Any, name: str) -> list[dict[str, Any]]:
    """Return the objects in a list of a response; empty if the list is missing."""
    entries = document.get(name) if isinstance(document, dict) else None
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


_MAX_VISITS = 2**53
_DEFAULT_PORTS = {"http": 80, "https": 443}


def counted(value: Any) -> int | None:
    """Return a number from a response as a non-negative integer, or `None` if invalid."""
    number = fraction(value)
    return None if number is None else int(number)


def fraction(value: Any) -> float | None:
    """Return a non-negative number from a response, which can be a string, or `None` if invalid."""
    if isinstance(value, str) and len(value) < 20:
        try:
            value = float(value)
        except ValueError:
            return None
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if isinstance(value, float) and not math.isfinite(value):  # an integer can exceed the range of floats
        return None
    return float(min(max(value, 0), _MAX_VISITS))


def share(part: float | None, total: float | None) -> float | None:
    """Return a part's share of the whole, from 0 to 1, or `None` if unknown."""
    return None if part is None or not total else round(min(part / total, 1.0), 4)


def mean(total: float | None, count: float | None) -> float | None:
    """Return a mean, or `None` if unknown."""
    return None if total is None or not count else round(total / count, 1)


def unreadable(title: str) -> BackendError:
    """Return the error for a JSON response with an unexpected structure."""
    return BackendError(f"{title} returned something that cannot be read")


def server_of(credential: Mapping[str, str], default: str = "") -> str:
    """Return the server URL of a credential without a trailing slash, or else the default one.

    Raises `InvalidInput`.
    """
    server = credential.get("server", "").strip().rstrip("/")
    if not server:
        return default.rstrip("/")
    try:
        parts = urlsplit(server)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    invalid = parts.scheme not in ("http", "https") or not host or parts.username or parts.query or parts.fragment
    if invalid or not server.isascii() or not server.isprintable() or " " in server:
        raise InvalidInput("server", "must be a URL such as https://analytics.example.com")
    ending = f":{port}" if port is not None and port != _DEFAULT_PORTS[parts.scheme] else ""
    return f"{parts.scheme}://{host}{ending}{parts.path}"


def path_of(url: str) -> str:
    """Return the path of a page, which identifies it in analytics."""
    return urlsplit(url).path or "/"
