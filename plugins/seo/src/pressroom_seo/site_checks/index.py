"""A compact in-memory index of a site, a few hundred bytes per page, for checks that compare pages."""

from __future__ import annotations

from array import array
from collections import Counter, deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from pressroom_seo.crawler.records import LinkRecord, PageRecord
from pressroom_seo.crawler.survey import SiteFacts

MAX_HOPS: Final = 20
_SOURCES = 5


@dataclass(frozen=True, slots=True)
class SiteIndexEntry:
    """One URL of the site."""

    url: str
    status: int
    failure: str
    depth: int | None
    location: str
    refresh: str
    """Target of a meta refresh; empty without one."""

    is_page: bool
    noindex: bool
    indexable: bool
    canonical: str
    title: str
    description: str
    h1: str
    text_hash: str
    simhash: int
    words: int
    alternates: tuple[tuple[str, str], ...]
    links: array[int] = field(repr=False)
    """Numbers of the linked URLs, without duplicates; `SiteIndex.url` resolves them."""

    images: array[int] = field(repr=False)
    is_listing: bool
    follows: bool
    """Whether search engines may follow its links."""

    @property
    def is_error(self) -> bool:
        """Whether the request failed or returned an error status."""
        return self.failure in ("failed", "refused") or self.status >= 400


@dataclass(frozen=True, slots=True)
class RedirectPath:
    """The redirects from a URL to their end."""

    source: str
    hops: tuple[str, ...]
    """The URLs after the first one, in order."""

    status: int
    """Status of the first response."""

    end_status: int | None
    """Status of the last response; `None` if the URL was not requested."""

    loop: bool

    @property
    def dead(self) -> bool:
        """Whether the redirects end in an error or without a response."""
        return not self.loop and self.end_status is not None and (self.end_status >= 400 or self.end_status == 0)


class SiteIndex:
    """All pages of a site and the links between them. A new record of a URL replaces the old one."""

    def __init__(self, start: str) -> None:
        self.start = start
        self.entries: dict[str, SiteIndexEntry] = {}
        self.looked_at: dict[str, LinkRecord] = {}
        self._facts: SiteFacts | None = None
        self._numbers: dict[str, int] = {}
        self._urls: list[str] = []

    @property
    def facts(self) -> SiteFacts:
        """The site-wide facts. Raises `RuntimeError` before `finish`."""
        if self._facts is None:
            raise RuntimeError("the site is still being read")
        return self._facts

    def add_page(self, record: PageRecord) -> None:
        """Add a page."""
        page = record.page if record.is_page else None
        self.entries[record.url] = SiteIndexEntry(
            url=record.url,
            status=record.status,
            failure=record.failure,
            depth=record.depth,
            location=record.location,
            refresh=(page.refresh or "") if page else "",
            is_page=record.is_page,
            noindex=record.noindex,
            indexable=record.indexable,
            canonical=record.canonical if page else "",
            title=page.titles[0] if page and page.titles else "",
            description=page.descriptions[0] if page and page.descriptions else "",
            h1=next((text for level, text in page.headings if level == 1), "") if page else "",
            text_hash=page.text_hash if page else "",
            simhash=page.simhash if page else 0,
            words=page.words if page else 0,
            alternates=tuple((alternate.language, alternate.url) for alternate in page.alternates) if page else (),
            links=self._numbered({link.url for link in page.links} if page else ()),
            images=self._numbered({image.url for image in page.images if image.url} if page else ()),
            is_listing=record.is_listing,
            follows="nofollow" not in record.robots,
        )

    def add_link(self, record: LinkRecord) -> None:
        """Add a URL that was only checked."""
        self.looked_at[record.url] = record

    def finish(self, facts: SiteFacts) -> None:
        """Set the site-wide facts. Call this before querying the index."""
        self._facts = facts

    def url(self, number: int) -> str:
        """Return the URL with a number."""
        return self._urls[number]

    def _numbered(self, urls: Collection[str]) -> array[int]:
        numbers = array("I")
        for url in sorted(urls):
            number = self._numbers.setdefault(url, len(self._urls))
            if number == len(self._urls):
                self._urls.append(url)
            numbers.append(number)
        return numbers

    def pages(self) -> Iterator[SiteIndexEntry]:
        """Yield the HTML pages with status 200."""
        return (entry for entry in self.entries.values() if entry.is_page)

    def indexable(self) -> Iterator[SiteIndexEntry]:
        """Yield the pages that search engines can index."""
        return (entry for entry in self.entries.values() if entry.indexable)

    @cached_property
    def _inlinks(self) -> Counter[int]:
        counts: Counter[int] = Counter()
        for entry in self.entries.values():
            own_number = self._numbers.get(entry.url)
            counts.update(number for number in entry.links if number != own_number)
        return counts

    def inlinks(self, url: str) -> int:
        """Return the number of other pages that link to a URL."""
        number = self._numbers.get(url)
        return 0 if number is None else self._inlinks[number]

    def found_in(self, urls: Collection[str], *, images: bool = False) -> dict[str, list[str]]:
        """Return up to five pages for each URL that link to it or, with `images`, embed it."""
        url_by_number = {self._numbers[url]: url for url in urls if url in self._numbers}
        sources: dict[str, list[str]] = {url: [] for url in urls}
        for entry in self.entries.values():
            for number in entry.images if images else entry.links:
                if number in url_by_number and len(sources[url_by_number[number]]) < _SOURCES:
                    sources[url_by_number[number]].append(entry.url)
        return sources

    @cached_property
    def linked(self) -> frozenset[str]:
        """All URLs that other pages link to, redirect to or declare as canonical."""
        urls = {self._urls[number] for number, count in self._inlinks.items() if count}
        for entry in self.entries.values():
            urls |= {url for url in (entry.location, entry.refresh, entry.canonical) if url and url != entry.url}
        return frozenset(urls)

    @cached_property
    def depths(self) -> dict[str, int]:
        """Shortest distance of each URL from the home page, in links; redirects do not count."""
        depths = {self.start: 0}
        queue = deque([self.start])
        while queue:
            url = queue.popleft()
            entry = self.entries.get(url)
            if entry is None:
                continue
            for redirected in (entry.location, entry.refresh):
                if redirected and redirected not in depths:
                    depths[redirected] = depths[url]
                    queue.appendleft(redirected)
            for number in entry.links:
                target = self._urls[number]
                if target not in depths and target in self.entries:
                    depths[target] = depths[url] + 1
                    queue.append(target)
        return depths

    def orphans(self) -> list[SiteIndexEntry]:
        """Return the indexable pages that nothing links to, known only from sitemaps. Empty for an incomplete crawl."""
        if not self.facts.complete:
            return []
        return [entry for entry in self.indexable() if entry.url != self.start and entry.url not in self.linked]

    def redirects(self) -> Iterator[RedirectPath]:
        """Yield every redirect of the site with its path."""
        for entry in self.entries.values():
            if entry.location:
                yield self._path(entry)

    def _path(self, entry: SiteIndexEntry) -> RedirectPath:
        hops: list[str] = []
        visited = {entry.url}
        current: SiteIndexEntry | None = entry
        while current is not None and current.location and len(hops) < MAX_HOPS:
            hops.append(current.location)
            if current.location in visited:
                return RedirectPath(entry.url, tuple(hops), entry.status, None, loop=True)
            visited.add(current.location)
            current = self.entries.get(current.location)
        end = None if current is None or current.failure == "disallowed" else current.status
        return RedirectPath(entry.url, tuple(hops), entry.status, end, loop=len(hops) >= MAX_HOPS)
