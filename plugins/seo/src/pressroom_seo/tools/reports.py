"""Tools for the report of a whole website."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal

from pressroom.sdk import Annotations, Call, Integer, InvalidInput, Params, PluginContext, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_seo.tools.common import WebsiteId, context, short

if TYPE_CHECKING:
    from pressroom_seo.reports.reading import CrawlFinding
    from pressroom_seo.tables import CrawlRow

QUOTA: Final = "seo_reports"

_TOP: Final = 10
"""How many issues the summary names."""

_HISTORY: Final = 10

Severity = Literal["critical", "warning", "notice"]
IssueStatus = Literal["open", "fixed", "ignored"]


class ReportParams(Params):
    """Which report, and which part of it."""

    website_id: WebsiteId
    refresh: bool = Field(default=False, description="Whether a new crawl is begun. It takes minutes.")
    section: Literal["summary", "issues", "pages", "links", "structured_data"] = Field(
        default="summary", description="Which part is listed; the summary names the ten worst issues."
    )
    severity: Severity | None = Field(default=None, description="Only issues that are so severe.")
    check_id: str | None = Field(
        default=None,
        min_length=1,
        max_length=64,
        description="With section issues: every URL at which this check found something.",
    )
    limit: Integer = Field(default=50, ge=1, le=200, description="How many entries to return at most.")
    cursor: str | None = Field(
        default=None,
        min_length=1,
        max_length=4000,
        description="The next_cursor of the answer before; keep the other arguments as they were.",
    )


class IssueRow(BaseModel):
    """What a check found: on the whole site, or at one URL where check_id was given."""

    issue_id: str = Field(description="For set_seo_issue_status.")
    check_id: str
    severity: Severity
    count: int = Field(description="Number of URLs.")
    sample_urls: list[str]
    message: str = Field(description="What is wrong.")
    fix: str
    status: IssueStatus = "open"
    note: str = ""
    evidence: list[dict[str, Any]] = Field(default=[], description="What was seen at the URL.")


class PageOut(BaseModel):
    """A URL that was read."""

    url: str
    status: int
    title: str
    words: int
    inlinks: int = Field(description="How many other pages link to it.")
    depth: int | None = Field(description="Links from the first page; null where no links lead there.")
    issues: int


class LinkOut(BaseModel):
    """A link with a problem."""

    url: str
    status: int = Field(description="0 where there was no answer.")
    location: str = Field(description="Where redirects end; empty without a redirect.")
    found_in: list[str]
    problems: list[str] = Field(description="broken, redirected, insecure.")
    message: str = ""


class StructuredRow(BaseModel):
    """The structured data of a page."""

    url: str
    items: list[dict[str, Any]] = Field(description="format, types, problem and missing of each item.")


class TrendRow(BaseModel):
    """What changed since the report before."""

    since: datetime | None
    score: int = Field(description="By how much the score changed.")
    new: list[str] = Field(description="Checks that find something now and did not before.")
    fixed: list[str] = Field(description="Checks that found something before and do not now.")
    changes: dict[str, dict[str, int]] = Field(description="URLs before and now, by check.")


class PastRow(BaseModel):
    """An earlier report."""

    crawled_at: datetime | None
    score: int
    pages: int


class ReportAnswer(BaseModel):
    """The answer of `get_seo_report`."""

    website_id: str
    score: int | None = Field(description="From 0 to 100; null while there is no report.")
    crawled_at: datetime | None
    pages: int = Field(description="How many URLs were requested.")
    complete: bool = Field(description="Whether all pages that could be found were read.")
    severities: dict[str, int] = Field(description="Open issues by severity, counted by URL.")
    issues: list[IssueRow]
    page_rows: list[PageOut] = Field(description="With section pages.")
    links: list[LinkOut] = Field(description="With section links.")
    structured_data: list[StructuredRow] = Field(description="With section structured_data.")
    trend: TrendRow | None = Field(description="Against the report before; null for the first.")
    history: list[PastRow] = Field(description="In the summary: the last reports, newest first.")
    notes: list[str]
    job_id: str | None = Field(description="The crawl under way, for get_job; null if no crawl is running.")
    next_cursor: str | None


def _counts(params: Params) -> bool:
    return isinstance(params, ReportParams) and params.refresh


@mcp_tool(
    name="get_seo_report",
    title="SEO report of a website",
    description=(
        "Shows the health of a connected website from its last crawl: a score, issues by severity with what to do, and "
        "what changed since the report before. section lists issues, pages, broken and redirected links, or structured "
        "data, a page at a time; section issues with check_id lists every URL of a check with its issue_id. "
        "refresh=true begins a new crawl in the background, politely and at most one at a time: ask get_job with the "
        "job_id, then call this again without refresh."
    ),
    result=ReportAnswer,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("seo",),
    quota=QUOTA,
    free="reading without refresh",
    counts=_counts,
)
async def get_seo_report(params: ReportParams, call: Call) -> ToolResult:
    """Return a part of a website's report, and start a crawl on request."""
    from pressroom_content.contract import content_services  # noqa: PLC0415

    from pressroom_seo.reports.store import Crawls  # noqa: PLC0415 - the parsers load with the first report

    plugin, user_id = context(call), call.caller.subject
    _check_arguments(params)
    website = await content_services(plugin).websites.get(user_id, params.website_id)
    crawls = Crawls(plugin)
    active, begun = await crawls.active(user_id, website.id), False
    if params.refresh:
        active, begun = await crawls.request(user_id, website, call.caller.plan)
    newest = await crawls.newest(user_id, website.id)
    answer = _head(website.id, newest, active)
    failure = await crawls.last_failure(user_id, website.id, newest.created_at if newest else None)
    if failure and active is None:
        answer.notes.append(f"The last crawl failed: {failure}")
    if newest is not None:
        await _fill(plugin, newest, params, answer)
        if params.section == "summary":
            past = await crawls.history(user_id, website.id, _HISTORY)
            answer.history = [PastRow(crawled_at=one.finished_at, score=one.score, pages=one.pages) for one in past]
    text = "\n".join(_lines(answer, begun=begun))
    return ToolResult(text, answer, counts=begun or not params.refresh)


