"""Tools for live pages and structured data: checking a page, and building JSON-LD from an article."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from pressroom.sdk import Annotations, Call, InvalidInput, Params, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_seo.tools.common import ContentId, Phrase, Url, context, exactly_one, short

if TYPE_CHECKING:
    from pressroom_seo.live_pages import LivePageReport
    from pressroom_seo.scoring import Validation
    from pressroom_seo.site_checks.llms_txt import LlmsReport


_MAX_ITEMS: Final = 50


class GenerateParams(Params):
    """What to build."""

    content_id: ContentId
    type: Literal["BlogPosting", "Article", "NewsArticle", "FAQPage", "HowTo", "BreadcrumbList"] = Field(
        default="BlogPosting",
        description="FAQPage: from headings that are questions. HowTo: from numbered steps.",
    )


class GenerateResult(BaseModel):
    """The result of `generate_structured_data`."""

    json_ld: dict[str, Any] = Field(description="For a script element of the type application/ld+json.")
    missing: list[str] = Field(description="Missing properties that are required or matter most.")
    warnings: list[str]


@mcp_tool(
    name="generate_structured_data",
    title="Build structured data",
    description=(
        "Builds JSON-LD (schema.org) from a stored article. Nothing is invented: what the article lacks is named in "
        "missing; add it with update_content. Returns json_ld, missing and warnings. To validate JSON-LD use "
        "check_page_seo."
    ),
    result=GenerateResult,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("seo",),
)
async def generate_structured_data(params: GenerateParams, call: Call) -> ToolResult:
    """Return the JSON-LD of an article."""
    import json  # noqa: PLC0415

    from pressroom_seo.scoring import build_structured_data  # noqa: PLC0415
    from pressroom_seo.stored import judged  # noqa: PLC0415

    article = (await judged(context(call), call.caller.subject, params.content_id)).article
    run, owner = context(call).services.workers.run, call.caller.subject
    built = await run(build_structured_data, article, params.type, owner=owner, what="the article")
    data = GenerateResult(json_ld=built.json_ld, missing=list(built.missing), warnings=list(built.warnings))
    missing = f"Missing: {', '.join(built.missing)}." if built.missing else "Nothing that is required is missing."
    text = json.dumps(built.json_ld, ensure_ascii=False, indent=2)
    return ToolResult("\n".join([text, missing, *built.warnings]), data)


class ItemRow(BaseModel):
    """An item of structured data."""

    type: str
    format: Literal["json-ld", "microdata"]
    supported: bool = Field(description="Whether there are rules for its type.")
    missing: list[str] = Field(description="Required and recommended properties that it lacks.")


class ProblemRow(BaseModel):
    """A fault."""

    path: str = Field(description="Where, such as BlogPosting.author.name.")
    message: str
    fix: str


class StructuredDataPart(BaseModel):
    """What is wrong with structured data."""

    items: list[ItemRow]
    errors: list[ProblemRow]
    warnings: list[ProblemRow]
    more: int = Field(description="How many items, errors and warnings are left out of this result.")


def structured_data_part(validation: Validation) -> StructuredDataPart:
    """Convert a validation for the tool result."""
    groups = (validation.items, validation.errors, validation.warnings)
    items = [
        ItemRow(type=item.type, format=item.format, supported=item.supported, missing=list(item.missing))
        for item in validation.items[:_MAX_ITEMS]
    ]
    problems = [
        [ProblemRow(path=problem.path, message=problem.message, fix=problem.fix) for problem in group[:_MAX_ITEMS]]
        for group in (validation.errors, validation.warnings)
    ]
    omitted = sum(max(0, len(group) - _MAX_ITEMS) for group in groups)
    return StructuredDataPart(items=items, errors=problems[0], warnings=problems[1], more=omitted)


def structured_data_lines(part: StructuredDataPart) -> Iterator[str]:
    """Yield the part as lines of text."""
    items = ", ".join(item.type or "an item without a type" for item in part.items)
    yield f"Structured data: {items or 'none'}."
    for name, group in (("Error", part.errors), ("Warning", part.warnings)):
        yield from (f"- {name}, {problem.path}: {problem.message} {problem.fix}".rstrip() for problem in group)
    if part.items and not part.errors:
        yield "It has no errors."
    if part.more:
        yield f"{part.more} more are left out."


_EVIDENCE: Final = 3
_MISSING: Final = 10


class PageParams(Params):
    """Which page."""

    url: Url | None = Field(default=None, description="Any public page.")
    json_ld: dict[str, Any] | None = Field(default=None, description="Instead of url.")
    keyphrase: Phrase | None = Field(default=None, description="What the page should rank for.")
    llms_txt: bool = Field(default=False, description="Check the site's llms.txt too (slow).")


class PageCheckRow(BaseModel):
    """A failed check of a page."""

    id: str
    source: Literal["technical", "on_page"] = Field(description="Whether it is about the response or about the text.")
    severity: Literal["critical", "warning", "notice"]
    message: str
    fix: str
    evidence: list[str]


class FetchedRow(BaseModel):
    """The response to the request."""

    url: str = Field(description="Where redirects ended.")
    status: int = Field(description="0 if there was no response.")
    message: str = Field(description="Why there was no response; otherwise empty.")
    redirects: list[str] = Field(description="The URLs that redirected, in order.")
    bytes: int = Field(description="Of the content, unpacked.")
    ms: int = Field(description="How long it took, redirects included.")


class LlmsCheckRow(BaseModel):
    """One thing that was checked."""

    id: str
    passed: bool
    message: str
    fix: str


class LlmsPart(BaseModel):
    """What a site offers to language models."""

    checks: list[LlmsCheckRow]
    entries: int = Field(description="How many pages llms.txt lists.")
    missing: list[str] = Field(description="URLs in the sitemap that it does not list; at most 100.")


class PageCheckResult(BaseModel):
    """The result of `check_page_seo`."""

    score: int | None = Field(description="From 0 to 100: the mean of technical and on_page; null without a page.")
    technical: int | None
    on_page: int | None = Field(description="Null if the URL does not lead to an HTML page.")
    checks: list[PageCheckRow] = Field(description="Checks that did not pass, worst first.")
    passed: list[str] = Field(description="Ids of the passed checks.")
    skipped: list[str] = Field(description="Ids of the checks that do not apply.")
    fetched: FetchedRow | None = Field(description="Null without a page.")
    structured_data: StructuredDataPart | None = Field(description="Null if there is no HTML page.")
    llms_txt: LlmsPart | None = Field(description="If requested.")


@mcp_tool(
    name="check_page_seo",
    title="SEO check of a live page",
    description=(
        "Fetches any public page, follows redirects, and checks status, title, description, canonical, robots, "
        "headings, images, security headers, speed, social tags, text, and structured data (schema.org). Give json_ld "
        "instead to validate a JSON-LD document. For a whole connected website use get_seo_report, for an article "
        "check_blog_seo. Returns score, failed checks with a fix, and structured_data."
    ),
    result=PageCheckResult,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("seo",),
    timeout=180,
)
async def check_page_seo(params: PageParams, call: Call) -> ToolResult:
    """Return the judgement of a live page, or of a JSON-LD document."""
    from pressroom_seo.live_pages import live_page, llms_txt_at, validated  # noqa: PLC0415 - parsers load with the first page

    exactly_one(url=params.url, json_ld=params.json_ld)
    plugin, user_id = context(call), call.caller.subject
    if params.url is None:
        if params.llms_txt:
            raise InvalidInput("llms_txt", "needs url, not json_ld")
        part = structured_data_part(await validated(plugin, user_id, params.json_ld))
        return ToolResult("\n".join(structured_data_lines(part)), _only_data(part))
    page = await live_page(plugin, params.url, params.keyphrase or "")
    data = _result(page)
    if params.llms_txt:
        data.llms_txt = llms_part(await llms_txt_at(plugin, params.url))
    return ToolResult("\n".join(_lines(data)), data)


def _only_data(part: StructuredDataPart) -> PageCheckResult:
    return PageCheckResult(
        score=None,
        technical=None,
        on_page=None,
        checks=[],
        passed=[],
        skipped=[],
        fetched=None,
        structured_data=part,
        llms_txt=None,
    )


_RANK: Final = ("critical", "warning", "notice")


def _result(page: LivePageReport) -> PageCheckResult:
    technical, record = page.technical, page.technical.record
    rows: list[PageCheckRow] = []
    ids: dict[str, list[str]] = {"passed": [], "skipped": []}
    for result in technical.results:
        if result.status == "failed":
            rows.append(_technical_row(result))
        else:
            ids[result.status].append(result.check.id)
    for check in page.text.checks if page.text else ():
        if check.status in ("bad", "ok"):
            evidence = [short(piece.text) for piece in check.evidence[:_EVIDENCE]]
            severity: Any = "warning" if check.status == "bad" and check.weight > 1 else "notice"
            rows.append(
                PageCheckRow(
                    id=check.id,
                    source="on_page",
                    severity=severity,
                    message=check.message,
                    fix=check.fix,
                    evidence=evidence,
                )
            )
        else:
            ids["passed" if check.status == "good" else "skipped"].append(check.id)
    rows.sort(key=lambda row: _RANK.index(row.severity))
    on_page = page.text.score if page.text else None
    return PageCheckResult(
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
        structured_data=structured_data_part(page.structured_data) if page.structured_data else None,
        llms_txt=None,
    )


def _technical_row(result: Any) -> PageCheckRow:
    check = result.check
    evidence = [short(f"{name}: {_as_text(value)}") for name, value in list(result.evidence.items())[:_EVIDENCE]]
    return PageCheckRow(
        id=check.id,
        source="technical",
        severity=check.severity,
        message=check.message,
        fix=check.fix,
        evidence=evidence,
    )


def _as_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_as_text(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_as_text, value))
    return str(value)


def _lines(data: PageCheckResult) -> Iterator[str]:
    fetched = data.fetched
    if fetched is None:
        return
    on_page = "" if data.on_page is None else f", its text {data.on_page}"
    yield f"Score {data.score} of 100 (technical {data.technical}{on_page})."
    outcome = f"returned {fetched.status}" if fetched.status else f"did not respond: {fetched.message}"
    yield f"{fetched.url} {outcome}; {fetched.bytes:,} bytes in {fetched.ms} ms, {len(fetched.redirects)} redirects."
    for row in data.checks:
        evidence = f" Seen: {'; '.join(row.evidence)}" if row.evidence else ""
        yield f"- {row.severity}, {row.id}: {row.message} {row.fix}".rstrip() + evidence
    yield f"{len(data.passed)} checks are passed, {len(data.skipped)} do not apply."
    if data.structured_data is not None:
        yield from structured_data_lines(data.structured_data)
    if data.llms_txt is not None:
        yield from llms_lines(data.llms_txt)


def llms_part(report: LlmsReport) -> LlmsPart:
    """Convert an llms.txt report for the tool result."""
    rows = [
        LlmsCheckRow(id=check.id, passed=check.passed, message=check.message, fix=check.fix) for check in report.checks
    ]
    return LlmsPart(checks=rows, entries=report.entries, missing=list(report.missing))


def llms_lines(part: LlmsPart) -> Iterator[str]:
    """Yield the part as lines of text."""
    yield f"llms.txt lists {part.entries} pages."
    for row in part.checks:
        yield f"- {'ok' if row.passed else 'wrong'}, {row.id}: {row.message} {row.fix}".rstrip()
    if part.missing:
        yield f"It does not list {len(part.missing)} pages of the sitemap: {', '.join(part.missing[:_MISSING])}"


TOOLS: Final = (check_page_seo, generate_structured_data)
