"""Checks of titles, descriptions, headings and text."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Final

from pressroom_seo.crawler.records import PageRecord
from pressroom_seo.document.model import PageFacts
from pressroom_seo.scoring.snippet import pixel_width
from pressroom_seo.site_checks.model import Evidence, PageCheck, when

TITLE_SIZE: Final = 20
"""Font size of the title in search results, in pixels."""

DESCRIPTION_SIZE: Final = 14
"""Font size of the description in search results, in pixels."""

TITLE_WIDTHS: Final = (200, 600)
"""Minimum and maximum width of a title in pixels; search results truncate wider ones."""

DESCRIPTION_WIDTHS: Final = (400, 985)
"""Minimum and maximum width of a description in pixels; search results truncate wider ones."""

MIN_WORDS: Final = 100
"""Minimum number of words; shorter pages have too little text to rank."""


_ADAPTS: Final = re.compile(r"\b(?:width|initial-scale)\s*=", re.IGNORECASE)
"""Viewport properties that adapt the page to the screen width; either is enough."""


def _title(page: PageFacts) -> str:
    return page.titles[0] if page.titles else ""


def _description(page: PageFacts) -> str:
    return page.descriptions[0] if page.descriptions else ""


def _width(
    text: Callable[[PageFacts], str], size: int, is_wrong: Callable[[int], bool]
) -> Callable[[PageRecord, PageFacts], Evidence | None]:
    def find(_record: PageRecord, page: PageFacts) -> Evidence | None:
        content = text(page)
        width = round(pixel_width(content, size))
        return when(content and is_wrong(width), text=content, pixels=width)

    return find


def _skipped_level(_record: PageRecord, page: PageFacts) -> Evidence | None:
    for (above, _), (level, text) in pairwise(page.headings):
        if level > above + 1:
            return {"after": above, "level": level, "heading": text}
    return None


def _thin(record: PageRecord, page: PageFacts) -> Evidence | None:
    # Listing pages with few posts are short by nature.
    return when(page.words < MIN_WORDS and not record.noindex and not record.is_listing, words=page.words)


def _h1(page: PageFacts) -> list[str]:
    return [text for level, text in page.headings if level == 1]


def _encodings_differ(_record: PageRecord, page: PageFacts) -> Evidence | None:
    encodings = {name for name in (page.encoding_http, page.encoding_meta) if name}
    if page.encoding_bom:
        encodings.add(page.encoding)
    return when(len(encodings) > 1, http=page.encoding_http, document=page.encoding_meta, read_as=page.encoding)


CHECKS: Final = (
    PageCheck(
        "title_missing",
        "critical",
        "titles",
        "The page has no title.",
        "Give every page its own title of about 50 characters that begins with its subject.",
        lambda record, page: when(not _title(page)),
    ),
    PageCheck(
        "title_multiple",
        "warning",
        "titles",
        "The page has several titles.",
        "Keep one title element; two plugins or templates may each write one.",
        lambda record, page: when(len(page.titles) > 1, titles=page.titles),
    ),
    PageCheck(
        "title_too_long",
        "notice",
        "titles",
        f"The title is wider than {TITLE_WIDTHS[1]} pixels; search results cut it.",
        "Shorten it to about 60 characters, or 30 in Chinese, Japanese or Korean, with what matters first.",
        _width(_title, TITLE_SIZE, lambda pixels: pixels > TITLE_WIDTHS[1]),
    ),
    PageCheck(
        "title_too_short",
        "notice",
        "titles",
        f"The title is narrower than {TITLE_WIDTHS[0]} pixels.",
        "Say in it what the page is about.",
        _width(_title, TITLE_SIZE, lambda pixels: pixels < TITLE_WIDTHS[0]),
    ),
    PageCheck(
        "description_missing",
        "warning",
        "titles",
        "The page has no description.",
        "Write one or two sentences that say why to read it.",
        lambda record, page: when(not _description(page)),
    ),
    PageCheck(
        "description_multiple",
        "warning",
        "titles",
        "The page has several descriptions.",
        "Keep one; two plugins or templates may each write one.",
        lambda record, page: when(len(page.descriptions) > 1, descriptions=page.descriptions),
    ),
    PageCheck(
        "description_too_long",
        "notice",
        "titles",
        f"The description is wider than {DESCRIPTION_WIDTHS[1]} pixels; search results cut it.",
        "Shorten it to about 155 characters, or 70 in Chinese, Japanese or Korean.",
        _width(_description, DESCRIPTION_SIZE, lambda pixels: pixels > DESCRIPTION_WIDTHS[1]),
    ),
    PageCheck(
        "description_too_short",
        "notice",
        "titles",
        f"The description is narrower than {DESCRIPTION_WIDTHS[0]} pixels.",
        "Say in one or two sentences why to read the page.",
        _width(_description, DESCRIPTION_SIZE, lambda pixels: pixels < DESCRIPTION_WIDTHS[0]),
    ),
    PageCheck(
        "h1_missing",
        "warning",
        "content",
        "The page has no main heading (h1).",
        "Put the page's subject into an h1.",
        lambda record, page: when(not any(_h1(page))),
    ),
    PageCheck(
        "h1_multiple",
        "notice",
        "content",
        "The page has several main headings (h1).",
        "Keep one h1, and use h2 for the parts.",
        lambda record, page: when(len(_h1(page)) > 1, headings=_h1(page)[:5]),
    ),
    PageCheck(
        "heading_empty",
        "notice",
        "content",
        "A heading has no text.",
        "Remove it, or write what comes below it.",
        lambda record, page: when([level for level, text in page.headings if not text and level > 1]),
    ),
    PageCheck(
        "heading_order",
        "notice",
        "content",
        "The headings skip a level.",
        "Let an h2 follow the h1, and an h3 the h2.",
        _skipped_level,
    ),
    PageCheck(
        "thin_content",
        "notice",
        "content",
        f"The page has fewer than {MIN_WORDS} words.",
        "Say more about its subject, or exclude it from search results with noindex.",
        _thin,
    ),
    PageCheck(
        "placeholder_text",
        "warning",
        "content",
        "The page has placeholder text (lorem ipsum).",
        "Write the text, or take the page offline.",
        lambda record, page: when(page.placeholder),
    ),
    PageCheck(
        "doctype_missing",
        "notice",
        "content",
        "The page does not begin with <!doctype html>.",
        "Add it; without it browsers use quirks mode.",
        lambda record, page: when(not page.doctype),
    ),
    PageCheck(
        "encoding_missing",
        "notice",
        "content",
        "The page does not declare its character encoding.",
        'Begin the head with <meta charset="utf-8">.',
        lambda record, page: when(not (page.encoding_http or page.encoding_meta or page.encoding_bom)),
    ),
    PageCheck(
        "encoding_conflict",
        "warning",
        "content",
        "The header and the page declare different encodings.",
        "Declare UTF-8 in both, and send UTF-8.",
        _encodings_differ,
    ),
    PageCheck(
        "encoding_damaged",
        "warning",
        "content",
        "Some characters cannot be read in the declared encoding.",
        "Send the page in UTF-8, and declare that.",
        lambda record, page: when(page.damaged, letters=page.damaged, encoding=page.encoding),
    ),
    PageCheck(
        "language_missing",
        "notice",
        "languages",
        "The page does not say its language.",
        'Write it at the top: <html lang="en">.',
        lambda record, page: when(not page.language),
    ),
    PageCheck(
        "viewport_missing",
        "warning",
        "content",
        "The page does not adapt to phones.",
        'Add <meta name="viewport" content="width=device-width, initial-scale=1">.',
        lambda record, page: when(not _ADAPTS.search(page.viewport), viewport=page.viewport),
    ),
    PageCheck(
        "icon_missing",
        "notice",
        "content",
        "The page does not declare an icon.",
        'Add <link rel="icon" href="/favicon.svg">.',
        lambda record, page: when(not page.icon),
    ),
)
