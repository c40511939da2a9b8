"""Checks URLs without reading them: is something there, and where does it lead?"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pressroom_seo.crawler.records import CrawlResponse, LinkRecord
from pressroom_seo.crawler.visiting import ANYTHING, MAX_REDIRECTS, Visitor
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
    """Of the URL where its redirects end; 0 without a response."""

    location: str
    """Where its redirects end; empty where it does not redirect."""

    found_in: tuple[str, ...]
    problems: tuple[LinkProblem, ...]
    message: str = ""
    """Why there was no answer; empty where there was one."""

    checked: bool = True
    """Whether it could be checked: robots.txt may disallow it, or it is not on the public internet."""


class LinkChecker:
    """Checks URLs with `HEAD`, and with `GET` if a server does not support that."""

    def __init__(self, visitor: Visitor) -> None:
        self._visitor = visitor

    async def check(self, url: str, *, image: bool = False) -> LinkRecord:
        """Return what is at a URL. Redirects are followed; a loop of them has no status."""
        first = ""
        seen: set[str] = set()
        at: str | None = url
        while at is not None and at not in seen and len(seen) <= MAX_REDIRECTS:
            seen.add(at)
            robots = await self._visitor.robots(origin_of(at))
            # If not even robots.txt is answered, the URL will not be either, and that is worth reporting.
            if robots.status and not (robots.allows(at) and not self._visitor.delays(robots, at)):
                message = "robots.txt of the host disallows it, or asks for too long a pause"
                return LinkRecord(url, 0, "disallowed", message, location=first and at, image=image)
            answer = await self._look(at)
            following = answer.location
            if following is None:
                return _record(url, answer, location=first and at, image=image)
            first, at = at, following
        return LinkRecord(url, 0, "failed", "its redirects go round in a circle", location=at or "", image=image)

    async def _look(self, url: str) -> CrawlResponse:
        answer = await self._visitor.visit(url, method="HEAD", accept=ANYTHING)
        # Some servers answer HEAD wrongly: only what GET says counts as broken.
        if answer.failure == "failed" or (answer.status >= 400 and answer.status != 429):
            return await self._visitor.visit(url, accept=ANYTHING, max_bytes=_PEEK)
        return answer


def _record(url: str, answer: CrawlResponse, *, location: str, image: bool) -> LinkRecord:
    length = answer.header("content-length")
    return LinkRecord(
        url=url,
        status=answer.status,
        failure=answer.failure,
        message=answer.message,
        location=location,
        media_type=answer.media_type,
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
    """Yield what is behind every link, in the order in which the answers come.

    Args:
        checker: what checks them.
        links: where they were found, by their URL as it is written.
        site: whose links they are; with `external` false only its own are checked.
        external: whether links to other sites are looked at.
        progress: receives the progress, 0 to 1.
    """
    wanted: dict[str, list[str]] = {}
    for written, found_in in links.items():
        url = normalise(written)
        if url is not None and (external or site is None or site.contains(url)):
            wanted.setdefault(url, []).extend(found_in)
    slots = asyncio.Semaphore(_AT_ONCE)

    async def one(url: str) -> LinkReport:
        async with slots:
            return link_report(await checker.check(url), wanted[url])

    tasks = [asyncio.ensure_future(one(url)) for url in wanted]
    try:
        for count, done in enumerate(asyncio.as_completed(tasks), 1):
            report = await done
            if progress is not None:
                await progress(count / len(tasks), f"{count} of {len(tasks)} links")
            yield report
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def link_report(record: LinkRecord, found_in: Sequence[str]) -> LinkReport:
    """Return what a record says to people."""
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
