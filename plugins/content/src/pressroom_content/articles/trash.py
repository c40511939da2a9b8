"""Copies of articles, and the trash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pressroom.sdk import InvalidInput, Job, JobRun, PluginContext
from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.articles import versions
from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles, owned
from pressroom_content.config import ContentConfig
from pressroom_content.publishing.operations import unpublish as unpublish_post
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.store import article_status
from pressroom_content.records import Article, Publication
from pressroom_content.tables import ArticleRow, ExportRow, PublicationRow
from pressroom_content.text_index import corpus


async def copy(
    plugin: PluginContext[ContentConfig],
    user_id: str,
    content_id: str,
    *,
    website_id: str | None = None,
    language: str | None = None,
    origin: str = "",
) -> Article:
    """Create a draft with an article's content, for the same website and language unless others are given.

    Raises:
        InvalidInput: the language is invalid, or the account has its maximum number of articles.
        NotFound: the account has no such article or website.
    """
    articles = Articles(plugin)
    original = await articles.get(user_id, content_id)
    draft = replace(
        Draft.of(original),
        website_id=website_id if website_id is not None else original.website_id,
        language=language if language is not None else original.language,
        canonical_url="",
    )
    return (await articles.create(user_id, draft, origin=origin)).article


DAY: Final = 86_400.0
_EXPORTS_EVERY: Final = 300.0
_BATCH: Final = 200
_WAITING: Final = ("queued", "publishing", "scheduled", "unknown")
_ON_A_SITE: Final = ("published", "draft", *_WAITING)


async def trash(
    plugin: PluginContext[ContentConfig], user_id: str, content_id: str, *, unpublish: bool
) -> Sequence[Publication]:
    """Move an article to the trash and return its publications. Live posts stay unless `unpublish` is set.

    Raises:
        InvalidInput: it is waiting to be published; that has to be cancelled first.
        NotFound: the account has no such article.
    """
    async with plugin.services.database.reading() as session:
        row = await owned(session, user_id, content_id)
        content_id, trashed = row.id, row.status == "trashed"
    if unpublish:
        await _take_down(plugin, user_id, content_id)
    if not trashed:
        async with plugin.services.database.writing() as session:
            await _refuse_waiting(session, content_id)
            now = datetime.now(UTC)
            conditions = (ArticleRow.id == content_id, ArticleRow.user_id == user_id, ArticleRow.status != "trashed")
            await session.execute(update(ArticleRow).where(*conditions).values(status="trashed", trashed_at=now))
    return await _publications(plugin, user_id, content_id)


async def restore(
    plugin: PluginContext[ContentConfig], user_id: str, content_id: str, version: int | None = None, *, origin: str = ""
) -> Article:
    """Restore an article from the trash, and the content of an older version, which creates a new version.

    Raises:
        InvalidInput: the article is changed at the same time.
        NotFound: the account has no such article, or the version is not stored.
    """
    articles = Articles(plugin)
    older = await articles.get(user_id, content_id, version)
    if older.status == "trashed":
        async with plugin.services.database.writing() as session:
            row = await owned(session, user_id, content_id)
            status = await article_status(session, row.id)
            conditions = (ArticleRow.id == row.id, ArticleRow.status == "trashed")
            await session.execute(update(ArticleRow).where(*conditions).values(status=status, trashed_at=None))
    newest = await articles.get(user_id, content_id)
    if version is None or version == newest.version:
        return newest
    # Slug and website stay: another article may have the old slug.
    restored = replace(Draft.of(older), slug=newest.slug, website_id=newest.website_id)
    return (await articles.write(newest, restored, origin=origin)).article


async def listed_versions(
    plugin: PluginContext[ContentConfig], user_id: str, content_id: str
) -> Sequence[versions.Version]:
    """Return metadata of an article's stored versions, newest first. Raises `NotFound`."""
    async with plugin.services.database.reading() as session:
        row = await owned(session, user_id, content_id)
        return await versions.listed(session, row.id)


