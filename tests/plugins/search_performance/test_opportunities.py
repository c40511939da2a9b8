"""Opportunities in the figures: quick wins, declines, competing pages, articles and phrases."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom_search_performance.analysis.ideas import Topic, ideas, words_of
from pressroom_search_performance.analysis.opportunities import expected_ctr, potential_clicks
from pressroom_search_performance.charts.drawing import METRICS
from pressroom_search_performance.figures.queries import DimensionFigures, Figures

from .conftest import Site, day


@pytest.fixture
def site(site_with_weeks: Site) -> Site:
    return site_with_weeks


@given(st.floats(1, 200), st.floats(1, 200))
def test_a_better_position_is_never_clicked_less(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 1 > expected_ctr(low) >= expected_ctr(high) > 0


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.floats(1, 500))
def test_there_is_never_less_than_nothing_to_win(impressions: int, clicks: int, position: float) -> None:
    assert potential_clicks(impressions, clicks, position) >= 0


def test_quick_wins(site: Site) -> None:
    for query, position, impressions, clicks in (
        ("just below", 6.0, 1000, 10),
        ("second page", 15.0, 300, 0),
        ("at the top", 1.2, 1000, 280),
        ("far away", 44.0, 1000, 0),
        ("hardly seen", 6.0, 49, 0),
        ("clicked well", 4.0, 100, 40),
    ):
        site.google.add(day(), query, site.page(), clicks, impressions, position)
    site.fetch(site.connect())

    items = site.data("find_content_opportunities", kind="quick_wins")["items"]
    assert [(item["query"], item["potential_clicks"]) for item in items] == [("just below", 100), ("second page", 33)]
    assert items[0]["ctr"] < items[0]["expected_ctr"] < 0.08
    more = site.data("find_content_opportunities", kind="quick_wins", min_impressions=49, limit=2)["items"]
    assert [item["query"] for item in more] == ["just below", "second page"]
    everything = site.data("find_content_opportunities", kind="quick_wins", min_impressions=49)
    assert "hardly seen" in [item["query"] for item in everything["items"]]
    assert (everything["start_date"], everything["end_date"]) == (day(27).isoformat(), day().isoformat())
    none = site.client.call(
        "find_content_opportunities", website_id=site.website.id, kind="quick_wins", min_impressions=9000
    )
    assert "try a smaller min_impressions" in none["content"][0]["text"]


def test_a_position_is_the_same_wherever_it_is_shown(site: Site) -> None:
    site.google.add(day(), "bread", site.page(), 80, 1000, 8.547)
    site.fetch(site.connect())
    site.client.data("track_keyword", website_id=site.website.id, phrase="bread")

    for tool, arguments in (
        ("get_search_performance", {"dimensions": ["query"]}),
        ("find_content_opportunities", {"kind": "quick_wins"}),
        ("list_tracked_keywords", {}),
    ):
        result = site.client.call(tool, website_id=site.website.id, **arguments)
        assert '"position": 8.5' in json.dumps(result["structuredContent"]), tool
        text = result["content"][0]["text"]
        assert "8.5" in text, tool
        assert "8.6" not in text, tool
    figures = Figures(80, 1000, 8.547)
    position = METRICS[3]
    assert position.text(figures) == "8.5"
    assert position.change(figures, Figures(120, 1000, 8.449)).text == "0.1 worse"


def test_declining_pages_with_their_queries(site: Site) -> None:
    for days_ago in range(7, 11):
        site.google.add(day(days_ago), "slipped", site.page("a"), 10, 100, 2.0)
        site.google.add(day(days_ago), "season", site.page("b"), 5, 100, 2.0)
        site.google.add(day(days_ago), "steady", site.page("c"), 5, 100, 2.0)
    for days_ago in range(4):
        site.google.add(day(days_ago), "slipped", site.page("a"), 2, 100, 8.0)
        site.google.add(day(days_ago), "season", site.page("b"), 2, 40, 2.0)
        site.google.add(day(days_ago), "steady", site.page("c"), 5, 100, 2.0)
    site.google.add(day(8), "gone", site.page("d"), 3, 30, 2.0)
    site.google.add(day(11), "first", site.page("c"), 0, 1, 2.0)
    site.fetch(site.connect())

    slipped, season, gone = site.data("find_content_opportunities", kind="declining", days=7)["items"]
    assert (slipped["page"], slipped["lost_clicks"], slipped["reason"]) == (site.page("a"), 32, "ranking")
    assert (slipped["drop_pct"], slipped["now"]["position"], slipped["before"]["position"]) == (80.0, 8.0, 2.0)
    assert [query["query"] for query in slipped["queries"]] == ["slipped"]
    assert (season["page"], season["reason"]) == (site.page("b"), "demand")
    assert (gone["page"], gone["drop_pct"]) == (site.page("d"), 100.0)
    result = site.client.call("find_content_opportunities", website_id=site.website.id, kind="declining", days=7)
    assert "position 2.0 to unknown" in result["content"][0]["text"]
    assert gone["now"]["position"] is None
    refused = site.client.refusal("find_content_opportunities", website_id=site.website.id, kind="declining")
    assert "at most 7 days can be compared" in refused


def test_competing_pages(site: Site) -> None:
    site.google.add(day(), "compost", site.page("a"), 10, 100, 4.0)
    site.google.add(day(1), "compost", site.page("b"), 2, 80, 7.0)
    site.google.add(day(1), "compost", site.page("c"), 0, 5, 30.0)
    site.google.add(day(), "only one", site.page("a"), 10, 100, 4.0)
    site.google.add(day(), "rarely", site.page("a"), 1, 10, 4.0)
    site.google.add(day(), "rarely", site.page("b"), 1, 10, 4.0)
    site.fetch(site.connect())

    (item,) = site.data("find_content_opportunities", kind="cannibalisation")["items"]
    assert (item["query"], [page["page"] for page in item["pages"]]) == ("compost", [site.page("a"), site.page("b")])
    assert item["pages"][0]["share"] == 0.541


def test_an_article_over_time(site: Site) -> None:
    article = site.client.data(
        "create_content", title="Compost", body="# Compost\n\nIt rots.", website_id=site.website.id
    )
    published = site.client.data("publish_content", content_id=article["content_id"], website_id=site.website.id)
    url = published["url"]
    if not url:
        pytest.skip("the built-in site names no address yet")
    site.google.add(day(), "compost", url, 10, 100, 4.0)
    site.google.add(day(8), "compost", url, 4, 100, 6.0)
    site.google.add(day(), "asked once", url, 1, 1, 1.0, rare=True)

    before = site.client.data("get_content_performance", content_id=article["content_id"])
    assert "is not connected" in before["search"]["unknown"][0]
    assert (before["search"]["totals"], before["traffic"]) == (None, None)
    text = site.client.call("get_content_performance", content_id=article["content_id"])["content"][0]["text"]
    assert "the search figures are not known" in text
    assert "0 clicks" not in text
    site.fetch(site.connect())
    result = site.client.data("get_content_performance", content_id=article["content_id"], days=7)
    assert result["search"]["totals"]["clicks"] == 11
    assert result["search"]["pages"][0]["before"]["clicks"] == 4
    assert [(query["query"], query["clicks"]) for query in result["queries"]] == [("compost", 10)]
    assert {event["kind"] for event in result["events"]} == {"version", "published"}
    site.client.data("update_website_settings", website_id=site.website.id, settings={"timezone": "Asia/Kolkata"})
    events = site.client.data("get_content_performance", content_id=article["content_id"], days=7)["events"]
    assert {event["at"][-6:] for event in events} == {"+05:30"}


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("热泵价格", "如何选择热泵和了解价格"),
        ("ヒートポンプ 価格", "ヒートポンプの価格"),
        ("ปั๊มความร้อน", "วิธีเลือกปั๊มความร้อน"),
        ("well known bread", "Bread: the well-known kinds"),
    ],
)
def test_a_page_covers_a_query_in_scripts_without_spaces_too(query: str, title: str) -> None:
    rows = [DimensionFigures({"query": query, "page": "https://e.com/"}, Figures(1, 100, 15.0))]
    covering = Topic(title, words_of(title), "")
    assert [idea.source for idea in ideas(rows, [covering], "", 1)] == ["search_query"]
    assert [idea.source for idea in ideas(rows, [], "", 1)] == ["gap"]
    assert [idea.phrase for idea in ideas(rows, [], title, 1)] == [query]


def test_ideas_for_keyphrases(site: Site) -> None:
    site.client.data("create_content", title="All about compost", body="Text.", website_id=site.website.id)
    site.client.data(
        "create_content", title="Leaf mould", keyphrase="leaf mould", body="Text.", website_id=site.website.id
    )
    alone = site.data("suggest_keywords")["ideas"]
    assert {idea["source"] for idea in alone} == {"title"}
    assert {(idea["impressions"], idea["position"]) for idea in alone} == {(None, None)}
    result = site.client.call("suggest_keywords", website_id=site.website.id)
    assert "is not connected" in result["structuredContent"]["note"]
    assert result["content"][0]["text"].startswith("No search figures: ")
    assert "impressions" not in result["content"][0]["text"]
    site.google.add(day(), "compost", site.page("compost"), 1, 300, 14.0)
    site.google.add(day(), "about compost", site.page("compost"), 9, 900, 2.0)
    site.google.add(day(), "worm farm", site.page("compost"), 1, 50, 30.0)
    site.fetch(site.connect())

    assert site.data("suggest_keywords")["note"] is None
    ideas = site.data("suggest_keywords")["ideas"]
    assert [(idea["phrase"], idea["source"]) for idea in ideas] == [
        ("worm farm", "gap"),
        ("compost", "search_query"),
        ("All about compost", "title"),
        ("leaf mould", "title"),
    ]
    assert [idea["phrase"] for idea in site.data("suggest_keywords", seed="LEAF tea")["ideas"]] == ["leaf mould"]


def test_keyphrases_are_suggested_without_regard_to_accents(site: Site) -> None:
    site.client.data("create_content", title="Cafés in İstanbul", body="x", website_id=site.website.id)
    site.google.add(day(), "cafés istanbul", site.page("cafes"), 1, 300, 14.0)
    site.fetch(site.connect())

    [query, title] = site.data("suggest_keywords", seed="CAFES")["ideas"]

    assert (query["phrase"], query["source"]) == ("cafés istanbul", "search_query")
    assert title["phrase"] == "Cafés in İstanbul"


def test_a_phrase_that_was_not_tracked_is_not_reported_as_removed(site: Site) -> None:
    site.data("track_keyword", phrase="compost")

    def removed(phrase: str) -> str:
        result = site.client.call("track_keyword", website_id=site.website.id, phrase=phrase, remove=True)
        return str(result["content"][0]["text"])

    assert removed("composst") == "composst was not tracked; list_tracked_keywords lists the phrases."
    assert removed("Compost") == "compost is no longer tracked."


def test_following_phrases(site: Site) -> None:
    site.data("track_keyword", phrase="compost bin")
    tracked = site.data("track_keyword", phrase="  Compost   BIN ", target_url=site.page("bins"))["tracked"]
    assert tracked == {"phrase": "compost bin", "target_url": site.page("bins"), "following": True}
    site.data("track_keyword", phrase="unknown")
    assert "https://" in site.client.refusal(
        "track_keyword", website_id=site.website.id, phrase="x", target_url="javascript:alert(1)"
    )
    unconnected = site.data("list_tracked_keywords")
    assert "is not connected" in unconnected["note"]
    assert [(row["phrase"], row["clicks"], row["position"]) for row in unconnected["rows"]] == [
        ("compost bin", None, None),
        ("unknown", None, None),
    ]
    for days_ago, position in ((0, 3.0), (7, 8.0)):
        site.google.add(day(days_ago), "compost bin", site.page("other"), 2, 10, position)
    site.fetch(site.connect())

    first, second = site.data("list_tracked_keywords", days=7)["rows"]
    assert (first["position"], first["previous_position"], first["change"]) == (3.0, 8.0, 5.0)
    assert first["page"] == site.page("other")
    assert (second["phrase"], second["position"], second["clicks"], second["impressions"]) == (
        "unknown",
        None,
        None,
        None,
    )
    assert not site.data("track_keyword", phrase="compost bin", remove=True)["tracked"]["following"]
    assert [row["phrase"] for row in site.data("list_tracked_keywords")["rows"]] == ["unknown"]
