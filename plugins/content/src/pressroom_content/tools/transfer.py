"""Tools that bring articles in, copy them, show what goes out, and take them along."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pressroom.sdk import Annotations, Call, InvalidInput, Params, ToolResult, mcp_tool, per_minute
from pydantic import BaseModel, Field

from pressroom_content.articles import exporting, importing
from pressroom_content.articles.listing import part
from pressroom_content.articles.previewing import preview
from pressroom_content.articles.trash import copy
from pressroom_content.contract import WebsiteId
from pressroom_content.tools.article_fields import ContentId, preview_url
from pressroom_content.tools.articles import QUOTA
from pressroom_content.tools.websites import context

MAX_SHOWN_LENGTH: Final = 100_000


class ImportArticleParams(Params):
    """What becomes an article: a page, or HTML."""

    url: str | None = Field(
        default=None, min_length=8, max_length=2048, description="A page or feed of a connected website; or give html."
    )
    html: str | None = Field(
        default=None, min_length=1, max_length=importing.MAX_PAGE_BYTES, description="Pasted HTML; or give url."
    )
    website_id: WebsiteId | None = Field(default=None, description="The website that the article is meant for.")


class ImportedContent(BaseModel):
    """The answer of `import_content`."""

    content_id: str = Field(description="The new article.")
    title: str = Field(description="The headline that was found.")
    word_count: int = Field(description="How many words it has.")
    warnings: list[str] = Field(description="What may have been lost or needs a look.")


@mcp_tool(
    name="import_content",
    title="Import an article",
    description=(
        "Turns a page of a connected website, the first item of its feed, or pasted HTML into a new draft in markdown: "
        "only the article itself, without navigation, advertisements and scripts. Pages of other sites are not "
        "fetched; paste their HTML. A repeated call makes a second article. Returns content_id, title, word count and "
        "warnings."
    ),
    result=ImportedContent,
    annotations=Annotations(open_world=True),
    toolsets=("content",),
    quota=QUOTA,
    timeout=60.0,
)
async def import_content(params: ImportArticleParams, call: Call) -> ToolResult:
    """Make an article of the caller's account from elsewhere."""
    plugin, subject, origin = context(call), call.caller.subject, call.caller.connection_name
    if (params.url is None) == (params.html is None):
        raise InvalidInput("url", "or html must be given, and not both")
    if params.url is not None:
        made = await importing.import_page(plugin, subject, params.url, params.website_id, origin=origin)
    else:
        made = await importing.import_html(plugin, subject, params.html or "", params.website_id, origin=origin)
    article = made.written.article
    data = ImportedContent(
        content_id=article.id, title=article.title, word_count=article.word_count, warnings=list(made.warnings)
    )
    lines = [f"Imported “{article.title}” as {article.id}, {article.word_count:,} words.", *made.warnings]
    return ToolResult("\n- ".join(lines), data)


class CopyParams(Params):
    """What is copied, and for where."""

    content_id: ContentId
    website_id: WebsiteId | None = Field(default=None, description="The website of the copy; left out: the same.")
    language: str | None = Field(
        default=None, max_length=35, description="The language that the copy will have, such as de; left out: the same."
    )


class CopiedArticleOut(BaseModel):
    """The answer of `duplicate_content`."""

    content_id: str = Field(description="The copy.")


@mcp_tool(
    name="duplicate_content",
    title="Copy an article",
    description=(
        "Copies an article as a new draft, such as the base for another language or website; its text is copied as it "
        "is, not translated. A repeated call makes another copy. Returns the copy's content_id."
    ),
    result=CopiedArticleOut,
    toolsets=("content",),
    quota=QUOTA,
)
async def duplicate_content(params: CopyParams, call: Call) -> ToolResult:
    """Copy an article of the caller's account."""
    article = await copy(
        context(call),
        call.caller.subject,
        params.content_id,
        website_id=params.website_id,
        language=params.language,
        origin=call.caller.connection_name,
    )
    return ToolResult(f"Copied as {article.id}, slug {article.slug}.", CopiedArticleOut(content_id=article.id))


