"""The tools for websites over MCP: settings, terms, existing posts, redirects."""

from __future__ import annotations

import time
from typing import Any

import pytest
from pressroom.testing import RunningHost
from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles
from pressroom_content.contract import RemoteRedirect
from pressroom_content.tables import PageRow, WordRow
from pressroom_content.tools.publishing import publish_content
from pressroom_content.websites.redirects import judge
from pressroom_content.websites.store import Websites
from sqlalchemy import func, select
from support.standin_platform import TOKEN, StandInPlatform
from support.standin_plugin import PLATFORM

from ..conftest import Client  # noqa: TID252 - the client of the whole plugin


def builtin(client: Client, name: str = "A blog") -> str:
    answer = client.data("connect_website", platform="builtin", name=name)
    assert answer["state"] == "connected"
    website_id: str = answer["website_id"]
    return website_id


def standin(host: RunningHost, client: Client, platform: StandInPlatform) -> str:
    async def add() -> str:
        made = await Websites(client.plugin).add(
            client.user_id, PLATFORM, name="Stand-in", url=platform.url, credential={"token": TOKEN}
        )
        return made.id

    return host.run(add())


def article(host: RunningHost, client: Client, **fields: Any) -> str:
    values = {"title": "Hello", "body": "Some **words** to read."}
    return host.run(Articles(client.plugin).create(client.user_id, Draft(**{**values, **fields}))).article.id


def test_settings(ada: Client) -> None:
    website = builtin(ada)
    first = ada.data(
        "update_website_settings", website_id=website, settings={"author": "Ada", "timezone": "Asia/Tokyo"}
    )
    assert (first["version"], first["website"]["settings"]["author"]) == (2, "Ada")
    assert "expected_version" in ada.refusal(
        "update_website_settings", website_id=website, settings={"author": "Eve"}, expected_version=1
    )
    assert "settings.timezone" in ada.refusal(
        "update_website_settings", website_id=website, settings={"timezone": "Mars"}
    )
    refusal = ada.refusal("update_website_settings", website_id=website, settings={"colour": "red"})
    assert "settings.colour" in refusal
    assert "image_policy" in refusal
    restored = ada.data("update_website_settings", website_id=website, settings={"author": None})
    assert restored["website"]["settings"]["author"] == ""


