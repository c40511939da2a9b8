"""Looking at one live page, and at what a site says to language models."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Final

from pressroom.sdk import InvalidInput, PluginContext
from pressroom_content.contract import content_services

from pressroom_seo.crawler.frontier import Limits
from pressroom_seo.crawler.politeness import Politeness
from pressroom_seo.crawler.survey import begin_survey, survey
from pressroom_seo.crawler.visiting import CrawlResponse, Visitor
from pressroom_seo.document.decoding import decode
from pressroom_seo.linking import ASKED
from pressroom_seo.reports.store import is_own, start_of
from pressroom_seo.scoring import ScoringReport, Validation, article_from_page, score, validate_page
from pressroom_seo.site_checks.llms_txt import LlmsReport, check_llms_txt
from pressroom_seo.site_checks.report import PageReport, check_page
from pressroom_seo.urls import SiteScope, host_of, normalise

_FOUND: Final = 200


class _Keeping(Visitor):
    """Keeps the last answer, so that no page is requested twice."""

    last: CrawlResponse = CrawlResponse("")

    async def visit(self, url: str, **options: Any) -> CrawlResponse:
        """Ask, and keep the answer."""
        self.last = await super().visit(url, **options)
        return self.last


@dataclass(frozen=True, slots=True)
class LivePageReport:
    """A live page: the technical report, and how its text was judged where it is an HTML page."""

    technical: PageReport
    text: ScoringReport | None
    milliseconds: int


async def live_page(plugin: PluginContext, url: str, keyphrase: str) -> LivePageReport:
    """Fetch a page and check it. Raises `InvalidInput` if the URL may not be fetched."""
    address(url)
    began = time.monotonic()
    visitor = _Keeping(plugin.services.fetcher, ASKED)
    report = await check_page(visitor, url)
    spent = round((time.monotonic() - began) * 1000)
    if report.record.failure == "refused":
        raise InvalidInput("url", report.record.message)
    text = None
    if report.record.is_page:
        text = await plugin.services.workers.run(_judge, visitor.last, keyphrase, what="the page")
    return LivePageReport(report, text, spent)


def _judge(answer: CrawlResponse, keyphrase: str) -> ScoringReport:
    html = decode(answer.content, answer.header("content-type")).text
    robots = answer.header("x-robots-tag")
    return score(article_from_page(html, answer.url, keyphrase=keyphrase, robots_header=robots))


async def structured_data_of(plugin: PluginContext, url: str) -> Validation:
    """Fetch a page and validate its structured data. Raises `InvalidInput` where it cannot be had."""
    visitor = Visitor(plugin.services.fetcher, ASKED)
    answer = (await visitor.follow(address(url)))[-1]
    if answer.failure or not answer.content or answer.status != _FOUND:
        why = answer.message if answer.failure else f"it answers with {answer.status}"
        raise InvalidInput("url", f"cannot be read: {why}")
    html = decode(answer.content, answer.header("content-type")).text
    return await plugin.services.workers.run(validate_page, html, what="the page")


def address(url: str) -> str:
    """Return a URL, normalised. Raises `InvalidInput` if it is not an http or https URL."""
    known = normalise(url)
    if known is None:
        raise InvalidInput("url", "must be a full http or https URL without a user name, such as https://a.example/b")
    return known


async def llms_txt_of(plugin: PluginContext, user_id: str, website_id: str | None, url: str | None) -> LlmsReport:
    """Check what a website, or the site of a URL, says to language models.

    Raises `NotFound`, and `InvalidInput` where the site cannot be asked.
    """
    if website_id is not None:
        website = await content_services(plugin).websites.get(user_id, website_id)
        start, own = start_of(website), is_own(plugin.config, website)
    else:
        start, own = address(url or ""), False
    site = SiteScope.under(start) if website_id is not None else SiteScope.at(start)
    owed = {host_of(start): Politeness.own_site()} if own else {}
    visitor = Visitor(plugin.services.fetcher, ASKED, own=owed)
    robots = await visitor.visit(f"{site.origin}/robots.txt")
    if robots.failure == "refused":
        raise InvalidInput("url" if url else "website_id", robots.message)
    facts = begin_survey(visitor, site, await visitor.robots(site.origin))
    await survey(visitor, facts, now=time.time(), most_urls=Limits(1).most_known)
    return await check_llms_txt(visitor, site, facts.listed)
