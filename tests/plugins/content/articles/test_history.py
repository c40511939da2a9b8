"""The trash and versions of articles."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pressroom_content.articles import trash
from pressroom_content.tables import ArticleRow, ShingleRow, VersionRow, WordRow
from sqlalchemy import func, select, update
from support.content_client import Client

from .conftest import Make, publish


def test_an_article_is_trashed_and_restored(ada: Client, make: Make) -> None:
    id_ = make("Tea")
    assert "confirm: must be true" in ada.refusal("delete_content", content_id=id_, confirm=False)
    for _ in range(2):
        assert ada.data("delete_content", content_id=id_, confirm=True) == {"trashed": True, "publications": []}
    assert ada.data("list_content")["items"] == []
    assert [item["content_id"] for item in ada.data("list_content", status="trashed")["items"]] == [id_]
    change = {"content_id": id_, "expected_version": 1, "fields": {"title": "x"}}
    assert "restore_content" in ada.refusal("update_content", **change)
    for _ in range(2):
        restored = ada.data("restore_content", content_id=id_)
        assert restored == {"content_id": id_, "version": 1, "status": "draft"}
    assert ada.data("get_content", content_id=id_)["content"]["trashed_at"] is None


def test_live_posts_remain_unless_unpublishing_is_requested(ada: Client, make: Make, website: str) -> None:
    id_ = make("Tea", website_id=website)
    url = publish(ada, id_, website)
    [publication] = ada.data("delete_content", content_id=id_, confirm=True)["publications"]
    assert (publication["status"], publication["url"]) == ("published", url)
    assert ada.data("restore_content", content_id=id_)["status"] == "published"
    changed = ada.call("update_content", content_id=id_, expected_version=1, fields={"excerpt": "Hot."})
    assert "publish_content updates them" in changed["content"][0]["text"]
    [publication] = ada.data("delete_content", content_id=id_, confirm=True, unpublish=True)["publications"]
    assert publication["status"] == "unpublished"
    assert ada.data("restore_content", content_id=id_)["status"] == "draft"


def test_deleting_a_scheduled_article_requires_unpublish(ada: Client, make: Make, website: str) -> None:
    id_ = make("Tea", website_id=website)
    at = (datetime.now(UTC) + timedelta(days=3)).isoformat()
    ada.data("publish_content", content_id=id_, website_id=website, mode="schedule", publish_at=at)
    assert "is scheduled" in ada.refusal("delete_content", content_id=id_, confirm=True)
    ada.data("delete_content", content_id=id_, confirm=True, unpublish=True)
    assert ada.data("list_content", status="trashed")["items"][0]["content_id"] == id_


def test_versions_are_listed_and_compared(ada: Client, make: Make) -> None:
    id_ = make("Tea", "one\n\ntwo\n\nthree\n")
    ada.data("update_content", content_id=id_, expected_version=1, edits=[{"find": "two", "replace": "2\n\n2b"}])
    ada.data("update_content", content_id=id_, expected_version=2, fields={"title": "Chai", "tags": ["a", "b"]})
    result = ada.data("get_content", content_id=id_, versions=True, compare_with=1)
    assert [version["version"] for version in result["versions"]] == [3, 2, 1]
    second = result["versions"][1]
    assert (second["client"], second["changed"], second["added"], second["removed"]) == ("laptop", ["body"], 3, 1)
    lines = result["diff"].splitlines()
    assert lines[:2] == ["--- version 1", "+++ version 3"]
    assert {"-title: Tea", "+title: Chai", "+tags: a, b", "-two", "+2", "+2b", " three"} <= set(lines)
    same = ada.call("get_content", content_id=id_, version=2, compare_with=2)
    assert same["structuredContent"]["diff"] == ""
    assert "Versions 2 and 2 are the same." in same["content"][0]["text"]
    assert "+++ version 2" in ada.data("get_content", content_id=id_, version=2, compare_with=1)["diff"]
    assert "no version 9" in ada.refusal("get_content", content_id=id_, compare_with=9)


def test_an_older_version_is_restored(ada: Client, make: Make) -> None:
    id_ = make("Tea", "one")
    ada.data("update_content", content_id=id_, expected_version=1, fields={"body": "two", "slug": "other"})
    for _ in range(2):
        assert ada.data("restore_content", content_id=id_, version=1)["version"] == 3
    page = ada.data("get_content", content_id=id_)
    assert (page["body"], page["content"]["slug"]) == ("one", "other")


def test_a_very_long_diff_is_truncated(ada: Client, make: Make) -> None:
    id_ = make("Long", "".join(f"line {number}\n" for number in range(5_000)))
    body = "".join(f"row {number}\n" for number in range(5_000))
    ada.data("update_content", content_id=id_, expected_version=1, fields={"body": body})
    diff = ada.data("get_content", content_id=id_, compare_with=1)["diff"]
    assert diff.startswith("--- version 1\n+++ version 2\n@@ -")
    assert "(cut: the whole difference has" in diff


def test_expired_trash_is_deleted_with_all_its_data(ada: Client, make: Make, website: str) -> None:
    expired, fresh, live = make("Gone"), make("Fresh"), make("Live", website_id=website)
    publish(ada, live, website)
    for id_ in (expired, fresh, live):
        ada.data("delete_content", content_id=id_, confirm=True)
    plugin = ada.plugin

    async def make_old() -> None:
        long_ago = datetime.now(UTC) - timedelta(days=31)
        async with plugin.services.database.writing() as session:
            statement = update(ArticleRow).where(ArticleRow.id.in_([expired, live])).values(trashed_at=long_ago)
            await session.execute(statement)

    async def left() -> list[int]:
        tables = (
            (ArticleRow, ArticleRow.id),
            (VersionRow, VersionRow.article_id),
            (WordRow, WordRow.document_id),
            (ShingleRow, ShingleRow.document_id),
        )
        async with plugin.services.database.reading() as session:
            return [
                await session.scalar(select(func.count()).select_from(table).where(column == expired)) or 0
                for table, column in tables
            ]

    ada.host.run(make_old())
    assert all(ada.host.run(left()))
    assert ada.host.run(trash.remove_old(plugin)) >= 1
    assert ada.host.run(left()) == [0, 0, 0, 0]
    remaining = {item["content_id"] for item in ada.data("list_content", status="trashed")["items"]}
    assert remaining == {fresh, live}
