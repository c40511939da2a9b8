"""What a check is and what it finds, and what a site's health is as a number.

Every URL starts with 1 and loses 0.3 for each critical check that finds something there, 0.05 for each warning and
0.01 for each notice, down to 0. The health of the site is the mean over its URLs. The score is 100 times that,
rounded; a check counts once for a URL, however much it finds there. URLs that only redirect, ones that
robots.txt disallows and files such as robots.txt itself count only where something was found. A site none of whose
pages was read has a score of 0.

Some things make the rest worthless, and cap the score: a first page that cannot be reached (10), search engines that
are kept out by robots.txt or by a robots.txt that fails (20), a first page with noindex (30).
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
"""`critical`: people or search engines cannot reach or read something; `warning`: it costs visits; `notice`: it could
be better."""

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
"""What was seen, as plain JSON data."""

OfRecord = Callable[[PageRecord], Evidence | None]
OfPage = Callable[[PageRecord, PageFacts], Evidence | None]
OfSite = Callable[[SiteIndex], Iterable[tuple[str, Evidence]]]


@dataclass(frozen=True, slots=True)
class CrawlCheck:
    """One thing that is looked for. `message` says what is wrong, `fix` what to do."""

    scope: ClassVar[Scope]

    id: str
    severity: Severity
    group: Group
    message: str
    fix: str


@dataclass(frozen=True, slots=True)
class RecordCheck(CrawlCheck):
    """Looks at any answer of the site."""

    scope: ClassVar[Scope] = "page"

    find: OfRecord


@dataclass(frozen=True, slots=True)
class PageCheck(CrawlCheck):
    """Looks at HTML pages that were answered well."""

    scope: ClassVar[Scope] = "page"

    find: OfPage


@dataclass(frozen=True, slots=True)
class SiteCheck(CrawlCheck):
    """Looks at all of a site together, when everything has been read."""

    scope: ClassVar[Scope] = "site"

    find: OfSite


@dataclass(frozen=True, slots=True)
class Issue:
    """Something that a check found at a URL."""

    check_id: str
    severity: Severity
    url: str
    evidence: Evidence


def issue(check: CrawlCheck, url: str, evidence: Evidence) -> Issue:
    """Return what a check found."""
    return Issue(check.id, check.severity, url, evidence)


def when(condition: object, **evidence: Any) -> Evidence | None:
    """Return the evidence where the condition holds."""
    return evidence if condition else None


def found_by(check: RecordCheck | PageCheck, record: PageRecord) -> Evidence | None:
    """Return what a check finds at one URL; `None` where it finds nothing, or does not apply."""
    if isinstance(check, RecordCheck):
        return check.find(record)
    return check.find(record, record.page) if record.is_page and record.page is not None else None


def issues_of(checks: Iterable[RecordCheck | PageCheck], record: PageRecord) -> Iterator[Issue]:
    """Yield what checks find at one URL."""
    for check in checks:
        evidence = found_by(check, record)
        if evidence is not None:
            yield issue(check, record.url, evidence)


LOSS: Final[Mapping[Severity, float]] = {"critical": 0.3, "warning": 0.05, "notice": 0.01}
"""How much one failed check costs a URL."""

CAPS: Final[Mapping[str, int]] = {
    "home_unreachable": 10,
    "robots_blocks_site": 20,
    "robots_txt_failing": 20,
    "home_noindex": 30,
}
"""The highest score of a site at which these checks find something."""


def health(severities: Iterable[Severity]) -> float:
    """Return the health of a URL, 0 to 1, given the severities of the checks that found something there."""
    return max(0.0, 1.0 - sum(LOSS[severity] for severity in severities))


def score(healths: Iterable[float], failed: Iterable[str]) -> int:
    """Return the score of a site, 0 to 100.

    Args:
        healths: of its URLs; a site without any has a score of 0.
        failed: ids of the checks that found something anywhere.
    """
    known = list(healths)
    whole = round(100 * sum(known) / len(known)) if known else 0
    return min([whole, *(CAPS[check] for check in failed if check in CAPS)])
