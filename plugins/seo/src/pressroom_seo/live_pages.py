"""Checks over the network: live pages, the links of an article or a website, and llms.txt."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final
from urllib.parse import urljoin

from pressroom.sdk import Fetcher, InvalidInput, JobRun, NotFound, PluginContext
from pressroom_content.contract import Website, content_services
from pressroom_content.language import run_with_languages

from pressroom_seo.config import SeoConfig
from pressroom_seo.crawler.frontier import Limits
from pressroom_seo.crawler.http_client import Politeness, Visitor
from pressroom_seo.crawler.links import LinkChecker, LinkReport, Progress, check_links
from pressroom_seo.crawler.records import CrawlResponse
from pressroom_seo.crawler.site_reader import SiteReader
from pressroom_seo.crawler.survey import begin_survey, survey
from pressroom_seo.document import clean_text, document_from_html, document_from_markdown
from pressroom_seo.document.decoding import decode
from pressroom_seo.reports.queries import CrawlReport
from pressroom_seo.reports.store import Crawls, is_own, start_of
from pressroom_seo.scoring import (
    LinkStatus,
    ScoringArticle,
    ScoringReport,
    Validation,
    article_from_page,
    score,
    validate_page,
    validate_structured_data,
)
from pressroom_seo.site_checks.llms_txt import LlmsReport, check_llms_txt
from pressroom_seo.site_checks.report import PageReport, check_page
from pressroom_seo.stored import judged
from pressroom_seo.urls import SiteScope, host_of, normalise

MAX_LINKS: Final = 2000
"""Maximum number of links in one check."""

MAX_REPORTED: Final = 200
"""Maximum number of problem links in a job's result."""

MAX_AT_ONCE: Final = 40
"""Maximum number of an article's links to check synchronously; more need a job."""

SECONDS: Final = 25.0
"""Timeout in seconds of a synchronous check."""

LINK_POLITENESS: Final = Politeness(interval=0.25, connections=2, max_wait=5.0, retries=1)
"""Politeness for a few requests while a caller waits."""

_ERRORS: Final = 400


@dataclass(frozen=True, slots=True)
class Links:
    """Links to check: each URL with the places where it was found. `site` is the site they belong to, if known."""

    found: Mapping[str, Sequence[str]]
    site: SiteScope | None = None
    own: bool = False


@dataclass(frozen=True, slots=True)
class TriedLinks:
    """The results of checking an article's links and its canonical URL.

    `reports` is `None` if there are too many links to check synchronously, or if the check timed out; `total` is the
    number of links. `statuses` is keyed by the links as written and omits statuses that only mean that crawlers are
    blocked.
    """

    reports: Sequence[LinkReport] | None
    total: int
    statuses: Mapping[str, LinkStatus]
    canonical_noindex: bool | None


async def try_links(
    plugin: PluginContext[SeoConfig], user_id: str, article: ScoringArticle, found_in: str
) -> TriedLinks:
    """Check the links of an article and its canonical URL synchronously."""
    fetcher, reader = plugin.services.fetcher, SiteReader(plugin.services.workers, user_id)
    targets = await plugin.services.workers.run(link_targets, article, owner=user_id, what="the article")
    links = Links(dict.fromkeys(targets.values(), (found_in,)))
    reports, (canonical, noindex) = await asyncio.gather(
        _check_in_time(fetcher, links, reader), canonical_page(fetcher, article, SECONDS, reader)
    )
    by_url = {report.url: report for report in reports or ()}
    statuses = dict(canonical)
    for href, url in targets.items():
        report = by_url.get(url)
        if report is not None and report.checked and ("broken" in report.problems or 0 < report.status < _ERRORS):
            statuses[href] = LinkStatus(report.status, report.location)
    return TriedLinks(reports, len(links.found), statuses, noindex)


async def _check_in_time(fetcher: Fetcher, links: Links, reader: SiteReader) -> Sequence[LinkReport] | None:
    if len(links.found) > MAX_AT_ONCE:
        return None
    try:
        async with asyncio.timeout(SECONDS):
            return await look(fetcher, links, reader)
    except TimeoutError:
        return None


