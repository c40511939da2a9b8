"""URLs of a built-in site: responses after posts moved or were removed, and conditional requests."""

from __future__ import annotations

import gzip
import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from PIL import Image
from pressroom.testing import RunningHost
from pressroom_content.articles.store import Articles
from pressroom_content.builtin_site.summaries import MAX_WIDTH, shortened, summary, width
from pressroom_content.contract import MediaFile, Post, RemoteMedia
from pressroom_content.tables import ArticleRow, PublicationRow, WebsiteRow
from pressroom_content.websites.store import Websites
from selectolax.lexbor import LexborHTMLParser
from sqlalchemy import update
from support.selecting import attribute_of, text_of

from ..conftest import Client  # noqa: TID252 - the client of the whole plugin
from .test_pages import Site

LATER = datetime.now(UTC).replace(microsecond=0) + timedelta(days=400)
TWINS = ("", ".md", "/llms.txt")


@pytest.fixture
def site(host: RunningHost, ada: Client) -> Site:
    return Site(host, ada, "Ada moves", description="Notes on engines.")


def statuses(site: Site, slug: str) -> list[int]:
    return [site.get(f"/{slug}{twin}").status_code for twin in TWINS]


def move(site: Site, host: RunningHost, client: Client, version: int, slug: str) -> None:
    host.run(Articles(client.plugin).update(client.user_id, site.content, version, changes={"slug": slug}))
    client.data("publish_content", content_id=site.content, website_id=site.id)


def test_robots_txt_lists_the_sitemaps_of_sites_with_content(host: RunningHost, ada: Client) -> None:
    empty, site = Site(host, ada, "Nothing yet"), Site(host, ada, "Something")
    site.publish()
    robots = site.get("/robots.txt")
    assert robots.text == f"User-agent: *\nAllow: /\n\nSitemap: {site.url}/sitemap.xml\n"
    root = httpx.get(f"{host.url}/robots.txt")
    assert root.headers["content-type"] == "text/plain; charset=utf-8"
    lines = root.text.splitlines()
    assert lines[:2] == ["User-agent: *", "Allow: /"]
    assert f"Sitemap: {site.url}/sitemap.xml" in lines
    assert f"Sitemap: {empty.url}/sitemap.xml" not in lines


@pytest.mark.parametrize("mode", ["draft", "trash", "delete"])
def test_an_unpublished_page_and_its_text_versions_are_410(site: Site, ada: Client, mode: str) -> None:
    publication = site.publish(slug="here")
    assert statuses(site, "here") == [200, 200, 200]
    assert statuses(site, "never") == [404, 404, 404]
    ada.data("unpublish_content", publication_id=publication["publication_id"], mode=mode, confirm=True)
    assert statuses(site, "here") == [410, 410, 410]
    assert site.get("/here").headers["cache-control"] == "no-cache"
    assert "/here" not in site.get("/sitemap.xml").text + site.get("/feed.xml").text + site.get("/llms.txt").text
    ada.data("publish_content", content_id=site.content, website_id=site.id)
    assert statuses(site, "here") == [200, 200, 200]


def test_a_draft_and_a_scheduled_post_are_404(site: Site, ada: Client) -> None:
    for slug, options in (("draft", {"mode": "draft"}), ("later", {"publish_at": LATER.isoformat()})):
        article = ada.data("create_content", title="Soon", body="Words.", slug=slug)
        ada.data("publish_content", content_id=article["content_id"], website_id=site.id, **options)
        assert statuses(site, slug) == [404, 404, 404]


def test_a_cancelled_schedule_leaves_no_future_date(site: Site, ada: Client) -> None:
    id_ = ada.data("create_content", title="Soon", body="Words.", slug="soon")["content_id"]
    pair = {"content_id": id_, "website_id": site.id}
    publication = ada.data("publish_content", **pair, publish_at=LATER.isoformat())
    ada.data("unpublish_content", publication_id=publication["publication_id"], confirm=True)
    assert statuses(site, "soon") == [404, 404, 404]
    ada.data("publish_content", **pair, mode="publish")
    assert statuses(site, "soon") == [200, 200, 200]
    assert f"{LATER:%Y-%m-}" not in site.get("/soon").text
    assert f"{LATER:%b %Y}" not in site.get("/feed.xml").text


