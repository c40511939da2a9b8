"""The keys with which websites prove to IndexNow that they are asked by their owner."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

from pressroom.sdk import HttpRequest, HttpResponse, NotFound, PluginContext, Route
from pressroom_content.contract import content_services
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from pressroom_search_performance.tables import IndexNowKeyRow

_FILE = r"[0-9a-f]{32}\.txt"


async def key_of(plugin: PluginContext, website_id: str) -> str:
    """Return the key of a website; the first time, make one."""
    database = plugin.services.database
    for _ in range(2):
        async with database.reading() as session:
            row = await session.get(IndexNowKeyRow, website_id)
        if row is not None:
            return str(row.key)
        try:
            async with database.writing() as session:
                session.add(
                    IndexNowKeyRow(website_id=website_id, key=secrets.token_hex(16), created_at=datetime.now(UTC))
                )
        except IntegrityError:  # two at the same moment: it is there now
            continue
    return await key_of(plugin, website_id)


def routes(plugin: PluginContext) -> Sequence[Route]:
    """Return the URL of key files for sites on this server: at its root, so that they hold for all its paths."""
    return [Route(f"/<key_file:{_FILE}>", _serve(plugin))]


def _serve(plugin: PluginContext) -> Callable[[HttpRequest], Awaitable[HttpResponse]]:
    async def serve(request: HttpRequest) -> HttpResponse:
        asked = request.path_params["key_file"].removesuffix(".txt")
        # The key of a website elsewhere must not be here: it would prove that this server is that website.
        holder = select(IndexNowKeyRow.website_id).where(IndexNowKeyRow.key == asked)
        async with plugin.services.database.reading() as session:
            website_id = await session.scalar(holder)
        if website_id is None or not await content_services(plugin).websites.is_builtin(website_id):
            raise NotFound(f"there is nothing at {request.path}")
        return HttpResponse(asked.encode(), media_type="text/plain; charset=utf-8")

    return serve
