"""The parts of the content plugin, joined: tools, routes, background jobs, and the storage that accounts use.

Each group of tools is a module in `tools` with a tuple `TOOLS`. A part that serves URLs has a function
`routes(plugin)`, one with background work `jobs(plugin)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pressroom.sdk import (
    IndexEntries,
    Job,
    McpTool,
    PluginContext,
    PublishingTargets,
    Route,
    SharedKeys,
    StorageKind,
    VirtualHosts,
)
from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.articles.exporting import routes as export_routes
from pressroom_content.articles.trash import jobs as article_jobs
from pressroom_content.articles.trash import make_room
from pressroom_content.builtin_site.connector import builtin_connector
from pressroom_content.builtin_site.routes import domain_hosts, domain_routes
from pressroom_content.builtin_site.routes import routes as builtin_routes
from pressroom_content.builtin_site.tables import BuiltinFileRow, BuiltinPostRow
from pressroom_content.pages.article import ArticlePages
from pressroom_content.pages.article_edit import EditPages
from pressroom_content.pages.article_publications import PublicationPages, PublishPages
from pressroom_content.pages.article_versions import VersionPages
from pressroom_content.pages.articles import ArticleList
from pressroom_content.pages.calendar import CalendarPages
from pressroom_content.pages.connect import ConnectPages
from pressroom_content.pages.connect_websites import WebsitePages
from pressroom_content.pages.overview import sections as overview
from pressroom_content.publishing.engine import jobs as publishing_jobs
from pressroom_content.tables import ArticleRow, ContentBase, ExportRow, WebsiteRow
from pressroom_content.text_index import published
from pressroom_content.tools import (
    article_history,
    articles,
    connecting,
    ideas,
    links,
    publishing,
    site_edits,
    transfer,
    voice,
    website_content,
    websites,
)
from pressroom_content.websites.settings import credential_keys
from pressroom_content.websites.store import Websites
from pressroom_content.websites.sync import jobs as website_jobs

__all__ = [
    "METADATA",
    "STORAGE",
    "TOOLS",
    "builtin_connector",
    "index_entries",
    "jobs",
    "overview",
    "publishing_targets",
    "routes",
    "shared_keys",
    "virtual_hosts",
]

METADATA: Final = ContentBase.metadata
TOOLS: Final[tuple[McpTool, ...]] = (
    *websites.TOOLS,
    *connecting.TOOLS,
    *website_content.TOOLS,
    *articles.TOOLS,
    *article_history.TOOLS,
    *transfer.TOOLS,
    *links.TOOLS,
    *ideas.TOOLS,
    *voice.TOOLS,
    *publishing.TOOLS,
    *site_edits.TOOLS,
    *website_content.REDIRECT_TOOLS,
)


async def _articles(session: AsyncSession, user_id: str) -> int:
    return int(await session.scalar(select(func.sum(ArticleRow.stored)).where(ArticleRow.user_id == user_id)) or 0)


async def _exports(session: AsyncSession, user_id: str) -> int:
    query = select(func.sum(func.length(ExportRow.content))).where(ExportRow.user_id == user_id)
    return int(await session.scalar(query) or 0)


async def _forget_exports(session: AsyncSession, user_id: str, needed: int) -> None:
    del needed
    await session.execute(delete(ExportRow).where(ExportRow.user_id == user_id))


async def _sites(session: AsyncSession, user_id: str) -> int:
    site_ids = select(WebsiteRow.id).where(WebsiteRow.user_id == user_id)
    sums = (
        select(func.sum(table.size)).where(table.website_id.in_(site_ids)).scalar_subquery()
        for table in (BuiltinPostRow, BuiltinFileRow)
    )
    posts, files = (await session.execute(select(*sums))).one()
    return int(posts or 0) + int(files or 0)


STORAGE: Final = (
    StorageKind("exports", "exports", _exports, "wait for an hour until exports are gone", _forget_exports),
    StorageKind(
        "articles", "articles with their versions", _articles, "delete articles with delete_content", make_room
    ),
    StorageKind(
        "sites",
        "built-in sites",
        _sites,
        "delete posts with unpublish_content, or a whole site with disconnect_website and delete_posts",
    ),
)
"""Exports come first and are deleted first, since they can be created again."""


def jobs(plugin: PluginContext) -> Sequence[Job]:
    """Return the background jobs."""
    return [*article_jobs(plugin), *publishing_jobs(plugin), *website_jobs(plugin)]


def shared_keys(plugin: PluginContext) -> Sequence[SharedKeys]:
    """Return the keys that all hosts sharing a database need."""
    return credential_keys(plugin)


def publishing_targets(plugin: PluginContext) -> Sequence[PublishingTargets]:
    """Return the providers of the names of an account's websites."""

    async def websites(subject: str) -> Sequence[str]:
        connected, _ = await Websites(plugin).page(subject, limit=100)
        return [website.url.partition("://")[2].rstrip("/") or website.name for website in connected]

    return [PublishingTargets("websites", websites)]


def routes(plugin: PluginContext) -> Sequence[Route]:
    """Return the routes."""
    return [*article_page_routes(plugin), *export_routes(plugin), *published.routes(plugin), *website_routes(plugin)]


def virtual_hosts(plugin: PluginContext) -> Sequence[VirtualHosts]:
    """Return the hosts that serve built-in sites under their own domains."""
    return domain_hosts(plugin)


def index_entries(plugin: PluginContext) -> Sequence[IndexEntries]:
    """Return the providers of entries for the text index."""
    return published.index_entries(plugin)


def article_page_routes(plugin: PluginContext) -> Sequence[Route]:
    """Return the routes of the dashboard's article and calendar pages, in the order of the navigation."""
    pages = (ArticleList, CalendarPages, ArticlePages, EditPages, VersionPages, PublicationPages, PublishPages)
    return [route for page in pages for route in page(plugin).routes()]


def website_routes(plugin: PluginContext) -> Sequence[Route]:
    """Return the routes of websites: the dashboard's pages, and built-in sites."""
    return [
        *WebsitePages(plugin).routes(),
        *ConnectPages(plugin).routes(),
        *builtin_routes(plugin),
        *domain_routes(plugin),
    ]
