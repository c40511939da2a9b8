"""One request to the API of a source, what went wrong with it in words, and the answers of analytics."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from pressroom.sdk import BackendError, Fetcher, FetchFailed, FetchRefused, FetchUnknown, InvalidInput, Rejected
from pressroom_content.contract import JsonAnswer, JsonApi, SearchLimited

_SECONDS: Final = 60.0
_MAX_BODY_BYTES: Final = 33_554_432
_MAX_VALUES: Final = 1_000_000
"""Google answers with up to 25,000 rows."""

_PAUSE: Final = 900
"""Seconds where the source does not say how long."""

_MAX_MESSAGE_LENGTH: Final = 300
_MAX_INTEGER: Final = 2_147_483_647
Failure = Callable[[int, Any], BackendError | Rejected | None]
"""Tells from the status and the JSON of an answer if it is an error of the source's own kind."""

_QUOTA_REASONS: Final = frozenset(
    {"quotaExceeded", "rateLimitExceeded", "userRateLimitExceeded", "dailyLimitExceeded", "RESOURCE_EXHAUSTED"}
)


class SourceRefused(BackendError):
    """The source understood a request and said no: the same one will not work later either."""

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
    """Send a request and return the JSON of its answer; `None` where the answer is empty.

    Args:
        fetcher: what sends it.
        title: the source's name, for people.
        method: of HTTP.
        url: the full URL.
        headers: such as a key. They never show in an error.
        body: what is sent as JSON.
        form: what is sent instead, as `application/x-www-form-urlencoded`.
        failure: what knows the source's own errors; it is asked first, and for answers with a status of 200 too.

    Raises:
        Rejected: the credential is not accepted.
        SearchLimited: a quota is used up.
        SourceRefused: something else of the request is not accepted.
        BackendError: the source is away, or answered what cannot be read.
    """
    api = JsonApi(
        title, SourceErrors(failure), headers or {}, max_bytes=_MAX_BODY_BYTES, max_values=_MAX_VALUES, seconds=_SECONDS
    )
    kind = {"Content-Type": "application/x-www-form-urlencoded"} if form else {}
    document = None if form else body
    answer = await api.request(fetcher, method, url, headers=kind, document=document, content=form)
    return answer.body


@dataclass(frozen=True, slots=True)
class SourceErrors:
    """The errors of a source; `own` knows those of its own kind. It implements `ErrorPolicy`."""

    own: Failure | None = None

    def no_answer(self, title: str, error: FetchFailed | FetchRefused | FetchUnknown) -> BackendError:
        """Return that the source is away."""
        return BackendError(f"{title} cannot be reached at the moment: {error.message}")

    def failure(self, title: str, method: str, answer: JsonAnswer) -> BackendError | Rejected | None:
        """Return the source's own error where it is one, else what the status says."""
        del method
        own = self.own(answer.status, answer.body) if self.own is not None else None
        if own is not None:
            return own
        if answer.status // 100 == 2:
            wrong = answer.body is None and not answer.empty
            return BackendError(f"{title} answered with something that is not JSON") if wrong else None
        return _failure(title, answer)


def _failure(title: str, answer: JsonAnswer) -> BackendError | Rejected:
    document, told = answer.body, _told(answer.body)
    said = f": {told}" if told else ""
    if answer.status == 429 or (answer.status == 403 and _reasons(document) & _QUOTA_REASONS):
        pause = _PAUSE if answer.retry_after is None else max(1, answer.retry_after)
        return SearchLimited(f"{title} gets too many requests{said}", retry_after=pause)
    if answer.status in (401, 403) or _error(document) in ("invalid_grant", "invalid_client", "unauthorized_client"):
        return Rejected(f"{title} does not accept the credential, or it may not read this site{said}")
    if answer.status in (400, 402, 404, 422):
        return SourceRefused(f"{title} refused the request{said or f' with HTTP {answer.status}'}")
    if answer.status // 100 == 3:
        return SourceRefused(f"{title} is not at this URL: it answered HTTP {answer.status} and redirects elsewhere")
    return BackendError(f"{title} is not available right now: it answered HTTP {answer.status}{said}")


def _error(document: Any) -> Any:
    found = document.get("error") if isinstance(document, dict) else None
    return found if isinstance(found, str | dict) else None


def _told(document: Any) -> str:
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
    listed = details if isinstance(details, list) else []
    return {str(one.get("reason")) for one in listed if isinstance(one, dict)} | {str(error.get("status"))}


def number(value: Any) -> float:
    """Return a number of an answer, at least 0 and at most what a column holds; 0 if it is invalid."""
    if not isinstance(value, int | float) or isinstance(value, bool) or value != value:  # noqa: PLR0124 - NaN
        return 0.0
    return float(min(max(value, 0), _MAX_INTEGER))


def text(value: Any, longest: int = 2048) -> str:
    """Return a text of an answer as a database can keep it; empty if it is invalid."""
    if not isinstance(value, str):
        return ""
    return value.replace("\0", "").encode("utf-8", "replace").decode()[:longest]


def objects(document: Any, name: str) -> list[dict[str, Any]]:
    """Return the objects of a list in an answer; what is not there counts as empty."""
    found = document.get(name) if isinstance(document, dict) else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


_MAX_VISITS = 2**53
_DEFAULT_PORTS = {"http": 80, "https": 443}


def counted(value: Any) -> int | None:
    """Return a number of an answer as a whole one that is not negative, or `None` if it is invalid."""
    number = fraction(value)
    return None if number is None else int(number)


def fraction(value: Any) -> float | None:
    """Return a number of an answer that is not negative, also where it is written as a text, or `None`."""
    if isinstance(value, str) and len(value) < 20:
        try:
            value = float(value)
        except ValueError:
            return None
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if isinstance(value, float) and not math.isfinite(value):  # an integer may be larger than any float
        return None
    return float(min(max(value, 0), _MAX_VISITS))


def share(part: float | None, whole: float | None) -> float | None:
    """Return what part of a whole something is, 0 to 1, or `None` where that cannot be told."""
    return None if part is None or not whole else round(min(part / whole, 1.0), 4)


def mean(total: float | None, count: float | None) -> float | None:
    """Return a mean, or `None` where it cannot be told."""
    return None if total is None or not count else round(total / count, 1)


def unreadable(title: str) -> BackendError:
    """Return the error for an answer that is JSON, and not what the documentation says."""
    return BackendError(f"{title} answered with something that cannot be read")


def server_of(credential: Mapping[str, str], usual: str = "") -> str:
    """Return the URL of the server that a person typed, without a slash at its end, or the usual one.

    Raises `InvalidInput`.
    """
    typed = credential.get("server", "").strip().rstrip("/")
    if not typed:
        return usual.rstrip("/")
    try:
        parts = urlsplit(typed)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    wrong = parts.scheme not in ("http", "https") or not host or parts.username or parts.query or parts.fragment
    if wrong or not typed.isascii() or not typed.isprintable() or " " in typed:
        raise InvalidInput("server", "must be a URL such as https://analytics.example.com")
    ending = f":{port}" if port is not None and port != _DEFAULT_PORTS[parts.scheme] else ""
    return f"{parts.scheme}://{host}{ending}{parts.path}"


def path_of(url: str) -> str:
    """Return the path of a page, as analytics name pages."""
    return urlsplit(url).path or "/"
