"""Tools for importing, copying, previewing and exporting articles.

A preview shows what readers, and the platforms that display an article to them, would receive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pressroom.sdk import (
    Annotations,
    Call,
    ClientRequestId,
    InvalidInput,
    Params,
    PluginContext,
    ToolResult,
    mcp_tool,
    per_minute,
)
from pydantic import BaseModel, Field

from pressroom_content.articles import exporting, importing
from pressroom_content.articles.listing import part
from pressroom_content.articles.store import Articles
from pressroom_content.articles.trash import copy
from pressroom_content.contract import Post, WebsiteId
from pressroom_content.publishing.adopting import AdoptedPost, adopt
from pressroom_content.publishing.publications import Publications
from pressroom_content.rendering.sanitising import render
from pressroom_content.tools.articles import QUOTA
from pressroom_content.tools.common import (
    UTC_ZONE,
    ContentId,
    context,
    local_time,
    plural,
    preview_url,
    time_text,
    website_zone,
)
from pressroom_content.websites.store import Websites

MAX_SHOWN_LENGTH: Final = 100_000


class ImportArticleParams(Params):
    """What becomes an article: a page, HTML or an article."""

    url: str | None = Field(
        default=None, min_length=8, max_length=2048, description="A post, page or feed of a connected website."
    )
    html: str | None = Field(
        default=None, min_length=1, max_length=importing.MAX_PAGE_BYTES, description="Or HTML that the user pasted."
    )
    content_id: ContentId | None = Field(default=None, description="Or an article to copy.")
    website_id: WebsiteId | None = Field(default=None, description="The website it is for.")
    language: str | None = Field(
        default=None, max_length=35, description="Language of the copy; the text is not translated."
    )
    client_request_id: ClientRequestId = None


class ImportedContent(BaseModel):
    """The result of `import_content`."""

    content_id: str = Field(description="The new article, or the one that the post already belongs to.")
    title: str = Field(description="The article's headline.")
    slug: str = Field(description="The end of its URL.")
    word_count: int = Field(description="How many words readers see.")
    publication_id: str | None = Field(description="The post that publish_content updates; null for a copy.")
    warnings: list[str] = Field(description="What may have been lost or needs checking.")


@mcp_tool(
    name="import_content",
    title="Import or copy an article",
    description=(
        "Imports a post of a connected website as an article; publish_content then updates that same post. Keep lines "
        "such as <!-- block:… -->: they stand for blocks that stay as they are. If the platform cannot do that, and "
        "from pasted HTML, a feed or another article, it makes a copy as a new draft. Give exactly one of url, html "
        "and content_id."
    ),
    result=ImportedContent,
    annotations=Annotations(open_world=True),
    toolsets=("writing",),
    quota=QUOTA,
    timeout=60.0,
)
async def import_content(params: ImportArticleParams, call: Call) -> ToolResult:
    """Make an article of the caller's account from a page, HTML or another article."""
    plugin, subject, origin = context(call), call.caller.subject, call.caller.connection_name
    if sum(source is not None for source in (params.url, params.html, params.content_id)) != 1:
        raise InvalidInput("url", "or html or content_id must be given, and only one of them")
    if params.language is not None and params.content_id is None:
        raise InvalidInput("language", "only goes with content_id; change it with update_content after an import")
    warnings: tuple[str, ...] = ()
    bound: AdoptedPost | None = None
    if params.url is not None:
        site_id = await importing.site_of(plugin, subject, params.url, params.website_id)
        bound = await adopt(plugin, subject, site_id, params.url, origin=origin)
    if bound is not None:
        article = bound.article
        warnings = _adoption_warnings(bound)
    elif params.content_id is not None:
        article = await copy(
            plugin,
            subject,
            params.content_id,
            website_id=params.website_id,
            language=params.language,
            origin=origin,
        )
    elif params.url is not None:
        imported = await importing.import_page(plugin, subject, params.url, params.website_id, origin=origin)
        article, warnings = imported.written.article, (_COPY_WARNING, *imported.warnings)
    else:
        imported = await importing.import_html(plugin, subject, params.html or "", params.website_id, origin=origin)
        article, warnings = imported.written.article, imported.warnings
    data = ImportedContent(
        content_id=article.id,
        title=article.title,
        slug=article.slug,
        word_count=article.word_count,
        publication_id=bound.publication_id if bound is not None else None,
        warnings=list(warnings),
    )
    size = f"slug {article.slug}, {plural(article.word_count, 'word')}."
    if bound is not None and bound.update is None:
        line = f"“{article.title}” is here already as {article.id}, {size}"
    else:
        done = "Took over" if bound is not None else "Imported" if params.content_id is None else "Copied"
        line = f"{done} “{article.title}” as {article.id}, {size}"
    if bound is not None:
        line += f" Change it with update_content; publish_content then updates the post ({bound.publication_id})."
    return ToolResult("\n- ".join([line, *warnings]), data, counts=bound is None or bound.update is not None)


_COPY_WARNING: Final = "it is a copy: publishing it makes another post, beside the page that is there"


def _adoption_warnings(bound: AdoptedPost) -> tuple[str, ...]:
    if bound.update is None:
        merge = "; merge_site_edits brings in what was edited on the website since" if bound.mergeable else ""
        return (f"the article is here already{merge}",)
    if not bound.block_names:
        return ()
    return (f"kept as they are on the website, at the places of their lines: {', '.join(bound.block_names)[:1000]}",)


class PreviewParams(Params):
    """Which article, and for which website."""

    content_id: ContentId
    website_id: WebsiteId | None = Field(
        default=None, description="The website to preview it for; default: as a web page."
    )


