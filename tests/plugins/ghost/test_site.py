"""The connector against a real Ghost."""

from __future__ import annotations

import contextlib
import io
import secrets
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey
from PIL import Image
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import MediaFile, Post, RemoteChanged, SiteGone, SiteRefused, SiteRejected
from pressroom_ghost.requests import token
from pressroom_ghost.site import GhostSite
from support.ghost import Ghost

from .conftest import site_of

pytestmark = pytest.mark.timeout(900)  # the first test on a machine installs Ghost

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
    async with httpx.AsyncClient(timeout=60, follow_redirects=True) as visitor:
        return await visitor.get(url)


def an_image() -> MediaFile:
    buffer = io.BytesIO()
    Image.new("RGB", (64, 48), "#b9502a").save(buffer, "PNG")
    return MediaFile("m_1", "beans.png", "image/png", "", "A field of beans", "download", content=buffer.getvalue())


async def test_a_check_reports_what_the_key_may_do(blog: Ghost, fetcher: GuardedFetcher) -> None:
    good = await site_of(blog, fetcher).check()
    wrong = await site_of(blog, fetcher, f"{'0' * 24}:{'0' * 64}").check()

    assert good.ok, good.checks
    assert (good.name, good.capabilities.schedule) == ("Test site", True)
    assert (good.language, good.timezone) == ("en", "Etc/UTC")
    assert [check.id for check in wrong.checks if check.status == "error"] == ["credential"]
    with pytest.raises(SiteRejected):
        await site_of(blog, fetcher, "no key").create(a_post())


@pytest.mark.parametrize(("role", "speaks"), [("Author", False), ("Super Editor", False), ("Administrator", True)])
async def test_only_an_administrator_confirms_the_url(
    blog: Ghost, fetcher: GuardedFetcher, role: str, speaks: bool
) -> None:
    assert (await site_of(blog, fetcher).check()).site_url == blog.url
    report = await site_of(blog, fetcher, staff_token(blog, role)).check()
    assert report.ok, report.checks
    assert report.site_url == (blog.url if speaks else "")


def staff_token(blog: Ghost, role: str) -> str:
    """Return the access token of a new staff member, which has the form of an integration's key."""
    number, secret = next(_numbers), secrets.token_hex(32)
    user, key = secrets.token_hex(12), secrets.token_hex(12)
    with contextlib.closing(sqlite3.connect(blog.folder / "data" / "ghost.db", timeout=30)) as database, database:
        names = [row[1] for row in database.execute("PRAGMA table_info(users)")]
        new = {"id": user, "slug": f"staff-{number}", "email": f"staff.{number}@example.com"}
        columns = ", ".join("?" if name in new else name for name in names)
        values = [new[name] for name in names if name in new]
        database.execute(f"INSERT INTO users SELECT {columns} FROM users LIMIT 1", values)
        database.execute(
            "INSERT INTO roles_users (id, role_id, user_id) SELECT ?, id, ? FROM roles WHERE name = ?",
            (secrets.token_hex(12), user, role),
        )
        database.execute(
            "INSERT INTO api_keys (id, type, secret, role_id, user_id, created_at) "
            "SELECT ?, 'admin', ?, NULL, ?, created_at FROM users LIMIT 1",
            (key, secret, user),
        )
    return f"{key}:{secret}"


async def test_a_post_goes_through_its_states(site: GhostSite) -> None:
    post = a_post(
        excerpt="Short",
        meta_title="Cold brew",
        meta_description="About coffee",
        canonical_url="https://example.org/original",
        tags=("Coffee", "R&D"),
    )

    remote = await site.create(post)
    assert remote.state == "draft"
    read = await site.read(remote.id)
    assert "<strong>cold</strong>" in read.html
    for name in ("title", "slug", "excerpt", "meta_title", "meta_description", "canonical_url", "tags"):
        assert read.fields[name] == getattr(post, name), name

    live = await site.set_state(remote.id, "live")
    assert live.state == "live"
    page = await seen(live.url)
    assert page.status_code == 200
    assert "<strong>cold</strong>" in page.text

    assert (await site.set_state(remote.id, "draft")).state == "draft"
    with pytest.raises(SiteRefused, match="no trash"):
        await site.set_state(remote.id, "trashed")
    assert (await site.set_state(remote.id, "gone")).state == "gone"
    with pytest.raises(SiteGone):
        await site.read(remote.id)