async def links_of_article(plugin: PluginContext[SeoConfig], user_id: str, content_id: str) -> Links:
    """Return the links of a stored article. Raises `NotFound`."""
    scoring_input = await judged(plugin, user_id, content_id)
    hrefs = await plugin.services.workers.run(link_targets, scoring_input.article, owner=user_id, what="the article")
    return Links(dict.fromkeys(hrefs.values(), (content_id,)))


def link_targets(article: ScoringArticle) -> dict[str, str]:
    """Map up to `MAX_LINKS` links and image sources, as written in the body, to their normalised URLs."""
    body = clean_text(article.body)
    document = document_from_html(body) if article.format == "html" else document_from_markdown(body)
    hrefs = [link.href for link in document.links if link.href]
    hrefs += [image.src for image in document.images if image.src]
    targets: dict[str, str] = {}
    for href in dict.fromkeys(hrefs):
        target = normalise(_joined(article.url, href))
        if target is not None and len(targets) < MAX_LINKS:
            targets[href] = target
    return targets


def _joined(base: str, href: str) -> str:
    try:
        return urljoin(base, href) if base else href
    except ValueError:
        return href


async def links_of_website(plugin: PluginContext[SeoConfig], user_id: str, website_id: str) -> Links:
    """Return the links found by the newest finished crawl of a website.

    Raises:
        NotFound: the account has no such website.
        InvalidInput: the website has no finished crawl.
    """
    website = await content_services(plugin).websites.get(user_id, website_id)
    crawl = await Crawls(plugin).newest(user_id, website_id)
    if crawl is None:
        raise InvalidInput(
            "website_id",
            f"{website.name} was not crawled yet; call get_seo_report with refresh true and section summary first",
        )
    targets = await CrawlReport(plugin.services.database, crawl).targets(MAX_LINKS)
    return Links(targets, SiteScope.under(start_of(website)), is_own(plugin.config, website))


async def look(
    fetcher: Fetcher,
    links: Links,
    reader: SiteReader,
    *,
    politeness: Politeness = LINK_POLITENESS,
    progress: Progress | None = None,
) -> list[LinkReport]:
    """Check links. Broken ones come first, then those with other problems."""
    own = {}
    if links.own and links.site is not None:
        own = {host_of(links.site.home): Politeness.own_site()}
    checker = LinkChecker(Visitor(fetcher, politeness, own=own, reader=reader))
    reports = [report async for report in check_links(checker, links.found, progress=progress)]
    return sorted(reports, key=lambda report: (not report.problems, "broken" not in report.problems, report.url))


def is_broken(status: LinkStatus) -> bool:
    """Return whether a link got no response or a status of 400 or more."""
    return not 0 < status.status < _ERRORS


async def canonical_page(
    fetcher: Fetcher, article: ScoringArticle, seconds: float, reader: SiteReader
) -> tuple[dict[str, LinkStatus], bool | None]:
    """Return the status of the article's only canonical URL, and whether that page has noindex.

    The result is `({}, None)` if there is not exactly one canonical URL, if it is relative or the article's own, or if
    the request timed out or was refused.
    """
    canonicals = list(dict.fromkeys(url.strip() for url in article.canonicals if url.strip()))
    target = normalise(canonicals[0]) if len(canonicals) == 1 else None
    if target is None or (article.url and target == normalise(article.url)):
        return {}, None
    try:
        async with asyncio.timeout(seconds):
            responses = await Visitor(fetcher, LINK_POLITENESS, reader=reader).follow(target)
    except TimeoutError:
        return {}, None
    record = await reader.page(responses[-1], None)
    if record.failure == "refused":
        return {}, None
    final_url = responses[-1].url if len(responses) > 1 else ""
    return {canonicals[0]: LinkStatus(record.status, final_url)}, record.noindex if record.is_page else None


async def run_job(plugin: PluginContext[SeoConfig], run: JobRun) -> Mapping[str, Any]:
    """Check the links of an article or a website and return those with problems. Idempotent."""
    try:
        if content_id := run.payload.get("content_id"):
            links = await links_of_article(plugin, run.subject, str(content_id))
        else:
            links = await links_of_website(plugin, run.subject, str(run.payload["website_id"]))
    except (NotFound, InvalidInput) as error:
        return {"checked": 0, "links": [], "message": error.message}
    reader = SiteReader(plugin.services.workers, run.subject)
    reports = await look(plugin.services.fetcher, links, reader, politeness=Politeness(), progress=run.progress)
    faulty = [report for report in reports if report.problems]
    counts = Counter(problem for report in faulty for problem in report.problems)
    entries = [
        {**asdict(report), "found_in": list(report.found_in), "problems": list(report.problems)} for report in faulty
    ]
    return {"checked": len(reports), "problems": dict(counts), "links": entries[:MAX_REPORTED]}


