"""Checks of a page's metadata for search engines: canonical URL, robots, languages."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from pressroom_seo.crawler.records import PageRecord
from pressroom_seo.document.model import PageFacts
from pressroom_seo.site_checks.model import Evidence, PageCheck, when
from pressroom_seo.urls import SiteScope

_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?|x-default")
_NO_REGIONS: Final = frozenset({"uk", "eu"})
"""Common mistakes: the region code of the United Kingdom is `gb`, and Europe has none."""

_LATIN_AMERICA: Final = frozenset({"es-la", "pt-la"})
"""Common mistakes: `la` is Laos. Latin American Spanish is `es-419`."""


def _canonical(page: PageFacts) -> str:
    return page.canonicals[0] if page.canonicals else ""


def _elsewhere(record: PageRecord, page: PageFacts) -> Evidence | None:
    url = _canonical(page)
    return when(url and not SiteScope.at(record.url).contains(url), canonical=url)


def _invalid_languages(_record: PageRecord, page: PageFacts) -> Evidence | None:
    invalid = [
        alternate.language for alternate in page.alternates if not alternate.url or not _is_language(alternate.language)
    ]
    return when(invalid, languages=invalid[:10])


def _is_language(code: str) -> bool:
    if not _LANGUAGE.fullmatch(code) or code in _LATIN_AMERICA:
        return False
    return code.partition("-")[2] not in _NO_REGIONS


def _conflicting_languages(_record: PageRecord, page: PageFacts) -> Evidence | None:
    counts = Counter(language for language, _ in {(alternate.language, alternate.url) for alternate in page.alternates})
    duplicates = sorted(language for language, count in counts.items() if count > 1)
    return when(duplicates, languages=duplicates)


CHECKS: Final = (
    PageCheck(
        "canonical_missing",
        "notice",
        "indexing",
        "The page does not name its canonical URL.",
        'Add <link rel="canonical" href="…"> with the page\'s own URL.',
        lambda record, page: when(not page.canonicals),
    ),
    PageCheck(
        "canonical_multiple",
        "warning",
        "indexing",
        "The page names several canonical URLs; search engines ignore them all.",
        "Keep one; two plugins or templates may each write one.",
        lambda record, page: when(len(set(page.canonicals)) > 1, canonicals=page.canonicals),
    ),
    PageCheck(
        "canonical_invalid",
        "warning",
        "indexing",
        "The canonical link is not a valid URL.",
        "Write a full https URL.",
        lambda record, page: when(page.canonicals and not _canonical(page)),
    ),
    PageCheck(
        "canonical_relative",
        "notice",
        "indexing",
        "The canonical URL is relative.",
        "Write the full URL, with https:// and the host.",
        lambda record, page: when(page.canonical_relative and _canonical(page), canonical=_canonical(page)),
    ),
    PageCheck(
        "canonical_insecure",
        "warning",
        "indexing",
        "The page is served over https and names an http URL as canonical.",
        "Name the https URL.",
        lambda record, page: when(
            record.url.startswith("https:") and _canonical(page).startswith("http:"), canonical=_canonical(page)
        ),
    ),
    PageCheck(
        "canonical_elsewhere",
        "notice",
        "indexing",
        "The page names a URL of another site as canonical; it will not be found itself.",
        "Keep it only if the text was first published there.",
        _elsewhere,
    ),
    PageCheck(
        "noindex",
        "notice",
        "indexing",
        "The page asks search engines not to index it (noindex).",
        "Remove noindex if people should find the page.",
        lambda record, page: when(record.noindex, robots=sorted(record.robots)),
    ),
    PageCheck(
        "noindex_and_canonical",
        "warning",
        "indexing",
        "The page asks not to be indexed (noindex) and names another page as canonical; the two contradict each other.",
        "Keep the canonical URL and remove noindex.",
        lambda record, page: when(
            record.noindex and _canonical(page) not in ("", record.url), canonical=_canonical(page)
        ),
    ),
    PageCheck(
        "nofollow_page",
        "notice",
        "indexing",
        "The page asks search engines not to follow its links (nofollow).",
        "Remove nofollow; it hides the linked pages.",
        lambda record, page: when("nofollow" in record.robots, robots=sorted(record.robots)),
    ),
    PageCheck(
        "nosnippet",
        "notice",
        "indexing",
        "The page does not let search engines show a snippet of it (nosnippet).",
        "Remove nosnippet or max-snippet:0, so that results can say what the page is about.",
        lambda record, page: when({"nosnippet", "max-snippet:0"} & record.robots, robots=sorted(record.robots)),
    ),
    PageCheck(
        "hreflang_invalid",
        "warning",
        "languages",
        "An hreflang has no valid language or no URL.",
        "Use codes such as en, en-gb or x-default (ISO 639-1 and ISO 3166-1), and full URLs.",
        _invalid_languages,
    ),
    PageCheck(
        "hreflang_conflict",
        "warning",
        "languages",
        "The same hreflang points to several URLs.",
        "Name one URL for every language.",
        _conflicting_languages,
    ),
    PageCheck(
        "hreflang_no_self",
        "notice",
        "languages",
        "The page lists its other languages but not itself.",
        "Name the page itself with its own hreflang too.",
        lambda record, page: when(
            page.alternates
            and {record.url, _canonical(page)}.isdisjoint(alternate.url for alternate in page.alternates)
        ),
    ),
    PageCheck(
        "hreflang_no_default",
        "notice",
        "languages",
        "The page lists its languages but none for everybody else (x-default).",
        'Add hreflang="x-default" for the page where readers choose a language, or for the most general one.',
        lambda record, page: when(
            page.alternates and "x-default" not in {alternate.language for alternate in page.alternates}
        ),
    ),
)
