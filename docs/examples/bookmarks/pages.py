"""The page of the dashboard."""

from __future__ import annotations

from html import escape

from pressroom.sdk import HttpRequest, HttpResponse, PluginContext
from sqlalchemy import delete, select

from bookmarks.tables import BOOKMARKS


class BookmarkPages:
    """Shows the bookmarks of the person who is signed in, and deletes those that are no longer wanted."""

    def __init__(self, plugin: PluginContext) -> None:
        """Take the plugin's context, whose services are there once the server runs."""
        self._plugin = plugin

    async def show(self, request: HttpRequest) -> HttpResponse:
        """Return the list, or delete what a form names."""
        mine = BOOKMARKS.c.subject == request.subject
        if request.method == "POST":
            url = request.form.get("url", "")
            async with self._plugin.services.database.writing() as session:
                await session.execute(delete(BOOKMARKS).where(mine & (BOOKMARKS.c.url == url)))
            return HttpResponse.redirect("/dashboard/bookmarks")
        async with self._plugin.services.database.reading() as session:
            rows = (await session.execute(select(BOOKMARKS).where(mine).order_by(BOOKMARKS.c.id.desc()))).all()
        items = "".join(self._item(request, row.url, row.note) for row in rows)
        shown = f"<ul>{items}</ul>" if items else "<p>No bookmarks yet. Ask an AI client to keep a page.</p>"
        head = '<header class="page-head"><h1>Bookmarks</h1></header>'
        return HttpResponse(f'{head}<section class="panel">{shown}</section>'.encode())

    def _item(self, request: HttpRequest, url: str, note: str) -> str:
        return (
            f'<li><a href="{escape(url)}" rel="noopener noreferrer">{escape(url)}</a> {escape(note)}'
            f'<form method="post"><input type="hidden" name="csrf" value="{escape(request.csrf_token)}">'
            f'<input type="hidden" name="url" value="{escape(url)}"><button class="button">Delete</button></form></li>'
        )
