"""Forgetting what was read of websites that are connected no more."""

from __future__ import annotations

from pressroom.sdk import NotFound, PluginContext
from pressroom_content.contract import content_services
from sqlalchemy import delete, select

from pressroom_seo.tables import CrawledPageRow, CrawlRow, FindingRow, LinkRow, MarkRow


async def tidy_up(plugin: PluginContext) -> int:
    """Remove all that is kept of disconnected websites, and return how many there were. Safe to repeat."""
    database, websites = plugin.services.database, content_services(plugin).websites
    known = select(CrawlRow.user_id, CrawlRow.website_id).distinct()
    async with database.reading() as session:
        pairs = (await session.execute(known)).all()
    forgotten = 0
    for user_id, website_id in pairs:
        try:
            await websites.get(user_id, website_id)
        except NotFound:
            await _forget(plugin, website_id)
            forgotten += 1
    return forgotten


async def _forget(plugin: PluginContext, website_id: str) -> None:
    mine = select(CrawlRow.id).where(CrawlRow.website_id == website_id)
    async with plugin.services.database.writing() as session:
        for table in (CrawledPageRow, LinkRow, FindingRow):
            await session.execute(delete(table).where(table.crawl_id.in_(mine)))
        await session.execute(delete(MarkRow).where(MarkRow.website_id == website_id))
        await session.execute(delete(CrawlRow).where(CrawlRow.website_id == website_id))
