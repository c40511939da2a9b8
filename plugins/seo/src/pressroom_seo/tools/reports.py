"""Tools for the report of a whole website."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pressroom.sdk import Annotations, Call, Integer, InvalidInput, Params, PluginContext, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_seo.tools.article_report import begin_link_job
from pressroom_seo.tools.common import (
    IssueRow,
    IssueStatus,
    LinkOut,
    Severity,
    WebsiteId,
    article_lines,
    articles_at,
    context,
    issue_row,
    short,
)
from pressroom_seo.tools.pages import LlmsPart, llms_lines, llms_part

if TYPE_CHECKING:
    from pressroom_content.contract import Website

    from pressroom_seo.tables import CrawlRow

QUOTA: Final = "seo_reports"

_TOP: Final = 10
"""Maximum number of issues in the summary."""

_HISTORY: Final = 10


class ReportParams(Params):
    """Which report, and which part of it."""

    website_id: WebsiteId
    section: Literal["summary", "issues", "pages", "links", "structured_data", "orphans", "llms_txt"] = Field(
        default="summary", description="What to list."
    )
    refresh: bool = Field(
        default=False, description="Start a new crawl. With section links: only request the known links again."
    )
    severity: Severity | None = Field(default=None, description="Only this severity; with section summary or issues.")
    check_id: str | None = Field(
        default=None,
        min_length=1,
        max_length=64,
        description="With section issues: list every URL of this check.",
    )
    limit: Integer = Field(default=50, ge=1, le=200, description="Maximum number.")
    cursor: str | None = Field(
        default=None, min_length=1, max_length=4000, description="next_cursor of the last result."
    )


class PageOut(BaseModel):
    """A URL that was read."""

    url: str
    status: int
    title: str
    words: int
    inlinks: int = Field(description="How many other pages link to it.")
    depth: int | None = Field(description="Links from the first page; null if none lead there.")
    issues: int


class OrphanRow(BaseModel):
    """A page that is hard to reach."""

    url: str
    inlinks: int = Field(description="How many other pages link to it.")
    depth: int | None = Field(description="Links from the first page; null if none lead there.")


class StructuredRow(BaseModel):
    """The structured data of a page."""

    url: str
    items: list[dict[str, Any]] = Field(description="format, types, problem and missing of each item.")


class TrendRow(BaseModel):
    """What changed since the report before."""

    since: datetime | None
    score: int = Field(description="How much the score changed.")
    new: list[str] = Field(description="Checks that found something now, but not before.")
    fixed: list[str] = Field(description="Checks that found something before, but not now.")
    changes: dict[str, dict[str, int]] = Field(description="URLs before and now, by check.")


class PastRow(BaseModel):
    """An earlier report."""

    crawled_at: datetime | None
    score: int
    pages: int


class ReportResult(BaseModel):
    """The result of `get_seo_report`."""

    website_id: str
    score: int | None = Field(description="From 0 to 100; null while there is no report.")
    crawled_at: datetime | None = Field(description="In the website's time zone, as all times here.")
    pages: int = Field(description="How many URLs were requested.")
    complete: bool = Field(description="Whether all pages that could be found were read.")
    severities: dict[str, int] = Field(description="Open issues by severity, counted by URL.")
    issues: list[IssueRow]
    page_rows: list[PageOut] = Field(description="With section pages.")
    links: list[LinkOut] = Field(description="With section links.")
    structured_data: list[StructuredRow] = Field(description="With section structured_data.")
    orphans: list[OrphanRow] = Field(
        description="With section orphans: pages that nothing links to, then those more than four links away."
    )
    content_ids: dict[str, str] = Field(description="Articles of URLs listed here.")
    llms_txt: LlmsPart | None = Field(description="With section llms_txt: what the site offers to language models now.")
    trend: TrendRow | None = Field(description="Against the report before; null for the first.")
    history: list[PastRow] = Field(description="In the summary: the last reports, newest first.")
    notes: list[str]
    job_id: str | None = Field(
        description="For get_job: the crawl that is running, or with section links the check of the links; else null."
    )
    next_cursor: str | None


def _counts(params: Params) -> bool:
    return isinstance(params, ReportParams) and params.refresh and params.section != "links"


@mcp_tool(
    name="get_seo_report",
    title="SEO report of a website",
    description=(
        "Shows the SEO health of a connected website from its last crawl: score, issues by severity with a fix, and "
        "what changed. section lists issues, pages, links (broken, redirected), structured_data, orphans (pages that "
        "nothing links to) or llms_txt. For one page use check_page_seo. refresh=true starts a new crawl in the "
        "background, which takes minutes: ask get_job with job_id, then call this again without refresh."
    ),
    result=ReportResult,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("core", "seo"),
    quota=QUOTA,
    free="reading without refresh",
    counts=_counts,
    timeout=120,
)
async def get_seo_report(params: ReportParams, call: Call) -> ToolResult:
    """Return a part of a website's report, and start a crawl on request."""
    from pressroom_content.contract import content_services  # noqa: PLC0415

    from pressroom_seo.reports.store import Crawls  # noqa: PLC0415 - the parsers load with the first report

    plugin, user_id = context(call), call.caller.subject
    _check_arguments(params)
    website = await content_services(plugin).websites.get(user_id, params.website_id)
    crawls = Crawls(plugin)
    active, started = await crawls.active(user_id, website.id), False
    if _counts(params):
        active, started = await crawls.request(user_id, website, call.caller.plan)
    newest = await crawls.newest(user_id, website.id)
    zone = _zone_of(website)
    result = _head(website.id, newest, active, zone)
    failure = await crawls.last_failure(user_id, website.id, newest.created_at if newest else None)
    if failure and active is None:
        result.notes.append(f"The last crawl failed: {failure}")
    if newest is not None:
        await _fill(plugin, newest, params, result)
        if params.section == "summary":
            earlier = await crawls.history(user_id, website.id, _HISTORY)
            result.history = [
                PastRow(crawled_at=_local(crawl.finished_at, zone), score=crawl.score, pages=crawl.pages)
                for crawl in earlier
            ]
    progress = "A crawl has begun" if started else "A crawl is under way"
    if params.section == "links" and params.refresh:
        result.job_id, progress = await _try_links(plugin, user_id, website), "The links are being tried"
    if params.section == "llms_txt":
        await _add_llms_txt(plugin, website, result)
    rows: list[PageOut | OrphanRow | StructuredRow] = [*result.page_rows, *result.orphans, *result.structured_data]
    urls = [*(entry.url for entry in rows), *(url for entry in result.issues for url in entry.sample_urls)]
    result.content_ids = await articles_at(plugin, website, urls)
    articles = await article_lines(plugin, website, urls, result.content_ids)
    text = "\n".join([*_lines(result, params.section, progress), *articles])
    return ToolResult(text, result, counts=started or not _counts(params))