def jobs(plugin: PluginContext[ContentConfig]) -> Sequence[Job]:
    """Return the daily job for the trash, and the more frequent job for exports, which are large."""

    async def tidy(_run: JobRun) -> Mapping[str, Any]:
        return {"articles": await remove_old(plugin)}

    async def tidy_exports(_run: JobRun) -> Mapping[str, Any]:
        return {"exports": await remove_exports(plugin)}

    return [Job("content.tidy", tidy, every=DAY), Job("content.tidy_exports", tidy_exports, every=_EXPORTS_EVERY)]


async def remove_old(plugin: PluginContext[ContentConfig]) -> int:
    """Delete articles that were in the trash for longer than `trash_days`, and return their number.

    Articles with a post on a site stay until it is taken down; otherwise, nobody could reach the post.
    """
    cutoff = datetime.now(UTC) - timedelta(days=plugin.config.trash_days)
    on_a_site = select(PublicationRow.article_id).where(
        PublicationRow.article_id == ArticleRow.id, PublicationRow.status.in_(_ON_A_SITE)
    )
    statement = select(ArticleRow.id).where(ArticleRow.trashed_at < cutoff, ~on_a_site.exists()).limit(_BATCH)
    removed = 0
    while True:
        async with plugin.services.database.writing() as session:
            ids = (await session.scalars(statement)).all()
            if ids:
                await corpus.forget(session, *ids)
                await session.execute(delete(ArticleRow).where(ArticleRow.id.in_(ids)))
        removed += len(ids)
        if len(ids) < _BATCH:
            return removed


async def make_room(session: AsyncSession, user_id: str, needed: int) -> None:
    """Delete articles from an account's trash early, oldest first, until this many bytes are free."""
    on_a_site = select(PublicationRow.article_id).where(
        PublicationRow.article_id == ArticleRow.id, PublicationRow.status.in_(_ON_A_SITE)
    )
    statement = select(ArticleRow.id, ArticleRow.stored).where(
        ArticleRow.user_id == user_id, ArticleRow.status == "trashed", ~on_a_site.exists()
    )
    statement = statement.order_by(ArticleRow.trashed_at).limit(_BATCH)
    while needed > 0:
        rows = (await session.execute(statement)).all()
        if not rows:
            return
        ids = []
        for id_, stored in rows:
            if needed > 0:
                ids.append(id_)
                needed -= stored
        await corpus.forget(session, *ids)
        await session.execute(delete(ArticleRow).where(ArticleRow.id.in_(ids)))


async def remove_exports(plugin: PluginContext[ContentConfig]) -> int:
    """Delete expired exports, and return their number."""
    async with plugin.services.database.writing() as session:
        result: Any = await session.execute(delete(ExportRow).where(ExportRow.expires_at < datetime.now(UTC)))
    count: int = result.rowcount
    return count


async def _take_down(plugin: PluginContext[ContentConfig], user_id: str, content_id: str) -> None:
    for publication in await _publications(plugin, user_id, content_id):
        if publication.status in _ON_A_SITE:
            await unpublish_post(plugin, user_id, publication.id, "draft")


async def _publications(plugin: PluginContext[ContentConfig], user_id: str, content_id: str) -> Sequence[Publication]:
    publications, _ = await Publications(plugin).page(user_id, article_id=content_id, limit=_BATCH)
    return publications


async def _refuse_waiting(session: AsyncSession, article_id: str) -> None:
    statement = select(PublicationRow.status).where(
        PublicationRow.article_id == article_id, PublicationRow.status.in_(_WAITING)
    )
    status = await session.scalar(statement.limit(1))
    if status is not None:
        raise InvalidInput(
            "content_id",
            f"has a publication that is {status}; cancel it with unpublish_content, wait until it has ended, or set "
            "unpublish to true",
        )
