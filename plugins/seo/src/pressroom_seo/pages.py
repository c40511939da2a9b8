"""Looking at one live page, and at what a site says to language models."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pressroom.sdk import InvalidInput, PluginContext
from pressroom_content.contract import Website
from pressroom_content.language import run_with_languages

from pressroom_seo.config import SeoConfig
from pressroom_seo.crawler.frontier import Limits
from pressroom_seo.crawler.records import CrawlResponse
from pressroom_seo.crawler.site_reader import SiteReader
from pressroom_seo.crawler.survey import begin_survey, survey
from pressroom_seo.crawler.visiting import Politeness, Visitor
from pressroom_seo.document.decoding import decode
from pressroom_seo.linking import ASKED
from pressroom_seo.reports.store import is_own, start_of
from pressroom_seo.scoring import (
    ScoringReport,
    Validation,
    article_from_page,
    score,
    validate_page,
    validate_structured_data,
)
from pressroom_seo.site_checks.llms_txt import LlmsReport, check_llms_txt
from pressroom_seo.site_checks.report import PageReport, check_page
from pressroom_seo.urls import SiteScope, host_of, normalise


class _Keeping(Visitor):
    """Keeps the last answer, so that no page is requested twice."""

    last: CrawlResponse = CrawlResponse("")

    async def visit(self, url: str, **options: Any) -> CrawlResponse:
        """Ask, and keep the answer."""
        self.last = await super().visit(url, **options)
        return self.last


@dataclass(frozen=True, slots=True)
class LivePageReport:
    """A live page: the technical report, and what was made of its text and its data where it is an HTML page."""

    technical: PageReport
    text: ScoringReport | None
    structured_data: Validation | None
    milliseconds: int


async def live_page(plugin: PluginContext[SeoConfig], url: str, keyphrase: str) -> LivePageReport:
    """Fetch a page and check it. Raises `InvalidInput` if the URL may not be fetched."""
    address(url)
    began = time.monotonic()
    visitor = _Keeping(plugin.services.fetcher, ASKED, reader=SiteReader(plugin.services.workers))
    report = await check_page(visitor, url)
    spent = round((time.monotonic() - began) * 1000)
    if report.record.failure == "refused":
        raise InvalidInput("url", report.record.message)
    text, data = None, None
    if report.record.is_page:
        robots = report.record.headers.get("x-robots-tag", "")
        text, data = await run_with_languages(
            plugin.services.workers, partial(_judge, robots=robots), visitor.last, keyphrase, what="the page"
        )
    return LivePageReport(report, text, data, spent)


def _judge(answer: CrawlResponse, keyphrase: str, *, robots: str) -> tuple[ScoringReport, Validation]:
    html = decode(answer.content, answer.header("content-type")).text
    text = score(article_from_page(html, answer.url, keyphrase=keyphrase, robots_header=robots))
    return text, validate_page(html)


async def validated(plugin: PluginContext[SeoConfig], user_id: str, json_ld: Any) -> Validation:
    """Return what is wrong with a JSON-LD document."""
    return await plugin.services.workers.run(validate_structured_data, json_ld, owner=user_id, what="json_ld")


def address(url: str) -> str:
    """Return a URL, normalised. Raises `InvalidInput` if it is not an http or https URL."""
    known = normalise(url)
    if known is None:
        raise InvalidInput("url", "must be a full http or https URL without a user name, such as https://a.example/b")
    return known


async def llms_txt_of(plugin: PluginContext[SeoConfig], website: Website) -> LlmsReport:
    """Check what a website says to language models. Raises `InvalidInput` where it cannot be asked."""
    start = start_of(website)
    own = {host_of(start): Politeness.own_site()} if is_own(plugin.config, website) else {}
    return await _llms_txt(plugin, SiteScope.under(start), own, "website_id")


async def llms_txt_at(plugin: PluginContext[SeoConfig], url: str) -> LlmsReport:
    """Check what the site of a URL says to language models. Raises `InvalidInput` where it cannot be asked."""
    return await _llms_txt(plugin, SiteScope.at(address(url)), {}, "url")


async def _llms_txt(
    plugin: PluginContext[SeoConfig], site: SiteScope, own: Mapping[str, Politeness], argument: str
) -> LlmsReport:
    visitor = Visitor(plugin.services.fetcher, ASKED, own=own, reader=SiteReader(plugin.services.workers))
    robots = await visitor.visit(f"{site.origin}/robots.txt")
    if robots.failure == "refused":
        raise InvalidInput(argument, robots.message)
    facts = begin_survey(visitor, site, await visitor.robots(site.origin))
    await survey(visitor, facts, now=time.time(), most_urls=Limits(1).most_known)
    return await check_llms_txt(visitor, site, facts.listed)
