"""The status of an article that is on several websites, or whose latest publication failed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from pressroom.sdk import PluginContext
from pressroom_content.articles import trash
from pressroom_content.articles.store import Articles
from pressroom_content.publishing.operations import cancel, unpublish
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.publish_requests import Mode
from pressroom_content.records import Publication
from support.publishing_world import ADA, connect, write
from support.standin_platform import StandInPlatform

pytestmark = pytest.mark.asyncio(loop_scope="module")

_REFUSAL: Final[tuple[int, str, bytes, dict[str, str]]] = (422, "application/json", b'{"error": "no"}', {})


async def _published(
    plugin: PluginContext, article: str, website: str, mode: Mode = "publish", at: datetime | None = None
) -> Publication:
    publications = Publications(plugin)
    return await publications.wait(await publications.publish(ADA, article, website, mode=mode, publish_at=at), 60)


async def _with_a_failed_update(
    plugin: PluginContext, platform: StandInPlatform, article: str, website: str
) -> Publication:
    """Publish an article, then change it and fail to update its post."""
    assert (await _published(plugin, article, website)).status == "published"
    await Articles(plugin).update(ADA, article, expected_version=1, changes={"title": "Another title"})
    platform.fault("PUT /api/posts", response=_REFUSAL, times=2)
    failed = await _published(plugin, article, website)
    assert failed.status == "failed"
    assert [post["state"] for post in platform.posts.values()] == ["live"]
    return failed


async def _status(plugin: PluginContext, article: str) -> str:
    return (await Articles(plugin).get(ADA, article)).status


async def test_a_live_post_whose_update_failed_is_live_after_the_trash(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    await _with_a_failed_update(plugin, platform, article, website)

    await trash.trash(plugin, ADA, article, unpublish=False)
    restored = await trash.restore(plugin, ADA, article)

    assert restored.status == "published"


async def test_a_post_that_could_not_be_brought_back_is_not_live(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    publication = await _published(plugin, article, website)
    await unpublish(plugin, ADA, publication.id, "draft")
    await Articles(plugin).update(ADA, article, expected_version=1, changes={"title": "Another title"})
    platform.fault("PUT /api/posts", response=_REFUSAL, times=2)
    assert (await _published(plugin, article, website)).status == "failed"

    await trash.trash(plugin, ADA, article, unpublish=False)

    assert (await trash.restore(plugin, ADA, article)).status == "draft"


async def test_an_article_is_live_while_one_website_shows_it(plugin: PluginContext, platform: StandInPlatform) -> None:
    first, second = [await connect(plugin, platform.url, platform.token, name=name) for name in ("One", "Two")]
    article = await write(plugin)
    await _with_a_failed_update(plugin, platform, article, first)
    other = await _published(plugin, article, second)
    assert other.status == "published"

    await unpublish(plugin, ADA, other.id, "draft")

    assert await _status(plugin, article) == "published"


async def test_scheduling_elsewhere_leaves_a_live_article_live(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    first, second = [await connect(plugin, platform.url, platform.token, name=name) for name in ("One", "Two")]
    article = await write(plugin)
    assert (await _published(plugin, article, first)).status == "published"
    scheduled = await _published(plugin, article, second, "schedule", datetime.now(UTC) + timedelta(days=3))
    assert scheduled.status == "scheduled"
    assert await _status(plugin, article) == "published"
    await cancel(plugin, ADA, scheduled.id)
    assert await _status(plugin, article) == "published"


async def test_an_article_that_cannot_be_scheduled_is_a_draft(plugin: PluginContext, platform: StandInPlatform) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    at = datetime.now(UTC) + timedelta(days=3)
    platform.fault("POST /api/posts", response=_REFUSAL)
    failed = await _published(plugin, article, website, "schedule", at)
    assert failed.status == "failed"
    assert await _status(plugin, article) == "draft"

    retried = await Publications(plugin).wait(await Publications(plugin).retry(ADA, failed.id), 60)

    assert retried.status == "scheduled"
    assert await _status(plugin, article) == "scheduled"


async def test_an_article_is_scheduled_once_its_live_post_is_taken_down(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    first, second = [await connect(plugin, platform.url, platform.token, name=name) for name in ("One", "Two")]
    article = await write(plugin)
    await _published(plugin, article, first, "schedule", datetime.now(UTC) + timedelta(days=3))
    live = await _published(plugin, article, second)
    assert await _status(plugin, article) == "published"
    await unpublish(plugin, ADA, live.id, "draft")
    assert await _status(plugin, article) == "scheduled"
