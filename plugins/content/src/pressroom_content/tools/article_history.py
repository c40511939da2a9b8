"""Tools for the trash, and the version history that get_content shows."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from pressroom.sdk import Annotations, Call, Integer, InvalidInput, Params, PluginContext, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_content.articles import trash
from pressroom_content.articles.store import Articles
from pressroom_content.articles.versions import difference
from pressroom_content.records import Article
from pressroom_content.tools.common import ContentId, context, local_time


class DeleteArticleParams(Params):
    """Which article."""

    content_id: ContentId
    confirm: bool = Field(description="Must be true: the user has agreed.")
    unpublish: bool = Field(default=False, description="Also turn its live posts into drafts on their websites.")


class DeletedFrom(BaseModel):
    """What is on a website."""

    publication_id: str = Field(description="The publication.")
    website_id: str = Field(description="The website.")
    status: str = Field(description="Its status there now.")
    url: str = Field(description="Where it is or was.")


class DeletedArticleOut(BaseModel):
    """The result of `delete_content`."""

    trashed: bool = Field(description="Whether it is in the trash now.")
    publications: list[DeletedFrom] = Field(description="Where it is, or was, published.")


@mcp_tool(
    name="delete_content",
    title="Move an article to the trash",
    description=(
        "Moves an article to the trash, from which restore_content can restore it for some time (usually 30 days). Ask "
        "the user first. Live posts stay online unless unpublish is true. If it is scheduled, first call "
        "unpublish_content, or set unpublish. Returns where it is, or was, published."
    ),
    result=DeletedArticleOut,
    annotations=Annotations(idempotent=True),
    toolsets=("writing",),
    publishes=True,
)
async def delete_content(params: DeleteArticleParams, call: Call) -> ToolResult:
    """Move an article of the caller's account to the trash."""
    if not params.confirm:
        raise InvalidInput("confirm", "must be true; ask the user whether the article may go to the trash")
    affected = await trash.trash(context(call), call.caller.subject, params.content_id, unpublish=params.unpublish)
    publications = [
        DeletedFrom(
            publication_id=publication.id,
            website_id=publication.website_id,
            status=publication.status,
            url=publication.url,
        )
        for publication in affected
    ]
    lines = [f"{params.content_id} is in the trash; restore_content brings it back."]
    lines += [
        f"- {publication.publication_id} on {publication.website_id}: {publication.status} {publication.url}".rstrip()
        for publication in publications
    ]
    return ToolResult("\n".join(lines), DeletedArticleOut(trashed=True, publications=publications))


class RestoreParams(Params):
    """Which article, and which version."""

    content_id: ContentId
    version: Integer | None = Field(
        default=None, ge=1, le=2**31 - 1, description="Version to restore; default: only take it out of the trash."
    )


class RestoredArticleOut(BaseModel):
    """The result of `restore_content`."""

    content_id: str = Field(description="The article.")
    version: int = Field(description="The newest version.")
    status: str = Field(description="draft, scheduled or published.")


@mcp_tool(
    name="restore_content",
    title="Restore an article",
    description=(
        "Restores an article from the trash, or an older version, which becomes the newest; get_content with versions "
        "lists them. Nothing is lost; slug and website stay. Live posts change only with publish_content."
    ),
    result=RestoredArticleOut,
    annotations=Annotations(idempotent=True),
    toolsets=("writing",),
)
async def restore_content(params: RestoreParams, call: Call) -> ToolResult:
    """Bring back an article of the caller's account."""
    article = await trash.restore(
        context(call), call.caller.subject, params.content_id, params.version, origin=call.caller.connection_name
    )
    data = RestoredArticleOut(content_id=article.id, version=article.version, status=article.status)
    return ToolResult(f"{article.id} is {article.status}, at version {article.version}.", data)


class VersionItem(BaseModel):
    """A version of an article."""

    version: int = Field(description="The version's number.")
    created_at: datetime = Field(description="When it was written.")
    client: str = Field(description="The connection that wrote it; may be empty.")
    author: str = Field(description="The author that the version names.")
    changed: list[str] = Field(description="The fields that changed against the version before.")
    added: int = Field(description="Lines of the body that were added.")
    removed: int = Field(description="Lines of the body that were removed.")


async def version_items(plugin: PluginContext, subject: str, content_id: str, zone: ZoneInfo) -> list[VersionItem]:
    """Return the stored versions of an article, newest first. Raises `NotFound`."""
    return [
        VersionItem(
            version=entry.version,
            created_at=local_time(entry.created_at, zone),
            client=entry.origin,
            author=entry.author,
            changed=list(entry.changed),
            added=entry.added,
            removed=entry.removed,
        )
        for entry in await trash.listed_versions(plugin, subject, content_id)
    ]


def version_line(item: VersionItem) -> str:
    """Return a version as a line for the model."""
    at = f"{item.created_at:%Y-%m-%d %H:%M} {item.created_at.isoformat()[-6:]}"
    changed = ", ".join(item.changed) or "first version"
    return f"{item.version}  {at}  by {item.client or 'no connection'}: {changed} (+{item.added} -{item.removed} lines)"


async def changes_since(plugin: PluginContext, subject: str, article: Article, version: int) -> str:
    """Return the diff from a version to an article, which can be an older version too. Raises `NotFound`."""
    before = await Articles(plugin).get(subject, article.id, version)
    return await plugin.services.workers.run(difference, before, article, owner=subject, what="the comparison")


TOOLS: Final = (delete_content, restore_content)
