"""Background jobs: crawls, bulk link checks, and deleting the data of disconnected websites."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from pressroom.sdk import Job, JobRun, Pause, PluginContext

from pressroom_seo.config import CHECK_LINKS, CRAWL, TIDY, SeoConfig

_DAY: Final = 86_400.0
_ATTEMPT: Final = 21_600.0
"""Timeout in seconds of one crawl attempt; the next attempt resumes from the last checkpoint."""

_ATTEMPTS: Final = 12


def jobs(plugin: PluginContext[SeoConfig]) -> Sequence[Job]:
    """Return the plugin's jobs."""
    config = plugin.config

    async def crawl(run: JobRun) -> Mapping[str, Any] | Pause:
        return await (await asyncio.to_thread(_crawl_website))(plugin, run)

    async def check_links(run: JobRun) -> Mapping[str, Any]:
        return await (await asyncio.to_thread(_check_links))(plugin, run)

    async def tidy(_run: JobRun) -> Mapping[str, Any]:
        return {"forgotten": await (await asyncio.to_thread(_tidy_up))(plugin)}

    return [
        Job(CRAWL, crawl, attempts=_ATTEMPTS, lease=config.lease_seconds, timeout=_ATTEMPT),
        Job(CHECK_LINKS, check_links, timeout=3600),
        Job(TIDY, tidy, every=_DAY),
    ]


# The first job imports the parsers in a thread, so the event loop is not blocked.


def _crawl_website() -> Callable[[PluginContext, JobRun], Awaitable[Mapping[str, Any] | Pause]]:
    from pressroom_seo.reports.crawl_job import crawl_website  # noqa: PLC0415

    return crawl_website


def _check_links() -> Callable[[PluginContext, JobRun], Awaitable[Mapping[str, Any]]]:
    from pressroom_seo.live_pages import run_job  # noqa: PLC0415

    return run_job


def _tidy_up() -> Callable[[PluginContext], Awaitable[int]]:
    from pressroom_seo.reports.crawl_job import tidy_up  # noqa: PLC0415

    return tidy_up
