"""The background work of publishing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from pressroom.sdk import Job, JobRun, PluginContext
from sqlalchemy import select

from pressroom_content.publishing.engine import JOB, Engine, wake
from pressroom_content.publishing.store import PublicationStore
from pressroom_content.tables import PublicationRow

SWEEP: Final = "content.publish_waiting"
_SWEEP_SECONDS: Final = 60.0
_MANY: Final = 1000


def jobs(plugin: PluginContext) -> Sequence[Job]:
    """Return the jobs: going on with one publication, and finding those that a process left behind."""

    async def publish(run: JobRun) -> Mapping[str, Any]:
        worked = await Engine(plugin).run(str(run.payload["publication_id"]))
        return {"publication_id": run.payload["publication_id"], "worked": worked}

    async def sweep(_run: JobRun) -> Mapping[str, Any]:
        return {"woken": await wake_waiting(plugin)}

    return [
        # A process that is killed costs an attempt; the publication itself knows how often it was tried.
        Job(JOB, publish, attempts=_MANY, lease=60, timeout=900, urgent=True),
        Job(SWEEP, sweep, every=max(1.0, min(_SWEEP_SECONDS, float(plugin.config.lease_seconds))), urgent=True),
    ]


async def wake_waiting(plugin: PluginContext) -> int:
    """Have somebody go on with every publication that waits for it, and return how many there are."""
    waiting = await PublicationStore(plugin).waiting()
    if not waiting:
        return 0
    async with plugin.services.database.reading() as session:
        rows = await session.execute(
            select(PublicationRow.id, PublicationRow.user_id).where(PublicationRow.id.in_(waiting))
        )
        owners = {row.id: row.user_id for row in rows}
    now = datetime.now(UTC)
    for publication_id, user_id in owners.items():
        await wake(plugin, publication_id, user_id, now)
    return len(owners)