def test_lists_are_paged_and_belong_to_one_account(ada: Client, eve: Client) -> None:
    ids = [builtin(ada, f"Blog {number}") for number in range(5)]
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = ada.data("list_websites", limit=2, **cursor)
        found += [website["id"] for website in page["websites"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert sorted(found) == sorted(ids)
    assert eve.data("list_websites")["websites"] == []
    assert "no website" in eve.refusal("get_website", website_id=ids[0])
    assert "cursor" in ada.refusal("list_websites", cursor="nonsense")
    assert "confirm" in ada.refusal("disconnect_website", website_id=ids[0], confirm=False)


def test_terms_are_remembered_for_a_while(host: RunningHost, ada: Client, platform: StandInPlatform) -> None:
    website = standin(host, ada, platform)
    platform.terms += [{"id": "t1", "kind": "tag", "name": "News"}, {"id": "t2", "kind": "tag", "name": "Tools"}]
    first = ada.data("list_site_taxonomies", website_id=website, kind="tag")
    assert [item["name"] for item in first["items"]] == ["News", "Tools"]
    assert ada.data("list_site_taxonomies", website_id=website, kind="tag", limit=1)["items"] == first["items"][:1]
    assert platform.count("GET /api/terms/tag") == 1
    narrowed = ada.data("list_site_taxonomies", website_id=website, kind="tag", query="too")
    assert [item["name"] for item in narrowed["items"]] == ["Tools"]


def test_existing_posts_come_into_the_index_once(host: RunningHost, ada: Client, platform: StandInPlatform) -> None:
    website = standin(host, ada, platform)
    for number in range(3):
        platform.posts[f"p{number}"] = {
            "id": f"p{number}", "slug": f"old-{number}", "title": f"Old {number}", "html": "<p>Meadows and rivers</p>",
            "state": "live", "revision": 1, "featured": None, "marker": "", "tags": [], "categories": [],
        }  # fmt: skip

    def sync() -> dict[str, Any]:
        job = ada.data("sync_website_content", website_id=website)["job_id"]
        for _ in range(400):
            status = host.run(ada.plugin.services.jobs.status(job))
            if status.state == "succeeded":
                return dict(status.result or {})
            assert status.state in ("queued", "running"), status
            time.sleep(0.02)
        raise AssertionError(job)

    assert sync() == {"website_id": website, "posts": 3, "new": 3, "changed": 0, "unchanged": 0}
    platform.posts["p0"]["html"] = "<p>Meadows and mountains</p>"
    assert sync() == {"website_id": website, "posts": 3, "new": 0, "changed": 1, "unchanged": 2}

    async def counts() -> tuple[int, int]:
        async with ada.plugin.services.database.reading() as session:
            pages = select(func.count()).select_from(PageRow).where(PageRow.website_id == website)
            words = (
                select(func.count())
                .select_from(WordRow)
                .where(WordRow.user_id == ada.user_id, WordRow.stem == "meadow")
            )
            return await session.scalar(pages), await session.scalar(words)

    assert host.run(counts()) == (3, 3)


def test_redirects(host: RunningHost, ada: Client) -> None:
    website = builtin(ada)
    made = ada.data("create_redirect", website_id=website, from_path="/old", to="/new")["redirect"]
    again = ada.data("create_redirect", website_id=website, from_path="/old", to="/new")["redirect"]
    assert made == again
    ada.data("create_redirect", website_id=website, from_path="/older", to="/old", permanent=False)
    listed = {one["from_path"]: one for one in ada.data("list_redirects", website_id=website, check=True)["redirects"]}
    assert listed["/older"]["leads_to"] == "/new"
    assert "a chain of 2" in listed["/older"]["problems"][0]
    assert "answers with 404" in listed["/old"]["problems"][0]
    assert "loop" in ada.refusal("create_redirect", website_id=website, from_path="/new", to="/older")
    for bad in ("old", "//evil.example", "/a b"):
        assert "from_path" in ada.refusal("create_redirect", website_id=website, from_path=bad, to="/x")
    for bad in ("javascript:alert(1)", "//evil.example", "/old", "nowhere"):
        assert "to:" in ada.refusal("create_redirect", website_id=website, from_path="/old", to=bad)
    assert "confirm" in ada.refusal("delete_redirect", website_id=website, redirect_id=made["id"], confirm=False)
    assert ada.data("delete_redirect", website_id=website, redirect_id=made["id"], confirm=True) == {"deleted": True}
    assert "no such redirect" in ada.refusal(
        "delete_redirect", website_id=website, redirect_id=made["id"], confirm=True
    )


def test_redirects_where_the_platform_has_none(host: RunningHost, ada: Client, platform: StandInPlatform) -> None:
    website = standin(host, ada, platform)
    assert "it has no redirects" in ada.refusal("list_redirects", website_id=website)
    assert "it has no redirects" in ada.refusal("create_redirect", website_id=website, from_path="/a", to="/b")
    assert "it has no redirects" in ada.refusal("delete_redirect", website_id=website, redirect_id="1", confirm=True)


def test_loops_and_chains_are_followed_without_fetching() -> None:
    redirects = [
        RemoteRedirect("1", "/a", "/b"),
        RemoteRedirect("2", "/b", "/c"),
        RemoteRedirect("3", "/c", "https://blog.example/a"),
        RemoteRedirect("4", "/d", "https://elsewhere.example/"),
    ]
    judged = {one.redirect.source: one for one in judge(redirects, "https://blog.example")}
    assert all("a loop" in judged[source].problems[0] for source in ("/a", "/b", "/c"))
    assert judged["/d"].problems == ()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"mode": "schedule"}, "publish_at: is missing"),
        ({"publish_at": "2099-01-01T00:00:00Z", "mode": "publish"}, "only goes with the mode schedule"),
        ({"mode": "schedule", "publish_at": "2020-02-30T00:00:00Z"}, "must be a time"),
        ({"mode": "schedule", "publish_at": "2020-01-01T00:00:00Z"}, "is in the past"),
        ({"mode": "schedule", "publish_at": "2020-01-01"}, "needs a time of day"),
        ({"mode": "schedule", "publish_at": "2999-01-01T00:00:00Z"}, "five years"),
        ({"options": {"tags": "news"}}, "options.tags"),
        ({"options": {"force": True}}, "options.force"),
        ({"content_id": "a_nobody"}, "a_nobody"),
        ({"website_id": "w_nobody"}, "w_nobody"),
    ],
)
def test_what_cannot_be_published_is_refused(
    host: RunningHost, ada: Client, arguments: dict[str, Any], told: str
) -> None:
    given = {"content_id": article(host, ada), "website_id": builtin(ada)} | arguments
    assert told in ada.refusal("publish_content", **given)
    assert ada.data("list_publications")["publications"] == []


