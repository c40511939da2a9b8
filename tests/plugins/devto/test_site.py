"""The connector against a stand-in that refuses everything not in Forem's documentation."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import (
    Post,
    RemoteChanged,
    RemoteMedia,
    Site,
    SiteGone,
    SiteRefused,
    SiteRejected,
    SiteUnavailable,
    UnknownOutcome,
)
from pressroom_content.publishing.comparing import differences
from pressroom_devto.site import marker_of, tags_of, with_marker
from support.origins import Visit, origin
from support.standin_forem import Forem

from .conftest import site_of

_numbers = count(1)


def a_post(**fields: Any) -> Post:
    number = next(_numbers)
    values: dict[str, Any] = {
        "marker": f"pr-{number:024x}",
        "title": f"Cold brew & “friends” {number}",
        "slug": f"cold-brew-{number}",
        "html": "<p>Coffee, <strong>cold</strong>.</p>",
        "markdown": "Coffee, **cold**.",
    }
    return Post(**{**values, **fields})


async def test_a_check_reports_the_owner_of_the_key(forem: Forem, fetcher: GuardedFetcher) -> None:
    good = await site_of(forem, fetcher).check()
    wrong = await site_of(forem, fetcher, "another-key-0123").check()
    assert good.ok
    assert (good.name, good.capabilities.schedule, good.capabilities.delete) == ("Ada Lovelace", False, False)
    assert [check.id for check in wrong.checks if check.status == "error"] == ["credential"]
    with pytest.raises(SiteRejected):
        await site_of(forem, fetcher, "another-key-0123").create(a_post())


async def test_a_post_goes_through_its_states(site: Site) -> None:
    post = a_post(
        excerpt="Short",
        canonical_url="https://example.org/original",
        tags=("Cold Brew", "R&D"),
        featured=RemoteMedia("", "https://press.example.org/m/1.png"),
    )
    remote = await site.create(post)
    assert remote.state == "draft"
    read = await site.read(remote.id)
    assert (read.revision, read.state, read.html) == (remote.revision, "draft", post.markdown)
    assert read.fields["tags"] == ("coldbrew", "rd")
    assert differences(post, read) == []
    live = await site.set_state(remote.id, "live")
    assert live.state == "live"
    assert (await site.read(remote.id)).revision == live.revision
    updated = await site.update(remote.id, replace(post, title="Another"), live.revision)
    assert (updated.state, (await site.read(remote.id)).fields["title"]) == ("live", "Another")
    assert (await site.set_state(remote.id, "draft")).state == "draft"
    for state in ("trashed", "gone", "scheduled"):
        with pytest.raises(SiteRefused):
            await site.set_state(remote.id, state)


async def test_what_dev_cannot_store_is_reported(site: Site) -> None:
    post = a_post(tags=("one", "two", "three", "four", "five"))
    remote = await site.create(post)
    assert differences(post, await site.read(remote.id)) == ["the site dropped the tags five"]


async def test_a_cleared_field_is_cleared_on_the_site(forem: Forem, site: Site) -> None:
    post = a_post(canonical_url="https://example.org/original", featured=RemoteMedia("", "https://example.org/1.png"))
    remote = await site.create(post)
    await site.update(remote.id, replace(post, canonical_url="", featured=None), remote.revision)
    (stored,) = forem.articles.values()
    assert (stored["canonical_url"], stored["main_image"]) == (None, None)


@pytest.mark.parametrize(
    "markdown",
    ["---\ntitle: Not mine\npublished: true\n---\nbody", "```\nnever closed", "", "{% raw %} {{ x }}", "\ufeff---\n"],
)
async def test_hostile_bodies_keep_their_marker_and_text(site: Site, markdown: str) -> None:
    post = a_post(markdown=markdown)
    remote = await site.create(post)
    match = await site.find(post)
    assert match is not None
    assert (match.id, match.html, match.state) == (remote.id, markdown, "draft")


async def test_a_post_is_found_at_any_position_in_the_list(forem: Forem, site: Site) -> None:
    post = a_post()
    assert await site.find(post) is None
    remote = await site.create(post)
    for _ in range(205):
        forem.write("POST", 0, {"title": "Other", "body_markdown": with_marker("x", "p_other"), "published": False})
    assert (await site.read(remote.id)).marker == post.marker
    match = await site.find(post)
    assert match is not None
    assert match.id == remote.id
    assert await site.find(replace(post, marker=post.marker[:-1])) is None


async def test_a_post_is_found_while_another_is_deleted(forem: Forem, site: Site) -> None:
    post = a_post()
    remote = await site.create(post)
    for _ in range(100):  # it is the first post on the second page
        forem.write("POST", 0, {"title": "Other", "body_markdown": "x", "published": False})
    forem.deletes_while_listing = True
    assert (await site.read(remote.id)).id == remote.id


async def test_an_edit_on_the_site_is_detected(forem: Forem, site: Site) -> None:
    remote = await site.create(a_post())
    forem.articles[int(remote.id)]["title"] = "Somebody else's"
    with pytest.raises(RemoteChanged):
        await site.update(remote.id, a_post(), remote.revision)
    assert (await site.update(remote.id, a_post(title="Ours"), "")).fields["title"] == "Ours"


async def test_a_post_deleted_on_the_site_is_reported_as_gone(forem: Forem, site: Site) -> None:
    remote = await site.create(a_post())
    forem.articles.clear()
    for attempt in (site.read(remote.id), site.update(remote.id, a_post(), ""), site.set_state(remote.id, "live")):
        with pytest.raises(SiteGone):
            await attempt
    with pytest.raises(SiteGone):
        await site.set_state("../users/me", "live")


async def test_a_canonical_url_in_use_is_reported_in_the_platforms_words(site: Site) -> None:
    await site.create(a_post(canonical_url="https://example.org/same"))
    with pytest.raises(SiteRefused, match="already been taken"):
        await site.create(a_post(canonical_url="https://example.org/same"))


async def test_a_lost_response_leaves_the_outcome_unknown_and_the_post_can_be_found(forem: Forem, site: Site) -> None:
    post = a_post()
    forem.lose = "after"
    with pytest.raises(UnknownOutcome):
        await site.create(post)
    assert (await site.find(post)) is not None


async def test_nothing_is_sent_before_the_retry_after_has_passed(forem: Forem, site: Site) -> None:
    forem.limited.append("600")
    with pytest.raises(SiteUnavailable):
        await site.create(a_post())
    sent = len(forem.requests)
    with pytest.raises(SiteUnavailable, match=r"another (600|599) seconds"):
        await site.create(a_post())
    assert len(forem.requests) == sent


async def test_an_object_instead_of_a_list_is_not_an_empty_list(forem: Forem, fetcher: GuardedFetcher) -> None:
    async def reply(visit: Visit) -> None:
        await visit.respond(b'{"articles": []}', "Content-Type: application/json")

    async with origin(reply) as other:
        site = site_of(replace(forem, port=other.port), fetcher)
        with pytest.raises(SiteUnavailable):
            await site.find(a_post())
        with pytest.raises(UnknownOutcome):
            await site.create(a_post())


async def test_published_posts_are_listed(site: Site) -> None:
    post_ids = [(await site.set_state((await site.create(a_post())).id, "live")).id for _ in range(3)]
    listed = [post async for post in site.posts(datetime.now(UTC), 2)]
    assert [post.id for post in listed] == post_ids[::-1][:2]
    assert {post.state for post in listed} == {"live"}


async def test_tags_are_the_only_terms(site: Site) -> None:
    assert [term.name for term in await site.terms("tag", "PYTH", 10)] == ["python"]
    with pytest.raises(SiteRefused):
        await site.terms("category", "", 10)


@given(st.lists(st.text(max_size=60), max_size=12))
def test_tags_are_what_dev_takes(names: list[str]) -> None:
    made = tags_of(names)
    assert len(made) <= 4
    assert all(tag.isalnum() and len(tag) <= 30 for tag in made)


async def test_programming_languages_keep_their_own_tags(site: Site) -> None:
    post = a_post(tags=("C", "C++", "C#", "#webdev"))
    read = await site.read((await site.create(post)).id)
    assert read.fields["tags"] == ("c", "cpp", "csharp", "webdev")
    assert differences(post, read) == []
    assert differences(post, replace(read, fields={**read.fields, "tags": ("c",)})) == [
        "the site dropped the tags C++, C#, #webdev"
    ]


@given(st.text(max_size=200))
def test_a_marker_survives_any_body(body: str) -> None:
    assert marker_of(with_marker(body, "p_abc123")) == "p_abc123"
