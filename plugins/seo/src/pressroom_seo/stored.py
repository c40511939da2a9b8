"""Stored articles as they are judged, and what the account's other articles say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pressroom.sdk import BackendError, NotFound, PluginContext
from pressroom_content.articles.store import Articles
from pressroom_content.records import Article as StoredArticle
from pressroom_content.records import Website
from pressroom_content.tables import ArticleRow, PublicationRow
from pressroom_content.text_index.published import TextTwins
from pressroom_content.websites.store import Websites
from sqlalchemy import select

from pressroom_seo.scoring import Article, Author, ImageFacts, OtherArticle, World

MAX_COMPARED_ARTICLES: Final = 2000
"""How many other articles an article is compared with, the last changed first."""


@dataclass(frozen=True, slots=True)
class Judged:
    """An article as it is judged.

    `others` are the other articles meant for the same website; `published_on` is the website that it is live on, empty
    where it is not.
    """

    stored: StoredArticle
    article: Article
    others: tuple[OtherArticle, ...]
    published_on: str = ""


async def judged(plugin: PluginContext, user_id: str, content_id: str) -> Judged:
    """Return a stored article as it is judged. Raises `NotFound`."""
    return await judged_as(plugin, await Articles(plugin.required["content"]).get(user_id, content_id))


async def judged_as(plugin: PluginContext, stored: StoredArticle) -> Judged:
    """Return an article as it is judged, or as it will be once it is stored."""
    content = plugin.required["content"]
    website = await _website(content, stored)
    url, published_on = await _published_at(content, stored)
    image, facts, alt = await _featured(content, stored)
    article = Article(
        body=stored.body,
        format=stored.body_format,
        title=stored.title,
        seo_title=stored.meta_title,
        description=stored.meta_description,
        slug=stored.slug,
        url=url or _expected_at(website, stored),
        language=stored.language or (str(website.settings.get("language") or "") if website else ""),
        keyphrase=stored.keyphrase,
        synonyms=stored.synonyms,
        canonicals=(stored.canonical_url,) if stored.canonical_url else (),
        original_url=stored.canonical_url,
        authors=(Author(stored.author),) if stored.author else (),
        published=stored.published_at,
        modified=stored.updated_at if stored.published_at else None,
        featured_image=image,
        featured_image_alt=alt,
        images={image: facts} if image and facts else {},
        site_name=website.name if website else "",
        section=stored.categories[0] if stored.categories else "",
        tags=stored.tags,
    )
    others = await others_of(plugin, stored.user_id, stored.website_id, but=stored.id)
    return Judged(stored, article, others, published_on)


async def world_of(plugin: PluginContext, one: Judged) -> World:
    """Return what this server knows of the world around a stored article: the others, its twin, the text index."""
    if not one.published_on:
        return World(others=one.others)
    twins = TextTwins(plugin.required["content"])
    try:
        found = await twins.at(f"/articles/{one.published_on}/{one.stored.slug}")
    except NotFound:  # its slug is another one since
        return World(others=one.others)
    if found.article.id != one.stored.id:
        return World(others=one.others)
    listed = any(entry.url == found.path for entry in await twins.entries())
    return World(others=one.others, markdown_twin=await twins.text(found.article, "markdown"), listed=listed)


async def _website(content: PluginContext, stored: StoredArticle) -> Website | None:
    if stored.website_id is None:
        return None
    try:
        return await Websites(content).get(stored.user_id, stored.website_id)
    except NotFound:  # it was disconnected since
        return None


async def _published_at(content: PluginContext, stored: StoredArticle) -> tuple[str, str]:
    """Return the address and the website of a published article; the website that it is meant for if it is there."""
    wanted = select(PublicationRow.url, PublicationRow.website_id).where(
        PublicationRow.user_id == stored.user_id,
        PublicationRow.article_id == stored.id,
        PublicationRow.status == "published",
        PublicationRow.url != "",
    )
    async with content.services.database.reading() as session:
        found = (await session.execute(wanted.order_by(PublicationRow.created_at))).all()
    own = [row for row in found if row.website_id == stored.website_id]
    first = next(iter(own or found), None)
    return (first.url, first.website_id) if first is not None else ("", "")


def _expected_at(website: Website | None, stored: StoredArticle) -> str:
    return f"{website.url}/{stored.slug}" if website is not None and website.url and stored.slug else ""


async def _featured(content: PluginContext, stored: StoredArticle) -> tuple[str, ImageFacts | None, str | None]:
    """Return the address, the facts and the alternative text of the featured image."""
    if not stored.featured_media_id:
        return "", None, None
    for _, library in content.extensions.of("pressroom_media_libraries"):
        try:
            file = await library.read(content, stored.user_id, stored.featured_media_id)
        except (NotFound, BackendError):
            continue
        facts = ImageFacts(
            weight=len(file.content) or None,
            width=file.width or None,
            height=file.height or None,
            credit=file.credit_text,
            credit_required=bool(file.credit_html),
            credit_added=True,
        )
        return file.url, facts, stored.featured_alt or file.alt
    return "", None, None


async def others_of(
    plugin: PluginContext, user_id: str, website_id: str | None, *, but: str
) -> tuple[OtherArticle, ...]:
    """Return the articles of an account for a website, or for none, but for one."""
    content = plugin.required["content"]
    columns = (
        ArticleRow.id,
        ArticleRow.title,
        ArticleRow.meta_title,
        ArticleRow.meta_description,
        ArticleRow.keyphrase,
    )
    mine = (ArticleRow.user_id == user_id, ArticleRow.id != but, ArticleRow.status != "trashed")
    same = ArticleRow.website_id.is_(None) if website_id is None else ArticleRow.website_id == website_id
    wanted = select(*columns).where(*mine, same).order_by(ArticleRow.updated_at.desc()).limit(MAX_COMPARED_ARTICLES)
    async with content.services.database.reading() as session:
        rows = await session.execute(wanted)
        return tuple(
            OtherArticle(f"article {row.id}", row.meta_title or row.title, row.meta_description, row.keyphrase)
            for row in rows
        )