def _check_arguments(params: ReportParams) -> None:
    from pressroom_seo.site_checks.registry import CHECKS  # noqa: PLC0415

    if params.check_id is not None and params.section != "issues":
        raise InvalidInput("check_id", "only goes with section issues")
    if params.severity is not None and (params.check_id is not None or params.section not in ("summary", "issues")):
        raise InvalidInput("severity", "only goes with section summary or issues, and not with check_id")
    if params.check_id is not None and params.check_id not in CHECKS:
        from difflib import get_close_matches  # noqa: PLC0415

        close = get_close_matches(params.check_id, CHECKS, 1)
        raise InvalidInput("check_id", "is not a check" + (f"; did you mean {close[0]}?" if close else ""))


def _head(website_id: str, newest: CrawlRow | None, active: CrawlRow | None) -> ReportAnswer:
    return ReportAnswer(
        website_id=website_id,
        score=newest.score if newest else None,
        crawled_at=newest.finished_at if newest else None,
        pages=newest.pages if newest else 0,
        complete=newest.complete if newest else False,
        severities=dict(newest.severities) if newest else {},
        issues=[],
        page_rows=[],
        links=[],
        structured_data=[],
        trend=TrendRow.model_validate(newest.trend) if newest and newest.trend else None,
        history=[],
        notes=list(newest.notes) if newest else [],
        job_id=(active.job_id or None) if active else None,
        next_cursor=None,
    )


async def _fill(plugin: PluginContext, crawl: CrawlRow, params: ReportParams, answer: ReportAnswer) -> None:
    from pressroom_seo.reports.reading import CrawlReport  # noqa: PLC0415

    report = CrawlReport(plugin.services.database, crawl)
    limit, cursor = params.limit, params.cursor
    match params.section:
        case "pages":
            pages, answer.next_cursor = await report.pages(limit=limit, cursor=cursor)
            answer.page_rows = [PageOut.model_validate(one) for one in pages]
        case "links":
            links, answer.next_cursor = await report.links(limit=limit, cursor=cursor)
            answer.links = [LinkOut.model_validate(one) for one in links]
        case "structured_data":
            items, answer.next_cursor = await report.structured_data(limit=limit, cursor=cursor)
            answer.structured_data = [StructuredRow.model_validate(one) for one in items]
        case _ if params.check_id is not None:
            found, answer.next_cursor = await report.addresses(params.check_id, limit=limit, cursor=cursor)
            answer.issues = [issue_row(one) for one in found]
        case section:
            most = min(limit, _TOP) if section == "summary" else limit
            found, answer.next_cursor = await report.groups(severity=params.severity, limit=most, cursor=cursor)
            answer.issues = [issue_row(one) for one in found]


