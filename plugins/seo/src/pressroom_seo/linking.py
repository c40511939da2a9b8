"""Looking at the links of an article or a website."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final
from urllib.parse import urljoin

from pressroom.sdk import Fetcher, InvalidInput, JobRun, NotFound, PluginContext
from pressroom_content.contract import content_services

from pressroom_seo.crawler.links import LinkChecker, LinkReport, Progress, check_links
from pressroom_seo.crawler.politeness import Politeness
from pressroom_seo.crawler.visiting import Visitor, record_of
from pressroom_seo.document import clean_text, document_from_html, document_from_markdown
from pressroom_seo.reports.reading import CrawlReport
from pressroom_seo.reports.store import Crawls, is_own, start_of
from pressroom_seo.scoring import LinkStatus, ScoringArticle
from pressroom_seo.stored import judged
from pressroom_seo.urls import SiteScope, host_of, normalise

MAX_LINKS: Final = 2000
"""How many links one check looks at."""

MAX_REPORTED: Final = 200
"""How many links with problems a job's result names."""

ASKED: Final = Politeness(interval=0.25, connections=2, longest_wait=5.0, retries=1)
"""How to treat hosts while a caller waits for the answer to a few requests."""


_ERRORS: Final = 400


@dataclass(frozen=True, slots=True)
class Links:
    """What to check: by URL, where it was found. `site` is whose links they are, if known."""

    found: Mapping[str, Sequence[str]]
    site: SiteScope | None = None
    own: bool = False

    def wanted(self, *, external: bool) -> Mapping[str, Sequence[str]]:
        """Return the links that `external` leaves."""
        if external:
            return self.found
        if self.site is None:
            return {}
        return {url: found_in for url, found_in in self.found.items() if self.site.contains(url)}


async def links_of_article(plugin: PluginContext, user_id: str, content_id: str) -> Links:
    """Return the links of a stored article. Raises `NotFound`."""
    one = await judged(plugin, user_id, content_id)
    hrefs = await plugin.services.workers.run(link_targets, one.article, owner=user_id, what="the article")
    url = normalise(one.article.url) if one.article.url else None
    return Links(dict.fromkeys(hrefs.values(), (content_id,)), SiteScope.at(url) if url else None)


def link_targets(article: ScoringArticle) -> dict[str, str]:
    """Return the links of an article: the normalised URL by the link as written in the body, at most `MAX_LINKS`."""
    body = clean_text(article.body)
    document = document_from_html(body) if article.format == "html" else document_from_markdown(body)
    written = [one.href for one in document.links if one.href] + [one.src for one in document.images if one.src]
    found: dict[str, str] = {}
    for href in dict.fromkeys(written):
        target = normalise(_joined(article.url, href))
        if target is not None and len(found) < MAX_LINKS:
            found[href] = target
    return found


def _joined(base: str, href: str) -> str:
    try:
        return urljoin(base, href) if base else href
    except ValueError:
        return href


async def links_of_website(plugin: PluginContext, user_id: str, website_id: str) -> Links:
    """Return the links that the newest crawl of a website found.

    Raises:
        NotFound: the account has no such website.
        InvalidInput: it was never crawled.
    """
    website = await content_services(plugin).websites.get(user_id, website_id)
    crawl = await Crawls(plugin).newest(user_id, website_id)
    if crawl is None:
        raise InvalidInput(
            "website_id", f"{website.name} was not crawled yet; call get_seo_report with refresh true, then repeat"
        )
    found = await CrawlReport(plugin.services.database, crawl).targets(MAX_LINKS)
    return Links(found, SiteScope.under(start_of(website)), is_own(plugin.config, website))


async def look(
    fetcher: Fetcher, links: Links, *, external: bool, politeness: Politeness = ASKED, progress: Progress | None = None
) -> list[LinkReport]:
    """Return what is behind links, those with problems first."""
    own = {}
    if links.own and links.site is not None:
        own = {host_of(links.site.home): Politeness.own_site()}
    checker = LinkChecker(Visitor(fetcher, politeness, own=own))
    wanted = links.wanted(external=external)
    reports = [one async for one in check_links(checker, wanted, progress=progress)]
    return sorted(reports, key=lambda one: (not one.problems, "broken" not in one.problems, one.url))


async def statuses(fetcher: Fetcher, article: ScoringArticle, seconds: float) -> dict[str, LinkStatus]:
    """Return the status of the links of an article, by the link as written in the body, as far as known in time.

    An answer that only says that programs are kept out is left out.
    """
    targets = await asyncio.to_thread(link_targets, article)
    reports: dict[str, LinkReport] = {}
    checker = LinkChecker(Visitor(fetcher, ASKED))
    try:
        async with asyncio.timeout(seconds):
            async for one in check_links(checker, dict.fromkeys(targets.values(), ())):
                reports[one.url] = one
    except TimeoutError:
        pass
    found: dict[str, LinkStatus] = {}
    for href, url in targets.items():
        report = reports.get(url)
        if report is not None and report.checked and ("broken" in report.problems or 0 < report.status < _ERRORS):
            found[href] = LinkStatus(report.status, report.location)
    return found


async def canonical_page(
    fetcher: Fetcher, article: ScoringArticle, seconds: float
) -> tuple[dict[str, LinkStatus], bool | None]:
    """Return the status of the article's one canonical URL, and whether the page there says noindex.

    Both are empty if the URL is the article's own or relative, or if no answer came in time.
    """
    written = list(dict.fromkeys(one.strip() for one in article.canonicals if one.strip()))
    target = normalise(written[0]) if len(written) == 1 else None
    if target is None or (article.url and target == normalise(article.url)):
        return {}, None
    try:
        async with asyncio.timeout(seconds):
            answers = await Visitor(fetcher, ASKED).follow(target)
    except TimeoutError:
        return {}, None
    record = await asyncio.to_thread(record_of, answers[-1], None)
    if record.failure == "refused":
        return {}, None
    moved = answers[-1].url if len(answers) > 1 else ""
    return {written[0]: LinkStatus(record.status, moved)}, record.noindex if record.is_page else None


async def run_job(plugin: PluginContext, run: JobRun) -> Mapping[str, Any]:
    """Look at the links of an article or a website, and return those with problems. It is safe to repeat."""
    external = bool(run.payload["external"])
    try:
        if content_id := run.payload.get("content_id"):
            links = await links_of_article(plugin, run.subject, str(content_id))
        else:
            links = await links_of_website(plugin, run.subject, str(run.payload["website_id"]))
    except (NotFound, InvalidInput) as error:
        return {"checked": 0, "links": [], "message": error.message}
    reports = await look(
        plugin.services.fetcher, links, external=external, politeness=Politeness(), progress=run.progress
    )
    wrong = [one for one in reports if one.problems]
    counts = Counter(problem for one in wrong for problem in one.problems)
    shown = [{**asdict(one), "found_in": list(one.found_in), "problems": list(one.problems)} for one in wrong]
    return {"checked": len(reports), "problems": dict(counts), "links": shown[:MAX_REPORTED]}
