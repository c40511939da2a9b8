"""The tools. Each sees the bookmarks of its caller alone."""

from __future__ import annotations

from datetime import UTC, datetime

from pressroom.sdk import Annotations, Call, InvalidInput, Params, mcp_tool
from pydantic import BaseModel, Field
from sqlalchemy import delete, insert, select

from bookmarks.tables import BOOKMARKS


class BookmarkParams(Params):
    """What to keep."""

    url: str = Field(max_length=2000, description="URL of the page, which begins with https://.")
    note: str = Field(default="", max_length=500, description="Why it is worth keeping.")


class ListParams(Params):
    """Which to list."""

    text: str = Field(default="", max_length=100, description="Only bookmarks whose URL or note contains this.")
    limit: int = Field(default=20, ge=1, le=100, description="Maximum number of bookmarks.")


class Bookmark(BaseModel):
    """One bookmark."""

    url: str = Field(description="URL of the page.")
    note: str = Field(description="Why it is worth keeping.")
    kept_at: datetime = Field(description="When it was kept.")


class Bookmarks(BaseModel):
    """Bookmarks, newest first."""

    bookmarks: list[Bookmark] = Field(description="The bookmarks, newest first.")


@mcp_tool(name="bookmark_page", title="Keep a bookmark", annotations=Annotations(idempotent=True))
async def bookmark_page(params: BookmarkParams, call: Call) -> Bookmark:
    """Keeps the URL of a page with a note. The same URL again replaces the note. Returns the bookmark."""
    if not params.url.startswith("https://"):
        raise InvalidInput("url", "must begin with https://")
    services, subject, now = call.services, call.caller.subject, datetime.now(UTC)
    size = len(params.url.encode()) + len(params.note.encode())
    async with services.database.writing() as session:
        await services.storage.reserve(session, subject, size)
        same = (BOOKMARKS.c.subject == subject) & (BOOKMARKS.c.url == params.url)
        await session.execute(delete(BOOKMARKS).where(same))
        row = {"subject": subject, "url": params.url, "note": params.note, "size": size, "kept_at": now}
        await session.execute(insert(BOOKMARKS).values(**row))
    return Bookmark(url=params.url, note=params.note, kept_at=now)


@mcp_tool(name="list_bookmarks", title="List bookmarks", annotations=Annotations(read_only=True, idempotent=True))
async def list_bookmarks(params: ListParams, call: Call) -> Bookmarks:
    """Lists the bookmarks that were kept, newest first. Use it to find a page that somebody saw before."""
    found = select(BOOKMARKS).where(BOOKMARKS.c.subject == call.caller.subject)
    if params.text:
        wanted = BOOKMARKS.c.url.icontains(params.text, autoescape=True)
        found = found.where(wanted | BOOKMARKS.c.note.icontains(params.text, autoescape=True))
    async with call.services.database.reading() as session:
        rows = (await session.execute(found.order_by(BOOKMARKS.c.id.desc()).limit(params.limit))).all()
    return Bookmarks(bookmarks=[Bookmark(url=row.url, note=row.note, kept_at=row.kept_at) for row in rows])
