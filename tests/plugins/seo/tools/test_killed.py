"""A crawl resumes from its checkpoint after its process is killed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pressroom.sdk import PluginContext
from pressroom.testing.running import settings_for_test
from pressroom_content.websites.store import Websites
from pressroom_seo.reports.store import Crawls
from pressroom_seo.tables import CrawledPageRow, CrawlRow
from sqlalchemy import Select, func, select
from support import databases
from support.job_processes import Forker, forker

from ..crawler.sites import Reply, good_site, page  # noqa: TID252 - the sites of the crawler's own tests
from .conftest import LocalSite, serving
from .crawl_world import configuration, world

PAGES = 100
CHECKPOINT = 50
IN_FLIGHT = 4
"""Maximum number of concurrent requests of a crawl."""


def large_site() -> dict[str, Any]:
    """Return a site whose pages each link to the next ones."""
    paths = [f"/page-{number}-{chr(97 + number % 26) * (1 + number // 26)}" for number in range(PAGES)]
    pages: dict[str, Any] = {**good_site(), "/sitemap.xml": Reply("", "404 Not Found")}
    pages["/"] = page("/", *paths[:40])
    for number, path in enumerate(paths):
        pages[path] = page(path, "/", *paths[number + 1 : number + 20])
    return pages


def read_pages(site: LocalSite) -> list[str]:
    return [path for path in site.seen if path.startswith("/page-")]


async def _until(is_so: Callable[[], Any], seconds: float = 60) -> None:
    async with asyncio.timeout(seconds):
        while not is_so():  # noqa: ASYNC110 - the site runs in another thread, the crawl in another process
            await asyncio.sleep(0.005)


async def _counted(plugin: PluginContext, statement: Select[int]) -> int:
    async with plugin.services.database.reading() as session:
        return await session.scalar(statement) or 0


async def _finished(crawls: Crawls, crawl_id: str) -> CrawlRow:
    async with asyncio.timeout(90):
        while True:
            row = await crawls.read(crawl_id)
            assert row is not None
            assert row.status != "failed", row.notes
            if row.status == "finished":
                return row
            await asyncio.sleep(0.05)


@pytest.fixture(params=databases.KINDS)
def config(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, Any]]:
    with databases.database_config(request.param, tmp_path) as storage:
        yield configuration(storage, lease_seconds=1)


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forker]:
    """Return a forker that starts processes which crawl."""
    with forker(tmp_path_factory.mktemp("processes")) as running:
        yield running


@contextmanager
def worker(processes: Forker, config: dict[str, Any], folder: Path) -> Iterator[None]:
    """Run a process that crawls, and stop it at the end."""
    with processes.workers(config, folder) as running:
        running.start()
        yield


async def test_a_crawl_whose_process_is_killed_resumes(
    config: dict[str, Any], tmp_path: Path, processes: Forker
) -> None:
    with serving(large_site()) as site:
        async with world(settings_for_test(config, tmp_path)) as plugin:
            websites = Websites(plugin.required["content"])
            website = await websites.add("u_ada", "wordpress", name="Site", url=site.origin, credential={})
            crawls = Crawls(plugin)
            row, new = await crawls.request("u_ada", website, "free")
            assert new
            with worker(processes, config, tmp_path):
                await _until(lambda: len(read_pages(site)) >= 5)
            before = len(read_pages(site))
            assert before < PAGES
            stored = select(func.count()).where(CrawledPageRow.crawl_id == row.id)
            query = select(CrawlRow.pages).where(CrawlRow.id == row.id)
            with worker(processes, config, tmp_path):
                # Only then can there be a checkpoint to look for: looking takes as much CPU time as the crawl.
                await _until(lambda: len(read_pages(site)) - before >= CHECKPOINT - 1)
                async with asyncio.timeout(60):
                    while await _counted(plugin, query) < CHECKPOINT:  # noqa: ASYNC110 - another process writes them
                        await asyncio.sleep(0.005)
            assert (await crawls.request("u_ada", website, "free"))[0].id == row.id
            first = Counter(read_pages(site)[before:])
            with worker(processes, config, tmp_path):
                finished = await _finished(crawls, row.id)
                second = Counter(read_pages(site)[before + sum(first.values()) :])
                assert await _counted(plugin, stored) == PAGES + 1
                next_row, new = await crawls.request("u_ada", website, "free")
                assert new
                uninterrupted = await _finished(crawls, next_row.id)

            assert max(first.values()) == 1
            # The last requests of the killed process may be counted with the next one.
            assert second.total() - len(second) <= IN_FLIGHT
            assert len(first | second) == PAGES
            assert len(first & second) <= len(first) - CHECKPOINT + IN_FLIGHT
            assert (finished.pages, finished.complete, finished.active, finished.host) == (PAGES + 1, True, None, None)
            assert uninterrupted.score == finished.score
            assert {**uninterrupted.counts, "slow_answer": 0} == {**finished.counts, "slow_answer": 0}
            assert await _counted(plugin, stored) == 0
