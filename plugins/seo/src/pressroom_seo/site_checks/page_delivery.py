"""Checks of a page's delivery: security and speed."""

from __future__ import annotations

import re
from typing import Final

from pressroom_seo.crawler.records import PageRecord
from pressroom_seo.document.model import PageFacts
from pressroom_seo.site_checks.model import PageCheck, when

SLOW_FIRST_BYTE: Final = 0.8
"""Longest good time to first byte, in seconds (web.dev, Time to First Byte)."""

_WORTH_COMPRESSING: Final = 1400
_LARGE_PAGE: Final = 500_000
_MAX_ELEMENTS: Final = 1400
_MAX_BLOCKING: Final = 8


_ANCESTORS: Final = re.compile(r"\bframe-ancestors\b([^;,]*)")


def _first(value: str) -> str:
    """Return the first of several values: server and proxy may both send the header."""
    return value.partition(",")[0].strip().lower()


def _frames_allowed(record: PageRecord) -> bool:
    policy = record.headers.get("content-security-policy", "").lower()
    ancestors = _ANCESTORS.findall(policy)
    if ancestors:  # overrides X-Frame-Options (CSP Level 3, section 6.4.2.2)
        return all("*" in source_list.split() for source_list in ancestors)
    return "x-frame-options" not in record.headers


def _sends(record: PageRecord, page: PageFacts, name: str) -> bool:
    """Return whether a page has a header, sent or as a meta element."""
    return name in record.headers or name in page.meta_headers


def _is_https(record: PageRecord) -> bool:
    return record.url.startswith("https:")


CHECKS: Final = (
    PageCheck(
        "not_https",
        "critical",
        "security",
        "The page is served over plain http.",
        "Serve it over https, and redirect http there.",
        lambda record, page: when(not _is_https(record)),
    ),
    PageCheck(
        "mixed_content",
        "warning",
        "security",
        "The page is served over https and loads resources over http; browsers block them.",
        "Load them over https.",
        lambda record, page: when(_is_https(record) and page.insecure, urls=page.insecure[:5]),
    ),
    PageCheck(
        "form_insecure",
        "warning",
        "security",
        "A form sends what people type over plain http.",
        "Send it to an https URL.",
        lambda record, page: when(page.insecure_forms, urls=page.insecure_forms[:5]),
    ),
    PageCheck(
        "hsts_missing",
        "notice",
        "security",
        "Browsers are not told to use https only (Strict-Transport-Security).",
        "Send Strict-Transport-Security: max-age=31536000.",
        lambda record, page: when(_is_https(record) and "strict-transport-security" not in record.headers),
    ),
    PageCheck(
        "csp_missing",
        "notice",
        "security",
        "Nothing restricts which scripts may run (Content-Security-Policy).",
        "Send a Content-Security-Policy.",
        lambda record, page: when(not _sends(record, page, "content-security-policy")),
    ),
    PageCheck(
        "nosniff_missing",
        "notice",
        "security",
        "Browsers may guess what a file is (X-Content-Type-Options).",
        "Send X-Content-Type-Options: nosniff.",
        lambda record, page: when(_first(record.headers.get("x-content-type-options", "")) != "nosniff"),
    ),
    PageCheck(
        "framing_allowed",
        "notice",
        "security",
        "Other sites may show the page inside theirs.",
        "Send Content-Security-Policy: frame-ancestors 'self'.",
        lambda record, page: when(_frames_allowed(record)),
    ),
    PageCheck(
        "referrer_policy_missing",
        "notice",
        "security",
        "Nothing limits what other sites learn about where readers come from (Referrer-Policy).",
        "Send Referrer-Policy: strict-origin-when-cross-origin.",
        lambda record, page: when(not _sends(record, page, "referrer-policy")),
    ),
    PageCheck(
        "slow_answer",
        "warning",
        "speed",
        f"The first byte takes longer than {SLOW_FIRST_BYTE} seconds.",
        "Cache the page, or find out what the server spends the time on.",
        lambda record, page: when(record.first_byte > SLOW_FIRST_BYTE, seconds=round(record.first_byte, 2)),
    ),
    PageCheck(
        "not_compressed",
        "warning",
        "speed",
        "The page is sent without compression.",
        "Enable gzip, br or zstd for text.",
        lambda record, page: when(
            record.size > _WORTH_COMPRESSING and "content-encoding" not in record.headers, size=record.size
        ),
    ),
    PageCheck(
        "page_heavy",
        "notice",
        "speed",
        "The page's HTML is larger than 500 kB.",
        "Remove what is not needed at first, such as inline images and scripts.",
        lambda record, page: when(record.size > _LARGE_PAGE, size=record.size),
    ),
    PageCheck(
        "too_many_elements",
        "notice",
        "speed",
        f"The page has more than {_MAX_ELEMENTS} elements.",
        "Simplify the template, and show long lists in parts.",
        lambda record, page: when(page.elements > _MAX_ELEMENTS, elements=page.elements, cut=page.cut),
    ),
    PageCheck(
        "render_blocking",
        "notice",
        "speed",
        f"More than {_MAX_BLOCKING} scripts and styles must load before anything is shown.",
        "Load scripts with defer, and combine styles.",
        lambda record, page: when(page.blocking > _MAX_BLOCKING, count=page.blocking),
    ),
)
