"""Hostile websites: posts cannot stop the server or break what an account sees."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest
from pressroom.sdk import Fetched, Fetcher, JobStatus
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.contract import (
    Capabilities,
    ConnectionCheck,
    ConnectionReport,
    RemotePost,
    RemoteRedirect,
    SiteInfo,
    SiteUnavailable,
    Term,
)
from pressroom_content.publishing import comparing
from pressroom_content.websites.store import Websites
from pressroom_devto import site as devto
from pressroom_devto.site import DevtoSite
from pressroom_ghost import posts as ghost
from pressroom_ghost.site import GhostSite
from pressroom_wordpress import parsing, posts, terms
from support.content_client import Client, client_of
from support.hostile_sites import HostileForem, HostileGhost, HostileSite, HostileWordPress, running

MANY = 14_000_000
LONG = f"<p>{'Words that were edited and many. ' * 2000}</p>"
PLATFORMS = (HostileWordPress, HostileGhost, HostileForem)


@pytest.fixture(scope="module")
def sites() -> Iterator[dict[str, HostileSite]]:
    with ExitStack() as stack:
        yield {kind.platform: stack.enter_context(running(kind())) for kind in PLATFORMS}


@pytest.fixture(scope="module")
def host(sites: dict[str, HostileSite], tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    forem = {"config": {"api_url": f"{sites['devto'].url}/api", "write_interval": 0}}
    plugins = {"content": {}, "wordpress": {}, "ghost": {}, "devto": forem}
    config = {"fetch": {"private_networks": ["127.0.0.0/8"]}, "plugins": plugins}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("hostile"))) as started:
        yield started


@pytest.fixture(scope="module")
def client(host: RunningHost) -> Client:
    return client_of(host, "ada@example.com")


@pytest.fixture(scope="module")
def websites(client: Client, sites: dict[str, HostileSite]) -> dict[str, str]:
    """Return the website IDs by platform."""
    ids: dict[str, str] = {}
    for name, site in sites.items():
        added = client.host.run(
            Websites(client.plugin).add(
                client.user_id, name, name="Theirs", url=site.url, credential=dict(site.credential)
            )
        )
        client.data("update_website_settings", website_id=added.id, settings={"timezone": "Asia/Tokyo"})
        ids[name] = added.id
    return ids


@pytest.fixture(scope="module", params=["wordpress", "ghost"])
def site(request: pytest.FixtureRequest, sites: dict[str, HostileSite]) -> HostileSite:
    """Return a hostile website whose posts can be adopted."""
    return sites[request.param]


@pytest.fixture(scope="module")
def website(site: HostileSite, websites: dict[str, str]) -> str:
    return websites[site.platform]


@pytest.fixture(scope="module", params=["wordpress", "ghost", "devto"])
def any_site(request: pytest.FixtureRequest, sites: dict[str, HostileSite]) -> HostileSite:
    return sites[request.param]


def _not_here(function: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(post: RemotePost | str, *arguments: Any) -> Any:
        html = post if isinstance(post, str) else post.html
        assert len(html) <= 50_000, "a long post is worked on in the server itself"
        return function(post, *arguments)

    return guarded


def test_an_attacker_cannot_stop_the_server_with_a_long_body_of_a_post(
    client: Client, site: HostileSite, website: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The patches affect only this process.
    for name in ("_passages", "_hash_of", "text_of"):
        monkeypatch.setattr(comparing, name, _not_here(getattr(comparing, name)))
    imported = client.data("import_content", url=site.shows(1), website_id=website)
    content, publication = imported["content_id"], imported["publication_id"]
    site.shows(1, LONG, "2026-01-02T00:00:00")
    published = client.data("publish_content", content_id=content, website_id=website)
    assert "the body now says 'Words that were edited and many. " in published["conflict"]
    [verified] = client.data("list_publications", publication_id=publication, verify=True)["publications"]
    assert "Words that were edited" in str(verified)
    assert client.data("merge_site_edits", publication_id=publication, dry_run=True)["edited"]
    article = client.data("get_content", content_id=content)["content"]
    edits = [{"find": "Some words", "replace": "Other words"}]
    client.data("update_content", content_id=content, expected_version=article["version"], edits=edits)
    [conflict] = client.data("merge_site_edits", publication_id=publication)["conflicts"]
    assert (conflict["before"].strip(), conflict["site"][:5]) == ("Some words of a post.", "Words")
    assert len(conflict["site"]) < 3_000
    client.data("publish_content", content_id=content, website_id=website, force=True)
    client.data("import_content", url=site.shows(2, LONG), website_id=website)


TIMES: Mapping[str, tuple[dict[str, Any], ...]] = {
    "wordpress": (
        {"modified_gmt": "9999-12-31T23:59:59"},
        {"modified_gmt": "0001-01-01T00:00:00"},
        {"status": "future", "date_gmt": "9999-12-31T23:59:59"},
    ),
    "ghost": (
        {"updated_at": "9999-12-31T23:59:59.000Z"},
        {"updated_at": "0001-01-01T00:00:00.000Z"},
        {"status": "scheduled", "published_at": "9999-12-31T23:59:59.000+14:00"},
    ),
}


def test_an_attacker_cannot_break_lists_of_an_account_with_the_time_of_a_post(
    client: Client, site: HostileSite, website: str
) -> None:
    for number, fields in enumerate(TIMES[site.platform], 10):
        imported = client.data("import_content", url=site.shows(number, **fields), website_id=website)
        client.data("get_content", content_id=imported["content_id"])
        client.data("list_publications", publication_id=imported["publication_id"], verify=True)
    client.data("list_publications")


@pytest.mark.parametrize("at", [datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC)])
def test_times_of_posts_can_always_be_shown(at: datetime) -> None:
    post = RemotePost("1", "", "scheduled", "", publish_at=at, updated_at=at)
    for zone in ("Pacific/Kiritimati", "Pacific/Niue"):
        for moment in (post.publish_at, post.updated_at):
            assert moment is not None
            assert 999 <= moment.astimezone(ZoneInfo(zone)).year <= 9000


@pytest.mark.parametrize("shown", [{"id": None}, {"id": "\ud800"}, {"id": "1\0"}, {"id": {"a": 1}}, {"id": "9" * 300}])
def test_an_attacker_gets_no_post_stored_under_an_invalid_id(
    client: Client, site: HostileSite, website: str, shown: dict[str, Any]
) -> None:
    url = site.shows(20, **shown)
    assert "did not say which object it is about" in client.refusal("import_content", url=url, website_id=website)


def test_an_attackers_odd_tags_and_numbers_of_pages_break_no_post(
    client: Client, site: HostileSite, website: str
) -> None:
    imported = client.data("import_content", url=site.shows(21, tags=7, categories={"a": 1}), website_id=website)
    assert client.data("get_content", content_id=imported["content_id"])["content"]["tags"] == []
    for pages in ("²", "9" * 5000, "-1"):
        assert terms.number_of_pages({"x-wp-totalpages": pages}) is None
    assert not ghost.is_settled(ghost.post_of({"id": "1"}), "Mon, 20 Nov 99999999999999999999 08:00:00 GMT")


def test_an_attackers_error_message_does_not_keep_a_publication_from_ending(
    client: Client, any_site: HostileSite, websites: dict[str, str]
) -> None:
    text, website = "No \0 and \ud800 never", websites[any_site.platform]
    any_site.refusal = {"message": text, "error": text, "errors": [{"message": text}]}
    article = client.data("create_content", title="A post", body="Some words.", website_id=website)
    any_site.shows(30)
    try:
        message = client.refusal("publish_content", content_id=article["content_id"], website_id=website)
    finally:
        any_site.refusal = None
    assert "refused this (HTTP 400: No  and ? never)" in message


def test_an_attacker_gets_no_credential_by_a_redirect_to_another_host(
    client: Client, any_site: HostileSite, websites: dict[str, str]
) -> None:
    website = websites[any_site.platform]
    article = client.data("create_content", title="A post", body="Some words.", website_id=website)
    with running(type(any_site)()) as other:
        other.shows(40)
        any_site.sent.clear()
        any_site.moved = other.url
        try:
            message = client.refusal("publish_content", content_id=article["content_id"], website_id=website)
            client.call("import_content", url=f"{any_site.url}/post-41", website_id=website)
            client.call("sync_website_content", website_id=website)
        finally:
            any_site.moved = ""
        assert f"redirects to {other.url}/" in message
        assert any_site.sent
        assert not other.sent


def test_an_attackers_thousands_of_blocks_do_not_cause_thousands_of_warnings(
    client: Client, sites: dict[str, HostileSite], websites: dict[str, str]
) -> None:
    site, website = sites["wordpress"], websites["wordpress"]
    blocks = "".join(f'<!-- wp:theirs/block {{"n":{number}}} /-->\n' for number in range(300))
    imported = client.data("import_content", url=site.shows(50, content={"raw": blocks}), website_id=website)
    client.data("update_content", content_id=imported["content_id"], expected_version=1, fields={"body": "Words."})
    client.data("publish_content", content_id=imported["content_id"], website_id=website)
    [publication] = client.data("list_publications", publication_id=imported["publication_id"])["publications"]
    assert "280 more blocks that only the site understood are no longer in the article" in publication["warnings"]
    assert len(publication["warnings"]) < 30


def test_an_attacker_cannot_fill_lists_and_messages_with_texts_of_a_site() -> None:
    text = "a" * MANY
    term = Term(text, text, text, cast("Any", {"a": 1}))
    check = ConnectionCheck("credential", "ok", f"signed in as {text}", text)
    report = ConnectionReport((check,), Capabilities(), name=text, language=text, timezone=text)
    redirect = RemoteRedirect("1", text, text)
    texts = (*(term.id, term.name, term.slug), check.message, check.fix, report.name, report.language, report.timezone)
    assert max(map(len, (*texts, redirect.source, redirect.target))) <= 2048
    assert term.count is None


def _fetcher_returning(content: str) -> Fetcher:
    async def request(_method: str, url: str, **_: Any) -> Fetched:
        return Fetched(url, 200, "application/json", content.encode(), {})

    return cast("Fetcher", SimpleNamespace(request=request))


async def test_rows_without_an_id_are_reported_as_not_being_posts() -> None:
    dev = DevtoSite("https://dev.example/api", "key", _fetcher_returning('[{"title": "a"}]'))
    with pytest.raises(SiteUnavailable, match="did not say which object"):
        await anext(dev.posts(None, 1))
    credential = {"admin_api_key": f"{'a' * 24}:{'b' * 64}"}
    info = SiteInfo("w_1", "u_1", "Blog", "https://ghost.example")
    blog = GhostSite(info, credential, _fetcher_returning('{"posts": [{"title": "a"}], "pages": []}'))
    with pytest.raises(SiteUnavailable, match="did not say which object"):
        await anext(blog.posts(None, 1))


def test_an_attacker_cannot_stop_the_server_with_long_fields_of_a_post() -> None:
    text, names = "&amp;" * (MANY // 5), [f"tag {number}" for number in range(100_000)]
    started = time.process_time()
    remote_posts = [
        parsing.post_of({"id": 1, "title": {"raw": text}, "excerpt": {"raw": text}, "tags": names}),
        ghost.post_of({"id": "1", "title": text, "feature_image_caption": text, "tags": [{"name": text}]}),
        devto.post_of({"id": 1, "title": text, "description": text, "tag_list": names}),
    ]
    assert not posts.is_at({"link": "https://site.example/" + "%41/" * (MANY // 4)}, "a")
    assert not ghost.is_at("https://site.example/" + "%41" * (MANY // 3), "https://site.example/a", "")
    assert time.process_time() - started < 2
    for post in remote_posts:
        for name, value in post.fields.items():
            assert len(value) <= 10_000, name
            assert isinstance(value, str) or len(value) <= 500, name
            assert all(len(text) <= 10_000 for text in value), name


def _synced(client: Client, website: str, limit: int) -> JobStatus:
    """Sync a website into the index, and return the final job status."""
    job = client.data("sync_website_content", website_id=website, max_items=limit)["job_id"]
    while True:
        status = client.host.run(client.plugin.services.jobs.status(job))
        if status.state not in ("queued", "running"):
            return status
        time.sleep(0.01)


def test_an_attackers_endless_list_of_posts_is_read_up_to_the_limit(
    client: Client, sites: dict[str, HostileSite], websites: dict[str, str]
) -> None:
    site = cast("HostileGhost", sites["ghost"])
    site.shows(60)
    site.endless, site.request_count = True, 0
    try:
        status = _synced(client, websites["ghost"], 50)
        assert (status.result or {})["posts"] == 50
    finally:
        site.endless = False
    # Three pages of posts, one of pages, and the site's connection check.
    assert site.request_count < 10


@pytest.mark.parametrize(
    "body",
    [
        '{"root":' + '{"type":"root","children":[' * 20_000 + "]}" * 20_000 + "}",
        '{"root":{"type":"root","children":[' + ",".join(['{"type":"paragraph","children":[]}'] * 100_000) + "]}}",
        '{"root":{"type":"root","children":[' + ",".join(['{"type":"theirs","a":1}'] * 20_000) + "]}}",
        '{"root":{"type":7,"children":{"0":[]}}}',
        '{"root":{"type":"root","children":[{"type":"extended-text","text":{"a":1},"format":"x"}]}}',
        "[" * 100_000,
    ],
    ids=["deep", "long", "unknown", "odd", "odd text", "no document"],
)
def test_an_attackers_documents_of_an_editor_stop_nothing(
    client: Client, sites: dict[str, HostileSite], websites: dict[str, str], body: str
) -> None:
    url = sites["ghost"].shows(70, lexical=body)
    started = time.monotonic()
    result = client.call("import_content", url=url, website_id=websites["ghost"])
    assert time.monotonic() - started < 60
    if "structuredContent" in result:
        [publication] = client.data("list_publications", publication_id=result["structuredContent"]["publication_id"])[
            "publications"
        ]
        assert len(str(publication)) < 20_000
    assert "internal" not in str(result)[:400]


ODD = [7, True, {"a": 1}, [], [[]], "\ud800\0", "a" * 200_000, -1e308]
FIELDS = {
    "wordpress": ("author", "categories", "featured_media", "meta", "tags", "_embedded", "yoast_head_json", "sticky"),
    "ghost": ("authors", "codeinjection_foot", "feature_image", "feature_image_caption", "tags", "tiers", "visibility"),
    "devto": ("cover_image", "description", "canonical_url", "user", "organization"),
}
"""Fields that a typical post of these sites lacks."""


def test_an_attackers_odd_values_in_any_field_are_accepted_or_refused(any_site: HostileSite) -> None:
    read = {"wordpress": parsing.post_of, "ghost": ghost.post_of, "devto": devto.post_of}[any_site.platform]
    any_site.shows(80)
    for name in (*any_site.post, *FIELDS[any_site.platform]):
        for value in ODD:
            post = read({**any_site.post, name: value})
            assert isinstance(post.html, str)
            assert all(isinstance(field, str | tuple) for field in post.fields.values()), (name, value)


@pytest.mark.parametrize("value", [{"a": 1}, "\ud800\0", -1e308], ids=["object", "no text", "number"])
def test_an_attackers_odd_post_is_imported_or_refused_with_a_message(
    client: Client, site: HostileSite, website: str, value: Any
) -> None:
    url = site.shows(81)
    original = dict(site.post)
    for name in (*original, *FIELDS[site.platform]):
        site.post = {**original, name: value}
        result = client.call("import_content", url=url, website_id=website)
        text = str(result["content"])
        words = ("Took over", "is here already", "did not say which object it is about", "url: is not a web page")
        assert any(word in text for word in words), (name, text)
    client.data("list_publications", website_id=website)


def test_an_attackers_odd_posts_do_not_keep_a_check_of_a_site_from_ending(
    client: Client, any_site: HostileSite, websites: dict[str, str]
) -> None:
    any_site.shows(82, title={"a": 1}, url=["a"], slug=7)
    assert _synced(client, websites[any_site.platform], 5).state == "succeeded"
