"""An adopted post is updated exactly once, at whatever request the updating process is killed."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from pressroom.sdk import PluginContext
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.publish_requests import PublishRequest
from support.job_processes import Forker
from support.publishing_world import ADA
from support.sizes import rounds
from support.standin_platform import StandInPlatform

from .taken_over import blog_on

pytestmark = pytest.mark.asyncio(loop_scope="module")

LEASE_SECONDS = 1

ROUNDS = rounds("PRESSROOM_TEST_KILLS", 3, soak=50)


@pytest.mark.timeout(1200)
async def test_a_kill_at_any_request_loses_or_duplicates_nothing(
    config: dict[str, Any], idle: PluginContext, folder: Path, platform: StandInPlatform, processes: Forker
) -> None:
    blog = await blog_on(idle, platform)
    adopted = await blog.adopted()
    points = [("GET /api/posts/old", "before"), ("PUT /api/posts/old", "before"), ("PUT /api/posts/old", "after")]
    with processes.workers(config, folder / "data") as running:
        for number in range(ROUNDS):
            request, when = points[number % len(points)]
            old, new = ("Two words.", "Two better words.") if number % 2 == 0 else ("Two better words.", "Two words.")
            await blog.replaced(adopted.article.id, old, new)
            pid = await asyncio.to_thread(running.start)
            fault = platform.fault(request, when=when, act=lambda pid=pid: os.kill(pid, signal.SIGKILL))
            started = await Publications(idle).begin(ADA, adopted.article.id, blog.website, PublishRequest())
            assert await asyncio.to_thread(fault.met.wait, 20)
            await asyncio.to_thread(running.gone, pid)
            pid = await asyncio.to_thread(running.start)
            publication = await Publications(idle).wait(started.publication, 30)
            assert (publication.status, publication.error) == ("published", ""), publication
            await asyncio.to_thread(running.kill, pid)
            html = blog.post["html"]
            assert new in html
            assert ("[gallery 1, 2]\n\n" in html, "[form 7]\n\n" in html) == (True, True)
            assert html.startswith('<p style="color:red">One</p>\n\n')
    assert len(platform.posts) == 1
