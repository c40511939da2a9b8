"""Requests to other people's JSON APIs: one way to send them, and a policy of each caller for what goes wrong."""

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

from pressroom_content.contract.json_answers import MAX_VALUES, UnreadableJson, read_json

_MAX_BODY_BYTES: Final = 16_777_216
_SECONDS: Final = 30.0
_MAX_PAUSE_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """An answer of an API with any status.

    `body` is its JSON, `None` where it is empty or cannot be read; `problem` says why it cannot, as the end of a
    sentence that begins with the API. `size` is in bytes.
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
        """The seconds of `Retry-After` (RFC 9110, 10.2.3), a day at most; `None` where it cannot be read."""
        value = self.headers.get("retry-after", "").strip()
        if value.isascii() and value.isdigit():
            return min(int(value[:9]), _MAX_PAUSE_SECONDS)
        try:
            seconds = (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError, OverflowError):
            return None
        return min(max(0, ceil(seconds)), _MAX_PAUSE_SECONDS)


class ErrorPolicy(Protocol):
    """Turns what goes wrong at an API into the errors of its caller. `title` is what the API is called in messages."""

    def no_answer(self, title: str, error: FetchFailed | FetchRefused | FetchUnknown) -> PressroomError:
        """Return the error for a request without a whole answer. `FetchUnknown`: it may have had its effect."""

    def failure(self, title: str, method: str, answer: JsonAnswer) -> PressroomError | None:
        """Return the error that an answer is, `None` for one that is as it should be. It is asked for every answer."""


@dataclass(frozen=True, slots=True)
class JsonApi:
    """An API of somebody else.

    Args:
        title: what it is called in messages, such as `WordPress at example.org`.
        policy: what makes its errors.
        headers: sent with every request, such as the credential. They never show in an error.
        max_bytes: of an answer.
        max_values: of the JSON of an answer.
        seconds: for a whole request.
        redirects: how many are followed, of requests that only read.
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
    ) -> JsonAnswer:
        """Send a request, with a JSON document or with bytes, and return its answer.

        Raises whatever the policy makes of it.
        """
        sent = {"Accept": "application/json", **self.headers, **(headers or {})}
        if document is not None:
            content = json.dumps(document, ensure_ascii=False).encode(errors="replace")
            sent["Content-Type"] = "application/json"
        try:
            fetched = await fetcher.request(
                method,
                url,
                headers=sent,
                content=content,
                max_bytes=self.max_bytes,
                seconds=self.seconds,
                redirects=self.redirects,
            )
        except (FetchFailed, FetchRefused, FetchUnknown) as error:
            raise self.policy.no_answer(self.title, error) from None
        body, problem, empty = None, "", not fetched.content.strip()
        if not empty:
            try:
                body = read_json(fetched.content, max_values=self.max_values)
            except UnreadableJson as unreadable:
                problem = str(unreadable)
        answer = JsonAnswer(
            fetched.status, fetched.headers, fetched.media_type, body, problem, len(fetched.content), empty
        )
        failure = self.policy.failure(self.title, method, answer)
        if failure is not None:
            raise failure
        return answer


def with_query(url: str, query: Mapping[str, Any]) -> str:
    """Return a URL with parameters added. Those that are empty or `None` are left out; lists repeat their name."""
    words = urlencode({name: value for name, value in query.items() if value not in ("", None)}, doseq=True)
    return f"{url}{'&' if '?' in url else '?'}{words}" if words else url
