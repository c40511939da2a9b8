"""MCP tools for websites: settings, terms, existing posts, redirects."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pressroom.catalog.schema import input_schema
from pressroom.testing import RunningHost
from pressroom_content.articles.store import Articles
from pressroom_content.contract import RemoteRedirect
from pressroom_content.tools.publishing import publish_content
from pressroom_content.tools.website_content import set_redirect
from pressroom_content.websites.redirects import review_redirects
from support.mcp_peer import Peer
from support.standin_platform import TOKEN, StandInPlatform

from ..conftest import Client  # noqa: TID252 - the client of the whole plugin
from .conftest import YEAR, article, builtin, standin


def test_website_settings_are_updated(ada: Client) -> None:
    website = builtin(ada)
    first = ada.data(
        "update_website_settings", website_id=website, settings={"author": "Ada", "timezone": "Asia/Tokyo"}
    )
    assert (first["version"], first["website"]["settings"]["author"]) == (2, "Ada")
    assert "expected_version" in ada.refusal(
        "update_website_settings", website_id=website, settings={"author": "Eve"}, expected_version=1
    )
    assert ada.data("update_website_settings", website_id=website, settings={})["version"] == 2
    assert "settings.timezone" in ada.refusal(
        "update_website_settings", website_id=website, settings={"timezone": "Mars"}
    )
    refusal = ada.refusal("update_website_settings", website_id=website, settings={"colour": "red"})
    assert "settings.colour" in refusal
    assert "image_policy" in refusal
    restored = ada.data("update_website_settings", website_id=website, settings={"author": None})
    assert restored["website"]["settings"]["author"] == ""


def test_websites_are_paged_and_belong_to_one_account(ada: Client, eve: Client) -> None:
    ids = [builtin(ada, f"Blog {number}") for number in range(5)]
    listed: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = ada.data("list_websites", limit=2, **cursor)
        listed += [website["id"] for website in page["websites"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert sorted(listed) == sorted(ids)
    assert eve.data("list_websites")["websites"] == []
    assert "no website" in eve.refusal("get_website", website_id=ids[0])
    assert "cursor" in ada.refusal("list_websites", cursor="nonsense")
    assert "confirm" in ada.refusal("disconnect_website", website_id=ids[0], confirm=False)


def test_a_list_without_matching_websites_does_not_deny_the_others(ada: Client) -> None:
    def listed(**filters: object) -> str:
        return str(ada.call("list_websites", **filters)["content"][0]["text"])

    assert listed().startswith("No websites are connected.")
    ada.data("connect_website", platform="builtin")
    assert listed(status="paused") == "No websites match; without status and cursor, list_websites shows all."


def test_terms_are_cached_for_a_while(host: RunningHost, ada: Client, platform: StandInPlatform) -> None:
    website = standin(host, ada, platform)
    platform.terms += [{"id": "t1", "kind": "tag", "name": "News"}, {"id": "t2", "kind": "tag", "name": "Tools"}]
    first = ada.data("list_site_taxonomies", website_id=website, kind="tag")
    assert [item["name"] for item in first["items"]] == ["News", "Tools"]
    assert ada.data("list_site_taxonomies", website_id=website, kind="tag", limit=1)["items"] == first["items"][:1]
    assert platform.count("GET /api/terms/tag") == 1
    narrowed = ada.data("list_site_taxonomies", website_id=website, kind="tag", query="too")
    assert [item["name"] for item in narrowed["items"]] == ["Tools"]


def test_redirects_are_set_and_removed(host: RunningHost, ada: Client) -> None:
    website = builtin(ada)

    def put(source: str, to: str | None, **more: Any) -> dict[str, Any]:
        return ada.data("set_redirect", website_id=website, from_path=source, to=to, **more)

    redirect = put("/old", "/new")["redirect"]
    assert put("/old", "/new") == {"redirect": redirect, "before": None}
    put("/older", "/old", permanent=False)
    listed = {
        redirect["from_path"]: redirect
        for redirect in ada.data("list_redirects", website_id=website, check=True)["redirects"]
    }
    assert listed["/older"]["leads_to"] == "/new"
    assert "a chain of 2" in listed["/older"]["problems"][0]
    assert "responds with 404" in listed["/old"]["problems"][0]
    assert "loop" in ada.refusal("set_redirect", website_id=website, from_path="/new", to="/older")
    for bad in ("old", "//evil.example", "/a b"):
        assert "from_path" in ada.refusal("set_redirect", website_id=website, from_path=bad, to="/x")
    for bad in ("javascript:alert(1)", "//evil.example", "/old", "nowhere"):
        assert "to:" in ada.refusal("set_redirect", website_id=website, from_path="/old", to=bad)

    moved = put("/old", "/newer", permanent=False)
    assert (moved["redirect"]["to"], moved["redirect"]["permanent"]) == ("/newer", False)
    assert (moved["before"]["to"], moved["before"]["permanent"]) == ("/new", True)
    removed = put("/old", None)
    assert (removed["redirect"], removed["before"]["to"]) == (None, "/newer")
    assert put("/old", None) == {"redirect": None, "before": None}
    assert [redirect["from_path"] for redirect in ada.data("list_redirects", website_id=website)["redirects"]] == [
        "/older"
    ]
    assert put("/old", removed["before"]["to"])["redirect"]["to"] == "/newer"


def test_a_redirect_is_removed_only_by_an_explicit_null(ada: Client) -> None:
    website = builtin(ada)
    ada.data("set_redirect", website_id=website, from_path="/old", to="/new")
    assert "to" in ada.refusal("set_redirect", website_id=website, from_path="/old")
    assert len(ada.data("list_redirects", website_id=website)["redirects"]) == 1
    schema = input_schema(set_redirect.params)
    assert schema["properties"]["to"]["type"] == ["string", "null"]
    assert "to" in schema["required"]


def test_redirects_are_refused_where_the_platform_has_none(
    host: RunningHost, ada: Client, platform: StandInPlatform
) -> None:
    website = standin(host, ada, platform)
    assert "it has no redirects" in ada.refusal("list_redirects", website_id=website)
    assert "it has no redirects" in ada.refusal("set_redirect", website_id=website, from_path="/a", to="/b")
    assert "it has no redirects" in ada.refusal("set_redirect", website_id=website, from_path="/a", to=None)


def test_loops_and_chains_are_detected_without_fetching() -> None:
    redirects = [
        RemoteRedirect("1", "/a", "/b"),
        RemoteRedirect("2", "/b", "/c"),
        RemoteRedirect("3", "/c", "https://blog.example/a"),
        RemoteRedirect("4", "/d", "https://elsewhere.example/"),
    ]
    reviews = {review.redirect.source: review for review in review_redirects(redirects, "https://blog.example")}
    assert all("a loop" in reviews[source].problems[0] for source in ("/a", "/b", "/c"))
    assert reviews["/d"].problems == ()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"mode": "schedule"}, "publish_at: is missing"),
        ({"publish_at": "2099-01-01T00:00:00Z", "mode": "publish"}, "only goes with the mode schedule"),
        ({"mode": "schedule", "publish_at": "2020-02-30T00:00:00Z"}, "must be a time"),
        ({"mode": "schedule", "publish_at": "2020-01-01T00:00:00Z"}, "is in the past"),
        ({"mode": "schedule", "publish_at": "2020-01-01"}, "needs a time of day"),
        ({"mode": "schedule", "publish_at": "2999-01-01T00:00:00Z"}, "five years"),
        ({"options": {"tags": "news"}}, "options.tags"),
        ({"options": {"force": True}}, "options.force"),
        ({"options": {"publish_at": "2099-01-01T00:00:00Z"}}, "publish_content takes publish_at beside options"),
        ({"options": {"mode": "draft"}}, "publish_content takes mode beside options"),
        ({"content_id": "a_nobody"}, "a_nobody"),
        ({"website_id": "w_nobody"}, "w_nobody"),
    ],
)
def test_invalid_publish_arguments_are_refused(
    host: RunningHost, ada: Client, arguments: dict[str, Any], expected: str
) -> None:
    request = {"content_id": article(host, ada), "website_id": builtin(ada)} | arguments
    assert expected in ada.refusal("publish_content", **request)
    assert ada.data("list_publications")["publications"] == []


def test_what_a_platform_converts_is_reported(ada: Client) -> None:
    result = ada.call("get_website", website_id=builtin(ada))
    assert result["structuredContent"]["formatting"] == {"task_lists": "converted: boxes are characters"}
    sentence = "Formatting is kept, except: task lists (converted: boxes are characters)."
    assert sentence in result["content"][0]["text"]


def test_an_unsupported_taxonomy_is_not_an_error_of_the_site(
    host: RunningHost, ada: Client, platform: StandInPlatform
) -> None:
    website = standin(host, ada, platform)
    refusal = ada.refusal("list_site_taxonomies", website_id=website, kind="category")
    assert "Stand-in has no categories; use tag or author" in refusal
    assert not ada.data("get_website", website_id=website)["website"]["last_error"]


def test_the_default_mode_is_that_of_the_website(host: RunningHost, ada: Client, platform: StandInPlatform) -> None:
    website = standin(host, ada, platform)
    ada.data("update_website_settings", website_id=website, settings={"default_status": "draft"})
    left_out = ada.data("publish_content", content_id=article(host, ada), website_id=website)
    null = ada.data("publish_content", content_id=article(host, ada), website_id=website, mode=None)
    explicit = ada.data("publish_content", content_id=article(host, ada), website_id=website, mode="publish")
    assert [publication["status"] for publication in (left_out, null, explicit)] == ["draft", "draft", "published"]
    mode = publish_content.params.model_json_schema()["properties"]["mode"]
    assert mode["default"] is None
    assert "default_status" in mode["description"]


def test_without_a_mode_a_post_keeps_its_state(host: RunningHost, ada: Client, platform: StandInPlatform) -> None:
    website = standin(host, ada, platform)
    pair = {"content_id": article(host, ada), "website_id": website}

    def changed(version: int) -> None:
        fields = {"title": f"Hello {version}"}
        host.run(Articles(ada.plugin).update(ada.user_id, pair["content_id"], version, changes=fields))

    assert ada.data("publish_content", **pair, mode="draft")["status"] == "draft"
    changed(1)
    saved = ada.data("publish_content", **pair)
    assert (saved["status"], saved["article_version"]) == ("draft", 2)
    planned = ada.data("publish_content", **pair, publish_at=f"{YEAR + 1}-01-01T08:00:00Z")
    changed(2)
    unchanged = ada.data("publish_content", **pair)
    assert (unchanged["status"], unchanged["publish_at"], unchanged["article_version"]) == (
        "scheduled",
        planned["publish_at"],
        3,
    )
    assert ada.data("publish_content", **pair, mode="publish")["status"] == "published"
    ada.data("update_website_settings", website_id=website, settings={"default_status": "draft"})
    changed(3)
    updated = ada.data("publish_content", **pair)
    assert (updated["status"], updated["article_version"]) == ("published", 4)
    assert [(post["title"], post["state"]) for post in platform.posts.values()] == [("Hello 3", "live")]
    assert "unpublish_content" in ada.refusal("publish_content", **pair, mode="draft")
    assert "cannot be scheduled" in ada.refusal("publish_content", **pair, publish_at=f"{YEAR + 1}-01-01T08:00:00Z")


def test_an_update_without_changes_reports_edits_on_the_site(
    host: RunningHost, ada: Client, platform: StandInPlatform
) -> None:
    website = standin(host, ada, platform)
    pair = {"content_id": article(host, ada, body="One.\n\nTwo.\n\nThree."), "website_id": website}
    publication = ada.data("publish_content", **pair)
    same = ada.call("publish_content", **pair)
    assert "Nothing was sent" in same["content"][0]["text"]
    assert same["structuredContent"]["conflict"] is None
    post_id = next(iter(platform.posts))
    platform.edit(post_id, title="Mine", html="<p>One.</p>\n<p>Two, by hand.</p>")

    edited = ada.call("publish_content", **pair)

    text = edited["content"][0]["text"]
    assert "Nothing was written" in text
    assert "the title is now 'Mine' (it was 'Hello')" in text
    assert "the body now says 'Two, by hand.'" in text
    assert "1 passage of the body is gone" in text
    assert "with the article's title" not in text
    assert edited["structuredContent"]["verified"]["title_found"] is False
    assert platform.posts[post_id]["title"] == "Mine"
    forced = ada.data("publish_content", **pair, force=True)
    assert (forced["publication_id"], forced["conflict"]) == (publication["publication_id"], None)
    assert platform.posts[post_id]["title"] == "Hello"


@pytest.mark.parametrize("how", ["deleted", "unpublished"])
def test_a_post_that_is_no_longer_live_is_republished(
    host: RunningHost, ada: Client, platform: StandInPlatform, how: str
) -> None:
    website = standin(host, ada, platform)
    pair = {"content_id": article(host, ada), "website_id": website}
    ada.data("publish_content", **pair)
    if how == "deleted":
        platform.posts.clear()
    else:
        platform.edit(next(iter(platform.posts)), state="draft")
    assert ada.data("publish_content", **pair)["status"] == "published"
    assert [post["state"] for post in platform.posts.values()] == ["live"]


def test_what_sanitising_removed_is_reported_by_a_real_publish_too(
    host: RunningHost, ada: Client, platform: StandInPlatform
) -> None:
    pair = {
        "content_id": article(host, ada, body="Words <video src='x'></video> and more."),
        "website_id": standin(host, ada, platform),
    }
    dry_run = ada.data("publish_content", **pair, dry_run=True)
    publication = ada.data("publish_content", **pair)
    assert "removed from the body: <video>" in dry_run["warnings"]
    assert "removed from the body: <video>" in publication["warnings"]


def test_a_website_can_include_a_live_check(host: RunningHost, ada: Client, platform: StandInPlatform) -> None:
    website = standin(host, ada, platform)
    assert ada.data("get_website", website_id=website)["live_check"] is None
    checked = ada.call("get_website", website_id=website, check=True)
    live = checked["structuredContent"]["live_check"]
    assert (live["ok"], [check["id"] for check in live["checks"]]) == (True, ["reachable", "publish", "control"])
    assert "Live check: publishing is possible.\n- ok: The site answers" in checked["content"][0]["text"]
    platform.token = "another"
    broken = ada.call("get_website", website_id=website, check=True)
    assert broken["structuredContent"]["live_check"]["ok"] is False
    assert broken["structuredContent"]["website"]["status"] == "error"
    text = broken["content"][0]["text"]
    assert "Live check: publishing is not possible." in text
    assert re.search(r"Last error, \d{4}-\d\d-\d\d \d\d:\d\d \+0[12]:00: ", text)


def test_the_text_of_a_website_contains_what_writers_need(ada: Client) -> None:
    website = builtin(ada)
    ada.data("update_website_settings", website_id=website, settings={"timezone": "Asia/Tokyo", "author": "Ada"})
    ada.data("set_brand_voice", website_id=website, tone="Warm.", donts=["Shout.", "Beg."], glossary={"AI": "A.I."})
    lines = ada.call("get_website", website_id=website)["content"][0]["text"].splitlines()
    assert lines[0] == f"A blog (builtin, active) {ada.data('list_websites')['websites'][0]['url']}"
    assert lines[1].startswith(f"website_id {website}, connected 2")
    assert lines[1].endswith(" +09:00")
    assert lines[2].startswith("Time zone: Asia/Tokyo; now 2")
    assert "Supported: drafts, " in lines[3]
    assert "Settings, version 2: default_status publish; author Ada; category none; timezone Asia/Tokyo" in lines[4]
    voice = lines.index("Brand voice, version 1 (expected_version of set_brand_voice):")
    assert lines[voice + 1 :] == ["Tone: Warm.", "Do not: Shout.; Beg.", "Glossary: AI (not: A.I.)", "Spelling: any"]
    assert "set_brand_voice saves one" in ada.call("get_website", website_id=builtin(ada))["content"][0]["text"]


def test_taxonomies_are_those_of_the_installed_platforms(host: RunningHost, ada: Client) -> None:
    [tool] = [
        candidate
        for candidate in Peer(host, headers={"Authorization": f"Bearer {ada.key}"}).tools()
        if candidate["name"] == "list_site_taxonomies"
    ]
    assert tool["inputSchema"]["properties"]["kind"]["enum"] == ["category", "tag", "author"]
    website = builtin(ada)
    for kind in ("category", "tag", "author"):
        assert ada.data("list_site_taxonomies", website_id=website, kind=kind)["items"] == []
    assert "kind" in ada.refusal("list_site_taxonomies", website_id=website, kind="collection")


def test_articles_are_published_over_mcp(
    host: RunningHost, ada: Client, eve: Client, platform: StandInPlatform
) -> None:
    builtin_site, other = builtin(ada), standin(host, ada, platform)
    content = article(host, ada, tags=("news",), body="Words <script>alert(1)</script> and `more`.")
    dry_run = ada.data("publish_content", content_id=content, website_id=builtin_site, dry_run=True)
    assert (dry_run["status"], dry_run["publication_id"]) == ("dry_run", None)
    assert any("script" in warning for warning in dry_run["warnings"])
    first = ada.data("publish_content", content_id=content, website_id=builtin_site, client_request_id="r-1")
    assert first == ada.data("publish_content", content_id=content, website_id=builtin_site, client_request_id="r-1")
    assert first["status"] == "published"
    original = first["publication_id"]
    copy = {"content_id": content, "website_id": other}
    crosspost = ada.data("publish_content", **copy, canonical_publication_id=original)
    assert crosspost["status"] == "published"
    assert [post["canonical_url"] for post in platform.posts.values()] == [first["url"]]
    assert "w_nobody" in ada.refusal(
        "publish_content", content_id=content, website_id="w_nobody", canonical_publication_id=original
    )
    assert "this very website" in ada.refusal(
        "publish_content", content_id=content, website_id=builtin_site, canonical_publication_id=original
    )
    publications = ada.data("list_publications", content_id=content, verify=True)["publications"]
    assert {publication["status"] for publication in publications} == {"published"}
    assert [publication["edited_on_site"] for publication in publications] == [False, False]
    assert [publication["drift"] for publication in publications] == [[], []]
    assert {step["state"] for publication in publications for step in publication["steps"]} == {"done"}
    assert len(ada.data("list_publications", status="published")["publications"]) == 2
    listed = ada.call("list_publications")["content"][0]["text"]
    assert all(text in listed for text in (original, content, builtin_site, other, first["url"], "'Hello'"))
    assert eve.data("list_publications")["publications"] == []
    assert "no publication" in eve.refusal("list_publications", publication_id=original)
    platform.edit(next(iter(platform.posts)), html="<p>Edited</p>")
    host.run(Articles(ada.plugin).update(ada.user_id, content, 1, changes={"title": "Hello again"}))
    conflict = ada.call("publish_content", **copy)
    assert "edited on the site" in conflict["structuredContent"]["conflict"]
    assert "the body now says 'Edited'" in conflict["content"][0]["text"]
    assert "Nothing was written" in conflict["content"][0]["text"]
    assert conflict["structuredContent"]["article_version"] == 1
    forced = ada.data("publish_content", **copy, force=True)
    assert (forced["conflict"], forced["status"], forced["article_version"]) == (None, "published", 2)
    assert [post["canonical_url"] for post in platform.posts.values()] == [first["url"]]
    [publication] = ada.data("list_publications", publication_id=crosspost["publication_id"])["publications"]
    assert publication["overwritten"]["body"] == "<p>Edited</p>"
    platform.token = "revoked"
    host.run(Articles(ada.plugin).update(ada.user_id, content, 2, changes={"title": "Hello once more"}))
    failure = ada.refusal("publish_content", **copy)
    assert "Connect the site again" in failure
    assert "call publish_content again" in failure
    platform.token = TOKEN
    retried = ada.data("publish_content", **copy)
    assert (retried["status"], retried["article_version"]) == ("published", 3)
    assert "confirm" in ada.refusal("unpublish_content", publication_id=first["publication_id"], confirm=False)
    unpublished = ada.data("unpublish_content", publication_id=first["publication_id"], confirm=True)
    assert unpublished == {"publication_id": first["publication_id"], "status": "unpublished"}


def test_a_copy_without_its_original_is_not_updated_without_a_canonical_url(
    host: RunningHost, ada: Client, platform: StandInPlatform
) -> None:
    builtin_site, other = builtin(ada), standin(host, ada, platform)
    content = article(host, ada, body="Words.")
    original = ada.data("publish_content", content_id=content, website_id=builtin_site)
    copy = {"content_id": content, "website_id": other}
    ada.data("publish_content", **copy, canonical_publication_id=original["publication_id"])
    ada.data("unpublish_content", publication_id=original["publication_id"], mode="delete", confirm=True)
    host.run(Articles(ada.plugin).update(ada.user_id, content, 1, changes={"title": "Hello again"}))
    message = ada.refusal("publish_content", **copy)
    assert "its original is no longer live" in message
    assert [(post["title"], post["canonical_url"]) for post in platform.posts.values()] == [("Hello", original["url"])]
    republished = ada.data("publish_content", content_id=content, website_id=builtin_site)
    assert ada.data("publish_content", **copy)["status"] == "published"
    assert [(post["title"], post["canonical_url"]) for post in platform.posts.values()] == [
        ("Hello again", republished["url"])
    ]
    ada.data("unpublish_content", publication_id=republished["publication_id"], mode="delete", confirm=True)
    ada.data("publish_content", **copy, options={"canonical_url": "https://ada.example/hello"})
    assert [post["canonical_url"] for post in platform.posts.values()] == ["https://ada.example/hello"]
