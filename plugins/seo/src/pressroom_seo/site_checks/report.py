"""Reports of a whole site, built record by record, and of a single live page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from pressroom_seo.checks import CHECKS
from pressroom_seo.crawler.http_client import MAX_REDIRECTS, Visitor
from pressroom_seo.crawler.records import CrawlResponse, LinkRecord, PageRecord
from pressroom_seo.crawler.survey import SiteFacts
from pressroom_seo.site_checks import (
    page_delivery,
    page_indexing,
    page_media,
    page_status,
    page_text,
    site_indexing,
    site_pages,
    site_whole,
)
from pressroom_seo.site_checks.index import SiteIndex
from pressroom_seo.site_checks.model import (
    SEVERITIES,
    CrawlCheck,
    Issue,
    PageCheck,
    RecordCheck,
    Severity,
    SiteCheck,
    found_by,
    health,
    issue,
    issues_of,
    score,
)
from pressroom_seo.urls import normalise

SAMPLES: Final = 10
"""Default number of sample URLs per check in a summary."""


@dataclass(frozen=True, slots=True)
class IssueSummary:
    """The findings of one check on a site. `count` is the number of URLs."""

    check_id: str
    severity: Severity
    count: int
    sample_urls: tuple[str, ...]
    message: str
    fix: str


@dataclass(frozen=True, slots=True)
class Summary:
    """The score and the issues of a site."""

    score: int
    pages: int
    complete: bool
    issues: tuple[IssueSummary, ...]
    """Sorted by severity, then by frequency."""

    def counts(self) -> dict[str, int]:
        """Return the number of URLs by check, for the trend of a later report."""
        return {issue.check_id: issue.count for issue in self.issues}


class SiteReport:
    """Runs the checks on the records of one crawl. After a restart, add the stored records again and continue.

    Args:
        start: normalised URL of the site's home page.
        take: called with every issue as it is found. A check with several findings at a URL causes several calls.
    """

    def __init__(self, start: str, take: Callable[[Issue], None] | None = None) -> None:
        self.index = SiteIndex(start)
        self._take = take
        self._failed: dict[str, set[str]] = {}
        self._urls: dict[str, dict[str, None]] = {}
        self._counted: set[str] = set()

    def add_page(self, record: PageRecord) -> list[Issue]:
        """Add or replace a page and return the issues of its page checks."""
        for check_id in self._failed.pop(record.url, ()):
            del self._urls[check_id][record.url]
        self.index.add_page(record)
        if not record.location and record.failure != "disallowed":
            self._counted.add(record.url)
        issues = list(issues_of(OF_PAGES, record))
        for found_issue in issues:
            self._note(found_issue)
        return issues

    def add_link(self, record: LinkRecord) -> None:
        """Add a URL that was only checked."""
        self.index.add_link(record)

    def finish(self, facts: SiteFacts) -> Iterator[Issue]:
        """Yield the issues of the site checks. Exhaust the iterator before calling `summary`."""
        self.index.finish(facts)
        for check in OF_SITES:
            for url, evidence in check.find(self.index):
                site_issue = issue(check, url, evidence)
                self._note(site_issue)
                yield site_issue

    def summary(self, samples: int = SAMPLES) -> Summary:
        """Return the score and the issues, with up to `samples` URLs for each check."""
        issues = [
            IssueSummary(
                check_id=check_id,
                severity=CRAWL_CHECKS[check_id].severity,
                count=len(urls),
                sample_urls=tuple(url for url, _ in zip(urls, range(samples), strict=False)),
                message=CRAWL_CHECKS[check_id].message,
                fix=CRAWL_CHECKS[check_id].fix,
            )
            for check_id, urls in self._urls.items()
            if urls
        ]
        issues.sort(key=lambda issue: (SEVERITIES.index(issue.severity), -issue.count, issue.check_id))
        facts = self.index.facts
        healths = [self._health(url) for url in self._counted | self._failed.keys()] if self._counted else []
        return Summary(
            score=score(healths, (issue.check_id for issue in issues)),
            pages=facts.pages,
            complete=facts.complete,
            issues=tuple(issues),
        )

    def _health(self, url: str) -> float:
        return health(CRAWL_CHECKS[check_id].severity for check_id in self._failed.get(url, ()))

    def _note(self, issue: Issue) -> None:
        self._failed.setdefault(issue.url, set()).add(issue.check_id)
        self._urls.setdefault(issue.check_id, {})[issue.url] = None
        if self._take is not None:
            self._take(issue)


def trend(before: dict[str, int], before_score: int, now: Summary) -> dict[str, Any]:
    """Compare two reports. Returns plain JSON data.

    Args:
        before: `counts` of the earlier report.
        before_score: score of the earlier report.
        now: the later report.
    """
    counts = now.counts()
    changes = {
        check_id: {"before": before.get(check_id, 0), "now": counts.get(check_id, 0)}
        for check_id in sorted({*before, *counts})
        if before.get(check_id, 0) != counts.get(check_id, 0)
    }
    return {
        "score": now.score - before_score,
        "new": [check_id for check_id in changes if not before.get(check_id)],
        "fixed": [check_id for check_id in changes if not counts.get(check_id)],
        "changes": changes,
    }


Status = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class PageCheckOutcome:
    """The outcome of one check of a page."""

    check: CrawlCheck
    status: Status
    """`skipped` if the check needs an HTML page with status 200 and the response is not one."""

    evidence: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PageReport:
    """The report of one live page."""

    score: int
    record: PageRecord
    redirects: tuple[tuple[str, int], ...]
    """The redirects in order, each as URL and status."""

    loop: bool
    results: tuple[PageCheckOutcome, ...]


async def check_page(visitor: Visitor, url: str) -> PageReport:
    """Fetch a URL, follow its redirects and check the final response.

    The score is `round(100 · health)` of the final URL (see `pressroom_seo.site_checks.model`), or 0 without a
    successful response: no response, an error status, a redirect loop or more than ten redirects.

    Args:
        visitor: the HTTP client.
        url: an http or https URL.

    Raises:
        ValueError: `url` is not an http or https URL.
    """
    start = normalise(url)
    if start is None:
        raise ValueError(f"{url[:200]} is not an http or https URL")
    responses = await visitor.follow(start)
    last = responses[-1]
    record = await visitor.reader.page(last, 0)
    results = tuple(_result(check, record) for check in OF_PAGES)
    loop = last.is_redirect and (
        len(responses) > MAX_REDIRECTS or last.location in {response.url for response in responses}
    )
    failed = [result.check.severity for result in results if result.status == "failed"]
    return PageReport(
        score=0 if loop or record.status // 100 != 2 else round(100 * health(failed)),
        record=record,
        redirects=_redirects(responses),
        loop=loop,
        results=results,
    )


def _redirects(responses: list[CrawlResponse]) -> tuple[tuple[str, int], ...]:
    return tuple((response.url, response.status) for response in responses if response.is_redirect)


def _result(check: Any, record: PageRecord) -> PageCheckOutcome:
    evidence = found_by(check, record)
    if evidence is not None:
        return PageCheckOutcome(check, "failed", dict(evidence))
    return PageCheckOutcome(check, "skipped" if isinstance(check, PageCheck) and not record.is_page else "passed", {})


OF_PAGES: Final[tuple[RecordCheck | PageCheck, ...]] = (
    *page_status.RECORD_CHECKS,
    *page_status.PAGE_CHECKS,
    *page_text.CHECKS,
    *page_indexing.CHECKS,
    *page_media.CHECKS,
    *page_delivery.CHECKS,
)
"""Checks of one URL, run during the crawl."""

OF_SITES: Final[tuple[SiteCheck, ...]] = (
    *site_pages.CHECKS,
    *site_pages.CONTENT_CHECKS,
    *site_indexing.CHECKS,
    *site_whole.CHECKS,
)
"""Checks of a whole site, run after the crawl."""

CHECKS.add(*OF_PAGES, *OF_SITES)

CRAWL_CHECKS: Final[Mapping[str, CrawlCheck]] = CHECKS.of(CrawlCheck)
"""All page and site checks by ID."""