async def test_a_post_is_found_by_its_marker(site: GhostSite) -> None:
    post = a_post()
    assert await site.find(post) is None
    remote = await site.create(post)
    match = await site.find(post)
    assert match is not None
    assert (match.id, match.marker) == (remote.id, post.marker)
    await site.set_state(remote.id, "live")
    match = await site.find(post)
    assert match is not None
    assert match.state == "live"
    assert await site.find(replace(post, marker=post.marker[:-1])) is None


async def test_an_edit_on_the_site_is_detected(site: GhostSite) -> None:
    remote = await site.create(a_post())
    edited = await site.update(remote.id, a_post(title="Somebody else's"), "")
    assert edited.revision != remote.revision
    with pytest.raises(RemoteChanged):
        await site.update(remote.id, a_post(), remote.revision)
    forced = await site.update(remote.id, a_post(title="Ours"), "")
    assert forced.fields["title"] == "Ours"


async def test_a_post_is_scheduled_and_moved(site: GhostSite) -> None:
    remote = await site.create(a_post())
    at = datetime.now(UTC).replace(microsecond=0) + timedelta(days=2)

    scheduled = await site.set_state(remote.id, "scheduled", at)
    moved = await site.set_state(remote.id, "scheduled", at + timedelta(days=1))

    assert (scheduled.state, scheduled.publish_at) == ("scheduled", at)
    assert moved.publish_at == at + timedelta(days=1)
    live = await site.set_state(remote.id, "live")
    assert live.state == "live"
    with pytest.raises(SiteRefused, match="make it a draft first"):
        await site.set_state(remote.id, "scheduled", at)


async def test_a_cancelled_post_goes_live_with_the_current_date(site: GhostSite, blog: Ghost) -> None:
    remote = await site.create(a_post())
    await site.set_state(remote.id, "scheduled", datetime.now(UTC) + timedelta(days=200))
    await site.set_state(remote.id, "draft")

    live = await site.set_state(remote.id, "live")

    headers = {"Authorization": f"Ghost {token(blog.admin_key)}", "Accept-Version": "v5.0"}
    async with httpx.AsyncClient(timeout=60, headers=headers) as owner:
        response = await owner.get(f"{blog.url}/ghost/api/admin/posts/{live.id}/")
    published_at = datetime.fromisoformat(response.json()["posts"][0]["published_at"])
    assert abs(datetime.now(UTC) - published_at) < timedelta(minutes=10)


async def test_a_file_is_uploaded_and_found_again(site: GhostSite) -> None:
    image = an_image()
    assert await site.find_media("m0123456789abcdef01234567") is None
    media = await site.upload(image, "m0123456789abcdef01234567")
    assert (await seen(media.url)).content == image.content
    assert await site.find_media("m0123456789abcdef01234567") == media

    remote = await site.create(a_post(featured=media, featured_alt="Beans"))
    assert (await site.read(remote.id)).featured


async def test_fields_that_are_too_long_are_shortened(site: GhostSite) -> None:
    remote = await site.create(a_post(excerpt="word " * 100, meta_description="long " * 200))
    assert remote.fields["excerpt"].endswith("word…")
    assert len(remote.fields["excerpt"]) <= 300


async def test_tags_and_authors_are_terms(site: GhostSite) -> None:
    await site.create(a_post(tags=("Findable",)))
    assert [term.name for term in await site.terms("tag", "findab", 10)] == ["Findable"]
    author = (await site.terms("author", "", 10))[0]
    assert await site.ensure_terms(a_post(author=author.name)) == {"author": (author.id,)}
    assert await site.ensure_terms(a_post(author="Nobody")) == {}
    with pytest.raises(SiteRefused):
        await site.terms("category", "", 10)
    assert await site.terms("tag", "it's", 10) == []


async def test_published_posts_are_listed(site: GhostSite) -> None:
    post_ids = [(await site.set_state((await site.create(a_post())).id, "live")).id for _ in range(3)]
    listed = [post async for post in site.posts(None, 2)]
    assert len(listed) == 2
    assert {post.state for post in listed} == {"live"}
    # The ten most recently changed: other tests' posts may have changed in the same second.
    assert set(post_ids) <= {post.id async for post in site.posts(None, 10)}
    assert [post async for post in site.posts(datetime.now(UTC) + timedelta(days=1), 10)] == []


def test_a_token_matches_the_ghost_documentation() -> None:
    key = f"{'a' * 24}:{'0f' * 32}"
    decoded = jwt.decode(token(key, now=1_000_000), OctKey.import_key(bytes.fromhex("0f" * 32)))
    assert decoded.header == {"alg": "HS256", "kid": "a" * 24, "typ": "JWT"}
    assert decoded.claims == {"iat": 1_000_000, "exp": 1_000_240, "aud": "/admin/"}
