"""Tools for live pages: one page, and what a site says to language models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, Literal

from pressroom.sdk import Annotations, Call, Params, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_seo.tools.common import Phrase, Url, WebsiteId, context, exactly_one, short

if TYPE_CHECKING:
    from pressroom_seo.pages import LivePageReport

_EVIDENCE: Final = 3


class PageParams(Params):
    """Which page."""

    url: Url
    keyphrase: Phrase | None = Field(default=None, description="What the page is to be found by; left out: not judged.")


class PageCheckRow(BaseModel):
    """A check of a page that is not passed."""

    id: str
    source: Literal["technical", "on_page"] = Field(description="Whether it is about the answer or about the text.")
    severity: Literal["critical", "warning", "notice"]
    message: str
    fix: str
    evidence: list[str]


class FetchedRow(BaseModel):
    """How the page was answered."""

    url: str = Field(description="Where redirects ended.")
    status: int = Field(description="0 where there was no answer.")
    message: str = Field(description="Why there was no answer; empty where there was one.")
    redirects: list[str] = Field(description="The URLs that redirected, in order.")
    bytes: int = Field(description="Of the content, unpacked.")
    ms: int = Field(description="How long it took, redirects included.")


class PageAnswer(BaseModel):
    """The answer of `check_page_seo`."""

    score: int = Field(description="From 0 to 100: the mean of technical and on_page where there are both.")
    technical: int
    on_page: int | None = Field(description="Null if the URL does not lead to an HTML page.")
    checks: list[PageCheckRow] = Field(description="What is not right, the worst first.")
    passed: list[str] = Field(description="Ids of the checks that are passed.")
    skipped: list[str] = Field(description="Ids of the checks that do not apply.")
    fetched: FetchedRow


@mcp_tool(
    name="check_page_seo",
    title="SEO check of a live page",
    description=(
        "Fetches one live page, follows its redirects, and runs the technical checks (status, title, description, "
        "canonical, robots, headings, images, security headers, speed, structured data, social tags) and the on-page "
        "checks of its text. With keyphrase the text is judged for it too. Any page on the public internet; for a "
        "whole website use get_seo_report. Returns score, checks that are not passed with what to do, and how the page "
        "was answered."
    ),
    result=PageAnswer,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("seo",),
    timeout=90,
)
async def check_page_seo(params: PageParams, call: Call) -> ToolResult:
    """Return the judgement of a live page."""
    from pressroom_seo.pages import live_page  # noqa: PLC0415 - the parsers load with the first page

    page = await live_page(context(call), params.url, params.keyphrase or "")
    data = _answer(page)
    return ToolResult("\n".join(_lines(data)), data)


_RANK: Final = ("critical", "warning", "notice")


def _answer(page: LivePageReport) -> PageAnswer:
    technical, record = page.technical, page.technical.record
    rows: list[PageCheckRow] = []
    ids: dict[str, list[str]] = {"passed": [], "skipped": []}
    for result in technical.results:
        if result.status == "failed":
            rows.append(_technical_row(result))
        else:
            ids[result.status].append(result.check.id)
    for one in page.text.checks if page.text else ():
        if one.status in ("bad", "ok"):
            evidence = [short(seen.text) for seen in one.evidence[:_EVIDENCE]]
            severity: Any = "warning" if one.status == "bad" and one.weight > 1 else "notice"
            rows.append(
                PageCheckRow(
                    id=one.id, source="on_page", severity=severity, message=one.message, fix=one.fix, evidence=evidence
                )
            )
        else:
            ids["passed" if one.status == "good" else "skipped"].append(one.id)
    rows.sort(key=lambda row: _RANK.index(row.severity))
    on_page = page.text.score if page.text else None
    return PageAnswer(
        score=technical.score if on_page is None else round((technical.score + on_page) / 2),
        technical=technical.score,
        on_page=on_page,
        checks=rows,
        passed=ids["passed"],
        skipped=ids["skipped"],
        fetched=FetchedRow(
            url=record.url,
            status=record.status,
            message=record.message,
            redirects=[url for url, _ in technical.redirects],
            bytes=record.size,
            ms=page.milliseconds,
        ),
    )


def _technical_row(result: Any) -> PageCheckRow:
    check = result.check
    evidence = [short(f"{name}: {value}") for name, value in list(result.evidence.items())[:_EVIDENCE]]
    return PageCheckRow(
        id=check.id,
        source="technical",
        severity=check.severity,
        message=check.message,
        fix=check.fix,
        evidence=evidence,
    )


def _lines(data: PageAnswer) -> Iterator[str]:
    fetched = data.fetched
    on_page = "" if data.on_page is None else f", its text {data.on_page}"
    yield f"Score {data.score} of 100 (technical {data.technical}{on_page})."
    answered = f"answered with {fetched.status}" if fetched.status else f"gave no answer: {fetched.message}"
    yield f"{fetched.url} {answered}; {fetched.bytes:,} bytes in {fetched.ms} ms, {len(fetched.redirects)} redirects."
    for row in data.checks:
        yield f"- {row.severity}, {row.id}: {row.message} {row.fix}".rstrip()
    yield f"{len(data.passed)} checks are passed, {len(data.skipped)} do not apply."


class LlmsParams(Params):
    """Which site."""

    website_id: WebsiteId | None = Field(default=None, description="A connected website; or give url.")
    url: Url | None = Field(default=None, description="Any URL of a site on the internet; or give website_id.")


class LlmsCheckRow(BaseModel):
    """One thing that was checked."""

    id: str
    passed: bool
    message: str
    fix: str


class LlmsAnswer(BaseModel):
    """The answer of `check_llms_txt`."""

    checks: list[LlmsCheckRow]
    entries: int = Field(description="How many pages llms.txt lists.")
    missing: list[str] = Field(description="URLs in the sitemap that it does not list; at most 100.")


@mcp_tool(
    name="check_llms_txt",
    title="Check llms.txt",
    description=(
        "Checks whether a site describes itself to language models: whether /llms.txt and /llms-full.txt exist, can be "
        "read and match the sitemap, have links that work, and whether pages can be had as Markdown. Give website_id, "
        "or url of any site. Returns checks with what to do, and the pages of the sitemap that are "
        "not named. Takes up to a minute."
    ),
    result=LlmsAnswer,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("seo",),
    timeout=120,
)
async def check_llms_txt(params: LlmsParams, call: Call) -> ToolResult:
    """Return what a site says to language models."""
    from pressroom_seo.pages import llms_txt_of  # noqa: PLC0415

    exactly_one(website_id=params.website_id, url=params.url)
    report = await llms_txt_of(context(call), call.caller.subject, params.website_id, params.url)
    rows = [LlmsCheckRow(id=one.id, passed=one.passed, message=one.message, fix=one.fix) for one in report.checks]
    lines = [f"{'ok' if row.passed else 'wrong'}: {row.message} {row.fix}".rstrip() for row in rows]
    return ToolResult("\n".join(lines), LlmsAnswer(checks=rows, entries=report.entries, missing=list(report.missing)))


TOOLS: Final = (check_page_seo, check_llms_txt)
