"""Sites restored from a backup: posts are missing or outdated, and their IDs are reused. Nothing is lost."""

from __future__ import annotations

from copy import deepcopy

import pytest
from pressroom.sdk import PluginContext
from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles
from pressroom_content.publishing.adopting import adopt
from pressroom_content.publishing.operations import DownMode, unpublish
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.publish_requests import PublishRequest
from pressroom_content.publishing.site_edits import merge_edits
from pressroom_content.records import Publication
from support.publishing_world import ADA, connect, write
from support.standin_platform import StandInPlatform
from support.standin_plugin import BLOCKS

from .taken_over import blog_on, written

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def publish(plugin: PluginContext, article: str, website: str, *, force: bool = False) -> Publication:
    store = Publications(plugin)
    started = await store.begin(ADA, article, website, PublishRequest(force=force))
    return await store.wait(started.publication, 30)


async def change(plugin: PluginContext, article: str, **changes: str) -> None:
    stored = await Articles(plugin).get(ADA, article)
    await Articles(plugin).write(stored, Draft.of(stored).with_changes(changes))


async def test_what_the_backup_lacks_is_created_once_and_what_is_outdated_there_is_reported(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    website = await connect(plugin, platform.url, platform.token)
    old = await write(plugin, title="Old", slug="old", body="First.", featured_media_id="")
    first = await publish(plugin, old, website)
    backup = deepcopy(platform.posts)
    await change(plugin, old, body="Second.")
    await publish(plugin, old, website)
    new = await write(plugin, title="New", slug="new", featured_media_id="")
    await publish(plugin, new, website)

    platform.posts = backup
    for text in ("Third.", "Fourth."):
        await change(plugin, new, body=text)
        assert (await publish(plugin, new, website)).status == "published"
    assert [post["html"] for post in platform.posts.values() if post["slug"] == "new"] == ["<p>Fourth.</p>\n"]
    await change(plugin, old, body="Third.")
    refused = await publish(plugin, old, website)
    assert "the post was edited on the site" in refused.error
    assert "First." in platform.posts[first.external_id]["html"]
    assert (await publish(plugin, old, website, force=True)).error == ""
    assert "Third." in platform.posts[first.external_id]["html"]
    assert len(platform.posts) == 2


@pytest.mark.parametrize("mode", ["draft", "trash", "delete"])
async def test_a_post_that_reused_our_id_is_not_unpublished(
    plugin: PluginContext, platform: StandInPlatform, mode: DownMode
) -> None:
    website = await connect(plugin, platform.url, platform.token)
    article = await write(plugin, title="Ours", slug="ours", featured_media_id="")
    publication = await publish(plugin, article, website)
    platform.posts.clear()
    written(platform, publication.external_id, title="A recipe", slug="recipe", html="<p>Flour and water.</p>")
    recipe = dict(platform.posts[publication.external_id])

    await change(plugin, article, title="Ours again")
    failed = await publish(plugin, article, website, force=True)
    assert failed.status == "failed"
    assert "unpublish_content, which leaves that post alone" in failed.error
    unpublished = (await unpublish(plugin, ADA, publication.id, mode)).publication
    assert (unpublished.status, unpublished.external_id) == ("unpublished", "")
    assert "another one by now ('A recipe')" in unpublished.error
    assert platform.posts == {publication.external_id: recipe}

    republished = await publish(plugin, article, website)
    assert (republished.status, republished.error) == ("published", "")
    assert republished.external_id != publication.external_id
    assert platform.posts.pop(publication.external_id) == recipe
    assert [post["title"] for post in platform.posts.values()] == ["Ours again"]


async def test_our_post_rewritten_on_the_site_is_still_ours(plugin: PluginContext, platform: StandInPlatform) -> None:
    website = await connect(plugin, platform.url, platform.token)
    article = await write(plugin, title="Ours", slug="ours", featured_media_id="")
    publication = await publish(plugin, article, website)
    platform.edit(publication.external_id, title="All new", slug="all-new", html="<p>Every word.</p>")
    await change(plugin, article, title="Mine")
    assert "edited on the site" in (await publish(plugin, article, website)).error
    assert (await unpublish(plugin, ADA, publication.id, "trash")).publication.error == ""
    assert platform.posts[publication.external_id]["state"] == "trashed"


async def test_an_image_that_reused_our_id_is_not_removed(plugin: PluginContext, platform: StandInPlatform) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin, slug="with-image")
    publication = await publish(plugin, article, website)
    (ours,) = platform.media
    theirs = {"id": ours, "marker": "", "size": 1, "url": f"{platform.url}/files/theirs.png"}
    platform.media[ours] = theirs
    await unpublish(plugin, ADA, publication.id, "delete")
    assert (platform.posts, platform.media) == ({}, {ours: theirs})


async def test_two_articles_of_one_post_do_not_overwrite_each_other(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    blog = await blog_on(plugin, platform)
    other_website = await connect(plugin, platform.url, platform.token, platform=BLOCKS)
    adopted, other = await blog.adopted(), await adopt(plugin, ADA, other_website, f"{platform.url}/old-post")
    assert other is not None
    assert other.article.id != adopted.article.id
    await blog.replaced(adopted.article.id, "Two words.", "Two better words.")
    assert (await blog.publish(adopted.article.id)).error == ""

    await change(plugin, other.article.id, title="A new title")
    refused = await publish(plugin, other.article.id, other_website)
    assert "the body now says 'Two better words.'" in refused.error
    assert blog.post["title"] == "An old post"
    assert (await merge_edits(plugin, ADA, other.publication_id, {})).update is not None
    assert (await publish(plugin, other.article.id, other_website)).error == ""
    assert blog.post["title"] == "A new title"
    assert "Two better words." in blog.post["html"]