def issue_row(found: CrawlFinding) -> IssueRow:
    """Return what a check found, as tools show it."""
    severity: Any = found.severity
    status: Any = found.status
    return IssueRow(
        issue_id=found.issue_id,
        check_id=found.check_id,
        severity=severity,
        count=found.count,
        sample_urls=list(found.sample_urls),
        message=found.message,
        fix=found.fix,
        status=status,
        note=found.note,
        evidence=[dict(one) for one in found.evidence],
    )


def _lines(answer: ReportAnswer, *, begun: bool) -> Iterator[str]:
    if answer.job_id:
        what = "A crawl has begun" if begun else "A crawl is under way"
        yield f"{what}; get_job {answer.job_id} says how far it is."
    if answer.score is None:
        yield "There is no report of this website yet." + (
            "" if answer.job_id else " Call this again with refresh true to crawl it."
        )
        yield from answer.notes
        return
    at = f"{answer.crawled_at:%Y-%m-%d %H:%M} UTC" if answer.crawled_at else "?"
    change = f" ({answer.trend.score:+d} since the report before)" if answer.trend else ""
    yield f"Score {answer.score} of 100{change}, {answer.pages} URLs, crawled {at}."
    yield "Open issues: " + ", ".join(f"{count} {name}" for name, count in answer.severities.items()) + "."
    yield from answer.notes
    for issue in answer.issues:
        where = f"; e.g. {issue.sample_urls[0]}" if issue.sample_urls else ""
        state = "" if issue.status == "open" else f" [{issue.status}]"
        yield f"- {issue.severity}, {issue.check_id} ({issue.count}){state}: {issue.message} {issue.fix}{where}"
    for page in answer.page_rows:
        yield f"- {page.status} {page.url}  {short(page.title, 80)} ({page.issues} issues)"
    for link in answer.links:
        yield f"- {', '.join(link.problems)}: {link.url} ({link.status or 'no answer'})"
    for one in answer.structured_data:
        types = ", ".join(name for item in one.items for name in item.get("types", ()))
        yield f"- {one.url}: {types or 'unreadable'}"
    if answer.next_cursor:
        yield f"There are more: cursor {answer.next_cursor}"


class MarkParams(Params):
    """What to say of which issue."""

    issue_id: str = Field(min_length=1, max_length=64, description="The issue, as get_seo_report names it.")
    status: IssueStatus = Field(
        description="ignored: it never counts again; fixed: it does not count unless the next crawl finds it again."
    )
    note: str = Field(default="", max_length=1000, description="Why, for the people who read the report later.")


class MarkAnswer(BaseModel):
    """The answer of `set_seo_issue_status`."""

    issue: IssueRow
    score: int = Field(description="The score of the report, counted anew.")


@mcp_tool(
    name="set_seo_issue_status",
    title="Mark an SEO issue",
    description=(
        "Marks an issue of a website's report as fixed or ignored, so that it stops counting, or opens it again. "
        "issue_id from the summary means the check on the whole site; from section issues with a check_id it means one "
        "URL. ignored lasts for all later crawls; an issue that is marked fixed counts again once a later crawl "
        "finds it. Returns the issue and the new score. Safe to repeat."
    ),
    result=MarkAnswer,
    annotations=Annotations(idempotent=True),
    toolsets=("seo",),
)
async def set_seo_issue_status(params: MarkParams, call: Call) -> ToolResult:
    """Mark an issue."""
    from pressroom_seo.reports.marks import mark  # noqa: PLC0415

    found, crawl = await mark(context(call), call.caller.subject, params.issue_id, params.status, params.note)
    what = found.sample_urls[0] if found.sample_urls else f"{found.count} addresses"
    text = f"{found.check_id} at {what} is {params.status} now; the score is {crawl.score}."
    return ToolResult(text, MarkAnswer(issue=issue_row(found), score=crawl.score))


TOOLS: Final = (get_seo_report, set_seo_issue_status)
