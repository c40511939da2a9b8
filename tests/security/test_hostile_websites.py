"""A website that belongs to an attacker cannot stop the server, nor break what an account sees, with its posts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest
from pressroom.sdk import Fetched, Fetcher
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.contract import (
    Capabilities,
    ConnectionCheck,
    ConnectionReport,
    RemotePost,
    RemoteRedirect,
    SiteAddress,
    SiteUnavailable,
    Term,
)
from pressroom_content.publishing import comparing
from pressroom_content.websites.store import Websites
from pressroom_devto import reading as devto
from pressroom_devto.site import DevtoSite
from pressroom_ghost import posts as ghost
from pressroom_ghost.site import GhostSite
from pressroom_wordpress import locating, reading, terms
from support.content_client import Client, client_of
from support.hostile_wordpress import CREDENTIAL, HostileWordPress, hostile_wordpress

MANY = 14_000_000
LONG = f"<!-- wp:paragraph -->\n<p>{'Words that were edited &amp; many. ' * 2000}</p>\n<!-- /wp:paragraph -->"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    config = {"fetch": {"private_networks": ["127.0.0.0/8"]}, "plugins": {"content": {}, "wordpress": {}}}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("hostile"))) as running:
        yield running


@pytest.fixture(scope="module")
def client(host: RunningHost) -> Client:
    return client_of(host, "ada@example.com")


@pytest.fixture(scope="module")
def site() -> Iterator[HostileWordPress]:
    with hostile_wordpress() as running:
        yield running


@pytest.fixture(scope="module")
def website(client: Client, site: HostileWordPress) -> str:
    websites = Websites(client.plugin)
    made = client.host.run(
        websites.add(client.user_id, "wordpress", name="Theirs", url=site.url, credential=CREDENTIAL)
    )
    client.data("update_website_settings", website_id=made.id, settings={"timezone": "Asia/Tokyo"})
    return made.id


def _not_here(function: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(post: RemotePost | str, *arguments: Any) -> Any:
        html = post if isinstance(post, str) else post.html
        assert len(html) <= 50_000, "a long post is worked on in the server itself"
        return function(post, *arguments)

    return guarded


def test_an_attacker_cannot_stop_the_server_with_a_long_body_of_a_post(
    client: Client, site: HostileWordPress, website: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The patches are of this process alone.
    for name in ("_passages", "_hash_of", "text_of"):
        monkeypatch.setattr(comparing, name, _not_here(getattr(comparing, name)))
    taken = client.data("import_content", url=site.shows(1), website_id=website)
    content, publication = taken["content_id"], taken["publication_id"]
    site.shows(1, content={"raw": LONG}, modified_gmt="2026-01-02T00:00:00")
    kept = client.data("publish_content", content_id=content, website_id=website)
    assert "the body now says 'Words that were edited & many. " in kept["conflict"]
    [seen] = client.data("list_publications", publication_id=publication, verify=True)["publications"]
    assert "Words that were edited" in str(seen)
    assert client.data("merge_site_edits", publication_id=publication, dry_run=True)["edited"]
    article = client.data("get_content", content_id=content)["content"]
    edits = [{"find": "Some words", "replace": "Other words"}]
    client.data("update_content", content_id=content, expected_version=article["version"], edits=edits)
    [conflict] = client.data("merge_site_edits", publication_id=publication)["conflicts"]
    assert (conflict["before"].strip(), conflict["site"][:5]) == ("Some words of a post.", "Words")
    assert len(conflict["site"]) < 3_000
    client.data("publish_content", content_id=content, website_id=website, force=True)
    client.data("import_content", url=site.shows(2, content={"raw": LONG}), website_id=website)


def test_an_attacker_cannot_break_lists_of_an_account_with_the_time_of_a_post(
    client: Client, site: HostileWordPress, website: str
) -> None:
    for number, fields in enumerate(
        (
            {"modified_gmt": "9999-12-31T23:59:59"},
            {"modified_gmt": "0001-01-01T00:00:00"},
            {"status": "future", "date_gmt": "9999-12-31T23:59:59"},
        ),
        10,
    ):
        taken = client.data("import_content", url=site.shows(number, **fields), website_id=website)
        client.data("get_content", content_id=taken["content_id"])
        client.data("list_publications", publication_id=taken["publication_id"], verify=True)
    client.data("list_publications")


@pytest.mark.parametrize("at", [datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC)])
def test_no_time_of_a_post_is_one_that_cannot_be_shown(at: datetime) -> None:
    post = RemotePost("1", "", "scheduled", "", publish_at=at, updated_at=at)
    for zone in ("Pacific/Kiritimati", "Pacific/Niue"):
        for kept in (post.publish_at, post.updated_at):
            assert kept is not None
            assert 999 <= kept.astimezone(ZoneInfo(zone)).year <= 9000


@pytest.mark.parametrize("shown", [{"id": None}, {"id": "\ud800"}, {"id": "1\0"}, {"id": {"a": 1}}, {"id": "9" * 300}])
def test_an_attacker_gets_no_post_kept_under_what_is_no_id(
    client: Client, site: HostileWordPress, website: str, shown: dict[str, Any]
) -> None:
    url = site.shows(20, **shown)
    assert "did not say which object it is about" in client.refusal("import_content", url=url, website_id=website)


def test_an_attackers_odd_tags_and_numbers_of_pages_break_no_post(
    client: Client, site: HostileWordPress, website: str
) -> None:
    taken = client.data("import_content", url=site.shows(21, tags=7, categories={"a": 1}), website_id=website)
    assert client.data("get_content", content_id=taken["content_id"])["content"]["tags"] == []
    for pages in ("²", "9" * 5000, "-1"):
        assert terms.pages_of({"x-wp-totalpages": pages}) == 1
    assert not ghost.is_settled(ghost.post_of({"id": "1"}), "Mon, 20 Nov 99999999999999999999 08:00:00 GMT")


def test_an_attackers_error_message_does_not_keep_a_publication_from_ending(
    client: Client, site: HostileWordPress, website: str
) -> None:
    site.refusal = {"message": "No \0 and \ud800 never"}
    made = client.data("create_content", title="A post", body="Some words.", website_id=website)
    site.shows(30)
    try:
        told = client.refusal("publish_content", content_id=made["content_id"], website_id=website)
    finally:
        site.refusal = None
    assert "refused this (HTTP 400: No  and ? never)" in told


def test_an_attacker_gets_no_credential_by_a_redirect_to_another_host(
    client: Client, site: HostileWordPress, website: str
) -> None:
    taken = client.data("import_content", url=site.shows(40), website_id=website)
    edits = [{"find": "Some words", "replace": "Other words"}]
    client.data("update_content", content_id=taken["content_id"], expected_version=1, edits=edits)
    with hostile_wordpress() as other:
        other.shows(40)
        site.moved = other.url
        try:
            told = client.refusal("publish_content", content_id=taken["content_id"], website_id=website)
            client.data("list_publications", publication_id=taken["publication_id"], verify=True)
            client.call("import_content", url=f"{site.url}/post-41", website_id=website)
        finally:
            site.moved = ""
        assert f"redirects to {other.url}/wp-json/" in told
        assert site.sent
        assert not other.sent


def test_an_attackers_thousands_of_blocks_are_no_thousands_of_warnings(
    client: Client, site: HostileWordPress, website: str
) -> None:
    blocks = "".join(f'<!-- wp:theirs/block {{"n":{number}}} /-->\n' for number in range(300))
    taken = client.data("import_content", url=site.shows(50, content={"raw": blocks}), website_id=website)
    client.data("update_content", content_id=taken["content_id"], expected_version=1, fields={"body": "Words."})
    client.data("publish_content", content_id=taken["content_id"], website_id=website)
    [shown] = client.data("list_publications", publication_id=taken["publication_id"])["publications"]
    assert "280 more blocks that only the site understood are not in the article any more" in shown["warnings"]
    assert len(shown["warnings"]) < 30


def test_an_attacker_cannot_fill_lists_and_messages_with_what_a_site_says_of_itself() -> None:
    text = "a" * MANY
    term = Term(text, text, text, cast("Any", {"a": 1}))
    check = ConnectionCheck("credential", "ok", f"signed in as {text}", text)
    report = ConnectionReport((check,), Capabilities(), name=text, language=text, timezone=text)
    redirect = RemoteRedirect("1", text, text)
    shown = (*(term.id, term.name, term.slug), check.message, check.fix, report.name, report.language, report.timezone)
    assert max(map(len, (*shown, redirect.source, redirect.target))) <= 2048
    assert term.count is None


def _answering(content: str) -> Fetcher:
    async def request(_method: str, url: str, **_: Any) -> Fetched:
        return Fetched(url, 200, "application/json", content.encode(), {})

    return cast("Fetcher", SimpleNamespace(request=request))


async def test_rows_without_an_id_are_said_to_be_none_of_posts() -> None:
    dev = DevtoSite("https://dev.example/api", "key", _answering('[{"title": "a"}]'))
    with pytest.raises(SiteUnavailable, match="did not say which object"):
        await anext(dev.posts(None, 1))
    credential = {"admin_api_key": f"{'a' * 24}:{'b' * 64}"}
    address = SiteAddress("w_1", "u_1", "Blog", "https://ghost.example")
    blog = GhostSite(address, credential, _answering('{"posts": [{"title": "a"}], "pages": []}'))
    with pytest.raises(SiteUnavailable, match="did not say which object"):
        await anext(blog.posts(None, 1))


def test_an_attacker_cannot_stop_the_server_with_long_fields_of_a_post() -> None:
    text, names = "&amp;" * (MANY // 5), [f"tag {number}" for number in range(100_000)]
    begun = time.process_time()
    shown = [
        reading.post_of({"id": 1, "title": {"raw": text}, "excerpt": {"raw": text}, "tags": names}),
        ghost.post_of({"id": "1", "title": text, "feature_image_caption": text, "tags": [{"name": text}]}),
        devto.post_of({"id": 1, "title": text, "description": text, "tag_list": names}),
    ]
    assert not locating.is_at({"link": "https://site.example/" + "%41/" * (MANY // 4)}, "a")
    assert not ghost.is_at("https://site.example/" + "%41" * (MANY // 3), "https://site.example/a", "")
    assert time.process_time() - begun < 2
    for post in shown:
        for name, value in post.fields.items():
            assert len(value) <= 10_000, name
            assert isinstance(value, str) or len(value) <= 500, name
            assert all(len(one) <= 10_000 for one in value), name
