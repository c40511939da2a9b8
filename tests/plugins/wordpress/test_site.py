"""The connector against a real WordPress."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Literal

import httpx
import pytest
from PIL import Image
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import (
    MediaFile,
    Post,
    RemoteChanged,
    SiteGone,
    SiteRefused,
    SiteRejected,
    UnknownOutcome,
)
from pressroom_wordpress.client import discover, language_tag
from pressroom_wordpress.connector import approval, approved
from pressroom_wordpress.site import WordPressSite
from support.origins import Visit, origin
from support.wordpress import WordPress

from .conftest import site_of

pytestmark = pytest.mark.timeout(600)  # the first test on a machine downloads WordPress

_numbers = count(1)


def a_post(**fields: object) -> Post:
    number = next(_numbers)
    values: dict[str, object] = {
        "marker": f"pr-{number:024x}",
        "title": f"Cold brew & “friends” {number}",
        "slug": f"cold-brew-{number}",
        "html": "<p>Coffee, <strong>cold</strong>.</p>",
        "markdown": "Coffee, **cold**.",
    }
    return Post(**{**values, **fields})  # type: ignore[arg-type]


async def seen(url: str) -> httpx.Response:
    """Return a page as an anonymous visitor sees it."""
    async with httpx.AsyncClient(timeout=30) as visitor:
        return await visitor.get(url)


def an_image() -> MediaFile:
    buffer = io.BytesIO()
    Image.new("RGB", (64, 48), "#b9502a").save(buffer, "PNG")
    return MediaFile(
        "m_1", "bean field.png", "image/png", "", "A field of beans", "download", content=buffer.getvalue()
    )


async def test_a_check_says_what_the_credential_may(blog: WordPress, fetcher: GuardedFetcher) -> None:
    admin = await site_of(blog, fetcher).check()
    contributor = await site_of(blog, fetcher, "contributor").check()

    assert admin.ok, admin.checks
    assert (admin.name, admin.capabilities.upload, admin.capabilities.seo_meta) == ("Test site", True, True)
    assert (admin.language, contributor.language) == ("en-US", "")
    assert not {"platform", "network"} & {check.id for check in admin.checks}
    states = {check.id: check.status for check in contributor.checks}
    assert (states["credential"], states["publish"], states["upload"]) == ("ok", "warning", "warning")
    assert not contributor.capabilities.upload


@pytest.mark.parametrize(
    ("locale", "tag"),
    [("", "en-US"), ("de_DE_formal", "de-DE"), ("pt_BR", "pt-BR"), ("ast", "ast"), ("de", "de"), (None, "")],
)
def test_a_locale_becomes_a_language_tag(locale: object, tag: str) -> None:
    assert language_tag(locale) == tag


@pytest.mark.parametrize(
    ("setting", "zone"),
    [
        ({"timezone_string": "Europe/Berlin", "gmt_offset": 1}, "Europe/Berlin"),
        ({"timezone_string": "", "gmt_offset": 2}, "Etc/GMT-2"),
        ({"timezone_string": "", "gmt_offset": "-3"}, "Etc/GMT+3"),
        ({"timezone_string": "", "gmt_offset": 5.5}, "Asia/Kolkata"),
        ({"timezone_string": "", "gmt_offset": "5.75"}, "Asia/Kathmandu"),
        ({"timezone_string": "", "gmt_offset": 10.5}, ""),
        ({"timezone_string": "", "gmt_offset": "east"}, ""),
        ({}, ""),
    ],
)
async def test_the_time_zone_is_the_sites_own(fetcher: GuardedFetcher, setting: dict[str, object], zone: str) -> None:
    async def reply(visit: Visit) -> None:
        await visit.respond(json.dumps({"name": "x", "namespaces": ["wp/v2"], **setting}).encode())

    async with origin(reply) as other:
        assert (await discover(f"http://127.0.0.1:{other.port}", fetcher)).timezone == zone


async def test_only_an_administrator_confirms_the_url(blog: WordPress, fetcher: GuardedFetcher) -> None:
    reports = {user: await site_of(blog, fetcher, user).check() for user in ("admin", "author", "contributor")}
    assert {user: report.site_url for user, report in reports.items()} == {
        "admin": blog.url,
        "author": "",
        "contributor": "",
    }
    assert reports["author"].ok


async def test_a_wrong_password_is_reported(blog: WordPress, fetcher: GuardedFetcher) -> None:
    report = await site_of(blog, fetcher, password="wrong wrong wrong wrong").check()
    assert not report.ok
    assert [check.id for check in report.checks if check.status == "error"] == ["credential"]
    with pytest.raises(SiteRejected):
        await site_of(blog, fetcher, password="wrong wrong wrong wrong").create(a_post())


async def test_a_site_without_permalinks_is_detected(blog: WordPress, site: WordPressSite) -> None:
    plain = await seen(f"{blog.url}/?rest_route=/")
    assert plain.json()["name"] == "Test site"
    assert [term.name for term in await site.terms("category", "Uncategorized", 10)] == ["Uncategorized"]


async def test_a_post_goes_through_its_states(blog: WordPress, site: WordPressSite) -> None:
    post = a_post(excerpt="Short", meta_description="About coffee", meta_title="Cold brew", tags=("Coffee", "R&D"))
    post = replace(post, categories=("Guides",))
    post = replace(post, term_ids=await site.ensure_terms(post))

    remote = await site.create(post)
    assert remote.state == "draft"
    read = await site.read(remote.id)
    assert read.html == post.html
    assert read.fields["title"] == post.title
    assert read.fields["slug"] == post.slug
    assert (read.fields["meta_title"], read.fields["meta_description"]) == ("Cold brew", "About coffee")
    assert sorted(read.fields["tags"]) == ["Coffee", "R&D"]
    assert read.fields["categories"] == ("Guides",)

    live = await site.set_state(remote.id, "live")
    assert live.state == "live"
    page = await seen(live.url)
    assert page.status_code == 200
    assert "<strong>cold</strong>" in page.text

    assert (await site.set_state(remote.id, "draft")).state == "draft"
    assert (await site.set_state(remote.id, "trashed")).state == "trashed"
    assert (await site.set_state(remote.id, "trashed")).state == "trashed"
    assert (await site.set_state(remote.id, "gone")).state == "gone"
    with pytest.raises(SiteGone):
        await site.read(remote.id)


async def test_an_unknown_taxonomy_is_refused(site: WordPressSite) -> None:
    with pytest.raises(SiteRefused, match="but nothing of the kind collection"):
        await site.terms("collection", "", 10)


async def test_terms_are_created_once(site: WordPressSite) -> None:
    post = a_post(tags=("Once only",), categories=("Once & again",))
    first = await site.ensure_terms(post)
    assert await site.ensure_terms(post) == first
    assert len(await site.terms("tag", "Once only", 10)) == 1


async def test_terms_that_the_role_may_not_create_are_left_out(blog: WordPress, fetcher: GuardedFetcher) -> None:
    ids = await site_of(blog, fetcher, "contributor").ensure_terms(a_post(categories=("Not mine",)))
    assert ids["category"] == ()


async def test_a_post_is_found_by_its_marker_wherever_it_is(site: WordPressSite) -> None:
    post = a_post()
    assert await site.find(post) is None
    remote = await site.create(post)
    for state in ("draft", "live", "trashed"):
        if state != "draft":
            await site.set_state(remote.id, state)
        match = await site.find(post)
        assert match is not None
        assert (match.id, match.state) == (remote.id, state)
    assert await site.find(replace(post, marker=post.marker[:-1])) is None


async def test_the_marker_is_not_shown(site: WordPressSite) -> None:
    post = a_post()
    live = await site.set_state((await site.create(post)).id, "live")
    assert post.marker not in (await site.read(live.id)).html
    assert f"pressroom:{post.marker}" not in (await seen(f"{live.url}feed/")).text.replace("<!--", "")


async def test_an_edit_on_the_site_is_detected(blog: WordPress, site: WordPressSite) -> None:
    remote = await site.create(a_post())
    blog.send("POST", f"/wp/v2/posts/{remote.id}", {"title": "Somebody else's"}).raise_for_status()
    with pytest.raises(RemoteChanged):
        await site.update(remote.id, a_post(), remote.revision)
    forced = await site.update(remote.id, a_post(title="Ours"), "")
    assert forced.fields["title"] == "Ours"


async def test_another_image_is_detected_in_the_second_of_the_last_change(blog: WordPress, site: WordPressSite) -> None:
    media = await site.upload(an_image(), "m2123456789abcdef01234567")
    remote = await site.create(a_post())
    blog.send("POST", f"/wp/v2/posts/{remote.id}", {"featured_media": int(media.id)}).raise_for_status()
    with pytest.raises(RemoteChanged):
        await site.update(remote.id, a_post(), remote.revision)


async def test_a_post_is_scheduled_and_moved(site: WordPressSite) -> None:
    remote = await site.create(a_post())
    at = datetime.now(UTC).replace(microsecond=0) + timedelta(days=2)

    scheduled = await site.set_state(remote.id, "scheduled", at)
    moved = await site.set_state(remote.id, "scheduled", at + timedelta(days=1))

    assert (scheduled.state, scheduled.publish_at) == ("scheduled", at)
    assert moved.publish_at == at + timedelta(days=1)
    assert (await site.set_state(remote.id, "live")).state == "live"


@pytest.mark.parametrize("way", ["draft", "trashed"])
async def test_a_cancelled_schedule_is_not_restored(site: WordPressSite, way: Literal["draft", "trashed"]) -> None:
    remote = await site.create(a_post())
    await site.set_state(remote.id, "scheduled", datetime.now(UTC) + timedelta(hours=2))
    await site.set_state(remote.id, way)

    live = await site.set_state(remote.id, "live")

    assert live.state == "live"
    assert (await seen(live.url)).status_code == 200


async def test_a_scheduled_post_in_the_trash_has_no_time(site: WordPressSite) -> None:
    remote = await site.create(a_post())
    await site.set_state(remote.id, "scheduled", datetime.now(UTC) + timedelta(hours=2))
    trashed = await site.set_state(remote.id, "trashed")
    assert (trashed.state, trashed.publish_at) == ("trashed", None)
    assert trashed == await site.read(remote.id)
    assert (await site.set_state(remote.id, "gone")).publish_at is None


async def test_a_post_in_the_trash_keeps_its_slug(site: WordPressSite) -> None:
    post = a_post()
    remote = await site.create(post)
    await site.set_state(remote.id, "live")
    await site.set_state(remote.id, "trashed")
    written = await site.update(remote.id, post, "")
    assert (written.state, written.fields["slug"]) == ("trashed", post.slug)
    assert (await site.set_state(remote.id, "live")).fields["slug"] == post.slug


async def test_the_date_of_a_post_stays_when_it_is_republished(blog: WordPress, site: WordPressSite) -> None:
    remote = await site.set_state((await site.create(a_post())).id, "live")
    blog.send("POST", f"/wp/v2/posts/{remote.id}", {"date_gmt": "2024-02-03T04:05:06"}).raise_for_status()
    await site.set_state(remote.id, "draft")

    await site.set_state(remote.id, "live")

    assert blog.get(f"/wp/v2/posts/{remote.id}").json()["date_gmt"] == "2024-02-03T04:05:06"


async def test_a_file_is_uploaded_and_found_again(site: WordPressSite) -> None:
    image = an_image()
    assert await site.find_media("m0123456789abcdef01234567") is None
    media = await site.upload(image, "m0123456789abcdef01234567")
    assert (await seen(media.url)).content == image.content
    assert "bean-field-m0123456789abcdef01234567.png" in media.url
    assert await site.find_media("m0123456789abcdef01234567") == media

    remote = await site.create(a_post(featured=media))
    assert (await site.read(remote.id)).featured


async def test_an_alt_text_arrives_with_the_file(blog: WordPress, site: WordPressSite) -> None:
    media = await site.upload(an_image(), "m1123456789abcdef01234567")
    assert blog.get(f"/wp/v2/media/{media.id}").json()["alt_text"] == "A field of beans"


async def test_published_posts_are_listed(site: WordPressSite) -> None:
    post_ids = [(await site.set_state((await site.create(a_post())).id, "live")).id for _ in range(3)]
    assert len([post async for post in site.posts(None, 2)]) == 2
    # The ten most recently changed: other tests' posts may have changed in the same second.
    assert set(post_ids) <= {post.id async for post in site.posts(None, 10)}
    assert [post async for post in site.posts(datetime.now(UTC) + timedelta(days=1), 10)] == []


async def test_the_approval_page_is_detected(blog: WordPress, fetcher: GuardedFetcher) -> None:
    link = await approval(blog.url, "https://press.example.org/back?state=1", fetcher)
    assert link is not None
    assert link.startswith(f"{blog.url}/wp-admin/authorize-application.php?")
    assert "success_url=https%3A%2F%2Fpress.example.org%2Fback%3Fstate%3D1" in link
    assert approved({"user_login": "me", "password": "abcd"}) == {"username": "me", "application_password": "abcd"}
    with pytest.raises(SiteRejected):
        approved({"success": "false"})


async def test_a_site_that_is_not_wordpress_is_reported(fetcher: GuardedFetcher, blog: WordPress) -> None:
    async def reply(visit: Visit) -> None:
        await visit.respond(b"<html>hello</html>", "Content-Type: text/html")

    async with origin(reply) as other:
        elsewhere = replace(blog, url=f"http://127.0.0.1:{other.port}")
        with pytest.raises(SiteRefused, match="does not show the REST API"):
            await site_of(elsewhere, fetcher).check()


async def test_a_page_instead_of_a_response_leaves_the_outcome_unknown(
    fetcher: GuardedFetcher, blog: WordPress
) -> None:
    async def reply(visit: Visit) -> None:
        if visit.target.startswith("/wp-json/") and visit.head.startswith("GET"):
            await visit.respond(b'{"name":"x","namespaces":["wp/v2"]}')
        elif visit.head.startswith("OPTIONS"):
            await visit.respond(b"{}")
        else:
            await visit.respond(b"<html>Checking your browser</html>", "Content-Type: text/html")

    async with origin(reply) as other:
        site = site_of(replace(blog, url=f"http://127.0.0.1:{other.port}"), fetcher)
        with pytest.raises(UnknownOutcome):
            await site.create(a_post())


async def test_an_image_is_removed_for_good(blog: WordPress, site: WordPressSite) -> None:
    media = await site.upload(an_image(), "m3123456789abcdef01234567")
    for _ in range(2):
        await site.remove_media(media)
    assert await site.find_media("m3123456789abcdef01234567") is None
    assert blog.get(f"/wp/v2/media/{media.id}").status_code == 404
