"""The services for other plugins: the implementation of `contract.ContentServices`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

from pressroom.columns import as_id
from pressroom.sdk import NotFound, PluginContext
from sqlalchemy import select

from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles
from pressroom_content.contract import (
    BUILTIN,
    Article,
    ArticleChange,
    ArticlePost,
    ArticleSummary,
    BlockSite,
    BodyFormat,
    ContentServices,
    DuplicateText,
    SiteError,
    SitePage,
    TextTwin,
    VoiceReview,
)
from pressroom_content.tables import ArticleRow, PageRow, PublicationRow, VersionRow, WebsiteRow
from pressroom_content.text_index.published import TextTwins
from pressroom_content.text_index.similar import duplicates
from pressroom_content.vault import Vault
from pressroom_content.voice.checking import check_draft
from pressroom_content.voice.store import Voice, Voices
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.domain_names import site_url
from pressroom_content.websites.store import Websites


def services_of(plugin: PluginContext) -> ContentServices:
    """Return the services of the content plugin, given its context."""
    return ContentServices(
        SharedArticles(plugin),
        SharedWebsites(plugin),
        SharedPublications(plugin),
        SharedCredentials(plugin),
        SharedTextTwins(plugin),
        SharedTextChecks(plugin),
    )


class SharedArticles(Articles):
    """Implements `ArticleRepository`."""

    async def titles(self, user_id: str, content_ids: Sequence[str]) -> Mapping[str, str]:
        """See `ArticleRepository.titles`."""
        query = select(ArticleRow.id, ArticleRow.title).where(
            ArticleRow.user_id == user_id, ArticleRow.id.in_(set(content_ids))
        )
        async with self._database.reading() as session:
            return {row.id: row.title for row in await session.execute(query)}

    async def summaries(
        self,
        user_id: str,
        website_id: str | None,
        *,
        limit: int,
        order: Literal["created", "changed"] = "changed",
        excluding: str = "",
    ) -> Sequence[ArticleSummary]:
        """See `ArticleRepository.summaries`."""
        columns = (
            ArticleRow.id,
            ArticleRow.title,
            ArticleRow.meta_title,
            ArticleRow.meta_description,
            ArticleRow.keyphrase,
            ArticleRow.canonical_url,
        )
        query = select(*columns).where(
            ArticleRow.user_id == user_id,
            ArticleRow.id != excluding,
            ArticleRow.status != "trashed",
            ArticleRow.website_id.is_(None) if website_id is None else ArticleRow.website_id == website_id,
        )
        if order == "created":
            query = query.order_by(ArticleRow.created_at, ArticleRow.id)
        else:
            query = query.order_by(ArticleRow.updated_at.desc())
        async with self._database.reading() as session:
            return [ArticleSummary(*row) for row in await session.execute(query.limit(limit))]

    async def changes(self, user_id: str, content_id: str) -> Sequence[ArticleChange]:
        """See `ArticleRepository.changes`."""
        query = (
            select(VersionRow.version, VersionRow.created_at, VersionRow.changed)
            .join(ArticleRow, ArticleRow.id == VersionRow.article_id)
            .where(ArticleRow.user_id == user_id, VersionRow.article_id == as_id(content_id))
            .order_by(VersionRow.version.desc())
        )
        async with self._database.reading() as session:
            rows = await session.execute(query)
            return [ArticleChange(row.version, row.created_at, tuple(row.changed)) for row in rows]

    async def change(self, article: Article, fields: Mapping[str, Any], *, origin: str = "") -> Article:
        """See `ArticleRepository.change`."""
        return (await self.write(article, Draft.of(article).with_changes(fields), origin=origin)).article


class SharedWebsites(Websites):
    """Implements `WebsiteRepository`."""

    async def is_builtin(self, website_id: str) -> bool:
        """See `WebsiteRepository.is_builtin`."""
        query = select(WebsiteRow.platform).where(WebsiteRow.id == as_id(website_id))
        async with self._database.reading() as session:
            return bool(await session.scalar(query) == BUILTIN)

    async def builtin_url(self, website_id: str) -> str:
        """See `WebsiteRepository.builtin_url`."""
        query = select(WebsiteRow.site_key, WebsiteRow.proven_domain).where(
            WebsiteRow.id == as_id(website_id), WebsiteRow.platform == BUILTIN
        )
        async with self._database.reading() as session:
            row = (await session.execute(query)).first()
        return "" if row is None else site_url(row.site_key, row.proven_domain, self._plugin.base_url)

    async def site_pages(self, user_id: str, website_id: str, *, limit: int) -> Sequence[SitePage]:
        """See `WebsiteRepository.site_pages`."""
        query = select(PageRow.url, PageRow.title, PageRow.keyphrase).where(
            PageRow.user_id == user_id, PageRow.website_id == as_id(website_id)
        )
        async with self._database.reading() as session:
            return [SitePage(*row) for row in await session.execute(query.order_by(PageRow.url).limit(limit))]

    async def import_note(self, user_id: str, website_id: str) -> str:
        """See `WebsiteRepository.import_note`."""
        website = await self.get(user_id, website_id)
        if website.platform == BUILTIN:
            return ""
        try:
            _, site = await self.open(user_id, website_id)
        except SiteError as error:
            return f"import_content cannot take over pages of {website.name} now: {error.message}"
        if isinstance(site, BlockSite):
            return "import_content takes over a page that is not an article yet; then publish_content updates it."
        return "import_content only copies a page that is not an article yet: publishing the copy makes another post."


class SharedPublications:
    """Implements `PublicationRepository`."""

    def __init__(self, plugin: PluginContext) -> None:
        self._database = plugin.services.database

    async def of_article(self, user_id: str, content_id: str) -> Sequence[ArticlePost]:
        """See `PublicationRepository.of_article`."""
        columns = (
            PublicationRow.website_id,
            PublicationRow.status,
            PublicationRow.url,
            PublicationRow.article_version,
            PublicationRow.created_at,
            PublicationRow.published_at,
        )
        query = select(*columns).where(
            PublicationRow.user_id == user_id, PublicationRow.article_id == as_id(content_id)
        )
        async with self._database.reading() as session:
            return [ArticlePost(*row) for row in await session.execute(query.order_by(PublicationRow.created_at))]

    async def at_urls(self, user_id: str, website_id: str, urls: Sequence[str]) -> Mapping[str, str]:
        """See `PublicationRepository.at_urls`."""
        requested = {url.rstrip("/"): url for url in urls}
        rows = select(PublicationRow.url, PublicationRow.article_id).where(
            PublicationRow.user_id == user_id,
            PublicationRow.website_id == as_id(website_id),
            PublicationRow.status == "published",
            PublicationRow.url.in_([*requested, *(f"{url}/" for url in requested)]),
        )
        async with self._database.reading() as session:
            return {requested[row.url.rstrip("/")]: row.article_id for row in await session.execute(rows)}


class SharedCredentials:
    """Implements `CredentialVault`. The key is loaded when it is first needed."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin

    def seal(self, credential: Mapping[str, str], website_id: str) -> str:
        """See `CredentialVault.seal`."""
        return Vault.of(self._plugin).seal(credential, website_id)

    def open(self, sealed: str, website_id: str) -> Mapping[str, str]:
        """See `CredentialVault.open`."""
        return Vault.of(self._plugin).open(sealed, website_id)

    def reseal(self, sealed: str, website_id: str) -> str | None:
        """See `CredentialVault.reseal`."""
        vault = Vault.of(self._plugin)
        if vault.is_current(sealed) or not vault.can_open(sealed):
            return None
        return vault.seal(vault.open(sealed, website_id), website_id)


