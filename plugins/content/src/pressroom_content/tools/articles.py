"""Tools with which articles are written, read and put away."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, Literal, cast

from pressroom.sdk import Annotations, Call, ClientRequestId, Integer, InvalidInput, Params, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_content.articles import listing
from pressroom_content.articles.edits import Edit
from pressroom_content.articles.fields import Draft, read_as
from pressroom_content.articles.listing import part
from pressroom_content.articles.store import Articles, ArticleUpdate
from pressroom_content.contract import Cursor, Day, WebsiteId
from pressroom_content.tools.article_fields import (
    MAX_LINE_LENGTH,
    ArticleView,
    ContentId,
    FieldChanges,
    Seo,
    Terms,
    article_view,
    preview_url,
    seo_line,
    seo_of,
)
from pressroom_content.tools.websites import context

MAX_EDITS: Final = 100
QUOTA: Final = "articles_created"


class CreateParams(Params):
    """A new article."""

    title: str = Field(min_length=1, max_length=MAX_LINE_LENGTH, description="The headline, without markup.")
    body: str = Field(description="The text without the headline, in body_format. At most about 2 MB.")
    body_format: Literal["markdown", "html"] = Field(
        default="markdown", description="markdown is CommonMark with tables, strikethrough and footnotes."
    )
    website_id: WebsiteId | None = Field(default=None, description="The website it is meant for, from list_websites.")
    slug: str | None = Field(
        default=None, max_length=200, description="The part of the URL that names it; left out: from the title."
    )
    excerpt: str = Field(default="", max_length=5000, description="A summary for lists, as plain text.")
    keyphrase: str = Field(default="", max_length=200, description="What it is to be found by.")
    synonyms: Terms = Field(default=[], description="Other words for the keyphrase.")
    meta_title: str = Field(default="", max_length=MAX_LINE_LENGTH, description="The title in search results.")
    meta_description: str = Field(default="", max_length=2000, description="The text in search results.")
    tags: Terms = Field(default=[], description="Names of tags.")
    categories: Terms = Field(default=[], description="Names of categories of the website.")
    language: str = Field(default="", max_length=35, description="Such as en, de-CH or pt-BR (BCP 47).")
    canonical_url: str = Field(default="", max_length=2048, description="Where the original is, if elsewhere.")
    author: str = Field(default="", max_length=200, description="Whom the text is by.")
    client_request_id: ClientRequestId = None


class CreatedArticleOut(BaseModel):
    """The answer of `create_content`."""

    content_id: str = Field(description="The article's id, for all other tools.")
    version: int = Field(description="The version; give it to update_content as expected_version.")
    slug: str = Field(description="The slug, with a number at its end where another article had it.")
    word_count: int = Field(description="How many words readers see.")
    preview_url: str = Field(description="A page of the dashboard that shows the article to its owner.")
    seo: Seo = Field(description="The SEO score, and what would raise it most.")
    warnings: list[str] = Field(description="What of this call was not stored; empty where all is well.")


async def _is_repeat(params: Params, call: Call) -> bool:
    given = cast("CreateParams", params).client_request_id
    return given is not None and await Articles(context(call)).is_made(call.caller.subject, given)


@mcp_tool(
    name="create_content",
    title="Create an article",
    description=(
        "Stores a new article as a draft, in markdown or HTML, with its SEO fields. Nothing goes public: publish it "
        "with publish_content. Use update_content to change an article that exists. Give a client_request_id that you "
        "choose, so that a repeated call returns the same article instead of making a second one. Returns content_id, "
        "version, slug, word count, a preview link, and the SEO score with what would raise it most."
    ),
    result=CreatedArticleOut,
    annotations=Annotations(idempotent=True),
    toolsets=("content",),
    quota=QUOTA,
    free="a repeated call with the same client_request_id",
    counted_before=_is_repeat,
)
async def create_content(params: CreateParams, call: Call) -> ToolResult:
    """Store an article of the caller's account."""
    given = params.model_dump(exclude={"client_request_id"})
    lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
    written = await Articles(context(call)).create(
        call.caller.subject,
        Draft(**{**given, **lists, "slug": params.slug or ""}),
        request_id=params.client_request_id,
        origin=call.caller.connection_name,
    )
    article = written.article
    data = CreatedArticleOut(
        content_id=article.id,
        version=article.version,
        slug=article.slug,
        word_count=article.word_count,
        preview_url=preview_url(call, article.id),
        seo=seo_of(written.score),
        warnings=[_not_stored(written)] if written.ignored else [],
    )
    text = (
        f"{'It is there already' if written.repeated else 'Stored'} as {article.id}, version {article.version}, slug "
        f"{article.slug}, {article.word_count:,} words, status "
        f"{article.status}. {seo_line(data.seo)}\nPreview for the owner: {data.preview_url}"
    )
    text = "\n".join([*(f"Warning: {one}" for one in data.warnings), text])
    return ToolResult(text, data, counts=not written.repeated)


