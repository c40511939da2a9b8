"""Tools for creating, changing, reading and listing articles."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

from pressroom.sdk import (
    Annotations,
    Call,
    ClientRequestId,
    Day,
    Integer,
    InvalidInput,
    Params,
    PluginContext,
    ToolResult,
    mcp_tool,
)
from pydantic import BaseModel, Field

from pressroom_content.articles import listing
from pressroom_content.articles.analysis import counted
from pressroom_content.articles.edits import Edit
from pressroom_content.articles.fields import Draft, read_as
from pressroom_content.articles.listing import part
from pressroom_content.articles.store import Articles
from pressroom_content.contract import Cursor, WebsiteId
from pressroom_content.records import Article
from pressroom_content.tools.article_history import VersionItem, changes_since, version_items, version_line
from pressroom_content.tools.common import (
    MAX_LINE_LENGTH,
    WEBSITE,
    ArticleView,
    Author,
    BodyFormatName,
    CanonicalUrl,
    CategoryNames,
    ContentId,
    Excerpt,
    FieldChanges,
    Keyphrase,
    LanguageTag,
    MetaDescription,
    MetaTitle,
    Seo,
    Synonyms,
    TagNames,
    article_view,
    context,
    field_lines,
    local_time,
    plural,
    preview_url,
    seo_line,
    seo_of,
    time_text,
    website_zone,
)
from pressroom_content.websites.store import Websites, read_zones

MAX_EDITS: Final = 100
QUOTA: Final = "articles_created"


class CreateParams(Params):
    """A new article."""

    title: str = Field(min_length=1, max_length=MAX_LINE_LENGTH, description="Plain text.")
    body: str = Field(description="The text without the headline.")
    body_format: BodyFormatName = Field(
        default="markdown", description="markdown: CommonMark with tables and footnotes."
    )
    website_id: WebsiteId | None = Field(default=None, description=WEBSITE)
    slug: str | None = Field(default=None, max_length=200, description="Default: made from the title.")
    excerpt: Excerpt = None
    keyphrase: Keyphrase = None
    synonyms: Synonyms = None
    meta_title: MetaTitle = None
    meta_description: MetaDescription = None
    tags: TagNames = None
    categories: CategoryNames = None
    language: LanguageTag = None
    canonical_url: CanonicalUrl = None
    author: Author = None
    client_request_id: ClientRequestId = None


class CreatedArticleOut(BaseModel):
    """The result of `create_content`."""

    content_id: str = Field(description="The article's id, for all other tools.")
    version: int = Field(description="The version; give it to update_content as expected_version.")
    slug: str = Field(description="The slug, with a number at the end if another article had it.")
    word_count: int = Field(description="How many words readers see.")
    preview_url: str = Field(description="A page of the dashboard that shows the article to its owner.")
    seo: Seo = Field(description="The SEO score, and what would raise it most.")


@mcp_tool(
    name="create_content",
    title="Create an article",
    description=(
        "Stores a new article as a draft; nothing goes public. To change an article, use update_content. For a "
        "website, first read its brand voice with get_website and its categories with list_site_taxonomies. Returns "
        "content_id, version, a preview link, and the SEO score with what would raise it most. Next: check_blog_seo, "
        "import_image for the featured image, publish_content."
    ),
    result=CreatedArticleOut,
    toolsets=("core", "writing"),
    quota=QUOTA,
    resumes=True,
    changed_with="update_content",
)
async def create_content(params: CreateParams, call: Call) -> ToolResult:
    """Store an article of the caller's account."""
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in params.model_dump(exclude={"client_request_id"}, exclude_none=True).items()
    }
    created = await Articles(context(call)).create(
        call.caller.subject,
        Draft(**fields),
        request_id=params.client_request_id,
        origin=call.caller.connection_name,
    )
    article = created.article
    data = CreatedArticleOut(
        content_id=article.id,
        version=article.version,
        slug=article.slug,
        word_count=article.word_count,
        preview_url=preview_url(call, article.id),
        seo=seo_of(created.score),
    )
    text = (
        f"{'It is there already' if created.repeated else 'Stored'} as {article.id}, version {article.version}, slug "
        f"{article.slug}, {plural(article.word_count, 'word')}, status "
        f"{article.status}. {seo_line(data.seo)}\nPreview for the owner: {data.preview_url}"
    )
    return ToolResult(text, data, counts=not created.repeated)


class EditParams(Params):
    """A replacement."""

    find: str = Field(min_length=1, description="Exact stored text; must occur once, or set occurrence or all.")
    replace: str = Field(description="New text; empty deletes the old.")
    occurrence: Integer | None = Field(default=None, ge=1, le=1_000_000, description="Which match to replace, from 1.")
    all: bool = Field(default=False, description="Replace every match.")


