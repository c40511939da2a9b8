"""Link checks: whether a URL responds and where it redirects to, without parsing its content."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pressroom_seo.crawler.http_client import ANYTHING, MAX_REDIRECTS, Visitor
from pressroom_seo.crawler.records import CrawlResponse, LinkRecord
from pressroom_seo.urls import SiteScope, normalise, origin_of

LinkProblem = Literal["broken", "redirected", "insecure"]
Progress = Callable[[float, str], Awaitable[None]]

_AT_ONCE: Final = 8
_PEEK: Final = 65_536
_MAX_FOUND_IN: Final = 20


@dataclass(frozen=True, slots=True)
class LinkReport:
    """One link of an article or a site."""

    url: str
    status: int
    """Status code at the end of the redirects; 0 without a response."""

    location: str
    """Final URL of the redirects; empty if the URL does not redirect."""

    found_in: tuple[str, ...]
    problems: tuple[LinkProblem, ...]
    message: str = ""
    """Why there was no response; empty if there was one."""

    checked: bool = True
    """Whether the URL could be checked; `False` if robots.txt disallows it or it is not on the public internet."""


class LinkChecker:
    """Checks URLs with `HEAD`, falling back to `GET` if that fails."""

    def __init__(self, visitor: Visitor) -> None:
        self._visitor = visitor

    async def check(self, url: str, *, image: bool = False) -> LinkRecord:
        """Check a URL, following redirects. A redirect loop, or more than ten redirects, has status 0."""
        first = ""
        visited: set[str] = set()
        current: str | None = url
        while current is not None and current not in visited and len(visited) <= MAX_REDIRECTS:
            visited.add(current)
            robots = await self._visitor.robots(origin_of(current))
            # Without a response for robots.txt, the URL will fail too, which is worth reporting.
            if robots.status and not (robots.allows(current) and not self._visitor.delays(robots, current)):
                message = "robots.txt of the host disallows it, or asks for too long a pause"
                return LinkRecord(url, 0, "disallowed", message, location=first and current, image=image)
            response = await self._look(current)
            next_url = response.location
            if next_url is None:
                return _record(url, response, location=first and current, image=image)
            first, current = current, next_url
        message = (
            "its redirects go round in a circle"
            if current in visited
            else f"it has more than {MAX_REDIRECTS} redirects"
        )
        return LinkRecord(url, 0, "failed", message, location=current or "", image=image)

    async def _look(self, url: str) -> CrawlResponse:
        response = await self._visitor.visit(url, method="HEAD", accept=ANYTHING)
        # Some servers handle HEAD incorrectly: only report a link as broken if GET fails too.
        if response.failure == "failed" or (response.status >= 400 and response.status != 429):
            return await self._visitor.visit(url, accept=ANYTHING, max_bytes=_PEEK)
        return response


def _record(url: str, response: CrawlResponse, *, location: str, image: bool) -> LinkRecord:
    length = response.header("content-length")
    return LinkRecord(
        url=url,
        status=response.status,
        failure=response.failure,
        message=response.message,
        location=location,
        media_type=response.media_type,
        size=int(length) if length.isascii() and length.isdigit() and len(length) < 16 else None,
        image=image,
    )


async def check_links(
    checker: LinkChecker,
    links: Mapping[str, Sequence[str]],
    *,
    site: SiteScope | None = None,
    external: bool = True,
    progress: Progress | None = None,
) -> AsyncIterator[LinkReport]:
    """Check links and yield a report for each, in the order of completion.

    Args:
        checker: the link checker.
        links: the links as written, each with the places where it was found.
        site: the site that the links belong to; if `external` is false, only URLs of this site are checked.
        external: whether to check links to other sites.
        progress: receives the progress, 0 to 1, and a message.
    """
    pages_by_url: dict[str, list[str]] = {}
    for href, found_in in links.items():
        url = normalise(href)
        if url is not None and (external or site is None or site.contains(url)):
            pages_by_url.setdefault(url, []).extend(found_in)
    slots = asyncio.Semaphore(_AT_ONCE)

    async def check_one(url: str) -> LinkReport:
        async with slots:
            return link_report(await checker.check(url), pages_by_url[url])

    tasks = [asyncio.ensure_future(check_one(url)) for url in pages_by_url]
    try:
        for count, completed in enumerate(asyncio.as_completed(tasks), 1):
            report = await completed
            if progress is not None:
                await progress(count / len(tasks), f"{count} of {len(tasks)} links")
            yield report
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def link_report(record: LinkRecord, found_in: Sequence[str]) -> LinkReport:
    """Convert a record to a report, listing its problems."""
    problems: list[LinkProblem] = []
    if record.broken:
        problems.append("broken")
    if record.location:
        problems.append("redirected")
    if record.url.startswith("http:"):
        problems.append("insecure")
    return LinkReport(
        url=record.url,
        status=record.status,
        location=record.location,
        found_in=tuple(dict.fromkeys(found_in))[:_MAX_FOUND_IN],
        problems=tuple(problems),
        message=record.message,
        checked=record.failure in ("", "failed"),
    )
