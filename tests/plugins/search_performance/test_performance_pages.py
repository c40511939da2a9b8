"""Search performance pages in the dashboard, as a browser without scripts receives them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import count

import pytest
from pressroom.accounts.records import User
from pressroom.testing import RunningHost
from pressroom_content.records import Website
from pressroom_search_performance.tables import SourceConnectionRow
from support import databases
from support.people import HOSTILE, BrowserWithoutScreen, Page
from support.search_figures import CONFIG, Day, add_website, connect, last_day, lively, plugin_of, write
from support.tool_client import client_of

from .conftest import started

PATH = "/dashboard/performance"
_numbers = count(1)


@pytest.fixture(scope="module", params=databases.KINDS)
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Return a server whose figures come only from the tables."""
    folder = tmp_path_factory.mktemp("charts")
    with (
        databases.database_config(request.param, folder) as storage,
        started({**CONFIG, "accounts": {"connections": 1000}}, storage, folder) as running,
    ):
        assert not running.host.compiled.plugins.failed
        yield running


@pytest.fixture
def person(host: RunningHost) -> User:
    return host.run(host.host.accounts.users.add(f"ada.{next(_numbers)}@example.com"))


@pytest.fixture
def browser(host: RunningHost, person: User) -> Iterator[BrowserWithoutScreen]:
    with BrowserWithoutScreen(host) as fresh:
        fresh.enter(host, person)
        yield fresh


@pytest.fixture
def website(host: RunningHost, person: User) -> Website:
    return add_website(host, person.id)


def totals(page: Page) -> list[str]:
    return [total.text() for total in page.tree.css(".chart-total")]


def notices(page: Page) -> str:
    return " ".join(notice.text() for notice in page.tree.css(".notice"))


def table(page: Page, title: str) -> list[list[str]]:
    """Return the cell texts of a table's rows."""
    for node in page.tree.css("table"):
        caption = node.css_first("caption")
        if caption is not None and caption.text() == title:
            return [[" ".join(cell.text().split()) for cell in row.css("th, td")] for row in node.css("tbody tr")]
    raise AssertionError(f"there is no table {title}")


def test_the_page_says_how_to_start(browser: BrowserWithoutScreen, host: RunningHost, person: User) -> None:
    empty = browser.get(PATH)
    assert "No websites yet" in empty.text
    assert empty.tree.css_first('a.button[href="/dashboard/websites"]') is not None

    website = add_website(host, person.id)
    row = browser.get(PATH)
    link = row.tree.css_first(".rows .row-note a")
    assert link is not None
    assert browser.get(str(link.attributes["href"])).one("h1") == website.name
    page = browser.get(f"{PATH}/{website.id}")
    assert "Not connected yet" in page.text
    assert page.one("a.button") == "Connect"

    connect(host, person.id, website)
    assert "figures are being fetched" in browser.get(PATH).text
    assert "are being fetched" in browser.get(f"{PATH}/{website.id}").text
    assert "are being fetched" in browser.get(f"{PATH}/{website.id}/queries").text


def test_the_figures_are_those_of_the_tool(
    browser: BrowserWithoutScreen, host: RunningHost, person: User, website: Website
) -> None:
    write(host, connect(host, person.id, website), lively(website))
    figures = client_of(host, person.email).data(
        "get_search_performance", website_id=website.id, compare="previous_period", dimensions=["query"], limit=10
    )
    page = browser.get(f"{PATH}/{website.id}")
    sums, before = figures["totals"], figures["comparison"]["totals"]
    assert totals(page) == [
        f"{sums['clicks']:,}",
        f"{sums['impressions']:,}",
        f"{sums['ctr'] * 100:.1f} %",
        f"{sums['position']:.1f}",
    ]
    assert f"{abs(figures['comparison']['clicks_change_pct'])} %" in page.text
    assert f"than {before['clicks']:,} before" in page.text
    assert [row[:2] for row in table(page, "Top queries")] == [
        [row["keys"]["query"], f"{row['clicks']:,}"] for row in figures["rows"]
    ]
    days = table(page, "Figures by day, and those of the 28 days before")
    assert len(days) == 30
    assert [row[0].endswith("(not final)") for row in days] == [True, True] + [False] * 28
    last = last_day()
    assert f"{last.day} {last:%b %Y}" in page.one(".lead")
    assert [row[0] for row in table(page, "Devices")] == ["Mobile", "Desktop", "Tablet"]
    assert table(page, "Countries")[0][0] == "United Kingdom"
    assert len(page.tree.css("svg[role=img] path.new")) == 4

    listed = browser.get(PATH)
    assert f"{sums['clicks']:,} clicks" in listed.text
    assert listed.tree.css_first("svg.spark path.now") is not None