class UpdateArticleParams(Params):
    """A change."""

    content_id: ContentId
    expected_version: Integer = Field(ge=1, le=2**31 - 1, description="The version that you read.")
    fields: FieldChanges | None = Field(default=None, description="Omitted: unchanged. Empty: cleared.")
    edits: list[EditParams] | None = Field(default=None, max_length=MAX_EDITS, description="Applied in this order.")


class UpdatedArticleOut(BaseModel):
    """The result of `update_content`."""

    content_id: str = Field(description="The article.")
    version: int = Field(description="The newest version.")
    changed: list[str] = Field(description="The fields that changed; empty if none did.")
    seo: Seo = Field(description="The SEO score, its change, and what would raise it most.")


@mcp_tool(
    name="update_content",
    title="Change an article",
    description=(
        "Changes fields of an article, or parts of its body with edits. Read it with get_content first. If a part of "
        "the call fails, or somebody changed the article since expected_version, nothing is written. Live posts change "
        "only with publish_content."
    ),
    result=UpdatedArticleOut,
    annotations=Annotations(idempotent=True),
    toolsets=("core", "writing"),
)
async def update_content(params: UpdateArticleParams, call: Call) -> ToolResult:
    """Change an article of the caller's account."""
    changes = params.fields.given() if params.fields else {}
    edits = [Edit(edit.find, edit.replace, edit.occurrence, edit.all) for edit in params.edits or ()]
    if not changes and not edits:
        raise InvalidInput("fields", "or edits must say what to change")
    updated = await Articles(context(call)).update(
        call.caller.subject,
        params.content_id,
        params.expected_version,
        changes=changes,
        edits=edits,
        origin=call.caller.connection_name,
    )
    article = updated.article
    data = UpdatedArticleOut(
        content_id=article.id,
        version=article.version,
        changed=list(updated.changed),
        seo=seo_of(updated.score, updated.delta),
    )
    summary = (
        f"Changed: {', '.join(updated.changed)}" if updated.changed else "Nothing changed: the values are the same"
    )
    live = (
        " Its live posts show an older version: publish_content updates them." if article.status == "published" else ""
    )
    return ToolResult(f"{summary}. {article.id} is at version {article.version}.{live} {seo_line(data.seo)}", data)


class GetParams(Params):
    """What to read."""

    content_id: ContentId
    version: Integer | None = Field(default=None, ge=1, le=2**31 - 1, description="Default: the newest.")
    format: Literal["markdown", "html", "text"] = Field(
        default="markdown", description="Format of the body; for edits, the stored body_format."
    )
    offset: Integer = Field(default=0, ge=0, le=2**31 - 1, description="next_offset of the last result.")
    max_chars: Integer = Field(default=20_000, ge=1000, le=100_000, description="Length of the part.")
    versions: bool = Field(default=False, description="List the versions.")
    compare_with: Integer | None = Field(default=None, ge=1, le=2**31 - 1, description="Older version to compare with.")


class ContentPage(BaseModel):
    """The result of `get_content`."""

    content: ArticleView = Field(description="The article's fields.")
    body: str = Field(description="The part of the body; empty with versions or compare_with.")
    next_offset: int | None = Field(description="Pass it as offset for more; null at the end.")
    versions: list[VersionItem] | None = Field(description="The stored versions, newest first, if requested.")
    diff: str | None = Field(description="What changed since compare_with, as a unified diff; empty for nothing.")


@mcp_tool(
    name="get_content",
    title="Read an article",
    description=(
        "Reads an article: fields, status, where it is published, and the body in parts. Use it before update_content "
        "to learn the version and the exact text. Instead of the body, versions lists the versions (who changed what, "
        "when), and compare_with shows a diff; restore_content restores a version."
    ),
    result=ContentPage,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("core", "writing"),
)
async def get_content(params: GetParams, call: Call) -> ToolResult:
    """Return a part of an article of the caller's account, or its history."""
    plugin, subject = context(call), call.caller.subject
    article = await Articles(plugin).get(subject, params.content_id)
    if params.version not in (None, article.version):
        article = await counted(plugin, await Articles(plugin).get(subject, params.content_id, params.version))
    async with plugin.services.database.reading() as session:
        urls = await listing.urls_of(session, [article.id])
        zone = website_zone(await read_zones(session, subject), article.website_id)
    view = article_view(article, urls.get(article.id, ()), call, zone)
    data = ContentPage(content=view, body="", next_offset=None, versions=None, diff=None)
    lines = list(field_lines(view))
    if params.versions:
        data.versions = await version_items(plugin, subject, article.id, zone)
        lines += ["", f"Versions, newest first (times in {zone.key}):", *map(version_line, data.versions)]
    if params.compare_with is not None:
        data.diff = await changes_since(plugin, subject, article, params.compare_with)
        lines += ["", data.diff or f"Versions {params.compare_with} and {article.version} are the same."]
    if not params.versions and params.compare_with is None:
        data.body, data.next_offset, total = await _body(plugin, article, params)
        lines += ["", data.body]
        if data.next_offset is not None:
            lines += ["", f"There is more: call get_content with offset {data.next_offset} of {total:,}."]
    return ToolResult("\n".join(lines), data)


