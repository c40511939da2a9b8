"""Requests to third-party JSON APIs: one way to send and read them, and a policy for errors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import ceil
from typing import Any, Final, Protocol
from urllib.parse import urlencode

from pressroom.sdk import Fetcher, FetchFailed, FetchRefused, FetchUnknown, PressroomError

MAX_VALUES: Final = 500_000
"""Maximum number of values in a response, which determines the cost of parsing: 16 MiB of `[]` take over 1 s, of text
15 ms."""

_SIGNS: Final = (b"[", b"{", b",", b":")


class UnreadableJson(ValueError):
    """A response is not JSON, or has too many values. The message completes a sentence whose subject is the source."""


def read_json(content: bytes, *, max_values: int = MAX_VALUES) -> Any:
    """Parse the JSON of a response whose size was limited when it was fetched.

    Parsing JSON blocks the whole process, even from a thread, so the number of values is checked first: 16 MiB take at
    most a tenth of a second.

    Raises `UnreadableJson`.
    """
    if _signs(content) > max_values and not _is_mostly_text(content, max_values):
        raise UnreadableJson(f"returned more than {max_values:,} values")
    try:
        return json.loads(content, parse_constant=_refuse)
    except RecursionError:
        raise UnreadableJson("returned JSON that is nested too deep") from None
    except ValueError:
        raise UnreadableJson("returned something that is not JSON") from None


def read_json_or_none(content: bytes, *, max_values: int = MAX_VALUES) -> Any:
    """Parse the JSON of a response, and return `None` if it cannot be read."""
    try:
        return read_json(content, max_values=max_values)
    except UnreadableJson:
        return None


def _signs(content: bytes) -> int:
    return sum(map(content.count, _SIGNS))


def _is_mostly_text(content: bytes, max_values: int) -> bool:
    """Return whether enough of the signs are inside strings to bring the number of values within the limit."""
    if b"\0" in content:  # UTF-16 and UTF-32, where a quotation mark is not one byte
        return False
    plain = content.replace(b"\\\\", b"").replace(b'\\"', b"")
    if plain.count(b'"') > 2 * max_values:
        return False
    return _signs(b"".join(plain.split(b'"')[::2])) <= max_values


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON (RFC 8259, section 6)")


_MAX_BODY_BYTES: Final = 16_777_216
_SECONDS: Final = 30.0
_MAX_PAUSE_SECONDS: Final = 86_400


def retry_after_of(headers: Mapping[str, str]) -> int | None:
    """Return the seconds from `Retry-After` (RFC 9110, 10.2.3), at most one day, or `None` if it cannot be read."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return min(int(value[:9]), _MAX_PAUSE_SECONDS)
    try:
        seconds = (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(0, ceil(seconds)), _MAX_PAUSE_SECONDS)


@dataclass(frozen=True, slots=True)
class JsonResponse:
    """A response of an API with any status.

    `body` is its JSON, or `None` if it is empty or cannot be parsed; `problem` then states why, as the end of a
    sentence that begins with the name of the API. `size` is in bytes.
    """

    status: int
    headers: Mapping[str, str]
    media_type: str
    body: Any
    problem: str
    size: int
    empty: bool

    @property
    def retry_after(self) -> int | None:
        """The seconds from `Retry-After`, or `None` if it is missing or cannot be read."""
        return retry_after_of(self.headers)


class ErrorPolicy(Protocol):
    """Converts failures of an API to the errors of its caller. `title` is the name of the API in messages."""

    def no_response(self, title: str, error: FetchFailed | FetchRefused | FetchUnknown) -> PressroomError:
        """Return the error for a request without a complete response. `FetchUnknown`: it may have taken effect."""

    def failure(self, title: str, method: str, response: JsonResponse) -> PressroomError | None:
        """Return the error for a response, or `None` if the response is fine. Called for every response."""


@dataclass(frozen=True, slots=True)
class JsonApi:
    """A third-party API.

    Args:
        title: the name of the API in messages, such as `WordPress at example.org`.
        policy: creates the errors.
        headers: headers for every request, such as the credential. Errors never show them.
        max_bytes: maximum size of a response.
        max_values: maximum number of JSON values in a response.
        seconds: time limit for a whole request.
        redirects: maximum number of redirects to follow, for requests that only read.
    """

    title: str
    policy: ErrorPolicy
    headers: Mapping[str, str]
    max_bytes: int = _MAX_BODY_BYTES
    max_values: int = MAX_VALUES
    seconds: float = _SECONDS
    redirects: int = 0

    async def request(
        self,
        fetcher: Fetcher,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        document: Any = None,
        content: bytes = b"",
    ) -> JsonResponse:
        """Send a request with a JSON document or with bytes, and return the response.

        Raises the errors that the policy returns.
        """
        all_headers = {"Accept": "application/json", **self.headers, **(headers or {})}
        if document is not None:
            content = json.dumps(document, ensure_ascii=False).encode(errors="replace")
            all_headers["Content-Type"] = "application/json"
        try:
            fetched = await fetcher.request(
                method,
                url,
                headers=all_headers,
                content=content,
                max_bytes=self.max_bytes,
                seconds=self.seconds,
                redirects=self.redirects,
            )
        except (FetchFailed, FetchRefused, FetchUnknown) as error:
            raise self.policy.no_response(self.title, error) from None
        body, problem, empty = None, "", not fetched.content.strip()
        if not empty:
            try:
                body = read_json(fetched.content, max_values=self.max_values)
            except UnreadableJson as unreadable:
                problem = str(unreadable)
        response = JsonResponse(
            fetched.status, fetched.headers, fetched.media_type, body, problem, len(fetched.content), empty
        )
        failure = self.policy.failure(self.title, method, response)
        if failure is not None:
            raise failure
        return response


def with_query(url: str, query: Mapping[str, Any]) -> str:
    """Return a URL with query parameters added. Empty and `None` values are omitted; lists repeat their name."""
    words = urlencode({name: value for name, value in query.items() if value not in ("", None)}, doseq=True)
    return f"{url}{'&' if '?' in url else '?'}{words}" if words else url
