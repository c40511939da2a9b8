"""Visits come from the analytics source that a website is connected with, of any kind."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from pressroom.testing import RunningHost
from pressroom_search_performance.connecting.store import SourceConnections
from pressroom_search_performance.tables import SourceConnectionRow
from pressroom_search_performance.tools import traffic
from pressroom_search_performance.tools.traffic import visits_of_pages
from sqlalchemy import select
from support.people import BrowserWithoutScreen, Page
from support.standin_google import Google

from .analytics import DOMAIN, SITE_ID, Matomo, Plausible, Umami, Visit
from .conftest import VISITS, Site, new_site
from .standing_in import Apis


def day(before: int = 0) -> date:
    """Return yesterday, or the day `before` days earlier."""
    return datetime.now(UTC).date() - timedelta(days=1 + before)


@dataclass(frozen=True)
class Kind:
    """A kind of analytics source, and what a person types to connect with it."""

    source: str
    api: str
    typed: Mapping[str, str]
    secret: str


@pytest.fixture(autouse=True)
def visits(apis: Apis) -> None:
    """Set up some visits, and clear all faults of the stand-ins."""
    VISITS[:] = [
        Visit(day(0), "ada", ("/", "/compost"), "Google", "DE", "Desktop", 100),
        Visit(day(1), "ada", ("/compost",), "Google", "DE", "Desktop", 0),
        Visit(day(1), "bob", ("/compost",), "", "US", "Mobile", 0),
        Visit(day(40), "eve", ("/worms", "/", "/worms"), "Bing", "FR", "Mobile", 60),
        Visit(day(-1), "now", ("/today",), "", "DE", "Mobile", 10),
    ]
    for api in apis.by_name.values():
        api.failing = None
    apis.received.clear()


@pytest.fixture
def site(full_host: RunningHost) -> Site:
    return new_site(full_host, Google())


KINDS = {
    "plausible": Kind("plausible", "plausible", {"property": DOMAIN, "api_key": Plausible.KEY}, Plausible.KEY),
    "umami cloud": Kind("umami", "cloud", {"property": SITE_ID, "api_key": Umami.KEY}, Umami.KEY),
    "umami 3": Kind(
        "umami",
        "umami",
        {"property": SITE_ID, "server": "umami", "username": Umami.USER, "password": Umami.PASSWORD},
        Umami.PASSWORD,
    ),
    "umami 2": Kind(
        "umami",
        "umami2",
        {"property": SITE_ID, "server": "umami2", "username": Umami.USER, "password": Umami.PASSWORD},
        Umami.PASSWORD,
    ),
    "matomo": Kind("matomo", "matomo", {"property": "3", "server": "matomo", "token": Matomo.TOKEN}, Matomo.TOKEN),
    "matomo 4": Kind("matomo", "matomo4", {"property": "3", "server": "matomo4", "token": Matomo.TOKEN}, Matomo.TOKEN),
}
EVERY = pytest.mark.parametrize("name", KINDS)


def connect(site: Site, apis: Apis, kind: Kind, **other: str) -> Page:
    """Connect on the dashboard page, as the owner does."""
    fields = {**kind.typed, **other}
    if "server" in fields and fields["server"] in apis.by_name:
        fields["server"] = apis.at(fields["server"])
    path = f"/dashboard/search/{site.website.id}"
    with BrowserWithoutScreen(site.client.host) as browser:
        browser.enter(
            site.client.host, site.client.host.run(site.client.host.host.accounts.users.get(site.client.user_id))
        )
        return browser.submit(browser.get(path), path, source=kind.source, do="connect", **fields)


@EVERY
def test_totals_and_pages(site: Site, apis: Apis, name: str) -> None:
    assert "connected" in connect(site, apis, KINDS[name]).one(f"#source-{KINDS[name].source}")

    result = site.data("get_traffic_stats")

    totals = result["totals"]
    assert (totals["visits"], totals["pageviews"]) == (3, 4)
    assert totals["visitors"] == (None if KINDS[name].source == "matomo" else 2)
    assert totals["bounce_rate"] == pytest.approx(2 / 3, abs=0.01)
    assert totals["visit_seconds"] == pytest.approx(33.3, abs=0.5)
    assert [row["key"] for row in result["rows"]] == ["/compost", "/"]
    first = result["rows"][0]
    expected = {"plausible": (2, 3, 3), "umami": (2, None, None), "matomo": (None, 3, 3)}[KINDS[name].source]
    assert (first["visitors"], first["visits"], first["pageviews"]) == expected
    assert (result["freshness"]["start_date"], result["freshness"]["end_date"]) == (
        day(27).isoformat(),
        day().isoformat(),
    )
    assert result["truncated"] is False


@EVERY
@pytest.mark.parametrize(
    ("by", "keys"),
    [("source", {"Google"}), ("country", {"DE", "US"}), ("device", {"desktop", "mobile"})],
)
def test_rows_by(site: Site, apis: Apis, name: str, by: str, keys: set[str]) -> None:
    connect(site, apis, KINDS[name])
    rows = site.data("get_traffic_stats", by=by)["rows"]
    assert keys <= {row["key"] for row in rows}
    limited = site.data("get_traffic_stats", by=by, limit=1)
    assert (len(limited["rows"]), limited["truncated"]) == (1, len(rows) > 1)
    assert limited["rows"] == rows[:1]


@EVERY
def test_dates_are_days_or_months(site: Site, apis: Apis, name: str) -> None:
    connect(site, apis, KINDS[name])
    days = {row["key"]: row["pageviews"] for row in site.data("get_traffic_stats", by="date", period="7d")["rows"]}
    assert {key: value for key, value in days.items() if value} == {day(0).isoformat(): 2, day(1).isoformat(): 2}
    assert list(days) == sorted(days, reverse=True)
    result = site.data("get_traffic_stats", by="date", period="12mo")
    months = {row["key"]: row["pageviews"] for row in result["rows"] if row["pageviews"]}
    assert sum(months.values()) == 7
    assert set(months) == {moment.isoformat()[:7] for moment in (day(0), day(1), day(40))}
    assert result["totals"]["visits"] == 4


def test_a_website_id_may_be_pasted_in_upper_case(site: Site, apis: Apis) -> None:
    fields = {"property": SITE_ID.upper()}
    assert "connected" in connect(site, apis, KINDS["umami cloud"], **fields).one("#source-umami")
    assert site.data("get_traffic_stats")["totals"]["visits"] == 3


@EVERY
def test_a_wrong_credential_is_detected_before_it_is_stored(site: Site, apis: Apis, name: str) -> None:
    kind = KINDS[name]
    wrong = {key: "x" * 32 for key in kind.typed if key in ("api_key", "password", "token")}
    page = connect(site, apis, kind, **wrong)
    assert (page.status, "does not accept" in page.text) == (400, True)
    assert "x" * 32 not in page.html
    assert f"/dashboard/search/{site.website.id}" in site.client.refusal(
        "get_traffic_stats", website_id=site.website.id
    )


@EVERY
def test_a_secret_is_stored_encrypted_and_never_shown(site: Site, apis: Apis, name: str) -> None:
    kind = KINDS[name]
    page = connect(site, apis, kind)

    async def stored() -> str:
        async with site.plugin.services.database.reading() as session:
            query = select(SourceConnectionRow.credential).where(SourceConnectionRow.website_id == site.website.id)
            return str(await session.scalar(query))

    sealed = site.client.host.run(stored())
    assert sealed.count(".") == 4
    assert kind.secret not in sealed + page.html
    assert not [request for request in apis.requests(kind.api) if kind.secret in f"{request.path} {request.query}"]


@EVERY
@pytest.mark.parametrize(
    ("failing", "expected"),
    [
        ((401, b'{"error": "Invalid API key"}', {}), "Renew the connection at"),
        ((200, b"<html>A page for people</html>", {}), "not JSON"),
        ((429, b'{"error": "Too many API requests"}', {"Retry-After": "77"}), "call again in 77 seconds"),
        ((503, b"<html>down</html>", {}), "is not available right now"),
        ((302, b"", {"Location": "http://10.0.0.1/"}), "redirects elsewhere"),
    ],
)
def test_failures_are_reported(site: Site, apis: Apis, name: str, failing: Any, expected: str) -> None:
    kind = KINDS[name]
    connect(site, apis, kind)
    apis.by_name[kind.api].failing = failing
    text = site.client.refusal("get_traffic_stats", website_id=site.website.id)
    assert expected in text
    assert kind.secret not in text


def test_a_revoked_credential_shows_on_the_page_until_it_works_again(site: Site, apis: Apis) -> None:
    connect(site, apis, KINDS["plausible"])
    apis.by_name["plausible"].failing = (401, b'{"error": "Invalid API key"}', {})
    site.client.refusal("get_traffic_stats", website_id=site.website.id)

    def state() -> str:
        return site.client.host.run(SourceConnections(site.plugin).of(site.client.user_id, site.website.id))[
            "plausible"
        ].status

    assert state() == "error"
    apis.by_name["plausible"].failing = None
    site.data("get_traffic_stats")
    assert state() == "active"


@EVERY
@pytest.mark.parametrize(
    "content",
    [
        b"null",
        b"[]",
        b"{}",
        b'{"results": 3, "pageviews": "x", "sessions": [null, {"x": 3}]}',
        b'{"results": [{"metrics": [1], "dimensions": 7}, 3, {"metrics": ["a", null, -5, 1e999, {}]}]}',
        b'[{"x": null, "y": "many"}, 3, {"label": ["a"], "nb_visits": -4}]',
        b'{"nb_visits": "1e400", "visits": {"value": []}, "2026-01-01": 7, "token": "t"}',
    ],
)
def test_hostile_responses_are_survived(site: Site, apis: Apis, name: str, content: bytes) -> None:
    kind = KINDS[name]
    connect(site, apis, kind)
    apis.by_name[kind.api].failing = (200, content, {})
    for by in ("page", "date"):
        result = site.client.call("get_traffic_stats", website_id=site.website.id, by=by)
        text = result["content"][0]["text"]
        expected = ("cannot be read", "not JSON", "gave no token")
        assert result.get("isError") is not True or any(words in text for words in expected), text


@pytest.mark.parametrize(
    ("name", "typed", "problem"),
    [
        ("umami 3", {"server": "ftp://x"}, "URL of your server: must be a URL"),
        ("umami 3", {"server": "https://ada:pw@example.com"}, "must be a URL"),
        ("umami 3", {"username": ""}, "User name: is required"),
        ("umami cloud", {"api_key": ""}, "API key: is required"),
        ("umami cloud", {"property": "notes.example"}, "Website ID: must be a website ID"),
        ("matomo", {"property": "../3"}, "Site ID: must be the number"),
        ("matomo", {"property": "4"}, "may not view"),
        ("matomo", {"server": ""}, "URL of your Matomo: is required"),
        ("plausible", {"property": "other.example"}, "Invalid API key or site ID"),
        ("plausible", {"property": ""}, "must be given as Plausible names"),
        ("plausible", {"server": "http://169.254.169.254"}, "cannot be reached"),
    ],
)
def test_problems_are_reported_in_the_form(
    site: Site, apis: Apis, name: str, typed: dict[str, str], problem: str
) -> None:
    page = connect(site, apis, KINDS[name], **typed)
    assert (page.status, problem in page.text) == (400, True), page.text


def test_the_visits_of_an_article(site: Site, apis: Apis) -> None:
    connect(site, apis, KINDS["plausible"])
    content_id = site.client.data("create_content", title="Compost", body="Words.", slug="compost")["content_id"]
    published = site.client.data("publish_content", content_id=content_id, website_id=site.website.id)
    path = published["url"].removeprefix(site.client.host.url)
    VISITS.append(Visit(day(2), "zoe", (path, "/")))

    def reported_visits() -> Any:
        return site.client.data("get_content_performance", content_id=content_id)["traffic"]

    assert reported_visits() == {"visitors": 1, "visits": 1, "pageviews": 2}
    apis.by_name["plausible"].failing = (503, b"", {})
    assert reported_visits() is None
    problems = site.client.data("get_content_performance", content_id=content_id)["traffic_unknown"]
    assert problems == [f"{published['url']}: Plausible is not available right now: it returned HTTP 503"]


def test_visits_of_an_article_name_the_urls_that_are_not_included(site: Site, apis: Apis) -> None:
    other = site.other()
    connect(site, apis, KINDS["plausible"])
    connect(other, apis, KINDS["matomo"])
    content_id = site.client.data("create_content", title="Compost", body="Words.", slug="compost")["content_id"]
    first, second = (
        site.client.data("publish_content", content_id=content_id, website_id=each.website.id)["url"]
        for each in (site, other)
    )
    VISITS.append(Visit(day(2), "zoe", (first.removeprefix(site.client.host.url), "/")))
    apis.by_name["matomo"].failing = (503, b"", {})

    result = site.client.call("get_content_performance", content_id=content_id)

    performance = result["structuredContent"]
    assert performance["traffic"] == {"visitors": 1, "visits": 1, "pageviews": 2}
    (left_out,) = performance["traffic_unknown"]
    assert left_out.startswith(f"{second}: Matomo is not available right now")
    assert f"Visits are not known of {left_out}" in result["content"][0]["text"]


def test_figures_of_an_article_do_not_wait_long_for_visits(
    site: Site, apis: Apis, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(site, apis, KINDS["plausible"])
    monkeypatch.setattr(traffic, "TIMEOUT_SECONDS", 0.05)
    apis.gate = threading.Event()
    pages = [(site.website.id, "https://notes.example/compost")]
    try:
        visits = site.client.host.run(visits_of_pages(site.plugin, site.client.user_id, pages, 28))
        assert (visits.sums, visits.unknown) == (
            {},
            ["https://notes.example/compost: Plausible did not respond in time"],
        )
    finally:
        apis.gate.set()
        apis.gate = None


@EVERY
def test_the_visits_of_one_page(site: Site, apis: Apis, name: str) -> None:
    kind = KINDS[name]
    connect(site, apis, kind)
    pages = [(site.website.id, "https://notes.example/compost")]
    visits = site.client.host.run(visits_of_pages(site.plugin, site.client.user_id, pages, 28))
    assert (visits.sums["visits"], visits.unknown) == (3, [])
    other_visits = site.client.host.run(visits_of_pages(site.plugin, "u_somebody", pages, 28))
    assert (other_visits.sums, other_visits.unknown) == ({}, [])
