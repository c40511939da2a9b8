"""What a check is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from pressroom_seo.crawler.records import PageFacts, PageRecord
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
class Check:
    """One thing that is looked for. `message` says what is wrong, `fix` what to do."""

    id: str
    severity: Severity
    group: Group
    message: str
    fix: str


@dataclass(frozen=True, slots=True)
class RecordCheck(Check):
    """Looks at any answer of the site."""

    find: OfRecord


@dataclass(frozen=True, slots=True)
class PageCheck(Check):
    """Looks at HTML pages that were answered well."""

    find: OfPage


@dataclass(frozen=True, slots=True)
class SiteCheck(Check):
    """Looks at all of a site together, when everything has been read."""

    find: OfSite


@dataclass(frozen=True, slots=True)
class Issue:
    """Something that a check found at an address."""

    check_id: str
    severity: Severity
    url: str
    evidence: Evidence


def issue(check: Check, url: str, evidence: Evidence) -> Issue:
    """Return what a check found."""
    return Issue(check.id, check.severity, url, evidence)


def when(condition: object, **evidence: Any) -> Evidence | None:
    """Return the evidence where the condition holds."""
    return evidence if condition else None


def found_by(check: RecordCheck | PageCheck, record: PageRecord) -> Evidence | None:
    """Return what a check finds at one address; `None` where it finds nothing, or does not apply."""
    if isinstance(check, RecordCheck):
        return check.find(record)
    return check.find(record, record.page) if record.is_page and record.page is not None else None


def issues_of(checks: Iterable[RecordCheck | PageCheck], record: PageRecord) -> Iterator[Issue]:
    """Yield what checks find at one address."""
    for check in checks:
        evidence = found_by(check, record)
        if evidence is not None:
            yield issue(check, record.url, evidence)