async def _body(plugin: PluginContext, article: Article, params: GetParams) -> tuple[str, int | None, int]:
    """Return a part of the body, the offset of the next part, and the length of the whole. Raises `InvalidInput`."""
    body = await read_as(plugin, article, params.format)
    if params.offset > len(body):
        raise InvalidInput("offset", f"must be at most {len(body):,}: the body has no more characters in this form")
    return *part(body, params.offset, params.max_chars), len(body)


class ListArticlesParams(Params):
    """Which articles."""

    website_id: WebsiteId | None = Field(default=None, description="Only this website's articles.")
    status: Literal["draft", "scheduled", "published", "trashed"] | None = Field(
        default=None, description="Default: all except trash."
    )
    query: str | None = Field(default=None, min_length=1, max_length=300, description="Words that must all occur.")
    tag: str | None = Field(default=None, min_length=1, max_length=200, description="Only with this tag.")
    updated_since: Day | None = Field(
        default=None, description="Changed on this day or later (website's time zone, else UTC)."
    )
    limit: Integer = Field(default=20, ge=1, le=100, description="Maximum number.")
    cursor: Cursor | None = Field(default=None, description="next_cursor of the last result.")


class ContentItem(BaseModel):
    """An article in a list."""

    content_id: str = Field(description="The article's id.")
    title: str = Field(description="The headline.")
    status: str = Field(description="draft, scheduled, published or trashed.")
    score: int | None = Field(description="The SEO score; null if it has none.")
    updated_at: datetime = Field(description="When it was last changed, in its website's time zone, else in UTC.")
    urls: list[str] = Field(description="Where it is published.")
    version: int = Field(description="The newest version.")
    slug: str = Field(description="The end of its URL.")
    website_id: str | None = Field(description="The website that it belongs to.")
    word_count: int = Field(description="How many words readers see.")


class ContentList(BaseModel):
    """The result of `list_content`."""

    items: list[ContentItem] = Field(
        description="The articles, last changed first; matches in the title before others."
    )
    next_cursor: str | None = Field(description="Pass it as cursor for more; null at the end.")


@mcp_tool(
    name="list_content",
    title="Articles",
    description=(
        "Lists the account's articles, last changed first, or searches them; query matches any form of a word. Use it "
        "to find a content_id, and before writing, to see what exists. Returns status, version, SEO score and URLs; "
        "for the text use get_content."
    ),
    result=ContentList,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("core", "writing"),
)
async def list_content(params: ListArticlesParams, call: Call) -> ToolResult:
    """Return a page of the articles of the caller's account."""
    subject = call.caller.subject
    since = datetime.fromisoformat(params.updated_since) if params.updated_since else None
    async with context(call).services.database.reading() as session:
        zones = await read_zones(session, subject)
        criteria = listing.ArticleFilter(
            website_id=params.website_id,
            status=params.status,
            query=(params.query or "").strip(),
            tag=(params.tag or "").strip(),
            updated_since=since and since.replace(tzinfo=website_zone(zones, params.website_id)).astimezone(UTC),
        )
        entries, cursor = await listing.page(session, subject, criteria, limit=params.limit, cursor=params.cursor)
    if params.website_id is not None and not entries:
        await Websites(context(call)).get(subject, params.website_id)  # an unknown one is an error
    items = [_item(entry, website_zone(zones, entry.website_id)) for entry in entries]
    lines = [_line(item, website_zone(zones, item.website_id)) for item in items]
    more = [f"More: call list_content again with cursor {cursor}"] if cursor else []
    return ToolResult("\n".join(lines + more) or "No articles match.", ContentList(items=items, next_cursor=cursor))


def _item(entry: listing.ArticleEntry, zone: ZoneInfo) -> ContentItem:
    return ContentItem(
        content_id=entry.id,
        title=entry.title,
        status=entry.status,
        score=entry.score,
        updated_at=local_time(entry.updated_at, zone),
        urls=list(entry.urls),
        version=entry.version,
        slug=entry.slug,
        website_id=entry.website_id,
        word_count=entry.word_count,
    )


def _line(item: ContentItem, zone: ZoneInfo) -> str:
    score = "no SEO score" if item.score is None else f"SEO score {item.score}"
    about = [
        f"version {item.version}",
        plural(item.word_count, "word"),
        score,
        f"changed {time_text(item.updated_at, zone)}",
    ]
    if item.website_id:
        about.append(f"website {item.website_id}")
    return f"{item.content_id}  {item.status}  {item.title} ({', '.join([*about, *item.urls])})"


TOOLS: Final = (create_content, update_content, get_content, list_content)
