"""Tools for links: what is broken, and which pages nothing leads to."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from pressroom.sdk import Annotations, Call, Integer, InvalidInput, Params, PluginContext, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_seo.config import CHECK_LINKS
from pressroom_seo.tools.common import ContentId, WebsiteId, context, exactly_one
from pressroom_seo.tools.reports import LinkOut

if TYPE_CHECKING:
    from pressroom_seo.crawler.links import LinkReport

_AT_ONCE: Final = 40
"""How many links are checked while the caller waits; more become a job."""

_PATIENCE: Final = 25.0
_SAME_JOB: Final = 600
"""Seconds in which a repeated call gets the job that was begun."""

_MAX_REPORTED: Final = 200


class LinksParams(Params):
    """Whose links."""

    content_id: ContentId | None = Field(default=None, description="A stored article; or give website_id.")
    website_id: WebsiteId | None = Field(default=None, description="A website with a report; or give content_id.")
    external: bool = Field(default=True, description="Whether to check links to other sites too.")


class LinksAnswer(BaseModel):
    """The answer of `check_links`."""

    links: list[LinkOut] = Field(description="Broken, redirected and insecure links, broken ones first; at most 200.")
    checked: int = Field(description="How many links were checked; for a website, 0 until the job is done.")
    crawled_at: datetime | None = Field(description="Of a website: when the crawl ended that links is from.")
    job_id: str | None = Field(description="The live check in the background, for get_job; null where it is done.")


@mcp_tool(
    name="check_links",
    title="Check links",
    description=(
        "Finds broken, redirected and insecure links of an article (content_id) or of a website (website_id). An "
        "article with few links is answered at once. For one with many, and for a website, the links are checked "
        "live in the background: ask get_job with job_id, whose result holds the links; for a website links already "
        "holds what its last crawl found. Sites that block bots do not count as broken."
    ),
    result=LinksAnswer,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("seo",),
    timeout=60,
)
async def check_links(params: LinksParams, call: Call) -> ToolResult:
    """Return the links with problems, or begin to look for them."""
    exactly_one(content_id=params.content_id, website_id=params.website_id)
    plugin, user_id = context(call), call.caller.subject
    if params.content_id is not None:
        data = await _of_article(plugin, user_id, params.content_id, external=params.external)
    else:
        data = await _of_website(plugin, user_id, params.website_id or "", external=params.external)
    lines = [f"- {', '.join(one.problems)}: {one.url} ({one.status or 'no answer'})" for one in data.links]
    if data.job_id:
        lines.append(f"The links are being checked in the background; get_job {data.job_id} returns the result.")
    elif not lines:
        lines.append(f"All of {data.checked} links are in order.")
    return ToolResult("\n".join(lines), data)


async def _of_article(plugin: PluginContext, user_id: str, content_id: str, *, external: bool) -> LinksAnswer:
    from pressroom_seo.linking import links_of_article, look  # noqa: PLC0415 - the parsers load with the first check

    links = await links_of_article(plugin, user_id, content_id)
    if not external and links.site is None:
        raise InvalidInput(
            "external", "must be true for this article: it has no website, so that none of its links is internal"
        )
    if len(links.wanted(external=external)) <= _AT_ONCE:
        try:
            async with asyncio.timeout(_PATIENCE):
                reports = await look(plugin.services.fetcher, links, external=external)
        except TimeoutError:
            pass
        else:
            wrong = [_row(one) for one in reports if one.problems]
            return LinksAnswer(links=wrong[:_MAX_REPORTED], checked=len(reports), crawled_at=None, job_id=None)
    job_id = await _begin(plugin, user_id, "content_id", content_id, external=external)
    return LinksAnswer(links=[], checked=0, crawled_at=None, job_id=job_id)


async def _of_website(plugin: PluginContext, user_id: str, website_id: str, *, external: bool) -> LinksAnswer:
    from pressroom_seo.linking import links_of_website  # noqa: PLC0415
    from pressroom_seo.reports.reading import CrawlReport  # noqa: PLC0415
    from pressroom_seo.reports.store import Crawls  # noqa: PLC0415

    await links_of_website(plugin, user_id, website_id)
    crawl = await Crawls(plugin).newest(user_id, website_id)
    known: list[dict[str, Any]] = []
    if crawl is not None:
        known, _ = await CrawlReport(plugin.services.database, crawl).links(limit=_MAX_REPORTED, external=external)
    rows = sorted((LinkOut.model_validate(one) for one in known), key=lambda one: "broken" not in one.problems)
    job_id = await _begin(plugin, user_id, "website_id", website_id, external=external)
    return LinksAnswer(links=rows, checked=0, crawled_at=crawl.finished_at if crawl else None, job_id=job_id)


def _row(one: LinkReport) -> LinkOut:
    values = asdict(one)
    return LinkOut.model_validate({**values, "found_in": list(one.found_in), "problems": list(one.problems)})


async def _begin(plugin: PluginContext, user_id: str, name: str, target: str, *, external: bool) -> str:
    key = f"{target}:{external}:{int(time.time() // _SAME_JOB)}"
    payload = {name: target, "external": external}
    return await plugin.services.jobs.enqueue(CHECK_LINKS, payload, subject=user_id, key=key)


class OrphanParams(Params):
    """Of which website."""

    website_id: WebsiteId
    limit: Integer = Field(default=50, ge=1, le=200, description="How many pages to return at most.")


class OrphanRow(BaseModel):
    """A page that is hard to reach."""

    url: str
    inlinks: int = Field(description="How many other pages link to it.")
    depth: int | None = Field(description="Links from the first page; null where none lead there.")


class OrphanAnswer(BaseModel):
    """The answer of `find_orphan_pages`."""

    pages: list[OrphanRow] = Field(description="Pages that nothing links to, then the ones that are too deep.")
    crawled_at: datetime | None
    complete: bool = Field(description="Whether all pages were read: only then it is known what nothing links to.")


@mcp_tool(
    name="find_orphan_pages",
    title="Orphan pages",
    description=(
        "Lists pages of a website that its sitemap names and no page links to, and pages that are more than four links "
        "away from the first page, from the last crawl. Use it with suggest_internal_links to bring readers there. The "
        "website needs a report: get_seo_report with refresh true makes one."
    ),
    result=OrphanAnswer,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("links",),
)
async def find_orphan_pages(params: OrphanParams, call: Call) -> ToolResult:
    """Return the pages of a website that are hard to reach."""
    from pressroom_content.contract import content_services  # noqa: PLC0415

    from pressroom_seo.reports.reading import CrawlReport  # noqa: PLC0415
    from pressroom_seo.reports.store import Crawls  # noqa: PLC0415

    plugin, user_id = context(call), call.caller.subject
    website = await content_services(plugin).websites.get(user_id, params.website_id)
    crawl = await Crawls(plugin).newest(user_id, website.id)
    if crawl is None:
        raise InvalidInput(
            "website_id", f"{website.name} was not crawled yet; call get_seo_report with refresh true, then repeat"
        )
    found = await CrawlReport(plugin.services.database, crawl).orphans(params.limit)
    pages = [OrphanRow.model_validate(one) for one in found]
    lines = [f"- {one.url} ({one.inlinks} links lead there, depth {one.depth})" for one in pages]
    if not crawl.complete:
        lines.append("The crawl did not read all pages, so that it is not known which ones nothing links to.")
    data = OrphanAnswer(pages=pages, crawled_at=crawl.finished_at, complete=crawl.complete)
    return ToolResult("\n".join(lines) or "Every page can be reached by at most four links.", data)


TOOLS: Final = (check_links, find_orphan_pages)