class _RecordingVisitor(Visitor):
    """Keeps the last response, to avoid requesting it twice."""

    last: CrawlResponse = CrawlResponse("")

    async def visit(self, url: str, **options: Any) -> CrawlResponse:
        """Send the request and keep the response."""
        self.last = await super().visit(url, **options)
        return self.last


@dataclass(frozen=True, slots=True)
class LivePageReport:
    """The checks of a live page: technical, and for an HTML page also its text and structured data."""

    technical: PageReport
    text: ScoringReport | None
    structured_data: Validation | None
    milliseconds: int


async def live_page(plugin: PluginContext[SeoConfig], url: str, keyphrase: str) -> LivePageReport:
    """Fetch a page and check it. Raises `InvalidInput` if the URL may not be fetched."""
    address(url)
    started = time.monotonic()
    visitor = _RecordingVisitor(plugin.services.fetcher, LINK_POLITENESS, reader=SiteReader(plugin.services.workers))
    report = await check_page(visitor, url)
    elapsed = round((time.monotonic() - started) * 1000)
    if report.record.failure == "refused":
        raise InvalidInput("url", report.record.message)
    text, data = None, None
    if report.record.is_page:
        robots = report.record.headers.get("x-robots-tag", "")
        text, data = await run_with_languages(
            plugin.services.workers, partial(_judge, robots=robots), visitor.last, keyphrase, what="the page"
        )
    return LivePageReport(report, text, data, elapsed)


def _judge(response: CrawlResponse, keyphrase: str, *, robots: str) -> tuple[ScoringReport, Validation]:
    html = decode(response.content, response.header("content-type")).text
    text = score(article_from_page(html, response.url, keyphrase=keyphrase, robots_header=robots))
    return text, validate_page(html, response.url)


async def validated(plugin: PluginContext[SeoConfig], user_id: str, json_ld: Any) -> Validation:
    """Validate a JSON-LD document in a worker."""
    return await plugin.services.workers.run(validate_structured_data, json_ld, owner=user_id, what="json_ld")


def address(url: str) -> str:
    """Normalise a URL. Raises `InvalidInput` if it is not an absolute http or https URL."""
    normalised = normalise(url)
    if normalised is None:
        raise InvalidInput("url", "must be a full http or https URL without a user name, such as https://a.example/b")
    return normalised


async def llms_txt_of(plugin: PluginContext[SeoConfig], website: Website) -> LlmsReport:
    """Check a website's llms.txt. Raises `InvalidInput` if the site has no usable URL or may not be fetched."""
    start = start_of(website)
    own = {host_of(start): Politeness.own_site()} if is_own(plugin.config, website) else {}
    return await _llms_txt(plugin, SiteScope.under(start), own, "website_id")


async def llms_txt_at(plugin: PluginContext[SeoConfig], url: str) -> LlmsReport:
    """Check the llms.txt of a URL's site. Raises `InvalidInput` if the URL is invalid or may not be fetched."""
    return await _llms_txt(plugin, SiteScope.at(address(url)), {}, "url")


async def _llms_txt(
    plugin: PluginContext[SeoConfig], site: SiteScope, own: Mapping[str, Politeness], argument: str
) -> LlmsReport:
    visitor = _RecordingVisitor(
        plugin.services.fetcher, LINK_POLITENESS, own=own, reader=SiteReader(plugin.services.workers)
    )
    robots = await visitor.robots(site.origin)
    if visitor.last.failure == "refused" and visitor.last.url == f"{site.origin}/robots.txt":
        raise InvalidInput(argument, visitor.last.message)
    facts = begin_survey(visitor, site, robots)
    await survey(visitor, facts, now=time.time(), most_urls=Limits(1).max_known)
    return await check_llms_txt(visitor, site, facts.listed)
