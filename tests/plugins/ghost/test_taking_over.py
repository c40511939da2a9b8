"""Existing posts on a real Ghost: found, split, and changed only where they were edited."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Any

import httpx
import pytest
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import BlockSite, Post, RemotePost, SiteRefused
from pressroom_ghost.requests import token
from pressroom_ghost.site import GhostSite
from support.ghost import Ghost
from support.sizes import SOAK

from .conftest import site_of
from .test_lexical import OPAQUE, UNDERSTOOD, block, words

pytestmark = pytest.mark.timeout(900)  # the first test on a machine installs Ghost

_numbers = count(1)
FIELDS = frozenset({"slug", "author", "tags", "featured", "featured_alt", "featured_caption", "canonical_url"})
UNCHANGED = (
    "id", "uuid", "url", "slug", "lexical", "html", "published_at", "created_at", "tags", "authors", "feature_image",
    "feature_image_alt", "feature_image_caption", "codeinjection_foot", "codeinjection_head", "visibility", "featured",
    "custom_excerpt", "meta_title", "meta_description", "canonical_url", "status", "comment_id", "og_title",
)  # fmt: skip
BROKEN_FOR_GHOST = {"a-new-one card", "unknown block", "unknown block ", "paragraph  ", "heading", "list", "list "}
"""Blocks that Ghost rejects."""

BLOCKS = [
    {"version": 1, **node} for name, node in OPAQUE.items() if name not in BROKEN_FOR_GHOST and isinstance(node, dict)
] + [{"version": 1, **node} for node, _ in UNDERSTOOD.values()]


class Owner:
    """The site's owner, who works in Ghost."""

    def __init__(self, blog: Ghost) -> None:
        self._root = f"{blog.url}/ghost/api/admin"
        self._key = blog.admin_key

    def send(self, method: str, path: str, document: Any = None) -> Any:
        headers = {"Authorization": f"Ghost {token(self._key)}", "Accept-Version": "v5.0"}
        response = httpx.request(method, f"{self._root}{path}", json=document, headers=headers, timeout=60)
        assert response.is_success, response.text
        return response.json() if response.content else None

    def read(self, post_id: str, resource: str = "posts") -> dict[str, Any]:
        path = f"/{resource}/{post_id}/?formats=html,lexical&include=tags,authors,tiers"
        return dict(self.send("GET", path)[resource][0])

    def write(self, blocks: list[Any], resource: str = "posts", **fields: Any) -> dict[str, Any]:
        number = next(_numbers)
        root = {"children": blocks, "direction": "ltr", "format": "", "indent": 0, "type": "root", "version": 1}
        lexical = json.dumps({"root": root}, ensure_ascii=False, indent=number % 3 or None)
        document = {"title": f"Owned {number}", "lexical": lexical, "status": "published", **fields}
        response = self.send("POST", f"/{resource}/", {resource: [document]})[resource][0]
        return self.read(response["id"], resource)


@pytest.fixture
def owner(blog: Ghost) -> Owner:
    return Owner(blog)


def taken_over(remote: RemotePost, raw: str, **fields: Any) -> Post:
    """Return the post sent for an adopted article: the site's own fields are untouched."""
    values = {
        "marker": "",
        "title": remote.fields["title"],
        "slug": "another",
        "html": remote.html,
        "markdown": "",
        "excerpt": remote.fields["excerpt"],
        "meta_title": remote.fields["meta_title"],
        "meta_description": remote.fields["meta_description"],
        "raw": raw,
        "kept": FIELDS,
    }
    return Post(**{**values, **fields})


def various(number: int) -> dict[str, Any]:
    """Return varied fields for a post, depending on its number."""
    return {
        "blocks": [BLOCKS[(number * 7 + at * 3) % len(BLOCKS)] for at in range(number % 6 + 1)],
        "tags": [{"name": name} for name in ("Zebra", "apple", "#internal", "Mango")[: number % 5]],
        "published_at": f"2021-0{number % 9 + 1}-1{number % 10}T0{number % 10}:30:00.000Z",
        "custom_excerpt": "Short" if number % 2 else None,
        "meta_title": "Meta" if number % 3 else None,
        "feature_image": "https://e.org/cover.png" if number % 4 else None,
        "feature_image_alt": "Cover" if number % 4 else None,
        "codeinjection_foot": "<!-- mine -->" if number % 5 else None,
        "og_title": "Shared" if number % 7 else None,
        "visibility": ("public", "members")[number % 2],
    }