def test_a_time_without_an_offset_is_the_websites_own(host: RunningHost, ada: Client) -> None:
    website = builtin(ada)
    ada.data("update_website_settings", website_id=website, settings={"timezone": "Asia/Tokyo"})
    done = ada.data(
        "publish_content",
        content_id=article(host, ada),
        website_id=website,
        mode="schedule",
        publish_at="2027-05-01T09:00:00",
    )
    assert (done["status"], done["publish_at"]) == ("scheduled", "2027-05-01T00:00:00Z")
    assert done["publish_at_local"] == "2027-05-01T09:00:00+09:00[Asia/Tokyo]"
    shown = ada.call("get_publication_status", publication_id=done["publication_id"])
    assert "It goes live at 2027-05-01 09:00 Asia/Tokyo (2027-05-01 00:00 UTC)." in shown["content"][0]["text"]
    assert shown["structuredContent"]["publications"][0]["publish_at_local"] == done["publish_at_local"]
    schedule = ada.data("list_schedule", **{"from": "2027-05-01", "to": "2027-05-31"}, website_id=website)
    assert [entry["title"] for entry in schedule["entries"]] == ["Hello"]
    assert schedule["entries"][0]["publish_at_local"] == done["publish_at_local"]
    assert schedule["gaps"] == [{"from": "2027-05-02", "to": "2027-05-31", "days": 30}]
    moved = ada.data(
        "reschedule_content", publication_id=done["publication_id"], publish_at="2027-06-01T12:00:00+02:00"
    )
    assert moved["publication"]["publish_at"] == "2027-06-01T10:00:00Z"
    assert moved["publication"]["publish_at_local"] == "2027-06-01T19:00:00+09:00[Asia/Tokyo]"
    assert ada.data("list_schedule", **{"from": "2027-05-01", "to": "2027-05-31"})["entries"] == []
    cancelled = ada.data("reschedule_content", publication_id=done["publication_id"])
    assert cancelled["publication"]["status"] == "draft"


def test_a_kind_of_terms_that_a_site_lacks_is_no_error_of_the_site(
    host: RunningHost, ada: Client, platform: StandInPlatform
) -> None:
    website = standin(host, ada, platform)
    assert "no kind blog" in ada.refusal("list_site_taxonomies", website_id=website, kind="blog")
    assert not ada.data("get_website", website_id=website)["website"]["last_error"]


def test_a_mode_that_is_left_out_is_the_websites_own(host: RunningHost, ada: Client, platform: StandInPlatform) -> None:
    website = standin(host, ada, platform)
    ada.data("update_website_settings", website_id=website, settings={"default_status": "draft"})
    left_out = ada.data("publish_content", content_id=article(host, ada), website_id=website)
    null = ada.data("publish_content", content_id=article(host, ada), website_id=website, mode=None)
    asked = ada.data("publish_content", content_id=article(host, ada), website_id=website, mode="publish")
    assert [one["status"] for one in (left_out, null, asked)] == ["draft", "draft", "published"]
    mode = publish_content.params.model_json_schema()["properties"]["mode"]
    assert mode["default"] is None
    assert "default_status" in mode["description"]