def test_pages_and_their_text_versions_redirect_in_one_step(site: Site, host: RunningHost, ada: Client) -> None:
    site.publish(slug="a")
    for version, slug in enumerate(("b", "c", "d"), 1):
        move(site, host, ada, version, slug)
    for old in "abc":
        for twin in TWINS:
            response = site.get(f"/{old}{twin}")
            assert (response.status_code, response.headers["location"]) == (301, f"{site.url}/d{twin}")
    listed = ada.data("list_redirects", website_id=site.id)["redirects"]
    assert [(redirect["from_path"], redirect["to"], redirect["problems"]) for redirect in listed] == [
        ("/a", "/d", []),
        ("/b", "/d", []),
        ("/c", "/d", []),
    ]
    move(site, host, ada, 4, "b")
    assert statuses(site, "b") == [200, 200, 200]
    assert {site.get(f"/{old}").headers["location"] for old in "acd"} == {f"{site.url}/b"}


def test_a_new_post_can_use_an_old_slug(site: Site, host: RunningHost, ada: Client) -> None:
    site.publish("First", slug="old")
    move(site, host, ada, 1, "new")
    second = site.publish("Second", "Other words.", slug="old")
    assert second["url"] == f"{site.url}/old"
    assert "Second" in site.get("/old").text
    ada.data("unpublish_content", publication_id=second["publication_id"], confirm=True)
    assert statuses(site, "old") == [410, 410, 410]


def test_redirect_chains_are_resolved_in_one_step_and_loops_are_not_followed(
    site: Site, host: RunningHost, ada: Client
) -> None:
    site.publish(slug="end")
    for source, target, permanent in (("/one", "/two", True), ("/two", "/three", False), ("/three", "/end#x", True)):
        ada.data("set_redirect", website_id=site.id, from_path=source, to=target, permanent=permanent)
    response = site.get("/one")
    assert (response.status_code, response.headers["location"]) == (302, f"{site.url}/end#x")
    assert site.get("/one.md").headers["location"] == f"{site.url}/end.md"
    _, connected = host.run(Websites(ada.plugin).open(ada.user_id, site.id))
    host.run(connected.add_redirect("/three", "/one", permanent=True))
    assert statuses(site, "one") == [404, 404, 404]


def test_redirects_to_every_kind_of_page_are_checked_correctly(site: Site, ada: Client) -> None:
    site.publish(slug="post", tags=("a b",), categories=("c",), author="Ada")
    sound = ["/", "/post", "/post.md", "/post/llms.txt", "/cards/post.png", "/archive", "/search?q=words", "/tags/a-b",
             "/categories/c", "/authors/ada", "/feed.xml", "/atom.xml", "/feed.json", "/sitemap.xml", "/robots.txt",
             "/llms.txt", "/style.css", "/post?from=old#end", "/?page=1"]  # fmt: skip
    missing = ["/nothing", "/nothing.md", "/tags/nothing", "/files/nothing.png", "/a/b/c", "/?page=9"]
    rules = {f"/old-{number}": target for number, target in enumerate([*sound, *missing])}
    for source, target in rules.items():
        ada.data("set_redirect", website_id=site.id, from_path=source, to=target)
    listed = ada.data("list_redirects", website_id=site.id, check=True)["redirects"]
    problems = {rules[redirect["from_path"]]: redirect["problems"] for redirect in listed}
    expected = ["its target responds with 404"]
    assert problems == {target: [] for target in sound} | dict.fromkeys(missing, expected)