class PreviewResult(BaseModel):
    """The result of `preview_content`."""

    html: str = Field(description="The sanitised HTML; cut at 100,000 characters, which its end says.")
    payload: dict[str, Any] = Field(description="The other fields as the platform gets them; empty without a website.")
    removed: list[str] = Field(description="What sanitising removed.")
    unsupported: list[str] = Field(description="Fields of the article that the platform cannot hold.")
    warnings: list[str] = Field(description="What else differs from the article, such as images.")
    preview_url: str = Field(description="A page of the dashboard that shows it to its owner.")


@mcp_tool(
    name="preview_content",
    title="Preview an article",
    description=(
        "Shows what a website would get of an article: the sanitised HTML and the other fields, what sanitising "
        "removed, and which fields the platform cannot hold. Platforms that take Markdown, such as git, get the same "
        "text as Markdown. Nothing is sent. Use it before publish_content."
    ),
    result=PreviewResult,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("core", "writing", "publishing"),
)
async def preview_content(params: PreviewParams, call: Call) -> ToolResult:
    """Show what would be published of an article of the caller's account."""
    result = await preview(context(call), call.caller.subject, params.content_id, params.website_id)
    html, following = part(result.html, 0, MAX_SHOWN_LENGTH)
    if following is not None:
        html += f"<!-- cut: {len(result.html):,} characters in all -->"
    data = PreviewResult(
        html=html,
        payload=dict(result.payload),
        removed=list(result.removed),
        unsupported=list(result.unsupported),
        warnings=list(result.warnings),
        preview_url=preview_url(call, params.content_id),
    )
    lines = [f"{name}: {_value_text(value)}" for name, value in data.payload.items()]
    for name, values in (
        ("Removed", data.removed),
        ("The platform cannot hold", data.unsupported),
        ("Warnings", data.warnings),
    ):
        lines += [f"{name}: {', '.join(values)}"] if values else []
    return ToolResult("\n".join([*lines, f"Preview: {data.preview_url}", "", html]), data)


def _value_text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


class ExportParams(Params):
    """Which articles, and in which form."""

    website_id: WebsiteId | None = Field(default=None, description="Only articles of this website.")
    content_ids: Annotated[list[ContentId], Field(min_length=1, max_length=500)] | None = Field(
        default=None, description="Only these; default: all except trash."
    )
    format: Literal["markdown", "json", "wxr"] = Field(
        default="markdown",
        description="markdown: a zip with front matter. wxr: for WordPress's importer.",
    )


class ExportOut(BaseModel):
    """The result of `export_content`."""

    download_url: str = Field(description="Anyone with the link can download the file until it expires.")
    expires_at: datetime = Field(description="When the link stops working.")
    items: int = Field(description="How many articles the file holds.")


@mcp_tool(
    name="export_content",
    title="Export articles",
    description=(
        "Exports articles to a file. Pass website_id or content_ids for some of them, neither for all. Returns a "
        "download link for the user, which works for an hour and replaces an earlier link of the same format."
    ),
    result=ExportOut,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("writing",),
    rate_limit=per_minute(30),
    timeout=120.0,
)
async def export_content(params: ExportParams, call: Call) -> ToolResult:
    """Export articles of the caller's account."""
    plugin, subject = context(call), call.caller.subject
    export = await exporting.export(
        plugin,
        subject,
        params.format,
        website_id=params.website_id,
        content_ids=params.content_ids,
    )
    zone = UTC_ZONE
    if params.website_id is not None:
        zone = website_zone(await Websites(plugin).zones(subject), params.website_id)
    until = local_time(export.expires_at, zone)
    count = f"{export.items:,} {'article' if export.items == 1 else 'articles'}"
    text = f"{count}: {export.url} (works until {time_text(until, zone)})"
    return ToolResult(text, ExportOut(download_url=export.url, expires_at=until, items=export.items))


TOOLS: Final = (import_content, preview_content, export_content)


_EXCLUDED_FIELDS = frozenset({"marker", "html", "markdown", "featured", "term_ids", "kept"})


@dataclass(frozen=True, slots=True)
class ArticlePreview:
    """Sanitised HTML, the other fields to send, what sanitising removed, and fields that the platform cannot hold."""

    title: str
    html: str
    payload: Mapping[str, Any]
    removed: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


async def preview(
    plugin: PluginContext, user_id: str, content_id: str, website_id: str | None = None
) -> ArticlePreview:
    """Return an article as a website would receive it; without a website, as the built-in pages show it.

    Raises:
        InvalidInput: the body cannot be rendered.
        NotFound: the account has no such article or website.
        SiteUnavailable: an image of the library cannot be read at the moment.
    """
    article = await Articles(plugin).get(user_id, content_id)
    if website_id is None:
        run = plugin.services.workers.run
        rendered = await run(render, article.body, article.body_format, owner=user_id, what="the article")
        return ArticlePreview(article.title, rendered.html, {}, rendered.removed)
    manuscript, article, website = await Publications(plugin).preview(user_id, content_id, website_id, {})
    post = manuscript.post
    return ArticlePreview(
        title=article.title,
        html=post.html,
        payload={"platform": website.platform, **_payload(post)},
        removed=manuscript.removed,
        unsupported=manuscript.unsupported,
        warnings=manuscript.warnings,
    )


def _payload(post: Post) -> dict[str, Any]:
    return {
        name: value
        for name, value in asdict(post).items()
        if name not in _EXCLUDED_FIELDS and value not in ("", (), {})
    }
