"""The background work of publishing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pressroom.sdk import Job, JobRun, PluginContext, Reschedule

from pressroom_content.publishing.engine import Engine
from pressroom_content.publishing.store import JOB, lock_of

_MANY: Final = 1000
_SECONDS: Final = 900.0
_MIN_LEASE_SECONDS: Final = 1.0


def jobs(plugin: PluginContext) -> Sequence[Job]:
    """Return the job that works on one publication, until nothing is left to do by itself."""

    async def publish(run: JobRun) -> Mapping[str, Any] | Reschedule:
        publication_id = str(run.payload["publication_id"])
        later = await Engine(plugin).run(publication_id, run, job_id=run.id)
        return later or {"publication_id": publication_id}

    def lock(payload: Mapping[str, Any]) -> str:
        return lock_of(str(payload["publication_id"]))

    lease = max(_MIN_LEASE_SECONDS, float(plugin.config.lease_seconds))
    # A process that is killed costs an attempt; the publication itself knows how often it was tried.
    return [Job(JOB, publish, attempts=_MANY, lease=lease, timeout=_SECONDS, urgent=True, lock=lock)]
