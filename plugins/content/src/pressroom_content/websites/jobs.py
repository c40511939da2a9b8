"""The background work of websites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pressroom.sdk import Job, JobRun, PluginContext

from pressroom_content.websites.control import Controls
from pressroom_content.websites.domains import Domains
from pressroom_content.websites.store import Websites
from pressroom_content.websites.sync import JOB, sync

RESEAL: Final = "content.reseal"
RENEW: Final = "content.renew_control"
DOMAINS: Final = "content.check_domains"
_QUARTER_HOUR: Final = 900.0
_DAY: Final = 86_400.0


def jobs(plugin: PluginContext) -> Sequence[Job]:
    """Return the jobs: reading sites, encrypting credentials with the newest key, and renewing proofs."""

    async def read_site(run: JobRun) -> Mapping[str, Any]:
        return await sync(plugin, run)

    async def reseal(_run: JobRun) -> Mapping[str, Any]:
        return {"encrypted_anew": await Websites(plugin).reseal()}

    async def renew(_run: JobRun) -> Mapping[str, Any]:
        return {"looked_at": await Controls(plugin).renew()}

    async def check_domains(_run: JobRun) -> Mapping[str, Any]:
        return {"looked_at": await Domains(plugin).renew()}

    return [
        Job(JOB, read_site, timeout=3600),
        Job(RESEAL, reseal, every=_DAY),
        Job(RENEW, renew, every=_DAY, timeout=3600),
        Job(DOMAINS, check_domains, every=_QUARTER_HOUR, timeout=3600),
    ]
