"""Images on a website: uploaded once for all posts that show them, and removed with the last."""

from __future__ import annotations

import asyncio

import pytest
from pressroom.sdk import PluginContext
from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles
from pressroom_content.publishing.operations import unpublish
from pressroom_content.publishing.publications import Publications
from pressroom_content.records import Publication
from support.publishing_world import ADA, BODY, connect, write
from support.standin_platform import StandInPlatform

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def published(plugin: PluginContext, article: str, website: str) -> Publication:
    store = Publications(plugin)
    publication = await store.wait(await store.publish(ADA, article, website), 30)
    assert (publication.status, publication.error) == ("published", "")
    return publication


async def without_image(plugin: PluginContext, article: str, website: str) -> None:
    articles = Articles(plugin)
    stored = await articles.get(ADA, article)
    await articles.write(stored, Draft.of(stored).with_changes({"body": "Words only.", "featured_media_id": ""}))
    await published(plugin, article, website)


async def test_two_posts_share_an_image(plugin: PluginContext, platform: StandInPlatform) -> None:
    website = await connect(plugin, platform.url, platform.token)
    articles = [await write(plugin, title=f"Post {number}") for number in range(3)]
    publications = [await published(plugin, article, website) for article in articles]
    (image,) = platform.media.values()
    assert all(image["url"] in post["html"] for post in platform.posts.values())
    assert platform.count("POST /api/media") == 1

    await without_image(plugin, articles[0], website)
    await unpublish(plugin, ADA, publications[1].id, "draft")
    assert list(platform.media.values()) == [image]
    await unpublish(plugin, ADA, publications[2].id, "delete")
    assert list(platform.media.values()) == [image]
    await unpublish(plugin, ADA, publications[1].id, "delete")
    assert platform.media == {}


async def test_a_removed_image_is_restored_with_its_post(plugin: PluginContext, platform: StandInPlatform) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    first = await published(plugin, article, website)
    await unpublish(plugin, ADA, first.id, "delete")
    assert platform.media == {}
    await published(plugin, article, website)
    (image,) = platform.media.values()
    assert [image["url"] in post["html"] for post in platform.posts.values()] == [True]
    await without_image(plugin, article, website)
    assert platform.media == {}
    articles = Articles(plugin)
    stored = await articles.get(ADA, article)
    await articles.write(stored, Draft.of(stored).with_changes({"body": BODY}))
    await published(plugin, article, website)
    (image,) = platform.media.values()
    assert [image["url"] in post["html"] for post in platform.posts.values()] == [True]


async def test_an_image_deleted_on_the_site_is_uploaded_again(plugin: PluginContext, platform: StandInPlatform) -> None:
    website = await connect(plugin, platform.url, platform.token)
    await published(plugin, await write(plugin, title="First"), website)
    platform.media.clear()
    await published(plugin, await write(plugin, title="Second"), website)
    (image,) = platform.media.values()
    assert image["url"] in next(post["html"] for post in platform.posts.values() if post["title"] == "Second")


async def test_two_sites_have_separate_images(plugin: PluginContext, platform: StandInPlatform) -> None:
    article = await write(plugin)
    for _ in range(2):
        await published(plugin, article, await connect(plugin, platform.url, platform.token))
    assert platform.count("POST /api/media") == 2


async def test_concurrently_published_posts_all_have_their_image(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    website = await connect(plugin, platform.url, platform.token)
    articles = [await write(plugin, title=f"At once {number}") for number in range(6)]
    await asyncio.gather(*(published(plugin, article, website) for article in articles))
    urls = [image["url"] for image in platform.media.values()]
    assert all(any(url in post["html"] for url in urls) for post in platform.posts.values())