class PreviewParams(Params):
    """Which article, and for which website."""

    content_id: ContentId
    website_id: WebsiteId | None = Field(
        default=None, description="The website whose platform would get it; left out: as a web page."
    )


class PreviewResult(BaseModel):
    """The answer of `preview_content`."""

    html: str = Field(description="The sanitised HTML; cut at 100,000 characters, which its end says.")
    payload: dict[str, Any] = Field(description="The other fields as the platform gets them; empty without a website.")
    removed: list[str] = Field(description="What sanitising took away.")
    unsupported: list[str] = Field(description="Fields of the article that the platform cannot hold.")
    warnings: list[str] = Field(description="What else is not as it is in the article, such as images.")
    preview_url: str = Field(description="A page of the dashboard that shows it to its owner.")


@mcp_tool(
    name="preview_content",
    title="Preview an article",
    description=(
        "Shows exactly what a website's platform would get of an article: the sanitised HTML and the other fields, "
        "with what sanitising removed and which fields the platform cannot hold. Use it before publish_content; "
        "nothing is sent. Returns html, payload, removed, unsupported and a link to a page that shows it."
    ),
    result=PreviewResult,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("content",),
)
async def preview_content(params: PreviewParams, call: Call) -> ToolResult:
    """Show what would be published of an article of the caller's account."""
    made = await preview(context(call), call.caller.subject, params.content_id, params.website_id)
    html, following = part(made.html, 0, MAX_SHOWN_LENGTH)
    if following is not None:
        html += f"<!-- cut: {len(made.html):,} characters in all -->"
    data = PreviewResult(
        html=html,
        payload=dict(made.payload),
        removed=list(made.removed),
        unsupported=list(made.unsupported),
        warnings=list(made.warnings),
        preview_url=preview_url(call, params.content_id),
    )
    lines = [f"{name}: {value}" for name, value in data.payload.items()]
    for name, values in (
        ("Removed", data.removed),
        ("The platform cannot hold", data.unsupported),
        ("Warnings", data.warnings),
    ):
        lines += [f"{name}: {', '.join(values)}"] if values else []
    return ToolResult("\n".join([*lines, f"Preview: {data.preview_url}", "", html]), data)


class ExportParams(Params):
    """Which articles, and in which form."""

    website_id: WebsiteId | None = Field(default=None, description="Only articles meant for this website.")
    content_ids: Annotated[list[ContentId], Field(min_length=1, max_length=500)] | None = Field(
        default=None, description="Only these articles; left out: all that are not in the trash."
    )
    format: Literal["markdown", "json", "wxr"] = Field(
        default="markdown",
        description="markdown: a zip of files with front matter. json: one document. wxr: for WordPress's importer.",
    )


class ExportOut(BaseModel):
    """The answer of `export_content`."""

    download_url: str = Field(description="Gives the file to whoever has the link, until it expires.")
    expires_at: datetime = Field(description="Until when the link works (UTC).")
    items: int = Field(description="How many articles the file holds.")


@mcp_tool(
    name="export_content",
    title="Export articles",
    description=(
        "Exports articles to a file: markdown with front matter in a zip, JSON, or WXR for WordPress. Give "
        "website_id or content_ids for some of them, or neither for all. Returns a download link that works for an "
        "hour, for the user, and how many articles are in the file. An earlier link to a file in the same format stops "
        "working."
    ),
    result=ExportOut,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("publish",),
    rate_limit=per_minute(30),
    timeout=120.0,
)
async def export_content(params: ExportParams, call: Call) -> ToolResult:
    """Export articles of the caller's account."""
    made = await exporting.export(
        context(call),
        call.caller.subject,
        params.format,
        website_id=params.website_id,
        content_ids=params.content_ids,
    )
    text = f"{made.items} articles: {made.url} (works until {made.expires_at:%Y-%m-%d %H:%M} UTC)"
    return ToolResult(text, ExportOut(download_url=made.url, expires_at=made.expires_at, items=made.items))


TOOLS: Final = (import_content, duplicate_content, preview_content, export_content)