async def test_unedited_posts_stay_unchanged(
    blog: Ghost, owner: Owner, site: GhostSite, fetcher: GuardedFetcher
) -> None:
    for number in range(200 if SOAK else 20):
        before = owner.write(**various(number))
        remote = await site.read(before["id"])
        assert remote.raw == before["lexical"]
        raw = site.codec.join([block.source for block in site.codec.split(remote.raw)], remote.raw)
        assert raw == remote.raw

        await site_of(blog, fetcher).update(remote.id, taken_over(remote, raw), remote.revision)

        after = owner.read(before["id"])
        assert {name: after[name] for name in UNCHANGED} == {name: before[name] for name in UNCHANGED}


@pytest.mark.parametrize("visibility", ["members", "paid", "tiers"])
async def test_a_recreated_post_has_the_audience_of_the_original(
    owner: Owner, site: GhostSite, visibility: str
) -> None:
    paid_tiers = [tier["id"] for tier in owner.send("GET", "/tiers/?filter=type:paid")["tiers"]][:1]
    tiers = [{"id": tier} for tier in paid_tiers] if visibility == "tiers" else []
    before = owner.write([block("paragraph", words("one"))], visibility=visibility, tiers=tiers)
    remote = await site.read(before["id"])
    assert remote.audience == (f"tiers {paid_tiers[0]}" if visibility == "tiers" else visibility)
    owner.send("DELETE", f"/posts/{before['id']}/")

    anew = taken_over(remote, remote.raw, marker=f"anew-{visibility}", kept=frozenset(), audience=remote.audience)
    created = await site.create(anew)

    after = owner.read(created.id)
    assert after["visibility"] == visibility
    assert [tier["id"] for tier in after["tiers"]] == [tier["id"] for tier in before["tiers"]]


async def test_an_edit_changes_only_one_block(owner: Owner, site: GhostSite) -> None:
    gallery = {"type": "gallery", "version": 1, "images": [], "caption": "Mine  "}
    before = owner.write([block("paragraph", words("one")), gallery, block("paragraph", words("three"))])
    remote = await site.read(before["id"])
    sources = [block.source for block in site.codec.split(remote.raw)]
    [new] = site.codec.encode("<p>New <strong>words</strong></p>", "")
    raw = site.codec.join([new, *sources[1:]], remote.raw)

    written = await site.update(remote.id, taken_over(remote, raw, title="Better"), remote.revision)

    after = owner.read(before["id"])
    assert after["lexical"] == written.raw == raw
    assert [block.source for block in site.codec.split(after["lexical"])][1:] == sources[1:]
    assert after["html"].startswith("<p>New <strong>words</strong></p>")
    assert after["title"] == "Better"
    same = set(UNCHANGED) - {"lexical", "html"}
    assert {name: after[name] for name in same} == {name: before[name] for name in same}


async def test_posts_and_pages_are_found_by_their_url(blog: Ghost, owner: Owner, site: GhostSite) -> None:
    post = owner.write([block("paragraph", words("a post"))], tags=[{"name": "B"}, {"name": "A"}], meta_title="M")
    page = owner.write([block("paragraph", words("a page"))], "pages")
    draft = owner.write([block("paragraph", words("x"))], status="draft")

    located = await site.locate(post["url"])
    assert located is not None
    assert (located.id, located.kind, located.raw) == (post["id"], "post", post["lexical"])
    assert (located.fields["tags"], located.fields["author"], located.fields["meta_title"]) == (
        ("B", "A"),
        "Owner",
        "M",
    )
    located_page = await site.locate(page["url"].rstrip("/"))
    assert located_page is not None
    assert (located_page.id, located_page.kind) == (f"page-{page['id']}", "page")

    draft_page = owner.write([block("paragraph", words("y"))], "pages", status="draft")
    for url, identifier in (
        (f"{blog.url}/p/{draft['uuid']}/", draft["id"]),
        (f"{blog.url}/p/{draft['uuid']}/?member_status=paid", draft["id"]),
        (f"{blog.url}/ghost/#/editor/post/{draft['id']}", draft["id"]),
        (f"{blog.url}/ghost/#/editor/page/{draft_page['id']}/", f"page-{draft_page['id']}"),
    ):
        match = await site.locate(url)
        assert match is not None, url
        assert (match.id, match.state) == (identifier, "draft")

    for url in (
        f"https://elsewhere.example/p/{draft['uuid']}/",
        f"https://elsewhere.example/ghost/#/editor/post/{draft['id']}",
        f"{blog.url}/ghost/#/editor/post/{'0' * 24}",
        f"{blog.url}/nothing/",
        blog.url,
        f"{blog.url}/tag/{post['slug']}/",
        f"https://elsewhere.example/{post['slug']}/",
        f"{blog.url}/{draft['slug']}/",
        f"{blog.url}/it's'+status:draft/",
        "http://[",
    ):
        assert await site.locate(url) is None, url


