"""A deliberately slow site does not hold a place for background jobs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from plugins.seo.crawler.sites import good_site, plain
from plugins.seo.tools.conftest import serving
from plugins.seo.tools.crawl_world import configuration, world
from plugins.seo.tools.test_waiting import Attempt
from pressroom.sdk import Pause, PluginContext
from pressroom.testing.running import settings_for_test
from pressroom_content.websites.store import Websites
from pressroom_seo.plugin import pressroom_jobs
from pressroom_seo.reports.store import Crawls
from support.origins import Visit


async def _busy(visit: Visit) -> None:
    await visit.respond(b"", "Retry-After: 290", status="503 Service Unavailable")


SLOW: dict[str, Any] = {
    "delay": {"/robots.txt": plain("User-agent: *\nCrawl-delay: 60\n")},
    "busy pages": {"/": _busy},
    "busy sitemap": {"/sitemap.xml": _busy},
    "busy robots": {"/robots.txt": _busy},
}


@pytest.mark.parametrize("slow", SLOW)
async def test_the_crawl_of_a_slow_site_pauses_instead_of_holding_a_job_slot(slow: str, tmp_path: Path) -> None:
    config = configuration({"path": tmp_path}, own_hosts=[])
    async with world(settings_for_test(config, tmp_path)) as plugin:
        with serving({**good_site(), **SLOW[slow]}) as site:
            crawl_id = await _requested(plugin, site.origin)
            async with asyncio.timeout(40):
                first = await _work(plugin, crawl_id)
            requests = list(site.seen)
        assert isinstance(first, Pause)
        assert 30 < first.seconds <= 300
        row = await Crawls(plugin).read(crawl_id)
        assert row is not None
        assert row.active, "the crawl is not over"
        assert requests


async def _requested(plugin: PluginContext, url: str) -> str:
    website = await Websites(plugin.required["content"]).add(
        "u_bob", "wordpress", name="Slow", url=url, credential={"key": "x"}
    )
    row, _ = await Crawls(plugin).request("u_bob", website, "free")
    return row.id


async def _work(plugin: PluginContext, crawl_id: str) -> Any:
    run = next(job.run for job in pressroom_jobs(plugin) if job.kind == "seo.crawl")
    return await run(Attempt("j_1", {"crawl_id": crawl_id}))
