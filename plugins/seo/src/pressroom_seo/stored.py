"""Prepares stored articles for scoring, with the account's other articles for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final
from urllib.parse import urlsplit

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
"""Maximum number of other articles to compare with, most recently changed first."""


@dataclass(frozen=True, slots=True)
class ScoringInput:
    """A stored article prepared for scoring.

    `article` has the live URL and publication dates. `scored` is the input of the score and depends on the version
    alone: it has the expected URL on its website and the dates of the version. `others` are the other articles for the
    same website; `published_on` is the ID of the website that it is live on, empty if unpublished.
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
    """Score an article in a worker process. Raises `InvalidInput` for unknown checks."""
    judge = partial(score, article, profile, world=world, checks=checks)
    return await run_with_languages(plugin.services.workers, judge, owner=user_id, what="the article", seconds=60)


async def judged(plugin: PluginContext, user_id: str, content_id: str) -> ScoringInput:
    """Load a stored article and prepare it for scoring. Raises `NotFound`."""
    return await judged_as(plugin, await content_services(plugin).articles.get(user_id, content_id))


async def judged_as(plugin: PluginContext, stored: StoredArticle) -> ScoringInput:
    """Prepare an article for scoring, stored or about to be stored."""
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
        authors=authors_of(stored.author, website),
        published=stored.published_at,
        modified=max(stored.updated_at, stored.published_at) if stored.published_at else None,
        featured_image=image,
        featured_image_alt=alt,
        images={image: facts} if image and facts else {},
        site_name=website.name if website else "",
        section=stored.categories[0] if stored.categories else "",
        tags=stored.tags,
        breadcrumbs=_breadcrumbs(website, url or expected),
    )
    others = await others_of(plugin, stored.user_id, stored.website_id, excluding=stored.id)
    published, changed = stored.published_at or stored.created_at, stored.updated_at
    scored = replace(article, url=expected, published=published, modified=changed)
    return ScoringInput(stored, article, scored, others, published_on)


async def world_of(plugin: PluginContext, scoring_input: ScoringInput) -> World:
    """Return the facts about a stored article's surroundings: other articles, Markdown version, llms.txt entry."""
    if not scoring_input.published_on:
        return World(others=scoring_input.others)
    twin = await content_services(plugin).text_twins.of_article(scoring_input.stored, scoring_input.published_on)
    if twin is None:
        return World(others=scoring_input.others)
    return World(others=scoring_input.others, markdown_twin=twin.markdown, listed=twin.listed)


async def _website(content: ContentServices, stored: StoredArticle) -> Website | None:
    if stored.website_id is None:
        return None
    try:
        return await content.websites.get(stored.user_id, stored.website_id)
    except NotFound:  # the website was disconnected
        return None


async def _published_at(content: ContentServices, stored: StoredArticle) -> tuple[str, str]:
    """Return URL and website ID of a published article, preferably on its own website; empty strings if unpublished."""
    posts = await content.publications.of_article(stored.user_id, stored.id)
    published = [post for post in posts if post.status == "published" and post.url]
    same_website = [post for post in published if post.website_id == stored.website_id]
    first = next(iter(same_website or published), None)
    return (first.url, first.website_id) if first is not None else ("", "")


def language_of(website: Website | None) -> str:
    """Return the default language of a website's articles; empty if unknown."""
    return str(website.settings.get("language") or "") if website is not None else ""


def authors_of(byline: str, website: Website | None) -> tuple[Author, ...]:
    """Return the author that publishing names: the article's own, or else the website's default."""
    name = byline or str(website.settings.get("author") or "" if website is not None else "")
    return (Author(name),) if name else ()


def expected_at(website: Website | None, slug: str) -> str:
    """Return the expected URL of an article on its website; empty if unknown."""
    return f"{website.url}/{slug}" if website is not None and website.url and slug else ""


def _breadcrumbs(website: Website | None, url: str) -> tuple[tuple[str, str], ...]:
    """Return the home page of a website in a folder of its host, for an article directly below it.

    The folders above belong to other websites, or are not pages at all.
    """
    if website is None or not urlsplit(website.url).path.strip("/") or url.rpartition("/")[0] != website.url:
        return ()
    return ((website.name, website.url),)


async def _featured(content: PluginContext, stored: StoredArticle) -> tuple[str, ImageFacts | None, str | None]:
    """Return URL, facts and alternative text of the featured image; empty and `None` without one."""
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
    plugin: PluginContext, user_id: str, website_id: str | None, *, excluding: str
) -> tuple[OtherArticle, ...]:
    """Return the account's articles for a website, or those without one, except the article `excluding`."""
    articles = content_services(plugin).articles
    summaries = await articles.summaries(user_id, website_id, limit=MAX_COMPARED_ARTICLES, excluding=excluding)
    return tuple(
        OtherArticle(
            f"article {summary.id}", summary.meta_title or summary.title, summary.meta_description, summary.keyphrase
        )
        for summary in summaries
    )
