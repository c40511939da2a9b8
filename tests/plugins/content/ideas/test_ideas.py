"""Ideas for articles."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from support.content_client import Client


def test_ideas_are_saved_changed_and_listed(ada: Client, eve: Client) -> None:
    tea = ada.data("save_content_idea", title="  Tea   for two ", keyphrase="tea", notes="ask Ada")["idea"]
    assert (tea["title"], tea["status"], tea["due"]) == ("Tea for two", "idea", None)
    due = ada.data("save_content_idea", keyphrase="coffee", due="2026-12-24", status="planned")["idea"]
    changed = ada.data("save_content_idea", idea_id=tea["idea_id"], status="writing", notes="")["idea"]
    assert (changed["title"], changed["notes"], changed["status"]) == ("Tea for two", "", "writing")
    listed = [idea["idea_id"] for idea in ada.data("list_content_ideas")["ideas"]]
    assert listed == [due["idea_id"], tea["idea_id"]]
    ada.data("save_content_idea", idea_id=due["idea_id"], status="done")
    assert [idea["idea_id"] for idea in ada.data("list_content_ideas")["ideas"]] == [tea["idea_id"]]
    assert [idea["due"] for idea in ada.data("list_content_ideas", status="done")["ideas"]] == ["2026-12-24"]
    assert eve.data("list_content_ideas")["ideas"] == []
    assert "has no idea" in eve.refusal("save_content_idea", idea_id=tea["idea_id"], notes="x")


def test_a_repeated_idea_is_not_duplicated(ada: Client) -> None:
    first = ada.data("save_content_idea", title="Tea", notes="a")["idea"]
    second = ada.data("save_content_idea", title="Tea", notes="b")["idea"]
    assert (second["idea_id"], second["notes"]) == (first["idea_id"], "b")
    ada.data("save_content_idea", idea_id=first["idea_id"], status="dropped")
    assert ada.data("save_content_idea", title="Tea")["idea"]["idea_id"] != first["idea_id"]


def test_an_idea_that_is_saved_by_concurrent_calls_is_not_duplicated(ada: Client) -> None:
    with ThreadPoolExecutor(6) as pool:
        saved = list(pool.map(lambda note: ada.data("save_content_idea", title="Tea", notes=note), "abcdef"))
    assert len({result["idea"]["idea_id"] for result in saved}) == 1
    assert len(ada.data("list_content_ideas")["ideas"]) == 1


def test_invalid_ideas_are_refused(ada: Client) -> None:
    assert "title" in ada.refusal("save_content_idea")
    assert "must say what the idea is" in ada.refusal("save_content_idea", notes="only notes")
    assert "must be a day" in ada.refusal("save_content_idea", title="x", due="2026-02-30")
    idea_id = ada.data("save_content_idea", title="Tea")["idea"]["idea_id"]
    assert "must say what the idea is" in ada.refusal("save_content_idea", idea_id=idea_id, title="")


def test_an_idea_can_belong_to_a_website(ada: Client, eve: Client) -> None:
    first, second = (
        ada.data("connect_website", platform="builtin", name=name)["website_id"] for name in ("One", "Two")
    )
    for_first = ada.data("save_content_idea", title="Tea", website_id=first)["idea"]
    for_any = ada.data("save_content_idea", title="Coffee")["idea"]

    def listed(website_id: str) -> list[str]:
        return [idea["title"] for idea in ada.data("list_content_ideas", website_id=website_id)["ideas"]]

    assert (for_first["website_id"], for_any["website_id"]) == (first, None)
    assert (listed(first), listed(second)) == (["Coffee", "Tea"], ["Coffee"])
    ada.data("save_content_idea", idea_id=for_first["idea_id"], website_id=second)
    assert (listed(first), listed(second)) == (["Coffee"], ["Tea", "Coffee"])
    assert "list_websites" in eve.refusal("save_content_idea", title="Tea", website_id=first)


def test_the_day_and_the_website_of_an_idea_are_cleared(ada: Client) -> None:
    website = ada.data("connect_website", platform="builtin", name="One")["website_id"]
    idea = ada.data("save_content_idea", title="Tea", due="2026-12-24", website_id=website, notes="x")["idea"]

    cleared = ada.data("save_content_idea", idea_id=idea["idea_id"], due="", website_id="")["idea"]

    assert (cleared["due"], cleared["website_id"], cleared["notes"]) == (None, None, "x")
    assert "due: must be a day such as 2026-11-21" in ada.refusal("save_content_idea", title="x", due="tomorrow")


def test_a_list_that_leaves_out_ideas_says_so(ada: Client) -> None:
    for title in ("Tea", "Coffee", "Cocoa"):
        ada.data("save_content_idea", title=title)
    result = ada.call("list_content_ideas", limit=2)
    assert [idea["title"] for idea in result["structuredContent"]["ideas"]] == ["Cocoa", "Coffee"]
    assert result["structuredContent"]["truncated"] is True
    assert "There are more ideas" in result["content"][0]["text"]
    assert ada.data("list_content_ideas", limit=3)["truncated"] is False
