"""Parses responses in worker processes, which can be killed: pages, sitemaps, robots.txt and llms.txt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Final, TypeVar

from pressroom.sdk import CallError, Workers

from pressroom_seo.crawler.records import CrawlResponse, PageRecord, record_of
from pressroom_seo.crawler.robots import Robots
from pressroom_seo.crawler.site_files import MAX_URLS, LlmsTxt, Sitemap, read_llms_txt, read_sitemap
from pressroom_seo.urls import SiteScope

T = TypeVar("T")

SECONDS: Final = 20.0
"""Time limit in seconds for one worker call."""

QUICK_BYTES: Final = 16_384
"""Sitemaps and text files up to this many bytes are parsed in-process: faster than a round trip to a worker."""

SAMPLES: Final = 10
"""Maximum number of sample URLs per problem."""

_UNREADABLE: Final = "could not be read: it takes too long, or too much memory"
_PAUSES: Final = (2.0, 5.0, 10.0)
_BATCH_BYTES: Final = 1_000_000
_BATCH: Final = 16
_UNREAD: Final = frozenset({"timeout", "internal_error"})
"""Error codes that the response itself causes, by taking too long or too much memory."""


@dataclass(frozen=True, slots=True)
class SitemapReading:
    """A sitemap without its entries, and the useful ones: `listed` for a list of pages, `files` for an index."""

    sitemap: Sitemap
    count: int
    listed: dict[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    bad_dates: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class _Waiting:
    response: CrawlResponse
    depth: int | None
    record: PageRecord | None = None


class SiteReader:
    """Parses responses in an owner's worker processes, pages in batches; without workers, in-process.

    A page that takes too long or too much memory yields a record without a page and does not affect the others.
    """

    def __init__(self, workers: Workers | None = None, owner: str = "") -> None:
        self._workers = workers
        self._owner = owner
        self._waiting: list[_Waiting] = []
        self._turn = asyncio.Lock()

    async def page(self, response: CrawlResponse, depth: int | None) -> PageRecord:
        """Return the record of a response. Raises `Overloaded`."""
        if not response.content or response.is_redirect:
            return record_of(response, depth)
        waiting = _Waiting(response, depth)
        self._waiting.append(waiting)
        try:
            async with self._turn:
                while waiting.record is None:
                    await self._read(self._next())
        finally:
            self._waiting.remove(waiting)
        return waiting.record

    async def sitemap(self, response: CrawlResponse, site: SiteScope, now: float, max_urls: int) -> SitemapReading:
        """Parse a sitemap. Raises `Overloaded`."""
        fallback = Sitemap(response.url, problem=f"it {_UNREADABLE}")
        return await self._run(
            partial(sitemap_of, response, site, now, max_urls), len(response.content), SitemapReading(fallback, 0)
        )

    async def robots(self, response: CrawlResponse) -> Robots:
        """Parse a robots.txt response. Raises `Overloaded`."""
        parse = partial(Robots.read, response.status, response.content, truncated=not response.whole)
        return await self._run(parse, len(response.content), Robots(0, unreachable=True))

    async def parse_robots(self, robots: Robots) -> Robots:
        """Parse the rules of a restored robots.txt from its text. Raises `Overloaded`."""
        return await self.robots(
            CrawlResponse("", robots.status, content=robots.text.encode(), whole=not robots.truncated)
        )

    async def llms_txt(self, response: CrawlResponse) -> LlmsTxt:
        """Parse an llms.txt. Raises `Overloaded`."""
        fallback = LlmsTxt("", "", (), (), (f"it {_UNREADABLE}",))
        return await self._run(partial(read_llms_txt, response.content, response.url), len(response.content), fallback)

    async def _run(self, parse: Callable[[], T], size: int, otherwise: T) -> T:
        if self._workers is None or size <= QUICK_BYTES:
            return parse()
        try:
            return await self._run_with_retries(parse)
        except CallError as error:
            if error.code not in _UNREAD:
                raise
            return otherwise

    async def _run_with_retries(self, function: Callable[..., T], *arguments: Any) -> T:
        """Run a function in a worker; if overloaded, retry after 2, 5 and 10 seconds."""
        if self._workers is None:
            return function(*arguments)
        for pause in _PAUSES:
            try:
                return await self._workers.run(
                    function, *arguments, owner=self._owner, what="the response", seconds=SECONDS
                )
            except CallError as error:
                if error.code != "overloaded":
                    raise
            await asyncio.sleep(pause)
        return await self._workers.run(function, *arguments, owner=self._owner, what="the response", seconds=SECONDS)

    def _next(self) -> Sequence[_Waiting]:
        """Return the next batch of waiting pages. They keep waiting until they have a record, as the batch may fail."""
        batch: list[_Waiting] = []
        size = 0
        for waiting in self._waiting:
            if waiting.record is not None:
                continue
            size += len(waiting.response.content)
            if len(batch) == _BATCH or (batch and size > _BATCH_BYTES):
                break
            batch.append(waiting)
        return batch

    async def _read(self, batch: Sequence[_Waiting]) -> None:
        try:
            records = await self._run_with_retries(records_of, [(waiting.response, waiting.depth) for waiting in batch])
        except CallError as error:
            if error.code not in _UNREAD:
                raise
            if len(batch) > 1:  # one page may fail the whole batch
                for waiting in batch:
                    await self._read([waiting])
                return
            unreadable = replace(
                batch[0].response,
                content=b"",
                message="the page could not be read: it takes too long, or too much memory",
            )
            records = [replace(record_of(unreadable, batch[0].depth), size=len(batch[0].response.content))]
        for waiting, record in zip(batch, records, strict=True):
            waiting.record = record


def sitemap_of(response: CrawlResponse, site: SiteScope, now: float, max_urls: int) -> SitemapReading:
    """Parse a sitemap, keeping at most `max_urls` of the site's pages, or the files of an index."""
    sitemap = read_sitemap(
        response.url, response.content, whole=response.whole, problem=response.message, most_urls=MAX_URLS
    )
    entries, sitemap.entries = sitemap.entries, []
    if sitemap.kind == "index":
        files = dict.fromkeys(entry.url for entry in entries)
        return SitemapReading(sitemap, len(entries), files=tuple(files))
    listed: dict[str, str] = {}
    foreign: list[str] = []
    bad_dates: list[str] = []
    for entry in entries:
        if not site.is_host_of(entry.url):
            if len(foreign) < SAMPLES:
                foreign.append(entry.url)
        elif site.contains(entry.url) and len(listed) < max_urls:
            listed.setdefault(entry.url, entry.lastmod)
        if entry.lastmod and len(bad_dates) < SAMPLES and not _is_past(entry.lastmod, now):
            bad_dates.append(entry.url)
    return SitemapReading(sitemap, len(entries), listed, (), tuple(foreign), tuple(bad_dates))


def _is_past(date: str, now: float) -> bool:
    """Return whether a date (W3C profile of ISO 8601) is valid and at most a day in the future."""
    text = date if len(date) > 7 else f"{date}-01" if len(date) == 7 else f"{date}-01-01"
    try:
        at = datetime.fromisoformat(text)
        return at.timestamp() <= now + 86_400
    except (ValueError, OverflowError):
        return False


def records_of(responses: Sequence[tuple[CrawlResponse, int | None]]) -> list[PageRecord]:
    """Return the records of a batch of responses."""
    return [record_of(response, depth) for response, depth in responses]