def test_periods(browser: BrowserWithoutScreen, host: RunningHost, person: User, website: Website) -> None:
    write(host, connect(host, person.id, website), lively(website, 200))
    for days, points in (("7", 9), ("28", 30), ("90", 92), ("12m", 52), ("nonsense", 30)):
        page = browser.get(f"{PATH}/{website.id}?days={days}")
        assert [len(chart.css("g")) for chart in page.tree.css("svg[role=img]")] == [points] * 4, days
        current = page.tree.css(".periods [aria-current]")
        assert len(current) == 1, days
        late = "Figures start on" in notices(page)
        assert late == (days == "12m"), days
        assert ("No earlier figures" in page.text) == late, days
        assert bool(page.tree.css("path.then")) != late, days
        assert len(page.html) < 100_000, days


def test_days_without_figures_are_gaps_and_days_of_zero_are_not(
    browser: BrowserWithoutScreen, host: RunningHost, person: User, website: Website
) -> None:
    days = [Day(last_day() - timedelta(days=days_ago)) for days_ago in range(7) if days_ago not in (2, 3)]
    for day in days[:2]:
        day.add("day", 3, 30, 4.0, country="gbr", device="mobile")
    write(host, connect(host, person.id, website), days)
    page = browser.get(f"{PATH}/{website.id}?days=7")
    clicks, _, ctr, _ = page.tree.css("svg[role=img]")
    assert len(clicks.css("path.now")) == 2, "a line on each side of the gap"
    # Without impressions there is no CTR or position: only the two days that have some are drawn.
    assert len(ctr.css("path.now:not(.dot)")) == 1
    assert totals(page) == ["6", "60", "10.0 %", "4.0"]
    assert "2 days are missing" in notices(page)
    rows = table(page, "Figures by day, and those of the 7 days before")
    assert [row[1] for row in rows] == ["3", "3", "—", "—", "0", "0", "0"]


def test_one_day_is_a_dot(browser: BrowserWithoutScreen, host: RunningHost, person: User, website: Website) -> None:
    write(host, connect(host, person.id, website), [Day(last_day()).add("day", 1, 1, 1.0, country="", device="")])
    page = browser.get(f"{PATH}/{website.id}")
    assert totals(page) == ["1", "1", "100.0 %", "1.0"]
    assert page.tree.css_first("svg[role=img] path.dot.now") is not None
    assert "Figures start on" in notices(page)
    assert not page.tree.css("progress"), "a source that does not know devices has no table of them"


def test_a_site_without_impressions(
    browser: BrowserWithoutScreen, host: RunningHost, person: User, website: Website
) -> None:
    write(
        host, connect(host, person.id, website), [Day(last_day() - timedelta(days=days_ago)) for days_ago in range(60)]
    )
    page = browser.get(f"{PATH}/{website.id}")
    assert totals(page) == ["0", "0", "—", "—"]
    assert "No impressions" in page.text
    assert "No impressions" in browser.get(f"{PATH}/{website.id}/pages").text


def test_huge_numbers_and_hostile_texts(browser: BrowserWithoutScreen, host: RunningHost, person: User) -> None:
    website = add_website(host, person.id, HOSTILE)
    days = []
    for days_ago in range(60):
        day = Day(last_day() - timedelta(days=days_ago), truncated=days_ago == 0)
        day.add("day", 2_000_000_000, 2_100_000_000, 1_000_000.0, country=HOSTILE[:16], device="<b>desk")
        day.add("query", 2_000_000_000, 2_100_000_000, 3.0, query=HOSTILE)
        day.add("page", 1, 2, 3.0, page=f"javascript:alert('{HOSTILE}')").add("page", 1, 2, 3.0, page="http://[")
        day.add("page", 2, 2, 3.0, page="https://example.com/" + "ä" * 900)
        days.append(day)
    write(host, connect(host, person.id, website), days)
    for path in (PATH, f"{PATH}/{website.id}", f"{PATH}/{website.id}/queries", f"{PATH}/{website.id}/pages"):
        page = browser.get(path)
        assert page.status == 200
        assert "onerror" not in {name for node in page.tree.css("*") for name in node.attributes}
        assert not [link for link in page.tree.css("main a") if "javascript:" in str(link.attributes.get("href"))]
        assert not page.tree.css("main b")
    page = browser.get(f"{PATH}/{website.id}")
    assert totals(page)[:2] == ["56,000,000,000", "58,800,000,000"]
    assert "leave out the rarest" in notices(page)
    assert table(page, "Top queries")[0][0] == HOSTILE


