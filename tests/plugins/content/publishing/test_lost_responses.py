"""Unresponsive sites: retries become less frequent and eventually stop; a late effect never leads to a duplicate."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pressroom.sdk import PluginContext, Reschedule
from pressroom.testing.clock import FrozenClock
from pressroom_content.articles.store import Articles
from pressroom_content.publishing.engine import Engine
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.publish_requests import WAIT_SECONDS, pause
from pressroom_content.publishing.store import lock_of
from pressroom_content.records import Publication
from pressroom_content.tables import PublicationRow
from pressroom_content.tools.publication_parts import publication_text, row_of
from support.publishing_world import ADA, connect, write
from support.standin_platform import Fault, StandInPlatform

pytestmark = pytest.mark.asyncio(loop_scope="module")

WRITES = [
    ("POST /api/terms/tag", "failed"),
    ("POST /api/media", "failed"),
    ("POST /api/posts", "unknown"),
    ("POST /api/posts/", "failed"),
]


async def test_retry_delays_grow_with_jitter_and_end() -> None:
    for tries, seconds in enumerate(WAIT_SECONDS):
        assert pause(tries, 0) == seconds
        assert pause(tries, 1) == seconds * 1.25
    assert list(WAIT_SECONDS) == sorted(WAIT_SECONDS)
    assert pause(len(WAIT_SECONDS), 0) is None


async def work(engine: Engine, plugin: PluginContext, publication: Publication) -> Reschedule | None:
    """Work on a publication under its lock, as its job does."""
    async with plugin.services.jobs.lock(lock_of(publication.id)) as lease:
        return await engine.run(publication.id, lease)


class Worker:
    """Works on publications with a frozen clock, so that everything is due immediately."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = replace(plugin, config=plugin.config.model_copy(update={"settle_seconds": 0}))
        self._clock = FrozenClock()

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.seconds(), UTC)

    async def pauses(self, publication: Publication) -> tuple[list[float], Publication]:
        """Work until no retry is scheduled; return the delays in seconds, and the publication."""
        pauses: list[float] = []
        while True:
            await work(Engine(self._plugin, clock=self.now, chance=lambda: 1.0), self._plugin, publication)
            current = await Publications(self._plugin).get(ADA, publication.id)
            if current.due_at is None:
                return pauses, current
            pauses.append((current.due_at - self.now()).total_seconds())
            assert len(pauses) < 50, current


def lost(platform: StandInPlatform, request: str, when: Any = "before") -> Fault:
    return platform.fault(request, when=when, lose=True, times=1000)


@pytest.mark.parametrize(("request_line", "status"), WRITES)
async def test_a_write_without_a_response_ends(
    idle: PluginContext, platform: StandInPlatform, request_line: str, status: str
) -> None:
    website, article = await connect(idle, platform.url, platform.token), await write(idle)
    worker, fault = Worker(idle), lost(platform, request_line)
    pauses, ended = await worker.pauses(await Publications(idle).publish(ADA, article, website))
    assert pauses == [0.2, *(seconds * 1.25 for seconds in WAIT_SECONDS[1:])]
    assert ended.status == status
    assert "6 times in a row" in ended.error
    assert "publish_content again" in ended.error
    assert row_of(ended, {}, {}, {}).next_try_at is None
    assert "It continues automatically" not in publication_text(ended, ZoneInfo("UTC"))
    assert platform.count(request_line) == 6

    fault.times = 0
    await Publications(idle).retry(ADA, ended.id)
    _, publication = await worker.pauses(ended)
    assert (publication.status, publication.error) == ("published", "")
    assert [post["state"] for post in platform.posts.values()] == ["live"]
    assert len(platform.media) == 1


async def test_an_update_without_a_response_leaves_the_post_and_ends(
    idle: PluginContext, platform: StandInPlatform
) -> None:
    website, article = await connect(idle, platform.url, platform.token), await write(idle)
    worker = Worker(idle)
    _, publication = await worker.pauses(await Publications(idle).publish(ADA, article, website))
    await Articles(idle).update(ADA, article, expected_version=1, changes={"title": "Another title"})
    fault = lost(platform, "PUT /api/posts/")
    pauses, ended = await worker.pauses(await Publications(idle).update(ADA, publication.id))
    assert len(pauses) == len(WAIT_SECONDS)
    assert (ended.status, ended.url) == ("failed", publication.url)
    assert [(post["title"], post["state"]) for post in platform.posts.values()] == [("Hello world", "live")]

    fault.times = 0
    await Publications(idle).retry(ADA, ended.id)
    _, updated = await worker.pauses(ended)
    assert (updated.status, updated.error) == ("published", "")
    assert [post["title"] for post in platform.posts.values()] == ["Another title"]


