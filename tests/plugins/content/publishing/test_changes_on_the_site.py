"""Posts that their owners edit, delete or take down on the website."""

from __future__ import annotations

import orjson
import pytest
from pressroom.sdk import PluginContext
from pressroom_content.articles.store import Articles
from pressroom_content.publishing.operations import unpublish
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.verifying import look
from support.publishing_world import ADA, connect, ended, publish, recheck, write
from support.standin_platform import StandInPlatform

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_conflict_shows_what_was_edited(plugin: PluginContext, platform: StandInPlatform) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    publication = await publish(plugin, article, website)
    platform.edit(publication.external_id, title="An editor's own title")
    await Articles(plugin).update(ADA, article, expected_version=1, changes={"tags": ["more"]})
    update = await Publications(plugin).update(ADA, publication.id)
    refused = await ended(plugin, update)
    assert "the title is now \"An editor's own title\" (it was 'Hello world')" in refused.error, refused.error


async def test_an_edit_on_the_site_is_not_overwritten(plugin: PluginContext, platform: StandInPlatform) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    publication = await publish(plugin, article, website)
    platform.edit(publication.external_id, html="<p>Somebody's own words</p>")
    await Articles(plugin).update(ADA, article, expected_version=1, changes={"title": "Another title"})
    publications = Publications(plugin)
    state = await look(plugin, publication)
    assert state.edited is True
    refused = await publications.wait(await publications.update(ADA, publication.id), 20)
    assert refused.status == "published"
    assert "edited on the site" in refused.error
    assert await publications.problem(refused) == "remote_changed"
    assert platform.posts[publication.external_id]["html"] == "<p>Somebody's own words</p>"
    forced = await publications.wait(await publications.update(ADA, publication.id, force=True), 20)
    assert (forced.status, forced.error, forced.article_version) == ("published", "", 2)
    assert platform.posts[publication.external_id]["title"] == "Another title"
    assert (await look(plugin, forced)).edited is False


async def test_an_update_whose_response_is_lost_is_not_mistaken_for_somebody_elses_edit(
    plugin: PluginContext, platform: StandInPlatform, impatient: None
) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    publication = await publish(plugin, article, website)
    await Articles(plugin).update(ADA, article, expected_version=1, changes={"title": "Another title"})
    platform.fault("PUT /api/posts/", when="after", lose=True)
    updated = await ended(plugin, await Publications(plugin).update(ADA, publication.id))
    assert (updated.status, updated.error) == ("published", "")
    assert platform.posts[publication.external_id]["title"] == "Another title"


async def test_a_draft_edited_on_the_site_goes_live_with_the_edit(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    saved = await publish(plugin, article, website, mode="draft")
    assert saved.status == "draft"
    assert [post["state"] for post in platform.posts.values()] == ["draft"]
    platform.edit(saved.external_id, excerpt="An editor's own")
    publication = await publish(plugin, article, website)
    assert (publication.status, publication.id) == ("published", saved.id)
    assert [(post["state"], post["excerpt"]) for post in platform.posts.values()] == [("live", "An editor's own")]


async def test_a_post_deleted_on_the_site_is_recreated(plugin: PluginContext, platform: StandInPlatform) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    publication = await publish(plugin, article, website)
    platform.posts.clear()
    assert "publish_content creates it again" in " ".join((await look(plugin, publication)).drift)
    await Articles(plugin).update(ADA, article, expected_version=1, changes={"title": "Another title"})
    second = await publish(plugin, article, website)
    assert second.status == "published"
    assert [post["title"] for post in platform.posts.values()] == ["Another title"]


async def test_a_post_is_unpublished_and_republished(plugin: PluginContext, platform: StandInPlatform) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    publication = await publish(plugin, article, website)
    platform.fault("POST /api/posts/", when="after", lose=True)
    unpublished = (await unpublish(plugin, ADA, publication.id, "draft")).publication
    assert unpublished.status == "unpublished"
    assert (await unpublish(plugin, ADA, publication.id, "draft")).publication.status == "unpublished"
    assert [post["state"] for post in platform.posts.values()] == ["draft"]
    assert (await Articles(plugin).get(ADA, article)).status == "draft"
    republished = await publish(plugin, article, website)
    assert (republished.status, republished.id) == ("published", publication.id)
    assert len(platform.posts) == 1
    deleted = (await unpublish(plugin, ADA, publication.id, "delete")).publication
    assert (deleted.status, deleted.external_id, platform.posts) == ("unpublished", "", {})
    for mode in ("draft", "trash"):
        assert (await unpublish(plugin, ADA, publication.id, mode)).state == "gone"


async def test_a_post_deleted_by_its_owner_is_reported_as_gone(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    publication = await publish(plugin, article, website)
    platform.posts.clear()
    unpublished = await unpublish(plugin, ADA, publication.id, "draft")
    assert (unpublished.publication.status, unpublished.state) == ("unpublished", "gone")


async def test_any_response_of_a_site_about_its_posts_can_be_stored(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    platform.suffix = "\0\ud800" + "x" * 5000
    publication = await publish(plugin, article, website)
    assert publication.status == "published"
    assert len(publication.url) <= 2048
    assert len(platform.posts) == 1
    platform.suffix = ""
    await Articles(plugin).update(ADA, article, expected_version=1, changes={"title": "Another title"})
    updated = await ended(plugin, await Publications(plugin).update(ADA, publication.id))
    assert (updated.status, updated.error) == ("published", "")


async def test_any_edit_of_a_post_can_be_stored(plugin: PluginContext, platform: StandInPlatform) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    publication = await publish(plugin, article, website)
    platform.edit(publication.external_id, title="\0\ud800 Mine", html="<p>\0\ud800</p>" + "x" * 200_000)
    await Articles(plugin).update(ADA, article, expected_version=1, changes={"title": "Another title"})
    publications = Publications(plugin)
    refused = await ended(plugin, await publications.update(ADA, publication.id))
    assert "the title is now '? Mine'" in refused.error
    forced = await ended(plugin, await publications.update(ADA, publication.id, force=True))
    assert (forced.status, forced.error) == ("published", "")
    [overwritten] = [
        step.detail["overwritten"] for step in await publications.steps(publication.id) if "overwritten" in step.detail
    ]
    assert overwritten["fields"]["title"] == "? Mine"
    assert len(overwritten["body"]) <= 100_000
    assert orjson.dumps(overwritten)


@pytest.mark.parametrize("status", [503, 429])
async def test_an_unavailable_page_is_checked_again_automatically(
    plugin: PluginContext, platform: StandInPlatform, status: int
) -> None:
    platform.page_status = status
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin, slug="slow")
    publication = await publish(plugin, article, website)
    assert publication.status == "published"
    assert f"the URL of the post responds with status {status}" in publication.warnings
    assert publication.due_at is not None

    sent = len(platform.requests)
    publication = await recheck(plugin, publication)
    assert publication.due_at is not None
    platform.page_status = 200
    publication = await recheck(plugin, publication)
    assert (publication.status, publication.due_at, publication.verified["http_status"]) == ("published", None, 200)
    assert not [warning for warning in publication.warnings if "status" in warning]
    assert {request.split()[0] for request in platform.requests[sent:]} == {"GET"}


async def test_a_missing_page_is_not_waited_for(plugin: PluginContext, platform: StandInPlatform) -> None:
    platform.page_status = 404
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin, slug="nowhere")
    publication = await publish(plugin, article, website)
    assert "the URL of the post responds with status 404" in publication.warnings
    assert publication.due_at is None