def test_ten_thousand_queries_are_paged(
    browser: BrowserWithoutScreen, host: RunningHost, person: User, website: Website
) -> None:
    day = Day(last_day())
    for number in range(10_000):
        day.add("query", 10_000 - number, 20_000, 5.0, query=f"query {number}")
    write(host, connect(host, person.id, website), [day])
    page = browser.get(f"{PATH}/{website.id}")
    assert len(table(page, "Top queries")) == 10
    link = next(link for link in page.tree.css("a") if link.text() == "All queries")
    first = browser.get(str(link.attributes["href"]))
    assert [row[0] for row in table(first, "Queries")][::49] == ["query 0", "query 49"]
    following = first.tree.css_first("a[rel=next]")
    assert following is not None
    second = browser.get(str(following.attributes["href"]))
    assert table(second, "Queries")[0][0] == "query 50"
    assert browser.get(f"{PATH}/{website.id}/queries?page=200").tree.css_first("a[rel=next]") is None
    for invalid in ("0", "-1", "x", "9" * 30, "201", "%F0%9F%92%A9"):
        assert browser.get(f"{PATH}/{website.id}/queries?page={invalid}").status == 200


def test_other_sources_can_be_chosen_and_unknown_ones_are_ignored(
    browser: BrowserWithoutScreen, host: RunningHost, person: User, website: Website
) -> None:
    write(host, connect(host, person.id, website), lively(website, 10))
    # A source that the server no longer has.
    connect(host, person.id, website, source="gone")
    for source in ("", "google", "gone", HOSTILE):
        page = browser.client.get(f"{PATH}/{website.id}", params={"source": source})
        assert page.status_code == 200
        assert "Google Search Console" in page.text


def test_a_second_source_shows_its_figures(
    browser: BrowserWithoutScreen, host: RunningHost, person: User, website: Website
) -> None:
    write(host, connect(host, person.id, website), lively(website, 10))
    days = [
        Day(last_day() - timedelta(days=days_ago))
        .add("day", 3, 30, 0.0)
        .add("query", 3, 30, 2.5, query="compost in Bing")
        for days_ago in range(60)
    ]
    write(host, connect(host, person.id, website, source="bing"), days)
    page = browser.get(f"{PATH}/{website.id}?days=7")
    assert "Days are in California time" in page.text
    link = next(link for link in page.tree.css(".filters a") if "Bing" in link.text())
    bing = browser.get(str(link.attributes["href"]))
    assert "California" not in bing.text
    assert totals(bing) == ["21", "210", "10.0 %"]
    assert [row[0] for row in table(bing, "Top queries")] == ["compost in Bing"]
    assert not [caption for caption in bing.tree.css("caption") if caption.text() in ("Countries", "Devices")]
    # Choosing a period keeps the chosen source.
    longer = next(link for link in bing.tree.css(".periods a") if link.text() == "28 days")
    assert totals(browser.get(str(longer.attributes["href"])))[0] == "84"


def test_a_failing_connection_is_reported(
    browser: BrowserWithoutScreen, host: RunningHost, person: User, website: Website
) -> None:
    connection = connect(host, person.id, website)

    async def broken() -> None:
        async with plugin_of(host).services.database.writing() as session:
            row = await session.get(SourceConnectionRow, connection.id)
            row.status, row.last_error = "error", f"access was revoked {HOSTILE}"

    host.run(broken())
    page = browser.get(f"{PATH}/{website.id}")
    assert f"access was revoked {HOSTILE}" in page.text
    assert "connection failed" in browser.get(PATH).text
    write(host, connection, lively(website, 10))
    assert "Nothing new is fetched: access was revoked" in notices(browser.get(f"{PATH}/{website.id}"))


def test_websites_of_other_accounts_do_not_exist(
    browser: BrowserWithoutScreen, host: RunningHost, website: Website
) -> None:
    other = host.run(host.host.accounts.users.add(f"eve.{next(_numbers)}@example.com"))
    theirs = add_website(host, other.id)
    write(host, connect(host, other.id, theirs), lively(theirs, 10))
    missing = browser.get(f"{PATH}/{theirs.id}")
    assert missing.status == 404
    assert "That website is no longer connected. Websites lists the connected ones." in missing.text
    assert browser.get(f"{PATH}/{theirs.id}/queries").status == 404
    assert browser.get(f"{PATH}/{website.id}/nonsense").status == 404
    assert theirs.url not in browser.get(PATH).html
    assert browser.get(f"{PATH}?cursor=nonsense").status == 400


def test_many_websites_are_paged(browser: BrowserWithoutScreen, host: RunningHost, person: User) -> None:
    for number in range(21):
        add_website(host, person.id, f"Site {number}")
    page = browser.get(PATH)
    assert len(page.tree.css(".rows li")) == 20
    link = page.tree.css_first("a[rel=next]")
    assert link is not None
    older = browser.get(str(link.attributes["href"]))
    assert [link.text() for link in older.tree.css(".row-title a")] == ["Site 0"]
