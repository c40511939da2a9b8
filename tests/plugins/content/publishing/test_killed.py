"""A publication resumes after its process is killed, and leaves exactly one post."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from pathlib import Path
from typing import Any

import pytest
from pressroom.sdk import PluginContext
from pressroom_content.publishing.publications import Publications
from pressroom_content.records import Publication
from support.job_processes import Forker, Workers
from support.publishing_world import ADA, connect, write
from support.sizes import SOAK, rounds
from support.standin_platform import StandInPlatform

pytestmark = pytest.mark.asyncio(loop_scope="module")

LEASE_SECONDS = 1

POINTS = [
    (request, when)
    for request in (
        "GET /api/terms/tag",
        "POST /api/terms/tag",
        "POST /api/terms/category",
        "POST /api/media",
        "POST /api/posts",
        "GET /api/posts/",
        "POST /api/posts/",
        "GET /hello-world",
    )
    for when in ("before", "after")
    if request.startswith("POST ") or when == "before"
]
"""Every request of a publication, and whether the platform has processed it when the process is killed."""

ROUNDS = rounds("PRESSROOM_TEST_KILLS", 2, soak=50)


async def _published(plugin: PluginContext, publication: Publication, seconds: float = 30) -> Publication:
    finished = await Publications(plugin).wait(publication, seconds)
    assert finished.status == "published", finished
    return finished


def _one_of_everything(platform: StandInPlatform) -> None:
    assert [post["state"] for post in platform.posts.values()] == ["live"]
    assert sorted(term["name"] for term in platform.terms) == ["Engineering", "news", "tools"]
    assert len(platform.media) == 1


async def _kill_at(platform: StandInPlatform, running: Workers, pid: int, request: str, when: Any) -> None:
    fault = platform.fault(request, when=when, act=lambda: os.kill(pid, signal.SIGKILL))
    assert await asyncio.to_thread(fault.met.wait, 20), f"nobody asked {request}"
    await asyncio.to_thread(running.gone, pid)


async def test_a_process_killed_at_every_request_leaves_one_post(
    config: dict[str, Any], idle: PluginContext, folder: Path, platform: StandInPlatform, processes: Forker
) -> None:
    website, article = await connect(idle, platform.url, platform.token), await write(idle)
    with processes.workers(config, folder / "data") as running:
        publication = await Publications(idle).publish(ADA, article, website)
        # PostgreSQL differs in its transactions, not in the steps, so the requests that create a post are enough.
        making = [point for point in POINTS if point[0].startswith("POST /api/posts")]
        for request, when in POINTS if idle.services.database.dialect == "sqlite" else making:
            pid = await asyncio.to_thread(running.start)
            await _kill_at(platform, running, pid, request, when)
        await asyncio.to_thread(running.start)
        published = await _published(idle, publication)
    _one_of_everything(platform)
    assert published.url == f"{platform.url}/hello-world"
    assert published.verified["http_status"] == 200
    assert [step.state for step in await Publications(idle).steps(published.id)] == ["done"] * 6


@pytest.mark.timeout(1200)
async def test_a_process_killed_at_any_moment_leaves_one_post(
    config: dict[str, Any], idle: PluginContext, folder: Path, platform: StandInPlatform, processes: Forker
) -> None:
    website = await connect(idle, platform.url, platform.token)
    moments = random.Random(None if SOAK else ROUNDS)
    with processes.workers(config, folder / "data") as running:
        for number in range(ROUNDS):
            article = await write(idle, title=f"Article {number}", slug=f"article-{number}")
            publication = await Publications(idle).publish(ADA, article, website)
            pid = await asyncio.to_thread(running.start)
            if number % 2:
                request, when = POINTS[number // 2 % (len(POINTS) - 2)]
                fault = platform.fault(request, when=when, act=lambda pid=pid: os.kill(pid, signal.SIGKILL))
                reached = await asyncio.to_thread(fault.met.wait, 3)
                if reached:
                    await asyncio.to_thread(running.gone, pid)
                else:  # its terms and images exist already
                    fault.times = 0
                    await asyncio.to_thread(running.kill, pid)
            else:
                await asyncio.sleep(moments.uniform(0, 0.25))
                await asyncio.to_thread(running.kill, pid)
            pid = await asyncio.to_thread(running.start)
            await _published(idle, publication)
            await asyncio.to_thread(running.kill, pid)
            assert sum(post["slug"] == f"article-{number}" for post in platform.posts.values()) == 1
    assert len(platform.posts) == ROUNDS
    assert {post["state"] for post in platform.posts.values()} == {"live"}
    assert len(platform.terms) == 3
