"""Ideas for articles."""

from __future__ import annotations

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
