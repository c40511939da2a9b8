"""What a publication costs the database, from the call that schedules it until the post is live."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pressroom.testing.running import settings_for_test
from pressroom_content.publishing import publications as publications_module
from pressroom_content.publishing.publications import Publications
from support.publishing_world import ADA, connect, world, write
from support.standin_platform import StandInPlatform
from support.transactions import counted_transactions

pytestmark = pytest.mark.asyncio(loop_scope="module")

MAX_TRANSACTIONS = 25
MAX_WRITING = 13


@pytest.mark.usefixtures("_installed")
async def test_a_scheduled_post_takes_few_transactions(
    config: dict[str, Any], folder: Path, platform: StandInPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Who waits is told in the process that publishes. On a slow machine it would look now and then besides.
    monkeypatch.setattr(publications_module, "_POLL_SECONDS", 60)
    # The settings that a server has by default: what is polled is part of the figure.
    plugins: dict[str, Any] = {"plugins": {"content": {"config": {}}, "standin": {}}, "jobs": {}}
    async with world(settings_for_test({**config, **plugins}, folder)) as plugin:
        website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
        publications = Publications(plugin)
        await asyncio.sleep(0.5)  # periodic jobs have run
        with counted_transactions() as count:
            at = datetime.now(UTC) + timedelta(seconds=2)
            begun = await publications.publish(ADA, article, website, mode="schedule", publish_at=at)
            waiting = await publications.wait(begun, 20)
            assert waiting.status == "scheduled"
            assert await asyncio.to_thread(platform.wait_for_state, "live")
            await asyncio.sleep(0.5)
        done = await publications.get(ADA, begun.id)
    assert done.status == "published", done
    assert [post["state"] for post in platform.posts.values()] == ["live"]
    assert count.begun <= MAX_TRANSACTIONS, count
    assert count.committed <= MAX_WRITING, count
