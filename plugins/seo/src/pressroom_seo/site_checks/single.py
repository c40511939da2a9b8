"""Checking one live page."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Literal

from pressroom_seo.crawler.answers import record_of
from pressroom_seo.crawler.records import PageRecord
from pressroom_seo.crawler.urls import normalise
from pressroom_seo.crawler.visiting import MAX_REDIRECTS, Answer, Visitor
from pressroom_seo.site_checks.model import Check, PageCheck, found_by
from pressroom_seo.site_checks.registry import OF_PAGES
from pressroom_seo.site_checks.score import health

Status = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check says of a page."""

    check: Check
    status: Status
    """`skipped` where the answer is no HTML page and the check looks at pages."""

    evidence: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PageReport:
    """One live page."""

    score: int
    record: PageRecord
    redirects: tuple[tuple[str, int], ...]
    """The addresses that redirected, with their statuses, in their order."""

    loop: bool
    results: tuple[CheckResult, ...]


async def check_page(visitor: Visitor, url: str) -> PageReport:
    """Fetch a page, follow its redirects and check what is at their end.

    The score is `round(100 · health)` of that address (see `pressroom_seo.site_checks.score`); a loop has 0.

    Args:
        visitor: what asks.
        url: an http or https address.

    Raises:
        ValueError: it is none.
    """
    start = normalise(url)
    if start is None:
        raise ValueError(f"{url[:200]} is no http or https address")
    answers = await visitor.follow(start)
    last = answers[-1]
    record = await asyncio.to_thread(record_of, last, 0)
    results = tuple(_result(check, record) for check in OF_PAGES)
    loop = last.is_redirect and (len(answers) > MAX_REDIRECTS or last.location in {one.url for one in answers})
    failed = [one.check.severity for one in results if one.status == "failed"]
    return PageReport(
        score=0 if loop else round(100 * health(failed)),
        record=record,
        redirects=_redirects(answers),
        loop=loop,
        results=results,
    )


def _redirects(answers: list[Answer]) -> tuple[tuple[str, int], ...]:
    return tuple((answer.url, answer.status) for answer in answers if answer.is_redirect)


def _result(check: Any, record: PageRecord) -> CheckResult:
    evidence = found_by(check, record)
    if evidence is not None:
        return CheckResult(check, "failed", dict(evidence))
    return CheckResult(check, "skipped" if isinstance(check, PageCheck) and not record.is_page else "passed", {})
