"""`get_search_performance` reads the server's own tables, using the rows that can answer the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import pytest
from pressroom.testing import RunningHost
from support.standin_google import EMAIL, Google, Search, today

from .conftest import Site, day, empty, new_site


@dataclass(frozen=True)
class Filled:
    """A website with several days of fetched figures, and the Google searches behind them."""

    site: Site
    searches: Sequence[Search]


@pytest.fixture(scope="module")
def filled(host_with_weeks: RunningHost, shared_google: Google) -> Filled:
    """Return a website whose figures tests must not change."""
    site = new_site(host_with_weeks, empty(shared_google))
    for days_ago in range(10):
        site.google.add(day(days_ago), "compost", site.page("compost"), 10, 100, 2.0)
        site.google.add(day(days_ago), "compost bin", site.page("compost"), 4, 100, 6.0, country="gbr", device="MOBILE")
        site.google.add(day(days_ago), "worm farm", site.page("worms"), 1, 50, 11.0)
        site.google.add(day(days_ago), "why do worms", site.page("worms"), 5, 50, 3.0, rare=True)
    site.google.add(today() - timedelta(days=1), "compost", site.page("compost"), 7, 70, 2.0)
    site.fetch(site.connect())
    return Filled(site, tuple(site.google.searches))


@pytest.fixture
def busy(filled: Filled, google: Google) -> Site:
    """Return that website, with Google holding the same searches as when they were fetched."""
    google.properties[EMAIL].add(filled.site.property)
    google.searches.extend(filled.searches)
    return filled.site


def test_totals_include_what_rows_by_query_omit(busy: Site) -> None:
    result = busy.data("get_search_performance", dimensions=["query"])

    assert result["totals"] == {"clicks": 200, "impressions": 3000, "ctr": 0.0667, "position": 5.0}
    assert [(row["keys"]["query"], row["clicks"]) for row in result["rows"]] == [
        ("compost", 100),
        ("compost bin", 40),
        ("worm farm", 10),
    ]
    assert result["freshness"]["last_final_date"] == day().isoformat()


def test_positions_are_weighted_by_impressions(busy: Site) -> None:
    (compost, worms) = busy.data("get_search_performance", dimensions=["page"])["rows"]

    assert compost == {
        "keys": {"page": busy.page("compost")},
        "clicks": 140,
        "impressions": 2000,
        "ctr": 0.07,
        "position": 4.0,
    }
    # Rows by page include the rare query.
    assert (worms["clicks"], worms["impressions"], worms["position"]) == (60, 1000, 7.0)


@pytest.mark.parametrize(
    ("dimensions", "first"),
    [
        (["country"], {"country": "usa"}),
        (["device", "country"], {"device": "desktop", "country": "usa"}),
        (["date"], {"date": "9 days before"}),
        (["page", "query"], {"page": "compost", "query": "compost"}),
    ],
)
def test_rows_by(busy: Site, dimensions: list[str], first: dict[str, str]) -> None:
    before = len(busy.google.queries)
    result = busy.data("get_search_performance", dimensions=dimensions)

    if "page" in first:
        first = {**first, "page": busy.page(first["page"])}
    if "date" in first:
        # Not a test parameter: those are evaluated at collection, possibly on another day.
        first = {"date": day(9).isoformat()}
    assert result["rows"][0]["keys"] == first
    assert len(busy.google.queries) == before, "this is to be read from our own table"


def test_days_that_are_not_final_are_omitted_unless_requested(busy: Site) -> None:
    everything = busy.data("get_search_performance", data_state="all")

    assert everything["totals"]["clicks"] == 207
    assert everything["freshness"]["first_incomplete_date"] == (day() + timedelta(days=1)).isoformat()
    assert busy.data("get_search_performance", end_date=today().isoformat())["totals"]["clicks"] == 200


def test_filters(busy: Site) -> None:
    def clicks(dimension: str, operator: str, expression: str) -> int:
        filters = [f"{dimension} {operator} {expression}"]
        return int(busy.data("get_search_performance", filters=filters)["totals"]["clicks"])

    assert clicks("query", "equals", "compost") == 100
    assert clicks("query", "contains", "COMPOST") == 140
    assert clicks("query", "notContains", "compost") == 10
    assert clicks("query", "contains", "%") == 0
    assert clicks("page", "notEquals", busy.page("compost")) == 60
    assert clicks("country", "equals", "GBR") == 40
    assert clicks("device", "notEquals", "mobile") == 160
    # Sent to Google: regular expressions, and combinations that are not stored together.
    before = len(busy.google.queries)
    assert clicks("query", "includingRegex", "^worm") == 10
    assert len(busy.google.queries) > before


def test_comparing_with_the_previous_days(busy: Site) -> None:
    result = busy.data(
        "get_search_performance",
        start_date=day(4).isoformat(),
        end_date=day().isoformat(),
        compare="previous_period",
    )
    assert result["comparison"]["start_date"] == day(9).isoformat()
    assert result["comparison"]["clicks_change_pct"] == 0.0
    before = busy.data("get_search_performance", compare="previous_year")["comparison"]
    assert (before["clicks_change_pct"], before["totals"]["clicks"]) == (None, 0)
    assert (before["totals"]["ctr"], before["totals"]["position"], before["position_change"]) == (None, None, None)


def test_days_that_are_not_final_are_not_compared_with_whole_ones(busy: Site) -> None:
    result = busy.data(
        "get_search_performance",
        start_date=day(4).isoformat(),
        end_date=today().isoformat(),
        compare="previous_period",
    )
    assert (result["totals"]["clicks"], result["comparison"]["totals"]["clicks"]) == (100, 100)
    assert result["comparison"]["start_date"] == day(9).isoformat()
    assert result["comparison"]["clicks_change_pct"] == 0.0


def test_a_period_before_the_first_figures_is_not_compared(busy: Site) -> None:
    result = busy.client.call(
        "get_search_performance",
        website_id=busy.website.id,
        start_date=day(7).isoformat(),
        end_date=day().isoformat(),
        compare="previous_period",
    )
    comparison = result["structuredContent"]["comparison"]
    assert comparison["totals"]["clicks"] == 40
    changes = (comparison["clicks_change_pct"], comparison["impressions_change_pct"], comparison["position_change"])
    assert changes == (None, None, None)
    assert "not comparable: figures start on" in result["content"][0]["text"]


def test_pages_of_rows(busy: Site) -> None:
    received, cursor = [], None
    while True:
        more: dict[str, object] = {"cursor": cursor} if cursor else {}
        result = busy.data("get_search_performance", dimensions=["date", "query"], limit=7, **more)
        received += [tuple(row["keys"].values()) for row in result["rows"]]
        cursor = result["next_cursor"]
        if cursor is None:
            break
    assert len(received) == len(set(received)) == 30
    text = busy.client.refusal(
        "get_search_performance", website_id=busy.website.id, dimensions=["page"], cursor="MTAuYWJj"
    )
    assert "cursor" in text


def test_questions_that_need_a_live_request(busy: Site) -> None:
    busy.google.add(day(), "shown rich", busy.page("rich"), 3, 30, 1.0, appearance="RECIPE_FEATURE")
    busy.google.add(today(), "just now", busy.page("now"), 2, 20, 1.0, hour=3)

    rich = busy.data("get_search_performance", dimensions=["search_appearance"])
    assert [(row["keys"], row["clicks"]) for row in rich["rows"]] == [({"search_appearance": "RECIPE_FEATURE"}, 3)]
    hours = busy.data("get_search_performance", dimensions=["hour"], start_date=today().isoformat())
    assert hours["rows"][0]["keys"]["hour"].startswith(f"{today().isoformat()}T03:00:00-0")
    pages = busy.data("get_search_performance", dimensions=["page", "country"])
    assert {row["keys"]["country"] for row in pages["rows"]} == {"usa", "gbr"}
    images = busy.data("get_search_performance", search_type="image")
    assert images["totals"] == {"clicks": 0, "impressions": 0, "ctr": None, "position": None}
    result = busy.client.call("get_search_performance", website_id=busy.website.id, search_type="image")
    assert "position" not in result["content"][0]["text"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"dimensions": ["query"], "search_type": "discover"}, "has no queries"),
        ({"start_date": "2026-02-30"}, "start_date"),
        ({"start_date": "2999-01-01", "end_date": "2999-01-02"}, "future"),
        ({"start_date": day().isoformat(), "end_date": day(3).isoformat()}, "must not be after"),
        ({"dimensions": ["page", "page"]}, "twice"),
        ({"dimensions": ["search_appearance", "page"]}, "cannot be grouped"),
        ({"provider": "bing"}, "is not connected with Bing Webmaster Tools"),
        ({"filters": ["query includes x"]}, "an operator (equals, notEquals, contains"),
        ({"filters": ["date equals 2026-01-01"]}, "a dimension (query, page, country"),
        ({"filters": ["query contains "]}, "such as 'query contains shoes'"),
        ({"filters": ["country equals us"]}, "a country by its three letters (ISO 3166-1 alpha-3), such as usa"),
        ({"filters": ["country notEquals Germany"]}, "a country by its three letters"),
        ({"filters": ["device equals phone"]}, "a device: desktop, mobile, tablet"),
    ],
)
def test_invalid_requests(site: Site, arguments: dict[str, object], problem: str) -> None:
    site.connect()
    assert problem in site.client.refusal("get_search_performance", website_id=site.website.id, **arguments)


def test_an_alias_is_callable(busy: Site) -> None:
    assert busy.data("get_gsc_performance")["totals"]["clicks"] == 200


def test_a_site_that_is_not_connected_says_where_to_connect_it(site: Site) -> None:
    text = site.client.refusal("get_search_performance", website_id=site.website.id)
    assert f"/dashboard/search/{site.website.id}" in text


def test_another_accounts_site_does_not_exist(busy: Site) -> None:
    other = busy.other()
    refusal = other.client.refusal("get_search_performance", website_id="w_0000000000000000000000")
    assert "no website" in refusal
