"""Scheduled publications: each is published on time and exactly once, by any number of processes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pressroom.sdk import InvalidInput, PluginContext
from pressroom.storage.database.tables import JobRow
from pressroom_content.articles.store import Articles
from pressroom_content.builtin_site.store import BuiltinSite
from pressroom_content.publishing.operations import bring, cancel
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.publish_requests import PublishRequest
from pressroom_content.publishing.store import work_on
from pressroom_content.records import Publication
from pressroom_content.tables import PublicationRow, WebsiteRow
from pressroom_content.websites.store import Websites
from support.job_processes import Forker
from support.polling import eventually
from support.publishing_world import ADA, connect, write
from support.standin_platform import StandInPlatform

T = TypeVar("T")

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def stands(plugin: PluginContext, publication: Publication, status: str) -> Publication:
    current = publication
    for _ in range(900):
        current = await Publications(plugin).get(ADA, publication.id)
        if current.status == status:
            return current
        await asyncio.sleep(0.1)
    raise AssertionError(current)


async def once_free(work: Callable[[], Awaitable[T]]) -> T:
    """Retry an operation every 0.5 seconds while it is refused because the publication is being worked on."""
    for _ in range(60):
        try:
            return await work()
        except InvalidInput as error:
            if "is being worked on" not in str(error):
                raise
            await asyncio.sleep(0.5)
    return await work()


async def test_four_processes_publish_each_post_exactly_once_and_on_time(
    config: dict[str, Any], idle: PluginContext, folder: Path, platform: StandInPlatform, processes: Forker
) -> None:
    website = await connect(idle, platform.url, platform.token)
    publications = Publications(idle)
    with processes.workers(config, folder / "data") as running:
        articles = [
            await write(idle, title=f"Post {number}", slug=f"post-{number}", featured_media_id="", body="Text")
            for number in range(12)
        ]
        at = datetime.now(UTC) + timedelta(seconds=4)
        started = [
            await publications.publish(ADA, article, website, mode="schedule", publish_at=at) for article in articles
        ]
        for _ in range(4):
            await asyncio.to_thread(running.start)
        for publication in started:
            await stands(idle, publication, "published")
    assert len(platform.posts) == 12
    live = [(post, moment) for post, state, moment in platform.state_changes if state == "live"]
    assert Counter(post for post, _ in live) == Counter(dict.fromkeys(platform.posts, 1))
    assert all(moment >= at for _, moment in live)


async def test_a_schedule_is_moved_and_cancelled(plugin: PluginContext, platform: StandInPlatform) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    publications, now = Publications(plugin), datetime.now(UTC)
    publication = await publications.publish(ADA, article, website, mode="schedule", publish_at=now + timedelta(days=3))
    waiting = await stands(plugin, publication, "scheduled")
    assert (await Articles(plugin).get(ADA, article)).status == "scheduled"
    assert [post["state"] for post in platform.posts.values()] == ["draft"]
    later = await publications.publish(ADA, article, website, mode="schedule", publish_at=now + timedelta(days=5))
    moved = await stands(plugin, later, "scheduled")
    assert (moved.id, moved.publish_at) == (waiting.id, now + timedelta(days=5))
    cancelled = await cancel(plugin, ADA, waiting.id)
    assert (cancelled.status, cancelled.publish_at) == ("draft", None)
    assert (await Articles(plugin).get(ADA, article)).status == "draft"
    with pytest.raises(InvalidInput, match="not scheduled"):
        await cancel(plugin, ADA, waiting.id)
    soon = await publications.publish(
        ADA, article, website, mode="schedule", publish_at=datetime.now(UTC) + timedelta(seconds=0.5)
    )
    published = await stands(plugin, soon, "published")
    assert published.id == publication.id
    assert [post["state"] for post in platform.posts.values()] == ["live"]


async def _natively(plugin: PluginContext, platform: StandInPlatform) -> str:
    """Connect a website whose platform schedules posts itself, and return its ID."""
    website = await connect(plugin, platform.url, platform.token)
    async with plugin.services.database.writing() as session:
        (await session.get_one(WebsiteRow, website)).capabilities = {"schedule": True}
    return website


@pytest.mark.parametrize("newer", [False, True])
async def test_a_scheduled_draft_is_not_scheduled_on_its_site(
    plugin: PluginContext, platform: StandInPlatform, newer: bool
) -> None:
    website, article = await _natively(plugin, platform), await write(plugin)
    at = datetime.now(UTC) + timedelta(days=3)
    publication = await Publications(plugin).publish(ADA, article, website, mode="schedule", publish_at=at)
    await stands(plugin, publication, "scheduled")
    assert [post["state"] for post in platform.posts.values()] == ["scheduled"]
    if newer:
        await Articles(plugin).update(ADA, article, expected_version=1, changes={"title": "Another title"})

    saved = await once_free(lambda: bring(plugin, ADA, article, website, PublishRequest(mode="draft")))

    saved_draft = await stands(plugin, saved.publication, "draft")
    assert (saved_draft.id, saved_draft.publish_at, saved_draft.article_version) == (
        publication.id,
        None,
        2 if newer else 1,
    )
    title = "Another title" if newer else "Hello world"
    assert [(post["state"], post["title"]) for post in platform.posts.values()] == [("draft", title)]


async def test_a_scheduled_post_deleted_on_the_site_is_reported_as_deleted(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    website, article = await _natively(plugin, platform), await write(plugin)
    at = datetime.now(UTC) + timedelta(days=3)
    publication = await Publications(plugin).publish(ADA, article, website, mode="schedule", publish_at=at)
    await stands(plugin, publication, "scheduled")
    platform.posts.clear()
    cancelled = await once_free(lambda: cancel(plugin, ADA, publication.id))
    assert (cancelled.status, platform.posts) == ("unpublished", {})

    second = await Publications(plugin).publish(ADA, article, website, mode="schedule", publish_at=at)
    await stands(plugin, second, "scheduled")
    platform.posts.clear()
    saved = await once_free(lambda: bring(plugin, ADA, article, website, PublishRequest(mode="draft")))
    saved_draft = await stands(plugin, saved.publication, "draft")
    assert [(id_, post["state"]) for id_, post in platform.posts.items()] == [(saved_draft.external_id, "draft")]


@pytest.mark.parametrize(("away", "status"), [(False, "unpublished"), (True, "draft")])
async def test_a_deleted_post_is_not_a_draft_after_its_schedule_is_cancelled(
    plugin: PluginContext, platform: StandInPlatform, away: bool, status: str
) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    later = datetime.now(UTC) + timedelta(days=3)
    publication = await Publications(plugin).publish(ADA, article, website, mode="schedule", publish_at=later)
    waiting = await stands(plugin, publication, "scheduled")
    platform.posts.clear()
    if away:
        platform.fault("GET /api/posts", lose=True)
    assert (await cancel(plugin, ADA, waiting.id)).status == status


async def test_work_on_a_draft_cancels_what_was_sent_to_its_site(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    website, article = await _natively(plugin, platform), await write(plugin)
    at = datetime.now(UTC) + timedelta(days=3)
    publications = Publications(plugin)
    publication = await publications.publish(ADA, article, website, mode="schedule", publish_at=at)
    await stands(plugin, publication, "scheduled")
    await stands(plugin, await publications.publish(ADA, article, website, mode="draft"), "draft")
    assert [post["state"] for post in platform.posts.values()] == ["draft"]


async def test_an_edit_on_the_site_leaves_the_schedule_unchanged(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    website, article = await _natively(plugin, platform), await write(plugin)
    at = datetime.now(UTC) + timedelta(days=3)
    publications = Publications(plugin)
    publication = await publications.publish(ADA, article, website, mode="schedule", publish_at=at)
    waiting = await stands(plugin, publication, "scheduled")
    platform.edit(waiting.external_id, title="Mine")
    await Articles(plugin).update(ADA, article, expected_version=1, changes={"title": "Another title"})

    refused = await publications.wait(await publications.update(ADA, publication.id), 20)

    assert (refused.status, refused.publish_at, refused.due_at, refused.article_version) == ("scheduled", at, at, 1)
    assert "the title is now 'Mine'" in refused.error
    assert [(post["state"], post["title"]) for post in platform.posts.values()] == [("scheduled", "Mine")]
    soon = datetime.now(UTC) + timedelta(seconds=0.5)
    async with plugin.services.database.writing() as session:
        row = await session.get_one(PublicationRow, publication.id)
        row.publish_at = row.due_at = soon
        row.job_id = await work_on(plugin, session, row.id, ADA, soon)
    platform.edit(waiting.external_id, state="live")
    published = await stands(plugin, publication, "published")
    assert (published.error, [post["title"] for post in platform.posts.values()]) == ("", ["Mine"])


async def test_of_several_jobs_only_one_is_in_charge(plugin: PluginContext, platform: StandInPlatform) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    publications, database = Publications(plugin), plugin.services.database
    later = datetime.now(UTC) + timedelta(days=3)
    publication = await publications.publish(ADA, article, website, mode="schedule", publish_at=later)
    await stands(plugin, publication, "scheduled")
    first = await _job_in_charge(plugin, publication)
    moved = later + timedelta(days=1)
    await stands(
        plugin, await publications.publish(ADA, article, website, mode="schedule", publish_at=moved), "scheduled"
    )
    second = await _job_in_charge(plugin, publication)
    assert first != second
    sent = len(platform.requests)
    async with database.writing() as session:
        for job_id in (first, second):
            (await session.get_one(JobRow, job_id)).due_at = datetime.now(UTC)
    jobs = plugin.services.jobs
    await eventually(lambda: jobs.status(first), lambda job: job.state == "succeeded", seconds=20)
    # The process that holds the job finds that it is not due yet.
    await eventually(lambda: _due_at(plugin, second), lambda at: at > datetime.now(UTC), seconds=20)
    assert (await publications.get(ADA, publication.id)).status == "scheduled"
    assert len(platform.requests) == sent


async def _job_in_charge(plugin: PluginContext, publication: Publication) -> str:
    async with plugin.services.database.reading() as session:
        row = await session.get_one(PublicationRow, publication.id)
        assert await session.get(JobRow, row.job_id) is not None
        return str(row.job_id)


async def _due_at(plugin: PluginContext, job_id: str) -> datetime:
    async with plugin.services.database.reading() as session:
        row = await session.get_one(JobRow, job_id)
    assert row.state in ("queued", "running")
    return row.due_at if row.state == "queued" and row.due_at else datetime.min.replace(tzinfo=UTC)


async def test_the_built_in_site_handles_the_schedule_itself(plugin: PluginContext) -> None:
    site = await Websites(plugin).add(ADA, "builtin", name="Ada writes", url="", credential={})
    article = await write(plugin, featured_media_id="", body="Text")
    at = datetime.now(UTC) + timedelta(days=2)
    publication = await Publications(plugin).publish(ADA, article, site.id, mode="schedule", publish_at=at)
    await stands(plugin, publication, "scheduled")
    assert await BuiltinSite(plugin, site.id).live(limit=5) == []
    sooner = datetime.now(UTC) + timedelta(seconds=0.3)
    await Publications(plugin).publish(ADA, article, site.id, mode="schedule", publish_at=sooner)
    published = await stands(plugin, publication, "published")
    (post,) = await BuiltinSite(plugin, site.id).live(limit=5)
    assert published.path == f"/sites/ada-writes/{post.slug}"
