"""Models of site checks and their issues, and the formula of the score.

Every URL starts with a health of 1 and loses 0.3 for each critical check that fails there, 0.05 for each warning and
0.01 for each notice, down to 0. A check counts once per URL, however much it finds there. The score of the site is 100
times the mean health of its URLs, rounded. Redirects, URLs that robots.txt disallows and files such as robots.txt
itself only count if something was found there. A site without a crawled page has a score of 0.

Some faults cap the score: an unreachable home page (10), a robots.txt that blocks search engines or fails (20), a home
page with noindex (30).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

from pressroom_seo.checks import Scope
from pressroom_seo.crawler.records import PageRecord
from pressroom_seo.document.model import PageFacts
from pressroom_seo.site_checks.index import SiteIndex

Severity = Literal["critical", "warning", "notice"]
"""`critical`: people or search engines cannot reach or read something; `warning`: costs visits; `notice`: room for
improvement."""

SEVERITIES: Final[tuple[Severity, ...]] = ("critical", "warning", "notice")

Group = Literal[
    "status",
    "titles",
    "content",
    "indexing",
    "links",
    "languages",
    "images",
    "security",
    "speed",
    "structured_data",
    "social",
    "urls",
    "sitemaps",
    "robots",
    "crawl",
]

Evidence = Mapping[str, Any]
"""The details of a finding, as plain JSON data."""

OfRecord = Callable[[PageRecord], Evidence | None]
OfPage = Callable[[PageRecord, PageFacts], Evidence | None]
OfSite = Callable[[SiteIndex], Iterable[tuple[str, Evidence]]]


@dataclass(frozen=True, slots=True)
class CrawlCheck:
    """A check of a crawl. `message` states the problem, `fix` the solution."""

    scope: ClassVar[Scope]

    id: str
    severity: Severity
    group: Group
    message: str
    fix: str


@dataclass(frozen=True, slots=True)
class RecordCheck(CrawlCheck):
    """A check of any requested URL."""

    scope: ClassVar[Scope] = "page"

    find: OfRecord


@dataclass(frozen=True, slots=True)
class PageCheck(CrawlCheck):
    """A check of HTML pages with status 200."""

    scope: ClassVar[Scope] = "page"

    find: OfPage


@dataclass(frozen=True, slots=True)
class SiteCheck(CrawlCheck):
    """A check of the whole site, run after the crawl."""

    scope: ClassVar[Scope] = "site"

    find: OfSite


@dataclass(frozen=True, slots=True)
class Issue:
    """A problem that a check found at a URL."""

    check_id: str
    severity: Severity
    url: str
    evidence: Evidence


def issue(check: CrawlCheck, url: str, evidence: Evidence) -> Issue:
    """Create the issue of a check."""
    return Issue(check.id, check.severity, url, evidence)


def when(condition: object, **evidence: Any) -> Evidence | None:
    """Return the evidence if the condition is true, else `None`."""
    return evidence if condition else None


def found_by(check: RecordCheck | PageCheck, record: PageRecord) -> Evidence | None:
    """Run a check on one URL. Returns `None` if it finds nothing or does not apply."""
    if isinstance(check, RecordCheck):
        return check.find(record)
    return check.find(record, record.page) if record.is_page and record.page is not None else None


def issues_of(checks: Iterable[RecordCheck | PageCheck], record: PageRecord) -> Iterator[Issue]:
    """Yield the issues that checks find at one URL."""
    for check in checks:
        evidence = found_by(check, record)
        if evidence is not None:
            yield issue(check, record.url, evidence)


LOSS: Final[Mapping[Severity, float]] = {"critical": 0.3, "warning": 0.05, "notice": 0.01}
"""The health that a URL loses for one failed check."""

CAPS: Final[Mapping[str, int]] = {
    "home_unreachable": 10,
    "robots_blocks_site": 20,
    "robots_txt_failing": 20,
    "home_noindex": 30,
}
"""The maximum score of a site on which one of these checks fails."""


def health(severities: Iterable[Severity]) -> float:
    """Return the health of a URL, 0 to 1, from the severities of its failed checks."""
    return max(0.0, 1.0 - sum(LOSS[severity] for severity in severities))


def score(healths: Iterable[float], failed: Iterable[str]) -> int:
    """Return the score of a site, 0 to 100.

    Args:
        healths: the health of each URL; a site without any has a score of 0.
        failed: IDs of the checks that failed anywhere.
    """
    values = list(healths)
    average = round(100 * sum(values) / len(values)) if values else 0
    return min([average, *(CAPS[check] for check in failed if check in CAPS)])