async def test_a_site_that_responds_again_gets_the_full_waiting_time_at_the_next_step(
    idle: PluginContext, platform: StandInPlatform
) -> None:
    website, article = await connect(idle, platform.url, platform.token), await write(idle)
    worker = Worker(idle)
    platform.fault("POST /api/media", when="after", lose=True, times=3)
    platform.fault("POST /api/posts/", when="before", lose=True, times=3)
    pauses, ended = await worker.pauses(await Publications(idle).publish(ADA, article, website))
    assert ended.status == "published"
    assert pauses == [0.2, 0.2, WAIT_SECONDS[1] * 1.25, WAIT_SECONDS[2] * 1.25]
    assert len(platform.media) == 1


async def test_a_publication_that_continues_later_has_a_due_time(
    idle: PluginContext, platform: StandInPlatform
) -> None:
    website, article = await connect(idle, "http://127.0.0.1:1", platform.token), await write(idle)
    publication = await Publications(idle).publish(ADA, article, website)
    await work(Engine(idle, chance=lambda: 0.0), idle, publication)
    waiting = await Publications(idle).get(ADA, publication.id)
    assert waiting.due_at is not None
    assert row_of(waiting, {}, {}, {}).next_try_at == waiting.due_at
    assert f"It continues automatically at {waiting.due_at:%Y-%m-%dT%H:%M:%S}+00:00 (UTC)" in publication_text(
        waiting, ZoneInfo("UTC")
    )


async def test_a_delayed_request_does_not_create_a_second_post(idle: PluginContext, platform: StandInPlatform) -> None:
    patient = replace(idle, config=idle.config.model_copy(update={"settle_seconds": 60}))
    website = await connect(idle, platform.url, platform.token, seconds="0.5")
    article, response = await write(idle), threading.Event()
    platform.fault("POST /api/posts", delay=response)
    publication = await Publications(idle).publish(ADA, article, website)
    assert await work(Engine(patient), patient, publication)
    assert (await Publications(idle).get(ADA, publication.id)).status == "unknown"
    await _make_due(idle, publication)
    assert await work(Engine(patient), patient, publication)  # it reads the post, and sends nothing
    assert (await Publications(idle).get(ADA, publication.id)).status == "unknown"
    assert (platform.requests.count("POST /api/posts"), platform.posts) == (1, {})
    response.set()
    assert await asyncio.to_thread(platform.wait_for_post)
    await _make_due(idle, publication)
    assert await work(Engine(patient), patient, publication) is None
    assert (await Publications(idle).get(ADA, publication.id)).status == "published"
    assert (platform.requests.count("POST /api/posts"), len(platform.posts)) == (1, 1)


async def _make_due(plugin: PluginContext, publication: Publication) -> None:
    async with plugin.services.database.writing() as session:
        row = await session.get_one(PublicationRow, publication.id)
        row.due_at = datetime.now(UTC)


async def test_a_site_that_says_when_to_retry_is_not_tried_sooner(
    idle: PluginContext, platform: StandInPlatform
) -> None:
    website, article = await connect(idle, platform.url, platform.token), await write(idle)
    platform.fault("POST /api/posts", response=(429, "application/json", b"{}", {"Retry-After": "45"}))
    publication = await Publications(idle).publish(ADA, article, website)
    before = datetime.now(UTC)
    await work(Engine(idle, chance=lambda: 0.0), idle, publication)
    waiting = await Publications(idle).get(ADA, publication.id)
    assert waiting.due_at is not None
    assert waiting.due_at - before >= timedelta(seconds=45)
    assert waiting.error == "the stand-in is overloaded. It is retried automatically."


async def test_a_connector_that_never_returns_is_abandoned(idle: PluginContext, platform: StandInPlatform) -> None:
    website, article = await connect(idle, platform.url, platform.token), await write(idle)
    hasty = replace(idle, config=idle.config.model_copy(update={"settle_seconds": 60, "connector_seconds": 0.5}))
    release = threading.Event()
    platform.fault("POST /api/posts", delay=release)
    publication = await Publications(hasty).publish(ADA, article, website)

    await work(Engine(hasty), hasty, publication)
    release.set()

    stored = await Publications(hasty).get(ADA, publication.id)
    assert stored.status == "unknown"
    assert "did not respond within 0.5 s" in stored.error
