"""The calendar in the dashboard."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from support.people import BrowserWithoutScreen, Page

from ..conftest import Client  # noqa: TID252 - the client of the whole plugin
from .conftest import CALENDAR


def on_day(page: Page, day: str) -> str:
    """Return the text of a day's cell."""
    for cell in page.tree.css(".calendar td"):
        if cell.css_first(f'time[datetime="{day}"]') is not None:
            return " ".join(cell.text(separator=" ").split())
    raise AssertionError(f"{day} is not on the page")


def next_month() -> datetime:
    """Return 23:30 UTC on the tenth of next month."""
    first = (datetime.now(UTC).replace(day=1) + timedelta(days=32)).replace(day=10)
    return first.replace(hour=23, minute=30, second=0, microsecond=0)


@pytest.fixture
def website(ada: Client) -> str:
    ada.data("connect_website", platform="builtin", name="Tea blog")
    id_: str = ada.data("list_websites")["websites"][0]["id"]
    return id_


def test_an_entry_is_on_its_day_in_the_chosen_time_zone(
    browser: BrowserWithoutScreen, ada: Client, eve: Client, website: str
) -> None:
    at = next_month()
    for client, title in ((ada, "<b>Late</b> tea"), (eve, "Foreign tea")):
        if client is eve:
            client.data("connect_website", platform="builtin", name="Foreign blog")
        site = client.data("list_websites")["websites"][0]["id"]
        article_id = client.data("create_content", title=title, body="Leaves.")["content_id"]
        client.data(
            "publish_content", content_id=article_id, website_id=site, mode="schedule", publish_at=at.isoformat()
        )
    month = f"{CALENDAR}?month={at:%Y-%m}"
    utc = browser.get(month)
    assert utc.one("h2#month") == f"{at:%B %Y}"
    assert "23:30 <b>Late</b> tea" in on_day(utc, f"{at:%Y-%m-10}")
    assert utc.one("#tz-help") == "Times are in UTC. Enter your time zone to see them in yours, such as Europe/Berlin."
    assert "Foreign" not in utc.text
    berlin = browser.get(f"{month}&tz=Pacific/Auckland")
    assert "Late" not in on_day(berlin, f"{at:%Y-%m-10}")
    assert "<b>Late</b> tea scheduled · Tea blog" in on_day(berlin, f"{at:%Y-%m-11}")
    ada.data("update_website_settings", website_id=website, settings={"timezone": "Asia/Tokyo"}, expected_version=1)
    tokyo = browser.get(f"{month}&website={website}")
    assert "08:30 <b>Late</b> tea" in on_day(tokyo, f"{at:%Y-%m-11}")
    assert tokyo.one("#tz-help") == "Times are in Asia/Tokyo, the time zone of Tea blog."
    following = tokyo.tree.css_first("a[rel=next]")
    assert following is not None
    after = browser.get(str(following.attributes["href"]))
    assert website in str(following.attributes["href"])
    assert "Nothing scheduled" in after.text
    previous = after.tree.css_first("a[rel=prev]")
    assert previous is not None
    assert browser.get(str(previous.attributes["href"])).one("h2#month") == f"{at:%B %Y}"


def test_times_are_in_the_time_zone_shared_by_all_websites(
    browser: BrowserWithoutScreen, ada: Client, website: str
) -> None:
    def shown_in() -> str:
        return browser.get(CALENDAR).one("#tz-help").split(".")[0].split(",")[0]

    def choose(site: str, zone: str) -> None:
        ada.data("update_website_settings", website_id=site, settings={"timezone": zone})

    choose(website, "Asia/Tokyo")
    other = ada.data("connect_website", platform="builtin", name="Coffee blog")["website_id"]
    assert shown_in() == "Times are in Asia/Tokyo"
    choose(other, "UTC")
    assert shown_in() == "Times are in UTC"


def test_a_published_post_is_on_its_day(browser: BrowserWithoutScreen, ada: Client, website: str) -> None:
    article_id = ada.data("create_content", title="Tea", body="Leaves.")["content_id"]
    ada.data("publish_content", content_id=article_id, website_id=website)
    page = browser.get(CALENDAR)
    event = page.tree.css_first(".event.good")
    assert event is not None
    assert "Tea published · Tea blog" in " ".join(event.text(separator=" ").split())
    last_year = browser.get(f"{CALENDAR}?month=2020-02")
    assert last_year.one("h2#month") == "February 2020"
    assert not last_year.tree.css(".event")


def test_surplus_entries_of_a_day_can_be_expanded(browser: BrowserWithoutScreen, ada: Client, website: str) -> None:
    at = next_month()
    for number in range(5):
        article_id = ada.data("create_content", title=f"Tea {number}", body="Leaves.")["content_id"]
        moment = (at - timedelta(hours=2 * number)).isoformat()
        ada.data("publish_content", content_id=article_id, website_id=website, mode="schedule", publish_at=moment)
    page = browser.get(f"{CALENDAR}?month={at:%Y-%m}")
    assert page.one(".calendar details.more > summary").startswith("2 more")
    assert [link.text() for link in page.tree.css(".event-title")] == [f"Tea {number}" for number in (4, 3, 2, 1, 0)]


@pytest.mark.parametrize("month", ["2026-13", "x", "0001-01", "9999-12", "2026-1"])
def test_an_invalid_month_falls_back_to_the_current_one(browser: BrowserWithoutScreen, month: str) -> None:
    assert browser.get(f"{CALENDAR}?month={month}").one("h2#month") == f"{datetime.now(UTC):%B %Y}"


