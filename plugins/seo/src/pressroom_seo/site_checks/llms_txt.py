"""Checks of a site's content for language models: llms.txt, llms-full.txt and Markdown versions of pages."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from pressroom_seo.crawler.http_client import Visitor
from pressroom_seo.crawler.records import CrawlResponse
from pressroom_seo.crawler.site_files import MAX_LLMS_TXT_BYTES, LlmsTxt
from pressroom_seo.urls import SiteScope

SAMPLES: Final = 10
"""Maximum number of pages to check for a Markdown version, and of llms.txt links to check."""

_TEXT: Final = "text/markdown, text/plain, */*;q=0.5"
_MAX_MISSING = 100


@dataclass(frozen=True, slots=True)
class LlmsCheck:
    """The result of one check. `message` states the finding; `fix` is empty if the check passed."""

    id: str
    passed: bool
    message: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class LlmsReport:
    """The results of the llms.txt checks."""

    checks: tuple[LlmsCheck, ...]
    entries: int
    missing: tuple[str, ...]
    """URLs in the sitemap that llms.txt does not list; at most 100."""


async def check_llms_txt(visitor: Visitor, site: SiteScope, listed: Collection[str]) -> LlmsReport:
    """Check whether the files exist, are well-formed and match the sitemap.

    Args:
        visitor: the HTTP client.
        site: the site.
        listed: the URLs in its sitemaps; see `pressroom_seo.crawler.survey`.
    """
    url = f"{site.origin}/llms.txt"
    response = await _last(visitor, url)
    if not _is_text(response):
        missing = LlmsCheck(
            "llms_txt_exists",
            passed=False,
            message=f"{url} {_status_text(response)}",
            fix="Add it: a line of # and the site's name, a quoted summary, and sections of links.",
        )
        return LlmsReport((missing,), 0, tuple(listed)[:_MAX_MISSING])
    llms = await visitor.reader.llms_txt(response)
    linked = {entry.url for entry in llms.entries}
    absent = [page for page in listed if page not in linked and not linked.intersection(twins(page))]
    checks = [
        LlmsCheck("llms_txt_exists", passed=True, message=f"{url} exists"),
        _parses(llms),
        _matches(absent, listed),
        await _links(visitor, site, llms),
        await _full(visitor, site),
        # Prefer pages that llms.txt lists: others, such as tag pages, have no text of their own.
        await _twins(visitor, [page for page in listed if page not in absent] or listed),
    ]
    return LlmsReport(tuple(checks), len(llms.entries), tuple(absent[:_MAX_MISSING]))


def twins(url: str) -> tuple[str, ...]:
    """Return the conventional URLs of a page's Markdown version: the URL with `.md`, or an index file in its folder."""
    path = url.partition("?")[0]
    if path.endswith("/"):
        return f"{path}index.html.md", f"{path}index.md", f"{path.rstrip('/')}.md"
    return (f"{path}.md",)


async def _last(visitor: Visitor, url: str) -> CrawlResponse:
    if not await visitor.allowed(url):
        return _disallowed(url)
    return (await visitor.follow(url, accept=_TEXT))[-1]


def _disallowed(url: str) -> CrawlResponse:
    return CrawlResponse(url, failure="disallowed", message="robots.txt disallows it")


def _is_text(response: CrawlResponse) -> bool:
    return response.status == 200 and bool(response.content) and response.media_type != "text/html"


def _status_text(response: CrawlResponse) -> str:
    if response.failure:
        return f"could not be read: {response.message}"
    if response.status == 200:
        return "is an HTML page or empty"
    return f"responds with {response.status}"


def _parses(llms: LlmsTxt) -> LlmsCheck:
    if llms.problems:
        return LlmsCheck("llms_txt_parses", passed=False, message="; ".join(llms.problems), fix="Fix these lines.")
    return LlmsCheck(
        "llms_txt_parses", passed=True, message=f"{len(llms.entries)} links in {len(llms.sections)} sections"
    )


def _matches(absent: list[str], listed: Collection[str]) -> LlmsCheck:
    if absent and len(absent) == len(listed):
        return LlmsCheck(
            "llms_txt_matches_sitemap",
            passed=False,
            message=f"none of the {len(listed)} URLs of the sitemap is listed",
            fix="List the pages that a reader needs; leaving others out is fine.",
        )
    message = f"{len(listed) - len(absent)} of {len(listed)} URLs of the sitemap are listed"
    return LlmsCheck("llms_txt_matches_sitemap", passed=True, message=message)


async def _links(visitor: Visitor, site: SiteScope, llms: LlmsTxt) -> LlmsCheck:
    urls = [entry.url for entry in llms.entries if site.contains(entry.url)][:SAMPLES]
    responses = {url: await _last(visitor, url) for url in urls}
    disallowed = [url for url, response in responses.items() if response.failure == "disallowed"]
    broken = [url for url, response in responses.items() if response.status != 200 and url not in disallowed]
    if broken:
        return LlmsCheck(
            "llms_txt_links", passed=False, message=f"not found: {', '.join(broken)}", fix="Fix or remove these links."
        )
    message = f"{len(responses) - len(disallowed)} links checked"
    if disallowed:
        message += f"; robots.txt disallows {', '.join(disallowed)}"
    return LlmsCheck("llms_txt_links", passed=True, message=message)


async def _full(visitor: Visitor, site: SiteScope) -> LlmsCheck:
    url = f"{site.origin}/llms-full.txt"
    response = (
        (await visitor.visit(url, accept=_TEXT, max_bytes=MAX_LLMS_TXT_BYTES))
        if await visitor.allowed(url)
        else _disallowed(url)
    )
    if _is_text(response):
        return LlmsCheck("llms_full_txt_exists", passed=True, message=f"{url} exists")
    return LlmsCheck(
        "llms_full_txt_exists",
        passed=False,
        message=f"{url} {_status_text(response)}",
        fix="Add it with the text of the newest pages in Markdown.",
    )


async def _twins(visitor: Visitor, listed: Collection[str]) -> LlmsCheck:
    pages = list(listed)[:SAMPLES]
    missing = []
    for page in pages:
        for twin in twins(page):
            if _is_text(await _last(visitor, twin)):
                break
        else:
            missing.append(page)
    if missing:
        return LlmsCheck(
            "markdown_twins",
            passed=False,
            message=f"{len(missing)} of {len(pages)} pages are not available as Markdown, such as {missing[0]}",
            fix="Serve every page as Markdown too, at its URL with .md.",
        )
    return LlmsCheck("markdown_twins", passed=True, message=f"{len(pages)} pages checked")
