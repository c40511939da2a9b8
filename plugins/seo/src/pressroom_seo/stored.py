"""Stored articles as they are judged, and what the account's other articles say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from pressroom.sdk import BackendError, NotFound, PluginContext
from pressroom_content.contract import Article as StoredArticle
from pressroom_content.contract import ContentServices, Website, content_services, media_libraries
from pressroom_content.language import run_with_languages

from pressroom_seo.scoring import (
    Author,
    ImageFacts,
    OtherArticle,
    Profile,
    ScoringArticle,
    ScoringReport,
    World,
    score,
)

MAX_COMPARED_ARTICLES: Final = 2000
"""How many other articles an article is compared with, the last changed first."""


@dataclass(frozen=True, slots=True)
class ScoringInput:
    """An article as it is judged.

    `article` is the article as it is now, at the URL where it is live. `scored` is its version alone, which the score
    is of: meant for its website, with the dates of the version. `others` are the other articles meant for the same
    website; `published_on` is the website that it is live on, empty where it is not.
    """

    stored: StoredArticle
    article: ScoringArticle
    scored: ScoringArticle
    others: tuple[OtherArticle, ...]
    published_on: str = ""


async def judgement(
    plugin: PluginContext,
    article: ScoringArticle,
    world: World,
    user_id: str,
    *,
    profile: Profile = "default",
    checks: Sequence[str] = (),
) -> ScoringReport:
    """Return how an article is judged, worked out in a worker process. Raises `InvalidInput` for unknown checks."""
    judge = partial(score, article, profile, world=world, checks=checks)
    return await run_with_languages(plugin.services.workers, judge, owner=user_id, what="the article", seconds=60)


async def judged(plugin: PluginContext, user_id: str, content_id: str) -> ScoringInput:
    """Return a stored article as it is judged. Raises `NotFound`."""
    return await judged_as(plugin, await content_services(plugin).articles.get(user_id, content_id))


async def judged_as(plugin: PluginContext, stored: StoredArticle) -> ScoringInput:
    """Return an article as it is judged, or as it will be once it is stored."""
    content = content_services(plugin)
    website = await _website(content, stored)
    url, published_on = await _published_at(content, stored) if stored.id else ("", "")
    expected = expected_at(website, stored.slug)
    image, facts, alt = await _featured(plugin.required["content"], stored)
    article = ScoringArticle(
        body=stored.body,
        format=stored.body_format,
        title=stored.title,
        seo_title=stored.meta_title,
        description=stored.meta_description,
        slug=stored.slug,
        url=url or expected,
        language=stored.language or language_of(website),
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
    written, changed = stored.published_at or stored.created_at, stored.updated_at
    scored = replace(article, url=expected, published=written, modified=changed)
    return ScoringInput(stored, article, scored, others, published_on)


async def world_of(plugin: PluginContext, one: ScoringInput) -> World:
    """Return what this server knows of the world around a stored article: the others, its twin, the text index."""
    if not one.published_on:
        return World(others=one.others)
    twin = await content_services(plugin).text_twins.of_article(one.stored, one.published_on)
    if twin is None:
        return World(others=one.others)
    return World(others=one.others, markdown_twin=twin.markdown, listed=twin.listed)


async def _website(content: ContentServices, stored: StoredArticle) -> Website | None:
    if stored.website_id is None:
        return None
    try:
        return await content.websites.get(stored.user_id, stored.website_id)
    except NotFound:  # it was disconnected since
        return None


async def _published_at(content: ContentServices, stored: StoredArticle) -> tuple[str, str]:
    """Return the URL and the website of a published article; the website that it is meant for if it is there."""
    posts = await content.publications.of_article(stored.user_id, stored.id)
    found = [post for post in posts if post.status == "published" and post.url]
    own = [post for post in found if post.website_id == stored.website_id]
    first = next(iter(own or found), None)
    return (first.url, first.website_id) if first is not None else ("", "")


def language_of(website: Website | None) -> str:
    """Return the language that articles for a website are in, unless they say otherwise; empty where it is unknown."""
    return str(website.settings.get("language") or "") if website is not None else ""


def expected_at(website: Website | None, slug: str) -> str:
    """Return where an article will be on its website, as far as that is known."""
    return f"{website.url}/{slug}" if website is not None and website.url and slug else ""


async def _featured(content: PluginContext, stored: StoredArticle) -> tuple[str, ImageFacts | None, str | None]:
    """Return the URL, the facts and the alternative text of the featured image."""
    if not stored.featured_media_id:
        return "", None, None
    for _, library in media_libraries(content):
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
    articles = content_services(plugin).articles
    found = await articles.summaries(user_id, website_id, limit=MAX_COMPARED_ARTICLES, excluding=but)
    return tuple(
        OtherArticle(f"article {one.id}", one.meta_title or one.title, one.meta_description, one.keyphrase)
        for one in found
    )
