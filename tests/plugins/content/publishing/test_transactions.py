"""Transactions needed by a publication, from the scheduling call until the post is live."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pressroom.sdk import PluginContext
from pressroom.testing.running import settings_for_test
from pressroom_content.publishing import publications as publications_module
from pressroom_content.publishing.publications import Publications
from support.publishing_world import ADA, connect, world, write
from support.standin_platform import StandInPlatform
from support.transactions import TransactionCount, counted_transactions

pytestmark = pytest.mark.asyncio(loop_scope="module")

MAX_TRANSACTIONS = 27
"""It takes 25. On a slow machine, after hundreds of tests in the same process, ten posts took one or two more each."""
MAX_WRITING = 13
ATTEMPTS = 10
"""On a busy machine the queue may be polled once more, so the post with the fewest transactions counts."""


@pytest.mark.usefixtures("_installed")
async def test_a_scheduled_post_takes_few_transactions(
    config: dict[str, Any], folder: Path, platform: StandInPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The waiting call is notified in the process that publishes. On a slow machine it would poll now and then as well.
    monkeypatch.setattr(publications_module, "_POLL_SECONDS", 60)
    # The server's default settings, except for the queue poll, which happens every five seconds anyway: on a slow
    # machine, a poll would fall into the measured time.
    plugins: dict[str, Any] = {
        "plugins": {"content": {"config": {}}, "standin": {}},
        "jobs": {"poll_interval": 3600},
    }
    counts: list[TransactionCount] = []
    async with world(settings_for_test({**config, **plugins}, folder)) as plugin:
        website = await connect(plugin, platform.url, platform.token)
        with counted_transactions() as before:
            await until_quiet(before)  # periodic jobs have run
        while len(counts) < ATTEMPTS and not any(map(is_low, counts)):
            article = await write(plugin, title=f"Cold brew {len(counts)}")
            counts.append(await count_of_a_scheduled_post(plugin, website, article, platform, live=len(counts) + 1))
    assert any(map(is_low, counts)), counts


def is_low(count: TransactionCount) -> bool:
    return count.started <= MAX_TRANSACTIONS and count.committed <= MAX_WRITING


async def count_of_a_scheduled_post(
    plugin: PluginContext, website: str, article: str, platform: StandInPlatform, *, live: int
) -> TransactionCount:
    """Count the transactions of a post, from the call that schedules it until `live` posts are live."""
    publications = Publications(plugin)
    checks = 1
    with counted_transactions() as count:
        at = datetime.now(UTC) + timedelta(seconds=2)
        publication = await publications.publish(ADA, article, website, mode="schedule", publish_at=at)
        waiting = await publications.wait(publication, 20)
        assert waiting.status in ("scheduled", "published")
        assert await asyncio.to_thread(platform.wait_for_state, "live", live)
        while (await publications.get(ADA, publication.id)).status == "publishing":
            checks += 1
            await asyncio.sleep(0.05)
        await until_quiet(count)
    assert (await publications.get(ADA, publication.id)).status == "published"
    return TransactionCount(count.started - checks, count.committed)


async def until_quiet(count: TransactionCount) -> None:
    """Wait until no transaction has begun for half a second."""
    before = -1
    while before != count.started:
        before = count.started
        await asyncio.sleep(0.5)