def test_an_unknown_time_zone_is_reported(browser: BrowserWithoutScreen) -> None:
    page = browser.get(f"{CALENDAR}?tz=Mars%3Cb%3E")
    assert "times are in UTC" in page.one("#tz-error")
    assert 'value="Mars&lt;b&gt;"' in page.html


def test_the_first_and_last_months_have_no_further_links(browser: BrowserWithoutScreen) -> None:
    assert browser.get(f"{CALENDAR}?month=1970-01").tree.css_first("a[rel=prev]") is None
    assert browser.get(f"{CALENDAR}?month=2999-12").tree.css_first("a[rel=next]") is None


def test_ideas_are_added_done_and_deleted(browser: BrowserWithoutScreen, ada: Client, website: str) -> None:
    at = next_month()
    path = f"{CALENDAR}?month={at:%Y-%m}&website={website}"
    page = browser.get(path)
    form = page.tree.css_first('form[method=post] input[name="title"]')
    assert form is not None
    fields = {"csrf": page.tree.css_first(".account-main form[method=post] input[name=csrf]").attributes["value"]}  # type: ignore[union-attr]
    due = f"{at:%Y-%m-12}"
    added = browser.post(path, {**fields, "do": "add", "title": " Iced   tea ", "due": due, "website": website})
    assert "The idea is saved" in added.text
    assert "Iced tea" in on_day(added, due)
    (idea,) = ada.data("list_content_ideas", website_id=website)["ideas"]
    assert (idea["title"], idea["due"]) == ("Iced tea", due)
    repeated = browser.post(path, {**fields, "do": "add", "title": "Iced tea", "due": "", "website": ""})
    assert "The idea is saved" in repeated.text
    (same,) = ada.data("list_content_ideas", website_id=website)["ideas"]
    assert (same["idea_id"], same["due"], same["website_id"]) == (idea["idea_id"], due, website)
    second = ada.data("save_content_idea", keyphrase="green tea")["idea"]
    confirmation = browser.post(path, {**fields, "do": "done", "idea": idea["idea_id"]})
    assert "Iced tea" not in confirmation.one("#ideas")
    assert ada.data("list_content_ideas", status="done")["ideas"][0]["idea_id"] == idea["idea_id"]
    deleted = browser.post(path, {**fields, "do": "delete", "idea": second["idea_id"]})
    assert "No ideas yet" in deleted.text
    assert ada.data("list_content_ideas")["ideas"] == []
    assert browser.post(path, {**fields, "do": "delete", "idea": second["idea_id"]}).status == 404


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ({}, "has to be filled"),
        ({"title": "x" * 501}, "at most 500"),
        ({"title": "x", "due": "2026-02-30"}, "such as 2026-12-24"),
        ({"title": "x", "website": "w_none"}, "no longer connected"),
    ],
)
def test_problems_of_an_idea_are_reported_beside_their_field(
    browser: BrowserWithoutScreen, ada: Client, website: str, typed: dict[str, str], expected: str
) -> None:
    token = browser.get(CALENDAR).tree.css_first(".account-main form[method=post] input[name=csrf]")
    assert token is not None
    page = browser.post(CALENDAR, {"csrf": token.attributes["value"], "do": "add", **typed})
    assert page.status == 400
    assert expected in page.one(".field-error")
    assert ada.data("list_content_ideas")["ideas"] == []
    assert browser.post(CALENDAR, {"csrf": "no", "do": "add", "title": "x"}).status == 403


def test_an_idea_of_another_account_is_not_changed(browser: BrowserWithoutScreen, eve: Client) -> None:
    idea = eve.data("save_content_idea", title="Mine")["idea"]["idea_id"]
    token = browser.get(CALENDAR).tree.css_first(".account-main form[method=post] input[name=csrf]")
    assert token is not None
    for do in ("done", "delete"):
        assert browser.post(CALENDAR, {"csrf": token.attributes["value"], "do": do, "idea": idea}).status == 404
    assert eve.data("list_content_ideas")["ideas"][0]["status"] == "idea"


def test_a_planned_post_and_an_idea_are_moved(
    browser: BrowserWithoutScreen, ada: Client, eve: Client, website: str
) -> None:
    at = next_month()
    article_id = ada.data("create_content", title="Tea", body="Leaves.")["content_id"]
    publication = ada.data("publish_content", content_id=article_id, website_id=website, publish_at=at.isoformat())
    idea = ada.data("save_content_idea", title="Cake", due=f"{at:%Y-%m-11}")["idea"]["idea_id"]
    month = f"{CALENDAR}?website=&tz=&month={at:%Y-%m}"
    page = browser.get(f"{CALENDAR}?month={at:%Y-%m}")

    moved = browser.submit(
        page, month, do="move", publication=publication["publication_id"], day=f"{at:%Y-%m-14}", time="07:05"
    )
    assert "07:05 Tea scheduled" in on_day(moved, f"{at:%Y-%m-14}")
    replanned = browser.submit(moved, month, do="replan", idea=idea, day=f"{at:%Y-%m-15}")
    assert "Cake" in on_day(replanned, f"{at:%Y-%m-15}")

    for day, time, message in (
        ("", "07:05", "choose a day"),
        ("2020-01-01", "07:05", "in the past"),
        ("x", "y", "a time such as"),
    ):
        refused = browser.submit(page, month, do="move", publication=publication["publication_id"], day=day, time=time)
        assert refused.status == 400
        assert message in refused.one("[role=alert]")
    eve.data("connect_website", platform="builtin", name="Other")
    for do, name in (("move", "publication"), ("publish", "publication"), ("replan", "idea")):
        unknown = browser.submit(page, month, **{"do": do, name: "p_other"}, day=f"{at:%Y-%m-14}", time="07:05")
        assert unknown.status == 404
        assert "list_" not in unknown.text
