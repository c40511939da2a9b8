"""Checks of canonical URLs and sitemaps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from pressroom_seo.site_checks.index import SiteIndex, SiteIndexEntry
from pressroom_seo.site_checks.model import Evidence, SiteCheck
from pressroom_seo.urls import normalise

Findings = Iterator[tuple[str, Evidence]]


def _canonical_targets(is_wrong: Callable[[SiteIndexEntry], bool]) -> Callable[[SiteIndex], Findings]:
    """Return a check of the pages that others declare as canonical."""

    def find(index: SiteIndex) -> Findings:
        for entry in index.pages():
            target = index.entries.get(entry.canonical)
            if target is not None and target.url != entry.url and is_wrong(target):
                yield entry.url, {"canonical": target.url, "status": target.status}

    return find


def _canonical_errors(index: SiteIndex) -> Findings:
    """Yield the pages whose canonical URL is broken, on this site or on another one."""
    yield from _canonical_targets(lambda target: target.is_error)(index)
    for entry in index.pages():
        elsewhere = index.looked_at.get(entry.canonical)
        if elsewhere is not None and elsewhere.broken:
            yield entry.url, {"canonical": elsewhere.url, "status": elsewhere.status}


def _listed(is_wrong: Callable[[SiteIndexEntry], bool]) -> Callable[[SiteIndex], Findings]:
    """Return a check of the URLs in sitemaps."""

    def find(index: SiteIndex) -> Findings:
        for url in index.facts.listed:
            entry = index.entries.get(url)
            if entry is not None and is_wrong(entry):
                yield url, {"status": entry.status, "canonical": entry.canonical, "location": entry.location}

    return find


def _points_elsewhere(entry: SiteIndexEntry) -> bool:
    return entry.is_page and entry.canonical not in ("", entry.url)


def _robots_url(index: SiteIndex) -> str:
    return f"{index.facts.site.origin}/robots.txt"


def _sitemap_missing(index: SiteIndex) -> Findings:
    facts = index.facts
    if facts.surveyed and not any(sitemap.status == 200 for sitemap in facts.sitemaps):
        yield facts.site.home, {"asked": [sitemap.url for sitemap in facts.sitemaps]}


def _sitemap_broken(index: SiteIndex) -> Findings:
    facts = index.facts
    declared = {normalise(url, facts.site.home) for url in facts.robots.sitemaps}
    for sitemap in facts.sitemaps:
        if sitemap.status == 200 and sitemap.problem:
            yield sitemap.url, {"problem": sitemap.problem}
        elif sitemap.status != 200 and sitemap.url in declared:
            yield sitemap.url, {"status": sitemap.status}


def _sitemap_unreadable(index: SiteIndex) -> Findings:
    for sitemap in index.facts.sitemaps:
        if sitemap.unreadable:
            yield sitemap.url, {"count": sitemap.unreadable}


def _sitemap_too_large(index: SiteIndex) -> Findings:
    for sitemap in index.facts.sitemaps:
        if sitemap.too_large:
            yield sitemap.url, {"urls": sitemap.count}


def _sitemap_not_named(index: SiteIndex) -> Findings:
    facts = index.facts
    urls = [sitemap.url for sitemap in facts.sitemaps if sitemap.status == 200]
    if urls and facts.robots.rules is not None and not facts.robots.sitemaps:
        yield _robots_url(index), {"sitemaps": urls[:5]}


def _sitemap_foreign(index: SiteIndex) -> Findings:
    for url in index.facts.foreign:
        yield url, {}


def _sitemap_dates(index: SiteIndex) -> Findings:
    for url in index.facts.bad_dates:
        yield url, {"lastmod": index.facts.listed.get(url, "")}


def _not_in_sitemap(index: SiteIndex) -> Findings:
    if index.facts.listed and index.facts.listed_whole:
        for entry in index.indexable():
            if entry.url not in index.facts.listed:
                yield entry.url, {}


CHECKS: Final = (
    SiteCheck(
        "canonical_to_redirect",
        "warning",
        "indexing",
        "The canonical URL redirects.",
        "Name the URL that it redirects to.",
        _canonical_targets(lambda target: bool(target.location)),
    ),
    SiteCheck(
        "canonical_to_error",
        "critical",
        "indexing",
        "The canonical URL does not exist.",
        "Name a page that exists, such as the page itself.",
        _canonical_errors,
    ),
    SiteCheck(
        "canonical_to_noindex",
        "warning",
        "indexing",
        "The canonical page asks not to be indexed (noindex).",
        "Remove noindex there, or name the page itself.",
        _canonical_targets(lambda target: target.noindex),
    ),
    SiteCheck(
        "canonical_chain",
        "warning",
        "indexing",
        "The canonical page names yet another page as canonical.",
        "Name the last one directly.",
        _canonical_targets(_points_elsewhere),
    ),
    SiteCheck(
        "sitemap_missing",
        "warning",
        "sitemaps",
        "The site has no sitemap.",
        "Add /sitemap.xml, and name it in robots.txt.",
        _sitemap_missing,
    ),
    SiteCheck(
        "sitemap_invalid",
        "warning",
        "sitemaps",
        "A sitemap cannot be read completely.",
        "Write well-formed XML of the sitemaps.org protocol, without a document type.",
        _sitemap_broken,
    ),
    SiteCheck(
        "sitemap_url_unreadable",
        "warning",
        "sitemaps",
        "A sitemap has entries that are not URLs.",
        "Write full https URLs.",
        _sitemap_unreadable,
    ),
    SiteCheck(
        "sitemap_too_large",
        "warning",
        "sitemaps",
        "A sitemap has more than 50,000 URLs or 10 MB; the rest is not read.",
        "Split it, and list the parts in an index.",
        _sitemap_too_large,
    ),
    SiteCheck(
        "sitemap_not_in_robots",
        "notice",
        "sitemaps",
        "robots.txt does not name the sitemap.",
        "Add a line Sitemap: https://….",
        _sitemap_not_named,
    ),
    SiteCheck(
        "sitemap_other_site",
        "warning",
        "sitemaps",
        "A sitemap lists URLs of another site.",
        "List only URLs of the site itself.",
        _sitemap_foreign,
    ),
    SiteCheck(
        "sitemap_dates",
        "notice",
        "sitemaps",
        "A lastmod is not a date, or is in the future; search engines then trust none of them.",
        "Write when the page's text last changed, such as 2026-03-31.",
        _sitemap_dates,
    ),
    SiteCheck(
        "sitemap_error",
        "warning",
        "sitemaps",
        "A sitemap lists a URL that does not exist.",
        "Remove it from the sitemap.",
        _listed(lambda entry: entry.is_error),
    ),
    SiteCheck(
        "sitemap_redirect",
        "warning",
        "sitemaps",
        "A sitemap lists a URL that redirects.",
        "List the URL that it redirects to.",
        _listed(lambda entry: bool(entry.location)),
    ),
    SiteCheck(
        "sitemap_noindex",
        "warning",
        "sitemaps",
        "A sitemap lists a page that asks not to be indexed (noindex).",
        "Remove it from the sitemap, or remove noindex.",
        _listed(lambda entry: entry.is_page and entry.noindex),
    ),
    SiteCheck(
        "sitemap_not_canonical",
        "warning",
        "sitemaps",
        "A sitemap lists a page that names another one as canonical.",
        "List the canonical URL.",
        _listed(_points_elsewhere),
    ),
    SiteCheck(
        "sitemap_blocked",
        "warning",
        "sitemaps",
        "A sitemap lists a URL that robots.txt disallows.",
        "Allow it, or remove it from the sitemap.",
        _listed(lambda entry: entry.failure == "disallowed"),
    ),
    SiteCheck(
        "not_in_sitemap",
        "notice",
        "sitemaps",
        "The page is not in any sitemap.",
        "Add it to the sitemap.",
        _not_in_sitemap,
    ),
)
