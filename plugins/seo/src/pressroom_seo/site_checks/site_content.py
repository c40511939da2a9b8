"""Checks that compare pages with each other: what they say, and in which languages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final

from pressroom_seo.document.similarity import near_pairs
from pressroom_seo.site_checks.index import SiteIndex, SiteIndexEntry
from pressroom_seo.site_checks.model import Evidence, SiteCheck

Found = Iterator[tuple[str, Evidence]]

_SAMPLES = 5


def _same(of: Callable[[SiteIndexEntry], str]) -> Callable[[SiteIndex], Found]:
    def find(index: SiteIndex) -> Found:
        groups: dict[str, list[str]] = defaultdict(list)
        for entry in index.indexable():
            if of(entry):
                groups[of(entry)].append(entry.url)
        for text, urls in groups.items():
            if len(urls) > 1:
                for url in urls:
                    others = [other for other in urls[: _SAMPLES + 1] if other != url][:_SAMPLES]
                    yield url, {"text": text[:200], "count": len(urls), "also": others}

    return find


def _same_body(index: SiteIndex) -> Found:
    for url, evidence in _same(lambda entry: entry.text_hash)(index):
        yield url, {"count": evidence["count"], "also": evidence["also"]}


def _near_body(index: SiteIndex) -> Found:
    # Lists of the same posts are alike, and are not about anything else.
    pages = {entry.url: entry for entry in index.indexable() if not entry.is_listing}
    pairs = near_pairs({url: entry.simhash for url, entry in pages.items()})
    alike: dict[str, list[str]] = defaultdict(list)
    for one, other in pairs:
        if pages[one].text_hash != pages[other].text_hash:
            alike[one].append(other)
            alike[other].append(one)
    for url, others in alike.items():
        yield url, {"count": len(others) + 1, "also": others[:_SAMPLES]}


def _slash_variants(index: SiteIndex) -> Found:
    for entry in index.indexable():
        other = index.entries.get(f"{entry.url}/")
        if "?" not in entry.url and other is not None and other.indexable:
            yield entry.url, {"also": [other.url]}


def _alternates(index: SiteIndex) -> Iterator[tuple[SiteIndexEntry, SiteIndexEntry]]:
    """Yield pages with their versions in other languages, as far as these belong to the site."""
    for entry in index.pages():
        for _, url in entry.alternates:
            other = index.entries.get(url)
            if other is not None and url != entry.url:
                yield entry, other


def _no_return(index: SiteIndex) -> Found:
    for entry, other in _alternates(index):
        if other.is_page and entry.url not in {url for _, url in other.alternates}:
            yield entry.url, {"alternate": other.url}


def _bad_alternates(index: SiteIndex) -> Found:
    for entry, other in _alternates(index):
        if not other.is_page or other.noindex or other.canonical not in ("", other.url):
            yield entry.url, {"alternate": other.url, "status": other.status, "noindex": other.noindex}


CHECKS: Final = (
    SiteCheck(
        "title_duplicate",
        "warning",
        "titles",
        "Several pages have the same title.",
        "Give every page a title of its own.",
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
        "Join them, or say in each what is different.",
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
        "Name pages that answer with 200, may be indexed and name themselves as canonical.",
        _bad_alternates,
    ),
)
