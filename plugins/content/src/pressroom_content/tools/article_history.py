"""Tools for the trash and for the versions of articles."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from pressroom.sdk import Annotations, Call, Integer, InvalidInput, Params, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_content.articles import trash
from pressroom_content.articles.store import Articles
from pressroom_content.articles.versions import difference
from pressroom_content.tools.article_fields import ContentId
from pressroom_content.tools.websites import context


class DeleteArticleParams(Params):
    """Which article."""

    content_id: ContentId
    confirm: bool = Field(description="Must be true: the user has agreed that the article goes to the trash.")
    unpublish: bool = Field(default=False, description="Whether its live posts are taken down to drafts as well.")


class DeletedFrom(BaseModel):
    """What is on a website."""

    publication_id: str = Field(description="The publication.")
    website_id: str = Field(description="The website.")
    status: str = Field(description="What it is there now.")
    url: str = Field(description="Where it is or was.")


class DeletedArticleOut(BaseModel):
    """The answer of `delete_content`."""

    trashed: bool = Field(description="Whether it is in the trash now.")
    publications: list[DeletedFrom] = Field(description="What of it is, or was, on websites.")


@mcp_tool(
    name="delete_content",
    title="Move an article to the trash",
    description=(
        "Moves an article to the trash, from which restore_content brings it back for some time (30 days, unless the "
        "operator set another time). Ask the user first, then set confirm to true. Live posts stay online unless "
        "unpublish is true, which takes them down to drafts first. One that waits to be published has to be cancelled "
        "first, or unpublish set. Returns trashed, and what of it is on websites."
    ),
    result=DeletedArticleOut,
    annotations=Annotations(destructive=True, idempotent=True),
    toolsets=("content",),
)
async def delete_content(params: DeleteArticleParams, call: Call) -> ToolResult:
    """Move an article of the caller's account to the trash."""
    if not params.confirm:
        raise InvalidInput("confirm", "must be true; ask the user whether the article may go to the trash")
    found = await trash.trash(context(call), call.caller.subject, params.content_id, unpublish=params.unpublish)
    publications = [
        DeletedFrom(publication_id=one.id, website_id=one.website_id, status=one.status, url=one.url) for one in found
    ]
    lines = [f"{params.content_id} is in the trash; restore_content brings it back."]
    lines += [f"- {one.url or one.website_id}: {one.status}" for one in publications]
    return ToolResult("\n".join(lines), DeletedArticleOut(trashed=True, publications=publications))


class RestoreParams(Params):
    """Which article, and which version."""

    content_id: ContentId
    version: Integer | None = Field(
        default=None, ge=1, le=2**31 - 1, description="The older version that becomes the newest; left out: as it is."
    )


class RestoredArticleOut(BaseModel):
    """The answer of `restore_content`."""

    content_id: str = Field(description="The article.")
    version: int = Field(description="The newest version.")
    status: str = Field(description="draft, scheduled or published.")


@mcp_tool(
    name="restore_content",
    title="Bring an article back",
    description=(
        "Brings an article back from the trash, or back to what an older version said; list_content_versions shows "
        "them. That makes a new version: nothing is lost, and slug and website stay. Live posts stay as they are until "
        "update_publication. Returns the article and its newest version."
    ),
    result=RestoredArticleOut,
    annotations=Annotations(idempotent=True),
    toolsets=("content",),
)
async def restore_content(params: RestoreParams, call: Call) -> ToolResult:
    """Bring back an article of the caller's account."""
    article = await trash.restore(
        context(call), call.caller.subject, params.content_id, params.version, origin=call.caller.connection_name
    )
    data = RestoredArticleOut(content_id=article.id, version=article.version, status=article.status)
    return ToolResult(f"{article.id} is {article.status}, at version {article.version}.", data)


class VersionsParams(Params):
    """Which article, and which versions to compare."""

    content_id: ContentId
    a: Integer | None = Field(default=None, ge=1, le=2**31 - 1, description="The version to compare with b.")
    b: Integer | None = Field(default=None, ge=1, le=2**31 - 1, description="The version that a is compared with.")


class VersionItem(BaseModel):
    """A version of an article."""

    version: int = Field(description="Its number.")
    created_at: datetime = Field(description="When it was written (UTC).")
    client: str = Field(description="The connection that wrote it; empty where it had none.")
    author: str = Field(description="Whom the text is by, as the version says.")
    changed: list[str] = Field(description="The fields that changed against the version before.")
    added: int = Field(description="Lines of the body that were added.")
    removed: int = Field(description="Lines of the body that were removed.")


class VersionList(BaseModel):
    """The answer of `list_content_versions`."""

    versions: list[VersionItem] = Field(description="The versions that are kept, newest first.")
    diff: str | None = Field(description="What changed from a to b, as a unified diff; null without a and b.")


@mcp_tool(
    name="list_content_versions",
    title="Versions of an article",
    description=(
        "Lists the versions of an article, newest first: when, by which client, which fields changed and how many "
        "lines. With a and b it also shows what changed between the two, fields and body, as a unified diff. Use it to "
        "see what happened to a text, or before restore_content."
    ),
    result=VersionList,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("content",),
)
async def list_content_versions(params: VersionsParams, call: Call) -> ToolResult:
    """Return the versions of an article of the caller's account."""
    plugin, subject = context(call), call.caller.subject
    if (params.a is None) != (params.b is None):
        raise InvalidInput("b" if params.b is None else "a", "must be given too, to compare two versions")
    found = await trash.listed_versions(plugin, subject, params.content_id)
    items = [
        VersionItem(
            version=one.version,
            created_at=one.created_at,
            client=one.origin,
            author=one.author,
            changed=list(one.changed),
            added=one.added,
            removed=one.removed,
        )
        for one in found
    ]
    diff = None
    if params.a is not None and params.b is not None:
        articles = Articles(plugin)
        one = await articles.get(subject, params.content_id, params.a)
        other = await articles.get(subject, params.content_id, params.b)
        diff = await plugin.services.workers.run(difference, one, other, owner=subject, what="the comparison")
    lines = [
        f"{one.version}  {one.created_at:%Y-%m-%d %H:%M} UTC  by {one.client or 'no connection'}: "
        f"{', '.join(one.changed) or 'first version'} (+{one.added} -{one.removed})"
        for one in items
    ]
    text = "\n".join(lines) + (f"\n\n{diff or 'The two versions are the same.'}" if diff is not None else "")
    return ToolResult(text, VersionList(versions=items, diff=diff))


TOOLS: Final = (delete_content, restore_content, list_content_versions)
