"""Checks of the response to any URL: status, redirects, URL format."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from pressroom_seo.crawler.records import PageRecord
from pressroom_seo.document.model import PageFacts
from pressroom_seo.site_checks.model import Evidence, PageCheck, RecordCheck, when
from pressroom_seo.urls import has_session

_GONE = frozenset({404, 410})
_TEMPORARY = frozenset({302, 303, 307})
_SAYS_MISSING = re.compile(
    r"^\W*(?:error\W*)?404(?=\s*(?:$|[^\w\s]|error|page|not\b|non\b|nicht|seite|p[aá]gina|introuvable))"
    r"|\b(?:page|site|file) not found\b|\bnot found\W*$",
    re.IGNORECASE,
)
_MAX_URL_LENGTH = 115
_MAX_PARAMETERS = 3


def _soft_404(record: PageRecord, page: PageFacts) -> Evidence | None:
    title = page.titles[0] if page.titles else ""
    return when(_SAYS_MISSING.search(title) and page.words < 300, title=title)


def _path(record: PageRecord) -> str:
    return record.url.split("://", 1)[-1].partition("/")[2].partition("?")[0]


def _length(record: PageRecord) -> int:
    """Return the number of characters of the URL as readers see it: an escaped letter is one."""
    return len(unquote(record.url, errors="replace"))


def _query(record: PageRecord) -> str:
    return record.url.partition("?")[2]


RECORD_CHECKS: Final = (
    RecordCheck(
        "no_answer",
        "critical",
        "status",
        "The server does not respond.",
        "Check that the server is up, its certificate is valid and it responds within 10 seconds.",
        lambda record: when(record.failure == "failed", message=record.message),
    ),
    RecordCheck(
        "address_refused",
        "critical",
        "status",
        "The URL is not fetched: it is not on the public internet, has its own port, or its headers are too large.",
        "Link and redirect to public https URLs without a port.",
        lambda record: when(record.failure == "refused", message=record.message),
    ),
    RecordCheck(
        "server_error",
        "critical",
        "status",
        "The server fails (a 5xx status).",
        "Read the server's log for this URL and fix what fails.",
        lambda record: when(record.status >= 500, status=record.status),
    ),
    RecordCheck(
        "page_not_found",
        "critical",
        "status",
        "The page does not exist (404 or 410).",
        "Restore the page, redirect it to the one that replaces it, or remove the links to it.",
        lambda record: when(record.status in _GONE, status=record.status),
    ),
    RecordCheck(
        "client_error",
        "warning",
        "status",
        "The server refuses the request (a 4xx status).",
        "Make the page public, or remove the links to it.",
        lambda record: when(400 <= record.status < 500 and record.status not in {*_GONE, 429}, status=record.status),
    ),
    RecordCheck(
        "rate_limited",
        "notice",
        "status",
        "The server says that it gets too many requests (429).",
        "Allow crawlers at least one request a second.",
        lambda record: when(record.status == 429, status=record.status),
    ),
    RecordCheck(
        "temporary_redirect",
        "notice",
        "status",
        "The redirect says that it is temporary (302, 303 or 307).",
        "Use 301 or 308 if the page has moved permanently.",
        lambda record: when(record.status in _TEMPORARY and record.location, status=record.status, to=record.location),
    ),
    RecordCheck(
        "redirect_unreadable",
        "critical",
        "status",
        "The redirect does not lead to a URL.",
        "Send a Location header with an https URL.",
        lambda record: when(300 < record.status < 400 and record.status != 304 and not record.location),
    ),
    RecordCheck(
        "redirect_insecure",
        "warning",
        "security",
        "The redirect leads from https to http.",
        "Redirect to the https URL.",
        lambda record: when(
            record.url.startswith("https:") and record.location.startswith("http:"), to=record.location
        ),
    ),
    RecordCheck(
        "content_cut",
        "warning",
        "speed",
        "The response is larger than 10 MB, or never ends.",
        "Split the page, and move large files to their own URLs.",
        lambda record: when(not record.whole and not record.message, size=record.size),
    ),
    RecordCheck(
        "content_damaged",
        "critical",
        "status",
        "The compressed content cannot be unpacked.",
        "Check the server's compression: what is announced in Content-Encoding must be what is sent.",
        lambda record: when(record.status and record.message, message=record.message),
    ),
    RecordCheck(
        "media_type_missing",
        "notice",
        "status",
        "The response has no Content-Type.",
        "Send Content-Type: text/html; charset=utf-8 with pages.",
        lambda record: when(record.status == 200 and record.size and not record.media_type),
    ),
    RecordCheck(
        "url_too_long",
        "notice",
        "urls",
        f"The URL has more than {_MAX_URL_LENGTH} characters.",
        "Use a few words that say what the page is about.",
        lambda record: when(record.status == 200 and _length(record) > _MAX_URL_LENGTH, length=_length(record)),
    ),
    RecordCheck(
        "url_uppercase",
        "notice",
        "urls",
        "The URL has capital letters.",
        "Use lower-case letters; to many servers and to search engines the two are different pages.",
        lambda record: when(record.status == 200 and re.search(r"[A-Z]", re.sub(r"%..", "", _path(record)))),
    ),
    RecordCheck(
        "url_underscores",
        "notice",
        "urls",
        "The URL joins words with underscores.",
        "Join words with hyphens.",
        lambda record: when(record.status == 200 and "_" in _path(record)),
    ),
    RecordCheck(
        "url_spaces",
        "notice",
        "urls",
        "The URL has spaces.",
        "Join words with hyphens.",
        lambda record: when(record.status == 200 and "%20" in _path(record)),
    ),
    RecordCheck(
        "url_double_slash",
        "notice",
        "urls",
        "The path has two slashes in a row.",
        "Fix the link or template that makes it, and redirect to the URL with one slash.",
        lambda record: when(record.status == 200 and "//" in f"/{_path(record)}"),
    ),
    RecordCheck(
        "url_parameters",
        "notice",
        "urls",
        f"The URL has more than {_MAX_PARAMETERS} parameters.",
        "Give the page a URL without them, or name one such URL as canonical.",
        lambda record: when(
            record.status == 200 and _query(record).count("&") >= _MAX_PARAMETERS,
            parameters=_query(record).count("&") + 1,
        ),
    ),
)

PAGE_CHECKS: Final = (
    PageCheck(
        "soft_404",
        "warning",
        "status",
        "The page says that it does not exist, but the status says that it does (200).",
        "Respond with the status 404 or 410.",
        _soft_404,
    ),
    PageCheck(
        "meta_refresh",
        "warning",
        "status",
        "The page redirects with a meta refresh.",
        "Redirect with the status 301 instead.",
        lambda record, page: when(page.refresh and page.refresh != record.url, to=page.refresh),
    ),
    PageCheck(
        "url_session",
        "warning",
        "urls",
        "Links on the page contain a visitor's session ID.",
        "Keep sessions in cookies.",
        lambda record, page: when([text for text in page.with_session if has_session(text)], links=page.with_session),
    ),
)
