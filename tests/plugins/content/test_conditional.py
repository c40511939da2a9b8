"""Conditional requests: the three forms of dates in HTTP are read, and anything else says nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pressroom.sdk import HttpRequest, HttpResponse
from pressroom_content.conditional import conditional

CHANGED = datetime(2026, 11, 28, 10, 0, 0, 400_000, UTC)
ANSWER = HttpResponse(b"text", media_type="text/plain")


def status(**headers: str) -> int:
    asked = {name.replace("_", "-"): value for name, value in headers.items()}
    return conditional(HttpRequest("GET", "/", {}, asked, b"", "127.0.0.1", "r_1"), ANSWER, CHANGED).status


@pytest.mark.parametrize(
    "date",
    ["Sat, 28 Nov 2026 10:00:00 GMT", "Saturday, 28-Nov-26 10:00:00 GMT", "Sat Nov 28 10:00:00 2026"],
)
def test_each_form_of_a_date_is_read(date: str) -> None:
    assert status(if_modified_since=date) == 304
    assert status(if_unmodified_since=date) == 200


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
def test_what_is_no_date_of_http_is_no_condition(date: str) -> None:
    assert status(if_modified_since=date) == 200
    assert status(if_unmodified_since=date) == 200