async def _changed_long_ago(client: Client) -> None:
    """Backdate all changes of an account by an hour, so that later changes fall in another second."""
    at = datetime.now(UTC) - timedelta(hours=1)
    async with client.plugin.services.database.writing() as session:
        for table, column in ((WebsiteRow, "updated_at"), (ArticleRow, "updated_at"), (PublicationRow, "published_at")):
            statement = update(table).where(table.user_id == client.user_id).values({column: at})
            await session.execute(statement.execution_options(synchronize_session=False))


def test_conditional_headers_are_evaluated_in_order(site: Site, host: RunningHost, ada: Client) -> None:
    site.publish("Hello world", "Some words. " * 200)
    host.run(_changed_long_ago(ada))
    for path in ("", "/hello-world", "/hello-world.md", "/hello-world/llms.txt", "/feed.xml", "/sitemap.xml"):
        response = site.get(path)
        etag, modified = response.headers["etag"], response.headers["last-modified"]
        old = "Mon, 01 Jan 2001 00:00:00 GMT"
        requests: list[tuple[dict[str, str], int]] = [
            ({"If-Modified-Since": modified}, 304),
            ({"If-Modified-Since": old}, 200),
            ({"If-Modified-Since": "yesterday"}, 200),
            ({"If-None-Match": etag, "If-Modified-Since": old}, 304),
            ({"If-None-Match": '"other"', "If-Modified-Since": modified}, 200),
            ({"If-None-Match": "*"}, 304),
            ({"If-Match": '"other"'}, 412),
            ({"If-Unmodified-Since": old}, 412),
        ]
        for headers, status in requests:
            repeated = site.get(path, **headers)
            assert (path, headers, repeated.status_code) == (path, headers, status)
            assert repeated.headers["last-modified"] == modified
            assert bool(repeated.content) == (status == 200)
        head = httpx.head(f"{site.url}{path}")
        assert (head.status_code, head.headers["last-modified"], head.content) == (200, modified, b"")


def test_two_changes_within_a_second_are_distinguished(site: Site, ada: Client) -> None:
    site.publish("Hello world")
    for description in ("One.", "Two.", "Three."):
        modified = site.get().headers["last-modified"]
        ada.data("update_website_settings", website_id=site.id, settings={"description": description})
        changed = site.get(**{"If-Modified-Since": modified})
        assert (changed.status_code, description in changed.text) == (200, True)


def test_public_pages_are_compressed(site: Site) -> None:
    site.publish("Hello world", "Some words. " * 200)
    for path in ("", "/hello-world", "/hello-world.md", "/hello-world/llms.txt", "/feed.xml"):
        with httpx.stream("GET", f"{site.url}{path}", headers={"accept-encoding": "gzip"}) as response:
            sent = b"".join(response.iter_raw())
        assert response.headers["content-encoding"] == "gzip", path
        assert "accept-encoding" in response.headers["vary"].lower()
        assert len(gzip.decompress(sent)) > len(sent)


def test_descriptions_are_generated_from_the_text_not_the_title(site: Site) -> None:
    long = "The loom wove silk from punched cards, a hundred years before anybody called that a program. " * 3
    cases: list[tuple[dict[str, Any], str]] = [
        ({"body": f"# A heading\n\n{long}"}, "The loom wove silk from punched cards"),
        ({"body": long, "excerpt": "In short."}, "In short."),
        ({"body": long, "meta_description": "Written."}, "Written."),
        ({"body": "- Only\n- a list"}, "Only a list"),
    ]
    for number, (fields, beginning) in enumerate(cases):
        site.publish(f"Title {number}", **fields)
        description = attribute_of(
            LexborHTMLParser(site.get(f"/title-{number}").text), "meta[name=description]", "content"
        )
        assert description.startswith(beginning)
        assert "Title" not in description
        assert 0 < len(description) <= MAX_WIDTH
    site.publish("Nothing to read", "---", slug="empty")
    empty = LexborHTMLParser(site.get("/empty").text)
    assert empty.css("meta[name=description], meta[property='og:description']") == []
    assert "description" not in json.loads(text_of(empty, "script[type='application/ld+json']"))
    for number in range(12):
        site.publish(f"More {number}")
    pages = [LexborHTMLParser(site.get(path).text) for path in ("", "?page=2")]
    first, second = (attribute_of(page, "meta[name=description]", "content") for page in pages)
    assert first.startswith("Notes on engines.")
    assert first != second
    assert [page.css_first("h1").text() for page in pages] == ["Ada moves", "Ada moves, page 2"]  # type: ignore[union-attr]


