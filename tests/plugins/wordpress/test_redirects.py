"""Redirects: those of WordPress itself, and those of the Redirection plugin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import SiteGone, SiteRefused, SiteRejected
from pressroom_wordpress.site import WordPressSite
from support.redirection_plugin import redirection_installed
from support.wordpress import WordPress

from .conftest import site_of
from .test_site import a_post, seen

pytestmark = pytest.mark.timeout(600)  # the first test on a machine downloads WordPress


@pytest.fixture
def redirection(blog: WordPress) -> Iterator[None]:
    with redirection_installed(blog):
        yield


async def test_the_old_slug_of_a_live_post_redirects_to_the_new_one(site: WordPressSite) -> None:
    post = a_post()
    live = await site.set_state((await site.create(post)).id, "live")
    moved = await site.update(live.id, replace(post, slug=f"{post.slug}-moved"), "")
    assert moved.url != live.url
    response = await seen(live.url)
    assert (response.status_code, response.headers["location"]) == (301, moved.url)


async def test_without_the_plugin_the_message_lists_what_exists(site: WordPressSite) -> None:
    assert not (await site.check()).capabilities.redirects
    for call in (site.redirects(), site.add_redirect("/a", "/b", permanent=True), site.remove_redirect("1")):
        with pytest.raises(SiteRefused, match=r"old slug .* Install the WordPress plugin Redirection"):
            await call


async def test_redirects_are_created_changed_and_removed(
    redirection: None, blog: WordPress, site: WordPressSite
) -> None:
    assert (await site.check()).capabilities.redirects
    assert await site.redirects() == []
    redirect = await site.add_redirect("/old-tea", "/new-tea", permanent=True)
    assert (redirect.source, redirect.target, redirect.permanent) == ("/old-tea", "/new-tea", True)
    response = await seen(f"{blog.url}/old-tea")
    assert (response.status_code, response.headers["location"]) == (301, "/new-tea")
    changed = await site.add_redirect("/old-tea", "https://example.org/tea", permanent=False)
    assert await site.redirects() == [changed]
    assert (changed.id, changed.permanent) == (redirect.id, False)
    await site.remove_redirect(redirect.id)
    assert await site.redirects() == []
    with pytest.raises(SiteGone):
        await site.remove_redirect(redirect.id)


async def test_rules_that_are_more_than_a_redirect_are_not_listed(
    redirection: None, blog: WordPress, site: WordPressSite
) -> None:
    rule = {
        "url": "/blog/(.*)",
        "match_type": "url",
        "action_type": "url",
        "action_code": 301,
        "action_data": {"url": "/$1"},
        "regex": True,
        "group_id": 1,
    }
    response = blog.send("POST", "/redirection/v1/redirect", rule)
    assert response.json()["total"] == 1
    assert await site.redirects() == []
    blog.send("POST", "/redirection/v1/bulk/redirect/delete", {"items": str(response.json()["items"][0]["id"])})


async def test_a_user_who_may_not_manage_them_learns_so(
    redirection: None, blog: WordPress, fetcher: GuardedFetcher
) -> None:
    author = site_of(blog, fetcher, "author")
    assert not (await author.check()).capabilities.redirects
    with pytest.raises(SiteRejected):
        await author.redirects()
