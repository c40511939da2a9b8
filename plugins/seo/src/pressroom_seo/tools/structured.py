"""Tools for structured data: building JSON-LD from an article, and validating it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, Literal

from pressroom.sdk import Annotations, Call, Params, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_seo.tools.common import ContentId, context

if TYPE_CHECKING:
    from pressroom_seo.scoring import Validation

_MAX_ITEMS: Final = 50


class GenerateParams(Params):
    """What to build."""

    content_id: ContentId
    type: Literal["BlogPosting", "Article", "NewsArticle", "FAQPage", "HowTo", "BreadcrumbList"] = Field(
        default="BlogPosting",
        description="FAQPage: from headings that are questions. HowTo: from numbered steps.",
    )


class GenerateAnswer(BaseModel):
    """The answer of `generate_structured_data`."""

    json_ld: dict[str, Any] = Field(description="For a script element of the type application/ld+json.")
    missing: list[str] = Field(description="Properties that are required, or that matter most, and are not there.")
    warnings: list[str]


@mcp_tool(
    name="generate_structured_data",
    title="Build structured data",
    description=(
        "Builds JSON-LD (schema.org) from a stored article. Nothing is invented: what the article lacks is named in "
        "missing; add it with update_content. Returns json_ld, missing and warnings. To validate JSON-LD use "
        "check_page_seo."
    ),
    result=GenerateAnswer,
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
    data = GenerateAnswer(json_ld=built.json_ld, missing=list(built.missing), warnings=list(built.warnings))
    missing = f"Missing: {', '.join(built.missing)}." if built.missing else "Nothing that is required is missing."
    text = json.dumps(built.json_ld, ensure_ascii=False, indent=2)
    return ToolResult("\n".join([text, missing, *built.warnings]), data)


class ItemRow(BaseModel):
    """An item of structured data."""

    type: str
    format: Literal["json-ld", "microdata"]
    supported: bool = Field(description="Whether there are rules for its type.")
    missing: list[str] = Field(description="Properties that it must or should have and has not.")


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
    more: int = Field(description="How many items, errors and warnings are left out of this answer.")


def structured_data_part(found: Validation) -> StructuredDataPart:
    """Return what was found, as tools show it."""
    groups = (found.items, found.errors, found.warnings)
    items = [
        ItemRow(type=one.type, format=one.format, supported=one.supported, missing=list(one.missing))
        for one in found.items[:_MAX_ITEMS]
    ]
    problems = [
        [ProblemRow(path=one.path, message=one.message, fix=one.fix) for one in group[:_MAX_ITEMS]]
        for group in (found.errors, found.warnings)
    ]
    more = sum(max(0, len(group) - _MAX_ITEMS) for group in groups)
    return StructuredDataPart(items=items, errors=problems[0], warnings=problems[1], more=more)


def structured_data_lines(part: StructuredDataPart) -> Iterator[str]:
    """Yield the same in words."""
    items = ", ".join(one.type or "an item without a type" for one in part.items)
    yield f"Structured data: {items or 'none'}."
    for name, group in (("Error", part.errors), ("Warning", part.warnings)):
        yield from (f"- {name}, {one.path}: {one.message} {one.fix}".rstrip() for one in group)
    if part.items and not part.errors:
        yield "It has no errors."
    if part.more:
        yield f"{part.more} more are left out."


TOOLS: Final = (generate_structured_data,)
