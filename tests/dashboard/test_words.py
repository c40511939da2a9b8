"""Formatting of times, names and numbers for people."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.http.page_frame import title_of
from pressroom.interfaces.dashboard.views import ago, browser_name, day, duration, moment_text

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (-5, "just now"),
        (0, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (3599, "59 minutes ago"),
        (3600, "1 hour ago"),
        (86_400, "1 day ago"),
        (86_400 * 29, "29 days ago"),
        (86_400 * 60, "2 months ago"),
        (86_400 * 800, "2 years ago"),
    ],
)
def test_how_long_ago(seconds: int, expected: str) -> None:
    assert ago(NOW - timedelta(seconds=seconds), NOW) == expected


def test_times_are_given_in_utc() -> None:
    moment = datetime(2026, 3, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert day(moment) == "28 Feb 2026"
    assert moment_text(moment) == "28 Feb 2026, 23:30 UTC"


@pytest.mark.parametrize(("seconds", "expected"), [(0.0004, "0 ms"), (0.085, "85 ms"), (1.44, "1.4 s"), (61, "61.0 s")])
def test_durations(seconds: float, expected: str) -> None:
    assert duration(seconds) == expected


@pytest.mark.parametrize(
    ("name", "title"),
    [("articles_created", "Articles created"), ("seo_reports", "SEO reports"), ("free-qr-codes", "Free QR codes")],
)
def test_titles(name: str, title: str) -> None:
    assert title_of(name) == title


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0", "Firefox on Linux"),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/143.0 Safari/537.36 Edg/143.0",
            "Edge on Windows",
        ),
        (
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/19.0 Safari/605.1.15",
            "Safari on macOS",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 CriOS/143.0 Mobile Safari/604",
            "Chrome on iOS",
        ),
        (
            "Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 Chrome/143.0 Mobile Safari/537.36",
            "Chrome on Android",
        ),
        ("curl/8.14.1", "curl/8.14.1"),
        ("", "Unknown browser"),
    ],
)
def test_browsers(agent: str, name: str) -> None:
    assert browser_name(agent) == name


@given(st.text(max_size=300))
def test_any_user_agent_has_a_short_name(agent: str) -> None:
    assert 0 < len(browser_name(agent)) <= 60