def _not_stored(written: ArticleUpdate) -> str:
    return (
        f"this client_request_id made {written.article.id} before, with other values of {', '.join(written.ignored)}; "
        "those of this call were not stored. Change the article with update_content, or make another one with another "
        "client_request_id"
    )


class EditParams(Params):
    """A part of the stored body that is replaced by another."""

    find: str = Field(min_length=1, description="The text to replace, exactly as it is stored; it must be there once.")
    replace: str = Field(description="The replacement; empty deletes the text.")
    occurrence: Integer | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="Which one is meant where it is there several times; 1: the first.",
    )
    all: bool = Field(default=False, description="Whether all of them are replaced.")


class UpdateArticleParams(Params):
    """A change of an article."""

    content_id: ContentId
    expected_version: Integer = Field(
        ge=1, le=2**31 - 1, description="The version that the change was made to; refused where it is not the newest."
    )
    fields: FieldChanges | None = Field(default=None, description="The fields to change, with their new values.")
    edits: list[EditParams] | None = Field(
        default=None,
        max_length=MAX_EDITS,
        description="Parts of the body to replace, one after the other: cheaper than the whole body in fields.body.",
    )


class UpdatedArticleOut(BaseModel):
    """The answer of `update_content`."""

    content_id: str = Field(description="The article.")
    version: int = Field(description="The newest version.")
    changed: list[str] = Field(description="The fields that changed; empty where all were so before.")
    seo: Seo = Field(description="The SEO score, its change, and what would raise it most.")


@mcp_tool(
    name="update_content",
    title="Change an article",
    description=(
        "Changes fields of an article, or parts of its body through edits that each replace a text that occurs there "
        "exactly once. Give the version that you read as expected_version: where somebody changed the article since, "
        "nothing is written and the answer says so. All of a call is written, or nothing. Live posts stay as they are "
        "until update_publication. Returns the new version, which fields changed, and the SEO score with its change."
    ),
    result=UpdatedArticleOut,
    annotations=Annotations(idempotent=True),
    toolsets=("content",),
)
async def update_content(params: UpdateArticleParams, call: Call) -> ToolResult:
    """Change an article of the caller's account."""
    changes = params.fields.given() if params.fields else {}
    edits = [Edit(one.find, one.replace, one.occurrence, one.all) for one in params.edits or ()]
    if not changes and not edits:
        raise InvalidInput("fields", "or edits must say what to change")
    written = await Articles(context(call)).update(
        call.caller.subject,
        params.content_id,
        params.expected_version,
        changes=changes,
        edits=edits,
        origin=call.caller.connection_name,
    )
    article = written.article
    data = UpdatedArticleOut(
        content_id=article.id,
        version=article.version,
        changed=list(written.changed),
        seo=seo_of(written.score, written.delta),
    )
    what = f"Changed: {', '.join(written.changed)}" if written.changed else "Nothing changed: it was all so before"
    return ToolResult(f"{what}. {article.id} is at version {article.version}. {seo_line(data.seo)}", data)


class GetParams(Params):
    """Which article, and which part of it."""

    content_id: ContentId
    version: Integer | None = Field(
        default=None, ge=1, le=2**31 - 1, description="An older version; left out: the newest."
    )
    format: Literal["markdown", "html", "text"] = Field(
        default="markdown", description="The form of the body. Edits need the form in which it is stored."
    )
    offset: Integer = Field(default=0, ge=0, le=2**31 - 1, description="Where to begin: the next_offset before.")
    max_chars: Integer = Field(
        default=20_000, ge=1000, le=100_000, description="How many characters of the body to return at most."
    )


class ContentPage(BaseModel):
    """The answer of `get_content`."""

    content: ArticleView = Field(description="The article's fields.")
    body: str = Field(description="The part of the body.")
    next_offset: int | None = Field(description="Give it as offset to read on; null at the end.")


