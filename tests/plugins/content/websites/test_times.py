"""Time zones, schedules and languages of websites."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from pressroom.testing import RunningHost
from support.standin_platform import StandInPlatform

from ..conftest import Client  # noqa: TID252 - the client of the whole plugin
from .conftest import YEAR, article, builtin, standin


def test_a_time_without_an_offset_is_in_the_websites_time_zone(host: RunningHost, ada: Client) -> None:
    website = builtin(ada)
    ada.data("update_website_settings", website_id=website, settings={"timezone": "Asia/Tokyo"})
    publication = ada.data(
        "publish_content",
        content_id=article(host, ada),
        website_id=website,
        mode="schedule",
        publish_at=f"{YEAR}-05-01T09:00:00",
    )
    assert (publication["status"], publication["publish_at"]) == ("scheduled", f"{YEAR}-05-01T09:00:00+09:00")
    result = ada.call("list_publications", publication_id=publication["publication_id"])
    assert f"it goes live at {YEAR}-05-01T09:00:00+09:00 (Asia/Tokyo)." in result["content"][0]["text"]
    assert result["structuredContent"]["publications"][0]["publish_at"] == publication["publish_at"]
    assert result["structuredContent"]["publications"][0]["updated_at"].endswith("+09:00")
    schedule = ada.data("list_publications", **{"from": f"{YEAR}-05-01", "to": f"{YEAR}-05-31"}, website_id=website)
    assert [entry["title"] for entry in schedule["publications"]] == ["Hello"]
    assert schedule["publications"][0]["publish_at"] == publication["publish_at"]
    assert schedule["gaps"] == [{"from": f"{YEAR}-05-02", "to": f"{YEAR}-05-31", "days": 30}]
    pair = {"content_id": schedule["publications"][0]["content_id"], "website_id": website}
    moved = ada.data("publish_content", **pair, publish_at=f"{YEAR}-06-01T12:00:00+02:00")
    assert (moved["status"], moved["publish_at"]) == ("scheduled", f"{YEAR}-06-01T19:00:00+09:00")
    assert ada.data("list_publications", **{"from": f"{YEAR}-05-01", "to": f"{YEAR}-05-31"})["publications"] == []
    repeated = ada.data("publish_content", **pair)
    assert (repeated["status"], repeated["publish_at"]) == ("scheduled", moved["publish_at"])
    cancelled = ada.call("publish_content", **pair, mode="draft")
    assert cancelled["structuredContent"]["status"] == "draft"
    assert "not live" in cancelled["content"][0]["text"]


def test_a_schedule_reports_clashes_and_gaps(host: RunningHost, ada: Client) -> None:
    website = builtin(ada)
    ids = [
        ada.data(
            "publish_content",
            content_id=article(host, ada, title=title),
            website_id=website,
            publish_at=f"{YEAR}-05-01T09:{minute}:00Z",
        )["publication_id"]
        for title, minute in (("One", "00"), ("Two", "20"), ("Three", "40"))
    ]
    result = ada.call("list_publications", **{"from": f"{YEAR}-05-01", "to": f"{YEAR}-05-20"})
    clashing = [publication["clashes_with"] for publication in result["structuredContent"]["publications"]]
    assert clashing == [[ids[1], ids[2]], [ids[0], ids[2]], [ids[0], ids[1]]]
    assert f"clashes with {ids[1]}, {ids[2]}" in result["content"][0]["text"]
    assert f"Nothing from {YEAR}-05-02 to {YEAR}-05-20 (19 days)" in result["content"][0]["text"]
    cut = ada.call("list_publications", **{"from": f"{YEAR}-05-01", "to": f"{YEAR}-05-20"}, limit=1)
    assert len(cut["structuredContent"]["publications"]) == 1
    assert "There are 2 more" in cut["content"][0]["text"]
    assert "to: is missing" in ada.refusal("list_publications", **{"from": f"{YEAR}-05-01"})
    assert "from: is missing" in ada.refusal("list_publications", to=f"{YEAR}-05-01")
    assert "400 days" in ada.refusal("list_publications", **{"from": f"{YEAR}-05-01", "to": f"{YEAR + 2}-05-01"})
    assert "publication_id or content_id" in ada.refusal("list_publications", verify=True)


def test_the_time_zone_of_a_site_is_adopted_until_one_is_chosen(
    host: RunningHost, ada: Client, platform: StandInPlatform
) -> None:
    website = standin(host, ada, platform)

    def zone() -> str:
        name: str = ada.data("get_website", website_id=website, check=True)["website"]["settings"]["timezone"]
        return name

    assert zone() == "Europe/Berlin"
    ada.data("update_website_settings", website_id=website, settings={"timezone": "UTC"})
    assert zone() == "UTC"
    ada.data("update_website_settings", website_id=website, settings={"timezone": None})
    assert zone() == "Europe/Berlin"


def test_the_language_of_a_site_is_adopted_until_one_is_chosen(
    host: RunningHost, ada: Client, platform: StandInPlatform
) -> None:
    website = standin(host, ada, platform)
    platform.settings["language"] = "de-CH"

    def language() -> str:
        name: str = ada.data("get_website", website_id=website, check=True)["website"]["settings"]["language"]
        return name

    assert language() == "de-CH"
    ada.data("update_website_settings", website_id=website, settings={"language": "fr"})
    assert language() == "fr"


def test_a_built_in_site_starts_with_the_time_zone_of_the_other_websites(
    host: RunningHost, ada: Client, platform: StandInPlatform
) -> None:
    first = builtin(ada, "First")
    ada.data("get_website", website_id=standin(host, ada, platform), check=True)
    second = builtin(ada, "Second")
    zones = {website["id"]: website["timezone"] for website in ada.data("list_websites")["websites"]}
    assert (zones[first], zones[second]) == ("UTC", "Europe/Berlin")


def test_article_times_are_in_the_time_zone_of_their_website(ada: Client) -> None:
    website = builtin(ada)
    ada.data("update_website_settings", website_id=website, settings={"timezone": "Asia/Tokyo"})
    placed = ada.data("create_content", title="There", body="Text.", website_id=website)["content_id"]
    nowhere = ada.data("create_content", title="Nowhere", body="Text.")["content_id"]
    content = ada.data("get_content", content_id=placed, versions=True)
    assert (content["content"]["timezone"], content["content"]["created_at"][-6:]) == ("Asia/Tokyo", "+09:00")
    assert content["versions"][0]["created_at"][-6:] == "+09:00"
    assert ada.data("get_content", content_id=nowhere)["content"]["timezone"] == "UTC"
    items = {item["content_id"]: item["updated_at"] for item in ada.data("list_content")["items"]}
    assert (items[placed][-6:], items[nowhere][-1:]) == ("+09:00", "Z")
    text = ada.call("list_content", limit=1)["content"][0]["text"]
    assert re.match(rf"{nowhere}  draft  Nowhere \(version 1, 1 words?, .*changed \d{{4}}-.* UTC\)\nMore: ", text)
    assert f"cursor {ada.data('list_content', limit=1)['next_cursor']}" in text


def test_a_day_starts_in_the_time_zone_of_the_website(ada: Client) -> None:
    website = builtin(ada)
    zone = ZoneInfo("Pacific/Kiritimati")
    ada.data("update_website_settings", website_id=website, settings={"timezone": zone.key})
    ada.data("create_content", title="Now", body="Text.", website_id=website)
    today = datetime.now(zone).date()
    for day, count in ((today, 1), (today + timedelta(days=1), 0)):
        items = ada.data("list_content", website_id=website, updated_since=day.isoformat())["items"]
        assert len(items) == count


def test_a_time_skipped_by_a_clock_change_is_refused(host: RunningHost, ada: Client) -> None:
    end_of_march = date(YEAR, 3, 31)
    spring = end_of_march - timedelta(days=end_of_march.isoweekday() % 7)  # the last Sunday
    website = builtin(ada)
    ada.data("update_website_settings", website_id=website, settings={"timezone": "Europe/Berlin"})
    refusal = ada.refusal(
        "publish_content",
        content_id=article(host, ada),
        website_id=website,
        mode="schedule",
        publish_at=f"{spring:%Y-%m-%d}T02:30:00",
    )
    assert "clocks go forward" in refusal