async def test_a_page_is_changed_like_a_post(owner: Owner, site: GhostSite) -> None:
    page = owner.write([block("paragraph", words("a page"))], "pages")
    located = await site.locate(page["url"])
    assert located is not None
    raw = site.codec.join(site.codec.encode("<p>Changed</p>", ""), located.raw)

    changed = await site.update(located.id, taken_over(located, raw), located.revision)

    assert (changed.id, changed.kind, changed.url) == (located.id, "page", page["url"])
    assert owner.read(page["id"], "pages")["html"] == "<p>Changed</p>"
    assert (await site.set_state(located.id, "draft")).state == "draft"
    assert (await site.read(located.id)).state == "draft"
    assert owner.read(page["id"], "pages")["status"] == "draft"


async def test_posts_and_pages_are_listed_with_their_bodies(owner: Owner, site: GhostSite) -> None:
    resource_ids = {
        owner.write([block("paragraph", words("x"))], resource)["id"]
        for resource in ("posts", "pages", "posts", "pages")
    }
    listed = [post async for post in site.posts(None, 10_000)]
    assert resource_ids <= {post.id.removeprefix("page-") for post in listed}
    assert {post.kind for post in listed} == {"post", "page"}
    assert all(post.raw for post in listed)
    times = [post.updated_at for post in listed if post.updated_at]
    assert times == sorted(times, reverse=True)
    assert len([post async for post in site.posts(None, 3)]) == 3


async def test_posts_too_large_for_one_response_are_listed_one_by_one(owner: Owner, site: GhostSite) -> None:
    # Each answer has the text twice, and may have 16 MiB.
    sizes = {"small": 10, "large": 4_500_000, "also large": 4_500_000, "too large": 9_000_000, "last": 10}
    ids = {name: owner.write([block("paragraph", words("x" * size))])["id"] for name, size in sizes.items()}
    try:
        listed = [post.id async for post in site.posts(None, 5)]
    finally:
        for post_id in ids.values():
            owner.send("DELETE", f"/posts/{post_id}/")
    assert [name for name, post_id in reversed(ids.items()) if post_id in listed] == [
        "last",
        "also large",
        "large",
        "small",
    ]


async def test_a_body_in_the_old_format_is_kept_or_replaced_completely(
    blog: Ghost, owner: Owner, site: GhostSite
) -> None:
    mobiledoc = '{"version":"0.3.1","atoms":[],"cards":[],"markups":[],"sections":[[1,"p",[[0,[],0,"Old"]]]]}'
    owned = owner.write([block("paragraph", words("x"))])
    _make_old(blog, owned["id"], mobiledoc)
    remote = await site.read(owned["id"])
    [old] = site.codec.split(remote.raw)
    assert (old.name, old.html) == ("text in Ghost's old format", None)

    updated = await site.update(owned["id"], taken_over(remote, remote.raw, title="New title"), remote.revision)
    assert (updated.raw, updated.fields["title"]) == (remote.raw, "New title")
    mixed = site.codec.join([old.source, *site.codec.encode("<p>new</p>", "")], remote.raw)
    with pytest.raises(SiteRefused, match="not in the format of Ghost's editor"):
        await site.update(owned["id"], taken_over(remote, mixed), "")
    replaced = await site.update(
        owned["id"], taken_over(remote, site.codec.join(site.codec.encode("<p>All new</p>", ""))), ""
    )
    assert replaced.html == "<p>All new</p>"


def _make_old(blog: Ghost, post_id: str, mobiledoc: str) -> None:
    """Replace a body with Mobiledoc in the database, for Ghost to convert."""
    with contextlib.closing(sqlite3.connect(blog.folder / "data" / "ghost.db", timeout=30)) as database, database:
        database.execute("UPDATE posts SET mobiledoc = ?, lexical = NULL WHERE id = ?", (mobiledoc, post_id))


async def test_kept_fields_are_not_sent(owner: Owner, site: GhostSite) -> None:
    owned = owner.write([block("paragraph", words("x"))], custom_excerpt="Mine", tags=[{"name": "Z"}, {"name": "A"}])
    remote = await site.read(owned["id"])
    changed = replace(
        taken_over(remote, ""),
        title="T",
        excerpt="Ours",
        tags=("Ours",),
        kept=frozenset({"excerpt", "tags", "html", "slug"}),
    )
    after = await site.update(remote.id, changed, remote.revision)
    assert (after.fields["title"], after.fields["excerpt"], after.fields["tags"]) == ("T", "Mine", ("Z", "A"))
    assert (after.raw, after.fields["slug"], after.marker) == (remote.raw, remote.fields["slug"], "")


def test_a_ghost_site_is_a_block_site(site: GhostSite) -> None:
    checked: Mapping[str, object] = {"site": site}
    assert isinstance(checked["site"], BlockSite)
