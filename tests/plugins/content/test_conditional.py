"""Conditional requests: the three HTTP date formats are parsed, and anything else is ignored."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import pytest
from pressroom.sdk import HttpRequest, HttpResponse
from pressroom_content.conditional import conditional

CHANGED = datetime(2026, 11, 28, 9, 59, 59, 400_000, UTC)
RESPONSE = HttpResponse(b"text", media_type="text/plain")


def status(**headers: str) -> int:
    request_headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return conditional(HttpRequest("GET", "/", {}, request_headers, b"", "127.0.0.1", "r_1"), RESPONSE, CHANGED).status


@pytest.mark.parametrize(
    "date",
    ["Sat, 28 Nov 2026 10:00:00 GMT", "Saturday, 28-Nov-26 10:00:00 GMT", "Sat Nov 28 10:00:00 2026"],
)
def test_each_http_date_format_is_parsed(date: str) -> None:
    assert status(if_modified_since=date) == 304
    assert status(if_unmodified_since=date) == 200


def test_a_change_is_dated_to_the_end_of_its_second() -> None:
    request = HttpRequest("GET", "/", {}, {}, b"", "127.0.0.1", "r_1")
    assert conditional(request, RESPONSE, CHANGED).headers["Last-Modified"] == "Sat, 28 Nov 2026 10:00:00 GMT"
    changed = CHANGED.replace(microsecond=0)
    assert conditional(request, RESPONSE, changed).headers["Last-Modified"] == "Sat, 28 Nov 2026 09:59:59 GMT"
    assert status(if_modified_since="Sat, 28 Nov 2026 09:59:59 GMT") == 200


def test_a_change_of_this_second_is_not_dated_later() -> None:
    request = HttpRequest("GET", "/", {}, {}, b"", "127.0.0.1", "r_1")
    last_modified = conditional(request, RESPONSE, datetime.now(UTC)).headers["Last-Modified"]
    assert parsedate_to_datetime(last_modified) <= datetime.now(UTC)


@pytest.mark.parametrize(
    "date",
    [
        "",
        "now",
        "0",
        "2026-11-29",
        "2026-11-29T10:00:00Z",
        "Sat, 28 Nov 2026 12:00:00 +0100",
        "29 Nov 2026 10:00:00 GMT",
        "Sat, 99 Nov 2026 10:00:00 GMT",
        "Sat, 28 Nov 2026 10:00:00 GMT, Sun, 29 Nov 2026 10:00:00 GMT",
        "Sat, 28 Nov 2026 10:00:00 GMT; length=4",
        f"Sun, 29 Nov {'9' * 5000} 10:00:00 GMT",
    ],
)
def test_an_invalid_http_date_is_ignored(date: str) -> None:
    assert status(if_modified_since=date) == 200
    assert status(if_unmodified_since=date) == 200