def test_the_time_zone_of_a_site_is_taken_over_until_somebody_chooses_one(
    host: RunningHost, ada: Client, platform: StandInPlatform
) -> None:
    website = standin(host, ada, platform)

    def zone() -> str:
        ada.data("test_website_connection", website_id=website)
        name: str = ada.data("get_website", website_id=website)["website"]["settings"]["timezone"]
        return name

    assert zone() == "Europe/Berlin"
    ada.data("update_website_settings", website_id=website, settings={"timezone": "UTC"})
    assert zone() == "UTC"
    ada.data("update_website_settings", website_id=website, settings={"timezone": None})
    assert zone() == "Europe/Berlin"


def test_a_time_that_clocks_skip_is_refused(host: RunningHost, ada: Client) -> None:
    website = builtin(ada)
    ada.data("update_website_settings", website_id=website, settings={"timezone": "Europe/Berlin"})
    refusal = ada.refusal(
        "publish_content",
        content_id=article(host, ada),
        website_id=website,
        mode="schedule",
        publish_at="2027-03-28T02:30:00",
    )
    assert "clocks go forward" in refusal


def test_publishing_over_mcp(host: RunningHost, ada: Client, eve: Client, platform: StandInPlatform) -> None:
    own, other = builtin(ada), standin(host, ada, platform)
    content = article(host, ada, tags=("news",), body="Words <script>alert(1)</script> and `more`.")
    tried = ada.data("publish_content", content_id=content, website_id=own, dry_run=True)
    assert (tried["status"], tried["publication_id"]) == ("dry_run", None)
    assert any("script" in warning for warning in tried["warnings"])
    done = ada.data("publish_content", content_id=content, website_id=own, client_request_id="r-1")
    assert done == ada.data("publish_content", content_id=content, website_id=own, client_request_id="r-1")
    assert done["status"] == "published"
    copies = ada.data(
        "crosspost_content",
        content_id=content,
        website_ids=[other, "w_nobody"],
        canonical_publication_id=done["publication_id"],
        mode="publish",
    )["results"]
    assert [copy["status"] for copy in copies] == ["published", "refused"]
    assert [post["canonical_url"] for post in platform.posts.values()] == [done["url"]]
    shown = ada.data("get_publication_status", content_id=content, verify=True)["publications"]
    assert {one["status"] for one in shown} == {"published"}
    assert [one["edited_on_site"] for one in shown] == [False, False]
    assert {step["state"] for one in shown for step in one["steps"]} == {"done"}
    assert len(ada.data("list_publications", status="published")["publications"]) == 2
    assert eve.data("list_publications")["publications"] == []
    assert "no publication" in eve.refusal("get_publication_status", publication_id=done["publication_id"])
    platform.edit(next(iter(platform.posts)), html="<p>Edited</p>")
    host.run(Articles(ada.plugin).update(ada.user_id, content, 1, changes={"title": "Hello again"}))
    conflict = ada.data("update_publication", publication_id=copies[0]["publication_id"])
    assert "edited on the site" in conflict["conflict"]
    forced = ada.data("update_publication", publication_id=copies[0]["publication_id"], force=True)
    assert (forced["conflict"], forced["status"]) == (None, "published")
    platform.token = "revoked"
    host.run(Articles(ada.plugin).update(ada.user_id, content, 2, changes={"title": "Hello once more"}))
    failure = ada.refusal("update_publication", publication_id=copies[0]["publication_id"])
    assert "Connect the site again" in failure
    platform.token = TOKEN
    retried = ada.data("retry_publication", publication_id=copies[0]["publication_id"])
    assert retried["status"] == "published"
    assert "confirm" in ada.refusal("unpublish_content", publication_id=done["publication_id"], confirm=False)
    down = ada.data("unpublish_content", publication_id=done["publication_id"], confirm=True)
    assert down == {"status": "unpublished"}
