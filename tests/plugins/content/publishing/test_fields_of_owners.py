"""Fields that a site's owner edits in one of our posts: publishing again does not overwrite them unasked."""

from __future__ import annotations

import pytest
from pressroom.sdk import PluginContext
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.site_edits import merge_edits
from pressroom_content.records import Publication
from support.publishing_world import ADA, write
from support.standin_platform import StandInPlatform
from support.standin_plugin import DRAWING, PHOTO

from .taken_over import Blog, blog_on

pytestmark = pytest.mark.asyncio(loop_scope="module")

THEIRS = "https://library.example/theirs.png"


async def published(blog: Blog, **fields: object) -> Publication:
    """Publish an article through Pressroom."""
    article = await write(blog.plugin, **{"title": "Ours", "slug": "ours", "body": "One.\n\nTwo.\n", **fields})
    publication = await blog.publish(article)
    assert (publication.status, publication.error) == ("published", "")
    return publication


@pytest.mark.parametrize("ours", ["", PHOTO])
async def test_an_image_set_by_the_owner_is_kept_until_the_article_gets_another(
    plugin: PluginContext, platform: StandInPlatform, ours: str
) -> None:
    blog = await blog_on(plugin, platform)
    publication = await published(blog, featured_media_id=ours)
    post = platform.posts[publication.external_id]
    platform.edit(publication.external_id, featured=THEIRS)
    await blog.replaced(publication.article_id, "One.", "Uno.")

    refused = await blog.publish(publication.article_id)
    assert f"the featured image {'is now' if ours else 'was added'}" in refused.error
    assert post["featured"] == THEIRS

    merged = await merge_edits(plugin, ADA, publication.id, {})
    assert (merged.fields, merged.conflicts, merged.field_conflicts) == ({"featured": THEIRS}, (), ())
    for old, new in (("Two.", "Due."), ("Uno.", "Un.")):  # the second round knows what the first one kept
        republished = await blog.publish(publication.article_id)
        assert (republished.error, republished.warnings, post["featured"]) == ("", publication.warnings, THEIRS)
        await blog.replaced(publication.article_id, old, new)

    await blog.change(publication.article_id, featured_media_id=DRAWING)
    assert (await blog.publish(publication.article_id)).error == ""
    assert post["featured"] in {media["url"] for media in platform.media.values()}


async def test_an_image_removed_by_the_owner_is_restored_if_the_article_side_is_chosen(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    blog = await blog_on(plugin, platform)
    publication = await published(blog, featured_media_id=PHOTO)
    post = platform.posts[publication.external_id]
    featured = post["featured"]
    platform.edit(publication.external_id, featured="")
    assert (await merge_edits(plugin, ADA, publication.id, {"featured": "article"})).fields == {"featured": ""}
    assert (await blog.publish(publication.article_id)).error == ""
    assert post["featured"] == featured


async def test_an_image_changed_on_both_sides_needs_a_decision(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    blog = await blog_on(plugin, platform)
    publication = await published(blog, featured_media_id="")
    platform.edit(publication.external_id, featured=THEIRS)
    await blog.change(publication.article_id, featured_media_id=PHOTO)
    merged = await merge_edits(plugin, ADA, publication.id, {})
    assert [
        (conflict.name, conflict.before, conflict.article, conflict.site) for conflict in merged.field_conflicts
    ] == [("featured", "", PHOTO, THEIRS)]
    assert merged.update is None
    assert (await merge_edits(plugin, ADA, publication.id, {"featured": "site"})).update is not None
    assert (await blog.publish(publication.article_id)).error == ""
    assert platform.posts[publication.external_id]["featured"] == THEIRS


async def test_the_image_of_an_adopted_post_stays_as_the_owner_changed_it(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    blog = await blog_on(plugin, platform)
    adopted = await blog.adopted()
    platform.edit("old", featured=THEIRS)
    await blog.replaced(adopted.article.id, "Two words.", "Two better words.")
    assert "the featured image is now" in (await blog.publish(adopted.article.id)).error
    assert (await merge_edits(plugin, ADA, adopted.publication_id, {})).fields == {"featured": THEIRS}
    assert (await blog.publish(adopted.article.id)).error == ""
    assert blog.post["featured"] == THEIRS
    assert "Two better words." in blog.post["html"]


async def test_a_website_specific_field_stays_as_the_owner_changed_it(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    blog = await blog_on(plugin, platform)
    article = await write(plugin, title="Ours", slug="ours", body="One.\n\nTwo.\n", featured_media_id="")
    publication = await blog.publish(article, options={"tags": ["chosen", "here"]})
    platform.edit(publication.external_id, tags=["theirs"])
    await blog.replaced(article, "One.", "Uno.")
    merged = await merge_edits(plugin, ADA, publication.id, {})
    assert merged.fields == {"tags": ["theirs"]}
    publications = Publications(plugin)
    republished = await publications.wait(await publications.update(ADA, publication.id), 30)
    assert republished.error == ""
    post = platform.posts[publication.external_id]
    assert (post["tags"], "Uno." in post["html"]) == (["theirs"], True)


async def test_a_post_deleted_by_the_owner_is_recreated_with_all_our_fields(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    blog = await blog_on(plugin, platform)
    article = await write(plugin, title="Ours", slug="ours", body="One.\n\nTwo.\n")
    first = await blog.publish(article, options={"tags": ["chosen"]})
    platform.edit(first.external_id, featured=THEIRS, tags=["theirs"])
    assert (await merge_edits(plugin, ADA, first.id, {})).update is not None
    assert (await blog.publish(article)).error == ""
    del platform.posts[first.external_id]
    await blog.replaced(article, "One.", "Uno.")
    publication = await blog.publish(article)
    assert publication.error == ""
    post = platform.posts[publication.external_id]
    assert post["featured"] in {media["url"] for media in platform.media.values()}
    assert (post["tags"], bool(post["term_ids"]["tag"])) == (["chosen"], True)