async def _try_links(plugin: PluginContext, user_id: str, website: Website) -> str:
    from pressroom_seo.live_pages import links_of_website  # noqa: PLC0415

    await links_of_website(plugin, user_id, website.id)
    return await begin_link_job(plugin, user_id, "website_id", website.id)


async def _add_llms_txt(plugin: PluginContext, website: Website, result: ReportResult) -> None:
    from pressroom_seo.live_pages import llms_txt_of  # noqa: PLC0415

    result.llms_txt = llms_part(await llms_txt_of(plugin, website))


def _check_arguments(params: ReportParams) -> None:
    from pressroom_seo.checks import unknown_check  # noqa: PLC0415
    from pressroom_seo.site_checks.report import CRAWL_CHECKS  # noqa: PLC0415

    if params.check_id is not None and params.section != "issues":
        raise InvalidInput("check_id", "only goes with section issues")
    if params.severity is not None and (params.check_id is not None or params.section not in ("summary", "issues")):
        raise InvalidInput("severity", "only goes with section summary or issues, and not with check_id")
    if params.check_id is not None and params.check_id not in CRAWL_CHECKS:
        otherwise = "section issues without check_id names the ones that failed"
        raise unknown_check("check_id", params.check_id, CRAWL_CHECKS, otherwise)


def _zone_of(website: Website) -> ZoneInfo:
    try:
        return ZoneInfo(str(website.settings.get("timezone") or "UTC"))
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def _local(at: datetime | None, zone: ZoneInfo) -> datetime | None:
    return at.astimezone(zone) if at is not None else None


def _head(website_id: str, newest: CrawlRow | None, active: CrawlRow | None, zone: ZoneInfo) -> ReportResult:
    trend = TrendRow.model_validate(newest.trend) if newest and newest.trend else None
    if trend is not None:
        trend.since = _local(trend.since, zone)
    return ReportResult(
        website_id=website_id,
        score=newest.score if newest else None,
        crawled_at=_local(newest.finished_at, zone) if newest else None,
        pages=newest.pages if newest else 0,
        complete=newest.complete if newest else False,
        severities=dict(newest.severities) if newest else {},
        issues=[],
        page_rows=[],
        links=[],
        structured_data=[],
        orphans=[],
        content_ids={},
        llms_txt=None,
        trend=trend,
        history=[],
        notes=list(newest.notes) if newest else [],
        job_id=(active.job_id or None) if active else None,
        next_cursor=None,
    )


