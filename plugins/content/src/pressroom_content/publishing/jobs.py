"""The background work of publishing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import structlog
from pressroom.sdk import BackendError, Job, JobRun, LeaseLost, Pause, PluginContext, Reschedule

from pressroom_content.publishing.engine import Engine
from pressroom_content.publishing.store import JOB, lock_of

log = structlog.get_logger()

_INTERRUPTED_SECONDS: Final = 1.0
_MANY: Final = 1000
_SECONDS: Final = 900.0
_MIN_LEASE_SECONDS: Final = 1.0


def jobs(plugin: PluginContext) -> Sequence[Job]:
    """Return the job that works on one publication, until nothing is left to do by itself."""

    async def publish(run: JobRun) -> Mapping[str, Any] | Pause | Reschedule:
        publication_id = str(run.payload["publication_id"])
        try:
            later = await Engine(plugin).run(publication_id, run, job_id=run.id)
        except (BackendError, LeaseLost) as error:
            # Neither is a failure of the publication, which somebody may expect at a certain time: it is not put off.
            log.warning("publishing was interrupted", publication=publication_id, error=str(error))
            return Pause(_INTERRUPTED_SECONDS)
        return later or {"publication_id": publication_id}

    def lock(payload: Mapping[str, Any]) -> str:
        return lock_of(str(payload["publication_id"]))

    lease = max(_MIN_LEASE_SECONDS, float(plugin.config.lease_seconds))
    # A process that is killed costs an attempt; the publication itself knows how often it was tried.
    return [Job(JOB, publish, attempts=_MANY, lease=lease, timeout=_SECONDS, urgent=True, lock=lock)]
