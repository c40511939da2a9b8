"""Bing figures: stored like Google's, with a note on what Bing does not report."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from typing import Any

import pytest
from pressroom.testing import RunningHost
from pressroom_search_performance.connecting.store import SourceConnection, SourceConnections
from support.fetching_figures import fetch_slice
from support.people import BrowserWithoutScreen, Page
from support.standin_google import Google

from .bing import KEY, Bing, today
from .conftest import Site, new_site
from .standing_in import Apis


@pytest.fixture
def bing(apis: Apis) -> Bing:
    """Return a Bing stand-in without data."""
    api = apis.by_name["bing"] = Bing()
    apis.received.clear()
    return api


@pytest.fixture
def site(full_host: RunningHost, bing: Bing) -> Site:
    site = new_site(full_host, Google())
    bing.sites[site.property] = True
    return site


def day(before: int = 0) -> date:
    """Return the day eight days ago, or the day `before` days earlier."""
    return today() - timedelta(days=8 + before)


def press(site: Site, **typed: str) -> Page:
    path = f"/dashboard/search/{site.website.id}"
    with BrowserWithoutScreen(site.client.host) as browser:
        user = site.client.host.run(site.client.host.host.accounts.users.get(site.client.user_id))
        browser.enter(site.client.host, user)
        return browser.submit(browser.get(path), path, **{"source": "bing", "do": "connect", **typed})


def connected(site: Site) -> SourceConnection:
    """Connect without a browser, so that no job fetches concurrently."""
    return site.client.host.run(
        SourceConnections(site.plugin).connect(
            site.client.user_id,
            site.website.id,
            "bing",
            site_url=site.property,
            credential={"api_key": KEY},
            fetched=True,
        )
    )


def fetch(site: Site) -> int:
    days, more = 0, True
    connection = connected(site)
    while more:
        fetched, more = site.client.host.run(fetch_slice(site.plugin, connection.id))
        days += fetched
    return days


def state(site: Site) -> SourceConnection:
    return site.client.host.run(SourceConnections(site.plugin).of(site.client.user_id, site.website.id))["bing"]


def busy(site: Site, bing: Bing) -> None:
    for days_ago in range(9):
        bing.total(day(days_ago), 10, 100)
    bing.week(day(0), "compost", site.page("compost"), 20, 200, 3.0)
    bing.week(day(7), "compost", site.page("compost"), 10, 200, 5.0)
    bing.week(day(7), "worm farm", site.page("worms"), 5, 90, 8.0)


def test_connecting_tries_the_key_and_the_site(site: Site) -> None:
    assert "connected" in press(site, property=site.property, api_key=KEY).one("#source-bing")


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ({"api_key": "f" * 32}, "does not accept the API key"),
        ({"api_key": "short"}, "does not have the expected format"),
        ({"api_key": ""}, "API key: is required"),
        ({"property": "https://elsewhere.example/"}, "must be the property of"),
        ({"property": "sc-domain:x"}, "must be the property of"),
        ({"property": "compost"}, "as Bing Webmaster Tools lists it"),
    ],
)
def test_problems_are_reported_in_the_form(site: Site, typed: dict[str, str], problem: str) -> None:
    page = press(site, **{"property": site.property, "api_key": KEY, **typed})
    assert (page.status, problem in page.text) == (400, True), page.text


def test_an_unverified_site_is_refused(site: Site, bing: Bing) -> None:
    bing.sites[site.property] = False
    page = press(site, property=site.property, api_key=KEY)
    assert (page.status, "is not a verified site" in page.text) == (400, True)


def test_totals_are_daily_and_queries_weekly(site: Site, bing: Bing) -> None:
    busy(site, bing)
    fetch(site)

    result = site.data("get_search_performance", provider="bing", dimensions=["query"], start_date=day(9).isoformat())
    assert result["totals"] == {"clicks": 90, "impressions": 900, "ctr": 0.1, "position": None}
    assert [(row["keys"]["query"], row["clicks"], row["position"]) for row in result["rows"]] == [
        ("compost", 30, 4.0),
        ("worm farm", 5, 8.0),
    ]
    dates = site.data("get_search_performance", provider="bing", dimensions=["date"], start_date=day(9).isoformat())
    assert Counter(row["clicks"] for row in dates["rows"]) == {10: 9}
    weeks = site.data(
        "get_search_performance", provider="bing", dimensions=["date", "page"], start_date=day(9).isoformat()
    )
    assert {row["keys"]["date"] for row in weeks["rows"]} == {day(0).isoformat(), day(7).isoformat()}
    text = site.client.call("get_search_performance", website_id=site.website.id)["content"][0]["text"]
    assert "by the week" in text
    assert result["freshness"]["last_final_date"] == day(0).isoformat()


def test_one_response_serves_all_days(site: Site, bing: Bing, apis: Apis) -> None:
    busy(site, bing)
    assert fetch(site) == site.plugin.config.history_days
    requests = Counter(request.path for request in apis.requests("bing"))
    assert requests == {
        "/GetQueryStats": 1,
        "/GetPageStats": 1,
        "/GetRankAndTrafficStats": 1,
        "/GetPageQueryStats": 2,
    }


def test_pages_have_queries_for_the_tools_that_need_both(site: Site, bing: Bing) -> None:
    busy(site, bing)
    fetch(site)
    items = site.data("find_content_opportunities", kind="quick_wins")["items"]
    assert {(item["query"], item["page"]) for item in items} >= {("worm farm", site.page("worms"))}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"dimensions": ["country"]}, "does not report country"),
        ({"dimensions": ["device", "country"]}, "does not report country or device"),
        ({"filters": ["device equals mobile"]}, "does not report device"),
        ({"dimensions": ["search_appearance"]}, "does not report search_appearance"),
        ({"search_type": "image"}, "has figures for web only"),
        ({"filters": ["query includingRegex ^a"]}, "bing does not"),
    ],
)
def test_figures_that_bing_does_not_provide(site: Site, arguments: dict[str, Any], problem: str) -> None:
    connected(site)
    text = site.client.refusal("get_search_performance", website_id=site.website.id, provider="bing", **arguments)
    assert problem in text


@pytest.mark.parametrize(
    ("error", "status", "expected"),
    [
        (3, "error", "does not accept the API key"),
        (14, "error", "may not read this site"),
        (4, "active", ""),
        (1, "active", ""),
    ],
)
def test_errors_of_bing(site: Site, bing: Bing, error: int, status: str, expected: str) -> None:
    connection = connected(site)
    bing.error = error
    assert site.client.host.run(fetch_slice(site.plugin, connection.id)) == (0, False)
    latest = state(site)
    assert (latest.status, expected in latest.last_error, KEY in latest.last_error) == (status, True, False)
    assert latest.due_at is not None
    assert latest.due_at > latest.created_at + timedelta(minutes=30)


@pytest.mark.parametrize(
    "content",
    [
        b"<html>no API</html>",
        b'{"d": null}',
        b'{"d": [3, {"Date": "/Date(9e99)/"}, {"Date": "/Date(999999999999999)/", "Clicks": 1}, {"Date": 5}]}',
        b'{"d": [{"Date": "/Date(1316156400000-0700)/", "Query": "\\u0000x", "Clicks": "1", "Impressions": -5}]}',
        b'{"ErrorCode": "7"}',
        b'{"ErrorCode": 99, "Message": 5}',
    ],
)
def test_hostile_responses_are_survived(site: Site, bing: Bing, content: bytes) -> None:
    connection = connected(site)
    bing.failing = (200, content, {})
    site.client.host.run(fetch_slice(site.plugin, connection.id))
    latest = state(site)
    assert "internal error" not in latest.last_error
    assert KEY not in latest.last_error
    assert latest.due_at is not None
