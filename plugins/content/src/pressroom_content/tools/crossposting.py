"""Tools that publish again: on further websites, and after something failed."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from pressroom.sdk import Annotations, Call, CallError, InvalidInput, Params, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_content.contract import WebsiteId
from pressroom_content.publishing.originals import check_original
from pressroom_content.publishing.publications import Publications
from pressroom_content.records import PublicationStatus
from pressroom_content.tools.publication_parts import WAIT_SECONDS, ContentId, PublicationId, told, zone_of
from pressroom_content.tools.websites import context


class CrosspostParams(Params):
    """What to publish where."""

    content_id: ContentId
    website_ids: Annotated[list[WebsiteId], Field(min_length=1, max_length=20, description="Where the copies go.")]
    canonical_publication_id: PublicationId = Field(description="The publication that is the original.")
    mode: Literal["draft", "publish"] = Field(default="draft", description="How the copies are made.")


class CrosspostRow(BaseModel):
    """The outcome of one copy."""

    website_id: str
    publication_id: str | None
    status: str = Field(description="As in publish_content; refused where it could not be begun.")
    url: str
    warnings: list[str]
    error: str


class CrosspostAnswer(BaseModel):
    """The answer of `crosspost_content`."""

    results: list[CrosspostRow]


@mcp_tool(
    name="crosspost_content",
    title="Publish on several websites",
    description=(
        "Publishes an article on several websites, each copy naming one original as its canonical URL, so that "
        "search engines count it once. The original must be live, on a website that is proven to control its URL. Each "
        "website succeeds or fails by itself; repeating it makes no second posts. Returns results."
    ),
    result=CrosspostAnswer,
    annotations=Annotations(idempotent=True, open_world=True),
    toolsets=("publish",),
    quota="articles_published",
    free="a call that begins nothing",
    timeout=90,
)
async def crosspost_content(params: CrosspostParams, call: Call) -> ToolResult:
    """Publish copies that name their original."""
    plugin, user_id = context(call), call.caller.subject
    publications = Publications(plugin)
    original = await publications.get(user_id, params.canonical_publication_id)
    if original.status != "published" or not original.url:
        raise InvalidInput("canonical_publication_id", f"is {original.status}; the original has to be live first")
    if original.article_id != params.content_id:
        raise InvalidInput("canonical_publication_id", "is a publication of another article")
    if original.website_id in params.website_ids:
        raise InvalidInput("website_ids", f"holds {original.website_id}, where the original is")

    await check_original(plugin, user_id, original.website_id, original.url)
    news: list[bool] = []

    async def copy(website_id: str) -> CrosspostRow:
        try:
            begun, new = await publications.begin(
                user_id, params.content_id, website_id, mode=params.mode, canonical_of=original.id
            )
            news.append(new)
            done = await publications.wait(begun, WAIT_SECONDS)
        except CallError as error:
            return CrosspostRow(
                website_id=website_id, publication_id=None, status="refused", url="", warnings=[], error=error.message
            )
        return CrosspostRow(
            website_id=website_id,
            publication_id=done.id,
            status=done.status,
            url=done.url,
            warnings=list(done.warnings),
            error=done.error,
        )

    rows = await asyncio.gather(*(copy(one) for one in dict.fromkeys(params.website_ids)))
    lines = [f"{row.website_id}: {row.status} {row.url}{': ' + row.error if row.error else ''}" for row in rows]
    text = "\n".join([f"Original: {original.url}", *lines])
    return ToolResult(text, CrosspostAnswer(results=list(rows)), counts=any(news))


class RetryParams(Params):
    """Which publication."""

    publication_id: PublicationId


class RetryAnswer(BaseModel):
    """The answer of `retry_publication`."""

    status: PublicationStatus
    attempt: int
    url: str
    warnings: list[str]
    error: str


@mcp_tool(
    name="retry_publication",
    title="Retry a publication",
    description=(
        "Resumes a failed publication at the failed step; fix the cause first. What is done already "
        "is not done again, and what may have arrived at the site is looked for first. Returns status and "
        "attempt."
    ),
    result=RetryAnswer,
    annotations=Annotations(idempotent=True, open_world=True),
    toolsets=("publish",),
    timeout=60,
)
async def retry_publication(params: RetryParams, call: Call) -> ToolResult:
    """Continue with a publication."""
    publications = Publications(context(call))
    begun = await publications.retry(call.caller.subject, params.publication_id)
    done = await publications.wait(begun, WAIT_SECONDS)
    data = RetryAnswer(
        status=done.status, attempt=done.attempt, url=done.url, warnings=list(done.warnings), error=done.error
    )
    return ToolResult(told(done, await zone_of(context(call), done)), data)


TOOLS = (crosspost_content, retry_publication)