async def _fill(plugin: PluginContext, crawl: CrawlRow, params: ReportParams, result: ReportResult) -> None:
    from pressroom_seo.reports.queries import CrawlReport  # noqa: PLC0415

    report = CrawlReport(plugin.services.database, crawl)
    limit, cursor = params.limit, params.cursor
    match params.section:
        case "pages":
            pages, result.next_cursor = await report.pages(limit=limit, cursor=cursor)
            result.page_rows = [PageOut.model_validate(row) for row in pages]
        case "links":
            links, result.next_cursor = await report.links(limit=limit, cursor=cursor)
            result.links = [LinkOut.model_validate(row) for row in links]
        case "structured_data":
            items, result.next_cursor = await report.structured_data(limit=limit, cursor=cursor)
            result.structured_data = [StructuredRow.model_validate(row) for row in items]
        case "orphans":
            result.orphans = [OrphanRow.model_validate(row) for row in await report.orphans(limit)]
            if not crawl.complete:
                result.notes.append("The crawl did not read all pages, so orphans that it did not find may be missing.")
        case "llms_txt":
            pass  # fetched live, not taken from the crawl
        case _ if params.check_id is not None:
            findings, result.next_cursor = await report.findings_of(params.check_id, limit=limit, cursor=cursor)
            result.issues = [issue_row(finding) for finding in findings]
        case section:
            max_issues = min(limit, _TOP) if section == "summary" else limit
            findings, result.next_cursor = await report.groups(
                severity=params.severity, limit=max_issues, cursor=cursor
            )
            result.issues = [issue_row(finding) for finding in findings]


def _lines(result: ReportResult, section: str, progress: str) -> Iterator[str]:
    if result.job_id:
        yield f"{progress}; get_job {result.job_id} shows the progress."
    if result.score is None:
        yield "There is no report of this website yet." + (
            "" if result.job_id else " Call this again with refresh true to crawl it."
        )
        yield from result.notes
    else:
        yield from _overview(result)
    yield from _entries(result)
    if section == "orphans" and result.complete and not result.orphans:
        yield "Every page can be reached by at most four links."
    if section == "links" and result.score is not None and not result.links and not result.next_cursor:
        yield "The crawl found no broken, redirected or insecure links."
    if result.llms_txt is not None:
        yield from llms_lines(result.llms_txt)
    if result.next_cursor:
        yield f"There are more: cursor {result.next_cursor}"


def _overview(result: ReportResult) -> Iterator[str]:
    crawled = result.crawled_at.isoformat(" ", "minutes") if result.crawled_at else "?"
    change = f" ({result.trend.score:+d} since the report before)" if result.trend else ""
    yield f"Score {result.score} of 100{change}, {result.pages} URLs, crawled {crawled} (the website's time)."
    yield "Open issues: " + ", ".join(f"{count} {name}" for name, count in result.severities.items()) + "."
    yield from result.notes


def _entries(result: ReportResult) -> Iterator[str]:
    for issue in result.issues:
        where = f"; e.g. {issue.sample_urls[0]}" if issue.sample_urls else ""
        state = "" if issue.status == "open" else f" [{issue.status}]"
        suffix = f" issue_id {issue.issue_id}" if issue.issue_id else ""
        yield f"- {issue.severity}, {issue.check_id} ({issue.count}){state}: {issue.message} {issue.fix}{where}{suffix}"
    for page in result.page_rows:
        yield f"- {page.status} {page.url}  {short(page.title, 80)} ({page.issues} issues)"
    for link in result.links:
        yield f"- {link.line()}"
    for row in result.structured_data:
        types = ", ".join(name for item in row.items for name in item.get("types", ()))
        yield f"- {row.url}: {types or 'unreadable'}"
    for orphan in result.orphans:
        depth = "no path from the first page" if orphan.depth is None else f"{orphan.depth} links from the first page"
        yield f"- {orphan.url} ({orphan.inlinks} pages link to it, {depth})"


class MarkParams(Params):
    """What to say of which issue."""

    issue_id: str = Field(min_length=1, max_length=64, description="From get_seo_report.")
    status: IssueStatus = Field(description="The new status.")
    note: str = Field(default="", max_length=1000, description="Reason, for people who read the report later.")


class MarkResult(BaseModel):
    """The result of `set_seo_issue_status`."""

    issue: IssueRow
    score: int = Field(description="The report's new score.")


@mcp_tool(
    name="set_seo_issue_status",
    title="Mark an SEO issue",
    description=(
        "Marks an issue of get_seo_report as fixed or ignored, so that it stops counting, or reopens it. An issue_id "
        "from the summary means the check on the whole site, one from section issues with check_id a single URL. "
        "ignored lasts; fixed counts again if a later crawl finds it. Returns the issue and the new score."
    ),
    result=MarkResult,
    annotations=Annotations(idempotent=True),
    toolsets=("seo",),
)
async def set_seo_issue_status(params: MarkParams, call: Call) -> ToolResult:
    """Mark an issue."""
    from pressroom_seo.reports.marks import mark  # noqa: PLC0415

    finding, crawl = await mark(context(call), call.caller.subject, params.issue_id, params.status, params.note)
    target = finding.sample_urls[0] if finding.sample_urls else f"{finding.count} URLs"
    text = f"{finding.check_id} at {target} is {params.status} now; the score is {crawl.score}."
    return ToolResult(text, MarkResult(issue=issue_row(finding), score=crawl.score))


TOOLS: Final = (get_seo_report, set_seo_issue_status)
