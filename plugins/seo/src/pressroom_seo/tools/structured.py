"""Tools for structured data: building JSON-LD from an article, and validating it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, Literal

from pressroom.sdk import Annotations, Call, Params, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_seo.tools.common import ContentId, Url, context, exactly_one

if TYPE_CHECKING:
    from pressroom_seo.scoring import Validation

_MAX_ITEMS: Final = 50


class GenerateParams(Params):
    """What to build."""

    content_id: ContentId
    type: Literal["BlogPosting", "Article", "NewsArticle", "FAQPage", "HowTo", "BreadcrumbList"] = Field(
        default="BlogPosting",
        description="FAQPage takes headings that are questions, HowTo numbered steps or the longest list.",
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
        "Builds JSON-LD (schema.org) from what is stored of an article: a posting, a list of questions, instructions "
        "or breadcrumbs. Nothing is made up: what the article lacks is left out and named in missing, so that it can "
        "be filled in with update_content. Returns json_ld, missing and warnings."
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


class ValidateParams(Params):
    """What to validate."""

    url: Url | None = Field(default=None, description="A page on the internet; or give json_ld.")
    json_ld: dict[str, Any] | None = Field(default=None, description="A JSON-LD document; or give url.")


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


class ValidateAnswer(BaseModel):
    """The answer of `validate_structured_data`."""

    items: list[ItemRow]
    errors: list[ProblemRow]
    warnings: list[ProblemRow]
    more: int = Field(description="How many items, errors and warnings are left out of this answer.")


@mcp_tool(
    name="validate_structured_data",
    title="Validate structured data",
    description=(
        "Checks structured data against schema.org and what search engines require: the JSON-LD and the microdata of a "
        "live page (url), or a JSON-LD document that is given (json_ld). Returns the items that were found with what "
        "each lacks, and errors and warnings with the place and what to do."
    ),
    result=ValidateAnswer,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("seo",),
    timeout=60,
)
async def validate_structured_data(params: ValidateParams, call: Call) -> ToolResult:
    """Return what is wrong with structured data."""
    exactly_one(url=params.url, json_ld=params.json_ld)
    if params.url is not None:
        from pressroom_seo.pages import structured_data_of  # noqa: PLC0415

        found = await structured_data_of(context(call), params.url)
    else:
        from pressroom_seo.scoring import validate_structured_data as validate  # noqa: PLC0415

        run, owner = context(call).services.workers.run, call.caller.subject
        found = await run(validate, params.json_ld, owner=owner, what="json_ld")
    return ToolResult("\n".join(_lines(found)), _answer(found))


def _answer(found: Validation) -> ValidateAnswer:
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
    return ValidateAnswer(items=items, errors=problems[0], warnings=problems[1], more=more)


def _lines(found: Validation) -> Iterator[str]:
    items = ", ".join(one.type or "an item without a type" for one in found.items[:_MAX_ITEMS])
    yield f"{len(found.items)} items{f': {items}' if items else ''}."
    for name, group in (("Error", found.errors), ("Warning", found.warnings)):
        yield from (f"{name}: {one.message} {one.fix}".rstrip() for one in group[:_MAX_ITEMS])
    if found.items and not found.errors:
        yield "There are no errors."


TOOLS: Final = (generate_structured_data, validate_structured_data)