@mcp_tool(
    name="get_content",
    title="Read an article",
    description=(
        "Reads an article: its fields, and its body in parts that end between paragraphs. Use it before update_content "
        "to learn the version and the exact text. The body comes as markdown, HTML or plain text; content.body_format "
        "says how it is stored. Returns content, body and next_offset, which is null at the end."
    ),
    result=ContentPage,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("content",),
)
async def get_content(params: GetParams, call: Call) -> ToolResult:
    """Return a part of an article of the caller's account."""
    plugin = context(call)
    article = await Articles(plugin).get(call.caller.subject, params.content_id, params.version)
    async with plugin.services.database.reading() as session:
        urls = await listing.urls_of(session, [article.id])
    whole = await read_as(plugin, article, params.format)
    if params.offset > len(whole):
        raise InvalidInput("offset", f"must be at most {len(whole):,}: the body has no more characters in this form")
    body, following = part(whole, params.offset, params.max_chars)
    data = ContentPage(content=article_view(article, urls.get(article.id, ()), call), body=body, next_offset=following)
    head = (
        f"{article.title}\n{article.id}, version {article.version}, {article.status}, stored as {article.body_format}, "
        f"{article.word_count:,} words"
    )
    head += "".join(f"\n{line}" for line in _field_lines(data.content))
    more = f"\n\nThere is more: offset {following} of {len(whole):,}." if following is not None else ""
    return ToolResult(f"{head}\n\n{body}{more}", data)


_SHOWN: Final = (
    "slug", "website_id", "language", "keyphrase", "synonyms", "meta_title", "meta_description", "excerpt", "tags",
    "categories", "author", "canonical_url", "featured_media_id", "featured_alt", "score", "urls",
)  # fmt: skip


def _field_lines(view: ArticleView) -> Iterator[str]:
    """Yield the fields that have a value, a line each: clients may show models the text of an answer only."""
    for name in _SHOWN:
        value = getattr(view, name)
        if value not in ("", None, []):
            yield f"{name}: {', '.join(value) if isinstance(value, list) else ' '.join(str(value).split())}"


class ListArticlesParams(Params):
    """Which articles."""

    website_id: WebsiteId | None = Field(default=None, description="Only those meant for this website.")
    status: Literal["draft", "scheduled", "published", "trashed"] | None = Field(
        default=None, description="Only those; left out: all but the ones in the trash."
    )
    query: str | None = Field(
        default=None, min_length=1, max_length=300, description="Words that all occur in the article, in any form."
    )
    tag: str | None = Field(default=None, min_length=1, max_length=200, description="Only those with this tag.")
    updated_since: Day | None = Field(default=None, description="Only those changed since this day began in UTC.")
    limit: Integer = Field(default=20, ge=1, le=100, description="How many to return at most.")
    cursor: Cursor | None = Field(
        default=None, description="The next_cursor of the answer before; keep the other arguments as they were."
    )


class ContentItem(BaseModel):
    """An article in a list."""

    content_id: str = Field(description="The article's id.")
    title: str = Field(description="The headline.")
    status: str = Field(description="draft, scheduled, published or trashed.")
    score: int | None = Field(description="The SEO score; null where it has none.")
    updated_at: datetime = Field(description="When it was last changed (UTC).")
    urls: list[str] = Field(description="Where it is published.")
    version: int = Field(description="The newest version.")
    slug: str = Field(description="The part of the URL that names it.")
    website_id: str | None = Field(description="The website that it is meant for.")
    word_count: int = Field(description="How many words readers see.")


class ContentList(BaseModel):
    """The answer of `list_content`."""

    items: list[ContentItem] = Field(
        description="The articles, last changed first; matches in the title before others."
    )
    next_cursor: str | None = Field(description="Give it as cursor to read on; null at the end.")


@mcp_tool(
    name="list_content",
    title="Articles",
    description=(
        "Lists the account's articles, the last changed first, or searches them: query finds articles that have all of "
        "its words, in any form, with matches in the title first. Use it to find an article's content_id, and before "
        "writing, to see what there is. Returns items with title, status, score and URLs, and next_cursor, which "
        "is null at the end."
    ),
    result=ContentList,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("content",),
)
async def list_content(params: ListArticlesParams, call: Call) -> ToolResult:
    """Return a page of the articles of the caller's account."""
    since = datetime.fromisoformat(params.updated_since).replace(tzinfo=UTC) if params.updated_since else None
    wanted = listing.ArticleFilter(
        website_id=params.website_id,
        status=params.status,
        query=(params.query or "").strip(),
        tag=(params.tag or "").strip(),
        updated_since=since,
    )
    found, cursor = await listing.page(
        context(call), call.caller.subject, wanted, limit=params.limit, cursor=params.cursor
    )
    names = ContentItem.model_fields.keys() - {"content_id", "urls"}
    items = [
        ContentItem(content_id=one.id, urls=list(one.urls), **{name: getattr(one, name) for name in names})
        for one in found
    ]
    lines = [
        f"{one.content_id}  {one.status}  {one.title} ({one.word_count:,} words, {one.updated_at:%Y-%m-%d})"
        for one in items
    ]
    more = [f"There are more: cursor {cursor}"] if cursor else []
    return ToolResult("\n".join(lines + more) or "No articles match.", ContentList(items=items, next_cursor=cursor))


TOOLS: Final = (create_content, update_content, get_content, list_content)