class SharedTextTwins:
    """Implements `TextTwinRepository`."""

    def __init__(self, plugin: PluginContext) -> None:
        self._twins = TextTwins(plugin)

    async def of_article(self, article: Article, website_id: str) -> TextTwin | None:
        """See `TextTwinRepository.of_article`."""
        try:
            twin = await self._twins.at(f"/articles/{website_id}/{article.slug}")
        except NotFound:  # its slug has changed
            return None
        if twin.article.id != article.id:
            return None
        listed = any(entry.url in (twin.path, twin.url) for entry in await self._twins.entries())
        return TextTwin(await self._twins.text(twin.article, "markdown"), listed)


class SharedTextChecks:
    """Implements `TextChecker`."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin

    async def voice_findings(
        self,
        user_id: str,
        website_id: str | None,
        *,
        content_id: str = "",
        title: str = "",
        body: str = "",
        body_format: BodyFormat = "markdown",
        language: str = "",
    ) -> VoiceReview:
        """See `TextChecker.voice_findings`."""
        draft = Draft(title, body, body_format, language=language)
        websites, website = Websites(self._plugin), None
        if content_id:
            draft = Draft.of(await Articles(self._plugin).get(user_id, content_id))
        if website_id is not None:
            website = await websites.get(user_id, website_id)
        elif draft.website_id is not None:
            with suppress(NotFound):  # it was disconnected
                website = await websites.get(user_id, draft.website_id)
        voice, version = Voice(), 0
        if website is not None:
            voice, version = await Voices(self._plugin).get(user_id, website.id)
            draft = replace(draft, language=draft.language or site_settings.read(website.settings).language)
        run = self._plugin.services.workers.run
        return VoiceReview(tuple(await run(check_draft, draft, voice, owner=user_id, what="the text")), version)

    async def duplicates(self, user_id: str, content_id: str, threshold: float = 0.8) -> Sequence[DuplicateText]:
        """See `TextChecker.duplicates`."""
        return await duplicates(self._plugin, user_id, content_id, threshold)
