"""Checks across a site's pages: links, redirects, images, duplicates and language versions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final

from pressroom_seo.document.model import near_pairs
from pressroom_seo.site_checks.index import SiteIndex, SiteIndexEntry
from pressroom_seo.site_checks.model import Evidence, SiteCheck

MAX_DEPTH: Final = 4
"""Maximum number of links from the home page; pages further away are seldom read or crawled."""

HEAVY_IMAGE: Final = 200_000
"""Maximum size of an image, in bytes."""

Findings = Iterator[tuple[str, Evidence]]


def _chains(index: SiteIndex) -> Findings:
    for path in index.redirects():
        if len(path.hops) > 1 and not path.loop:
            yield path.source, {"hops": list(path.hops), "status": path.end_status}


def _loops(index: SiteIndex) -> Findings:
    for path in index.redirects():
        if path.loop:
            yield path.source, {"hops": list(path.hops)}


def _dead_redirects(index: SiteIndex) -> Findings:
    for path in index.redirects():
        if path.dead:
            yield path.source, {"hops": list(path.hops), "status": path.end_status}


def _is_broken(entry: SiteIndexEntry) -> bool:
    return entry.failure in ("failed", "refused") or entry.status in (404, 410) or entry.status >= 500


def _broken_internal(index: SiteIndex) -> Findings:
    broken = {entry.url: entry.status for entry in index.entries.values() if _is_broken(entry)}
    files = index.looked_at.values()
    site = index.facts.site
    broken |= {
        record.url: record.status
        for record in files
        if record.broken and not record.image and site.contains(record.url)
    }
    yield from _with_sources(index, broken)


def _broken_external(index: SiteIndex) -> Findings:
    site = index.facts.site
    records = index.looked_at.values()
    yield from _with_sources(
        index,
        {
            record.url: record.status
            for record in records
            if record.broken and not record.image and not site.contains(record.url)
        },
    )


def _with_sources(index: SiteIndex, broken: dict[str, int]) -> Findings:
    """Yield the pages that contain one of these links."""
    for url, sources in index.found_in(broken).items():
        for source in sources:
            yield source, {"link": url, "status": broken[url]}


def _links_to_redirects(index: SiteIndex) -> Findings:
    redirected = {entry.url: entry.location for entry in index.entries.values() if entry.location}
    for url, sources in index.found_in(redirected).items():
        for source in sources:
            yield source, {"link": url, "to": redirected[url]}


def _orphans(index: SiteIndex) -> Findings:
    for entry in index.orphans():
        yield entry.url, {"inlinks": 0}


def _deep(index: SiteIndex) -> Findings:
    for entry in index.indexable():
        depth = index.depths.get(entry.url)
        if depth is not None and depth > MAX_DEPTH:
            yield entry.url, {"depth": depth}


def _blocked_links(index: SiteIndex) -> Findings:
    for entry in index.entries.values():
        if entry.failure == "disallowed" and index.inlinks(entry.url):
            yield entry.url, {"inlinks": index.inlinks(entry.url)}


def _broken_images(index: SiteIndex) -> Findings:
    broken = {record.url: record.status for record in index.looked_at.values() if record.image and record.broken}
    for url, sources in index.found_in(broken, images=True).items():
        for source in sources:
            yield source, {"image": url, "status": broken[url]}


def _heavy_images(index: SiteIndex) -> Findings:
    heavy = {
        record.url: record.size
        for record in index.looked_at.values()
        if record.image and (record.size or 0) > HEAVY_IMAGE
    }
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
        f"The page is more than {MAX_DEPTH} links away from the home page.",
        "Link to it from a page closer to the home page.",
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


_SAMPLES = 5


def _same(text_of: Callable[[SiteIndexEntry], str]) -> Callable[[SiteIndex], Findings]:
    def find(index: SiteIndex) -> Findings:
        groups: dict[str, list[str]] = defaultdict(list)
        for entry in index.indexable():
            if text_of(entry):
                groups[text_of(entry)].append(entry.url)
        for text, urls in groups.items():
            if len(urls) > 1:
                for url in urls:
                    duplicates = [other for other in urls[: _SAMPLES + 1] if other != url][:_SAMPLES]
                    yield url, {"text": text[:200], "count": len(urls), "also": duplicates}

    return find


def _same_body(index: SiteIndex) -> Findings:
    for url, evidence in _same(lambda entry: entry.text_hash)(index):
        yield url, {"count": evidence["count"], "also": evidence["also"]}


def _near_body(index: SiteIndex) -> Findings:
    # Listing pages share posts, so their similarity is expected.
    pages = {entry.url: entry for entry in index.indexable() if not entry.is_listing}
    pairs = near_pairs({url: entry.simhash for url, entry in pages.items()})
    alike: dict[str, list[str]] = defaultdict(list)
    for one, other in pairs:
        if pages[one].text_hash != pages[other].text_hash:
            alike[one].append(other)
            alike[other].append(one)
    for url, similar in alike.items():
        yield url, {"count": len(similar) + 1, "also": similar[:_SAMPLES]}


def _slash_variants(index: SiteIndex) -> Findings:
    for entry in index.indexable():
        variant = index.entries.get(f"{entry.url}/")
        if "?" not in entry.url and variant is not None and variant.indexable:
            yield entry.url, {"also": [variant.url]}


def _alternates(index: SiteIndex) -> Iterator[tuple[SiteIndexEntry, SiteIndexEntry]]:
    """Yield each page with each of its alternate language versions that the crawl requested.

    A page that names another one as canonical, such as one with parameters, repeats that page's alternates.
    """
    for entry in index.pages():
        for _, url in entry.alternates if entry.canonical in ("", entry.url) else ():
            alternate = index.entries.get(url)
            if alternate is not None and url != entry.url:
                yield entry, alternate


def _no_return(index: SiteIndex) -> Findings:
    for entry, alternate in _alternates(index):
        if alternate.is_page and entry.url not in {url for _, url in alternate.alternates}:
            yield entry.url, {"alternate": alternate.url}


def _bad_alternates(index: SiteIndex) -> Findings:
    for entry, alternate in _alternates(index):
        if not alternate.is_page or alternate.noindex or alternate.canonical not in ("", alternate.url):
            yield entry.url, {"alternate": alternate.url, "status": alternate.status, "noindex": alternate.noindex}


CONTENT_CHECKS: Final = (
    SiteCheck(
        "title_duplicate",
        "warning",
        "titles",
        "Several pages have the same title.",
        "Give every page its own title.",
        _same(lambda entry: entry.title),
    ),
    SiteCheck(
        "description_duplicate",
        "warning",
        "titles",
        "Several pages have the same description.",
        "Write one for every page.",
        _same(lambda entry: entry.description),
    ),
    SiteCheck(
        "h1_duplicate",
        "notice",
        "content",
        "Several pages have the same main heading.",
        "Say in the h1 what this page is about.",
        _same(lambda entry: entry.h1),
    ),
    SiteCheck(
        "content_duplicate",
        "warning",
        "content",
        "Several pages have the same text.",
        "Keep one, and redirect the others or name it as their canonical URL.",
        _same_body,
    ),
    SiteCheck(
        "content_similar",
        "notice",
        "content",
        "Several pages have almost the same text.",
        "Merge them, or say in each one what is different.",
        _near_body,
    ),
    SiteCheck(
        "slash_variants",
        "warning",
        "urls",
        "The page is available with and without a trailing slash.",
        "Redirect one to the other.",
        _slash_variants,
    ),
    SiteCheck(
        "hreflang_no_return",
        "warning",
        "languages",
        "The page names another one as its version in another language, but that one does not name it.",
        "Let both pages name each other, or search engines ignore it.",
        _no_return,
    ),
    SiteCheck(
        "hreflang_target",
        "warning",
        "languages",
        "The page names a version in another language that search engines cannot index.",
        "Name pages that respond with 200, may be indexed and name themselves as canonical.",
        _bad_alternates,
    ),
)