def test_the_description_of_a_short_list_includes_text_of_its_posts(host: RunningHost, ada: Client) -> None:
    site = Site(host, ada, "Looms")
    site.publish(
        "Silk", "The loom wove silk from punched cards, a hundred years before the first program.", tags=("x",)
    )
    site.publish("Wool", "Wool was spun by hand, and sold by the pound at the market of every town.", slug="w")
    descriptions = [
        attribute_of(LexborHTMLParser(site.get(path).text), "meta[name=description]", "content")
        for path in ("", "/tags/x")
    ]
    assert descriptions[0].startswith("Wool: Wool was spun by hand")
    assert descriptions[1].startswith("Tag: x. Silk: The loom wove silk")
    assert all(50 < len(description) <= MAX_WIDTH for description in descriptions)


def test_descriptions_are_truncated_between_words() -> None:
    text = "Wheels within wheels " * 40
    cut = shortened(text)
    assert cut.endswith("\N{HORIZONTAL ELLIPSIS}")
    assert text.startswith(cut[:-1])
    assert cut[:-1].split()[-1] in ("Wheels", "within", "wheels")
    assert ".\N{HORIZONTAL ELLIPSIS}" not in [shortened("It ended. " * 40, 90 + more)[-2:] for more in range(9)]
    japanese = summary("<p>" + "織機は絹を織った。" * 40 + "</p>")
    assert width(japanese) <= MAX_WIDTH
    assert japanese.startswith("織機は絹を織った。")


def _file(number: int, name: str = "wheel.png") -> MediaFile:
    buffer = io.BytesIO()
    Image.new("RGB", (4, 3), (number, 0, 0)).save(buffer, "PNG")
    return MediaFile(
        id=f"m_{number:022}", content=buffer.getvalue(), filename=name, media_type="image/png", alt="", url="",
        credit_html="", credit_text="", hosting="either", width=4, height=3,
    )  # fmt: skip


def _post(marker: str, *images: RemoteMedia, featured: RemoteMedia | None = None) -> Post:
    html = "".join(f'<p><img src="{image.url}" alt="A wheel"></p>' for image in images)
    return Post(marker=marker, title=marker, slug=marker, html=html, markdown=html, featured=featured)


def test_a_file_is_stored_once_and_deleted_with_its_last_use(site: Site, host: RunningHost, ada: Client) -> None:
    def status(media: RemoteMedia) -> int:
        return httpx.get(f"{host.url}{media.url}").status_code

    _, opened = host.run(Websites(ada.plugin).open(ada.user_id, site.id))
    first = host.run(opened.upload(_file(1), "mark-1"))
    repeated = host.run(opened.upload(_file(1, "copy.png"), "mark-2"))
    other = host.run(opened.upload(_file(2), "mark-3"))
    assert first == repeated != other
    assert host.run(opened.find_media("mark-2")) == first
    post = host.run(opened.create(_post("one", first)))
    second_post = host.run(opened.create(_post("two", other, featured=first)))
    assert status(first) == status(other) == 200
    host.run(opened.set_state(post.id, "gone"))
    assert status(first) == 200  # the other post uses it as its featured image
    waiting = host.run(opened.upload(_file(2), "mark-4"))
    host.run(opened.update(second_post.id, _post("two"), second_post.revision))
    assert (status(first), status(waiting)) == (404, 200)
    three = host.run(opened.create(_post("three", waiting)))
    host.run(opened.set_state(three.id, "live"))
    host.run(opened.set_state(three.id, "trashed"))
    assert status(waiting) == 200  # it can be published again
    host.run(opened.set_state(three.id, "gone"))
    assert status(waiting) == 404
