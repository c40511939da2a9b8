"""Checks of how a site's pages are connected: links, redirects, orphans, depth, images."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pressroom_seo.site_checks.index import SiteIndex, SiteIndexEntry
from pressroom_seo.site_checks.model import Evidence, SiteCheck

MAX_DEPTH: Final = 4
"""Links from the first page; pages further away are seldom read or crawled."""

HEAVY_IMAGE: Final = 200_000
"""Bytes."""

Found = Iterator[tuple[str, Evidence]]


def _chains(index: SiteIndex) -> Found:
    for path in index.redirects():
        if len(path.hops) > 1 and not path.loop:
            yield path.source, {"hops": list(path.hops), "status": path.end_status}


def _loops(index: SiteIndex) -> Found:
    for path in index.redirects():
        if path.loop:
            yield path.source, {"hops": list(path.hops)}


def _dead_redirects(index: SiteIndex) -> Found:
    for path in index.redirects():
        if path.dead:
            yield path.source, {"hops": list(path.hops), "status": path.end_status}


def _is_broken(entry: SiteIndexEntry) -> bool:
    return entry.failure in ("failed", "refused") or entry.status in (404, 410) or entry.status >= 500


def _broken_internal(index: SiteIndex) -> Found:
    broken = {entry.url: entry.status for entry in index.entries.values() if _is_broken(entry)}
    files = index.looked_at.values()
    site = index.facts.site
    broken |= {one.url: one.status for one in files if one.broken and not one.image and site.contains(one.url)}
    yield from _with_sources(index, broken)


def _broken_external(index: SiteIndex) -> Found:
    site = index.facts.site
    found = index.looked_at.values()
    yield from _with_sources(
        index, {one.url: one.status for one in found if one.broken and not one.image and not site.contains(one.url)}
    )


def _with_sources(index: SiteIndex, broken: dict[str, int]) -> Found:
    """Name every page that has one of these links."""
    for url, sources in index.found_in(broken).items():
        for source in sources:
            yield source, {"link": url, "status": broken[url]}


def _links_to_redirects(index: SiteIndex) -> Found:
    moved = {entry.url: entry.location for entry in index.entries.values() if entry.location}
    for url, sources in index.found_in(moved).items():
        for source in sources:
            yield source, {"link": url, "to": moved[url]}


def _orphans(index: SiteIndex) -> Found:
    for entry in index.orphans():
        yield entry.url, {"inlinks": 0}


def _deep(index: SiteIndex) -> Found:
    for entry in index.indexable():
        depth = index.depths.get(entry.url)
        if depth is not None and depth > MAX_DEPTH:
            yield entry.url, {"depth": depth}


def _blocked_links(index: SiteIndex) -> Found:
    for entry in index.entries.values():
        if entry.failure == "disallowed" and index.inlinks(entry.url):
            yield entry.url, {"inlinks": index.inlinks(entry.url)}


def _broken_images(index: SiteIndex) -> Found:
    broken = {one.url: one.status for one in index.looked_at.values() if one.image and one.broken}
    for url, sources in index.found_in(broken, images=True).items():
        for source in sources:
            yield source, {"image": url, "status": broken[url]}


def _heavy_images(index: SiteIndex) -> Found:
    heavy = {one.url: one.size for one in index.looked_at.values() if one.image and (one.size or 0) > HEAVY_IMAGE}
    for url, sources in index.found_in(heavy, images=True).items():
        for source in sources:
            yield source, {"image": url, "bytes": heavy[url]}


CHECKS: Final = (
    SiteCheck(
        "redirect_chain",
        "warning",
        "links",
        "A redirect leads to another redirect.",
        "Redirect to the last URL directly.",
        _chains,
    ),
    SiteCheck(
        "redirect_loop",
        "critical",
        "links",
        "A redirect leads back to itself.",
        "Remove one of the redirects.",
        _loops,
    ),
    SiteCheck(
        "redirect_to_error",
        "critical",
        "links",
        "A redirect leads to a page that does not exist.",
        "Redirect to a page that exists.",
        _dead_redirects,
    ),
    SiteCheck(
        "broken_link",
        "critical",
        "links",
        "The page links to a page or file of the site that does not exist.",
        "Fix or remove the link, or redirect its URL.",
        _broken_internal,
    ),
    SiteCheck(
        "broken_external_link",
        "warning",
        "links",
        "The page links to a page of another site that does not exist.",
        "Find out where the page has moved, or remove the link.",
        _broken_external,
    ),
    SiteCheck(
        "link_to_redirect",
        "notice",
        "links",
        "The page links to a URL of the site that redirects.",
        "Link to the final URL.",
        _links_to_redirects,
    ),
    SiteCheck(
        "orphan_page",
        "warning",
        "links",
        "A sitemap lists the page, but no page links to it.",
        "Link to it from pages about the same subject.",
        _orphans,
    ),
    SiteCheck(
        "page_too_deep",
        "notice",
        "links",
        f"The page is more than {MAX_DEPTH} links away from the first page.",
        "Link to it from a page nearer to the first one.",
        _deep,
    ),
    SiteCheck(
        "linked_but_blocked",
        "notice",
        "robots",
        "Pages link to a URL that robots.txt disallows.",
        "Allow it, or remove the links.",
        _blocked_links,
    ),
    SiteCheck(
        "image_broken",
        "critical",
        "images",
        "The page shows an image that does not exist.",
        "Restore the image, or remove it from the page.",
        _broken_images,
    ),
    SiteCheck(
        "image_heavy",
        "warning",
        "images",
        f"The page has an image larger than {HEAVY_IMAGE // 1000} kB.",
        "Resize it to the size at which it is shown, and save it as WebP or AVIF.",
        _heavy_images,
    ),
)
