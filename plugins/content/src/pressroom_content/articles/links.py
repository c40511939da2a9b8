"""Internal links between an account's texts: suggestions for an article, and adding links to it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from pressroom.sdk import InvalidInput, PluginContext
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.articles.analysis import plain_text
from pressroom_content.articles.edits import (
    MAX_ANCHOR_LENGTH,
    LinkPosition,
    Word,
    as_link,
    free_text,
    phrase_positions,
    stemmed_words,
)
from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles, ArticleUpdate, stale
from pressroom_content.contract.control import web_url
from pressroom_content.language import run_with_languages, words_of
from pressroom_content.records import Article
from pressroom_content.tables import ArticleRow, PageRow, PublicationRow
from pressroom_content.text_index.corpus import counted_stems, language_of, stem_of, stems_of
from pressroom_content.text_index.similar import related

_LOOKED_AT: Final = 60
"""Maximum number of related texts that are examined for a place to link from."""

_URL = re.compile(r"(?:https?://[^\s<>\"'\\/]+|/(?![/\\]))[^\s<>\"'\\]*")


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """A text that can be linked to."""

    url: str
    title: str
    keyphrase: str


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggested link: its target, its place in the article, and the reason."""

    target: LinkTarget
    place: LinkPosition
    reason: str
    score: float


@dataclass(frozen=True, slots=True)
class ChosenLink:
    """A link to add."""

    target_url: str
    anchor_text: str
    position: int


async def suggested(
    plugin: PluginContext, user_id: str, content_id: str, limit: int
) -> tuple[Article, list[Suggestion]]:
    """Return an article and suggested links for it, best first. Raises `NotFound`.

    If the article is meant for a website, only texts of that website are suggested.
    """
    article = await Articles(plugin).get(user_id, content_id)
    workers = plugin.services.workers
    stems, key_stems = await run_with_languages(workers, _stems, article, owner=user_id, what="the article")
    async with plugin.services.database.reading() as session:
        ranked = (await related(session, user_id, stems, key_stems, without=article.id))[: 4 * _LOOKED_AT]
        targets = await _targets(session, article, [hit.document_id for hit in ranked])
    scored = [(targets[hit.document_id], hit.score) for hit in ranked if hit.document_id in targets]
    suggestions = await run_with_languages(
        workers, _placed, article, scored[:_LOOKED_AT], limit, owner=user_id, what="the article"
    )
    return article, suggestions


async def applied(
    plugin: PluginContext,
    user_id: str,
    content_id: str,
    expected_version: int,
    links: Sequence[ChosenLink],
    *,
    origin: str = "",
) -> ArticleUpdate:
    """Add links to an article: all of them, or none.

    Raises:
        InvalidInput: the article is at another version or in the trash, or a link cannot be added at its position.
        NotFound: the account has no such article.
    """
    articles = Articles(plugin)
    article = await articles.get(user_id, content_id)
    if article.status == "trashed":
        raise InvalidInput("content_id", "is in the trash; restore it with restore_content, then change it")
    if article.version != expected_version:
        raise stale(article.version, expected_version)
    body = await plugin.services.workers.run(_linked, article, links, owner=user_id, what="the article")
    return await articles.write(article, replace(Draft.of(article), body=body), origin=origin)


def _stems(article: Article) -> tuple[Mapping[str, int], frozenset[str]]:
    language = language_of(article.language)
    key_stems = frozenset(stems_of(f"{article.title} {article.keyphrase}", language))
    try:
        text = plain_text(article)
    except InvalidInput:
        text = ""  # it was stored when the limits were higher
    return counted_stems(f"{article.title} {article.keyphrase}\n{text}", language), key_stems


async def _targets(session: AsyncSession, article: Article, ids: Sequence[str]) -> dict[str, LinkTarget]:
    """Return the documents that have a usable URL, by id: published articles, and pages of sites."""
    published = (
        select(ArticleRow.id, PublicationRow.url, ArticleRow.title, ArticleRow.keyphrase)
        .join(PublicationRow, PublicationRow.article_id == ArticleRow.id)
        .where(ArticleRow.id.in_(ids), PublicationRow.status == "published", PublicationRow.url != "")
    )
    pages = select(PageRow.id, PageRow.url, PageRow.title, PageRow.keyphrase, PageRow.article_id).where(
        PageRow.id.in_(ids)
    )
    if article.website_id is not None:
        published = published.where(PublicationRow.website_id == article.website_id)
        pages = pages.where(PageRow.website_id == article.website_id)
    targets = {row.id: LinkTarget(row.url, row.title, row.keyphrase) for row in await session.execute(published)}
    known_urls = {target.url for target in targets.values()}
    for row in await session.execute(pages):
        if row.article_id != article.id and row.url not in known_urls:
            targets[row.id] = LinkTarget(row.url, row.title, row.keyphrase)
    return {id_: target for id_, target in targets.items() if web_url(target.url)}


def _placed(article: Article, targets: Sequence[tuple[LinkTarget, float]], limit: int) -> list[Suggestion]:
    """Return suggestions for the targets whose words occur in the article, without overlapping places."""
    language = language_of(article.language)
    free = free_text(article.body, article.body_format)
    words = stemmed_words(free, language)
    present = {word.stem for word in words}
    occupied: list[LinkPosition] = []
    suggestions: list[Suggestion] = []
    for target, score in targets:
        if len(suggestions) == limit:
            break
        if target.url in article.body:
            continue  # already linked
        best = _best_match(target, words, present, free, language, occupied)
        if best is not None:
            place, reason = best
            occupied.append(place)
            suggestions.append(Suggestion(target, place, reason, round(score, 3)))
    return suggestions


def _best_match(
    target: LinkTarget,
    words: Sequence[Word],
    present: set[str],
    text: str,
    language: str,
    occupied: Sequence[LinkPosition],
) -> tuple[LinkPosition, str] | None:
    for phrase, reason in _phrases(target, language):
        if present.issuperset(phrase):
            for place in phrase_positions(phrase, words, text):
                if all(_apart(place, other) for other in occupied):
                    return place, reason
    return None


def _phrases(target: LinkTarget, language: str) -> list[tuple[tuple[str, ...], str]]:
    """Return possible link texts, best first: the keyphrase, then runs of words of the title, longest first.

    A run has at least two words, and neither begins nor ends with a word that is common in the language.
    """
    phrases: list[tuple[tuple[str, ...], str]] = []
    if target.keyphrase:
        phrase = tuple(stem_of(word, language) for word in words_of(target.keyphrase))
        phrases.append((phrase, f"the keyphrase of “{target.title}”"))
    title = [stem_of(word, language) for word in words_of(target.title)][:30]
    title_stems = set(stems_of(target.title, language))
    for size in range(min(MAX_ANCHOR_LENGTH, len(title)), 1, -1):
        for start in range(len(title) - size + 1):
            run = tuple(title[start : start + size])
            if run[0] in title_stems and run[-1] in title_stems:
                phrases.append((run, f"words of the title “{target.title}”"))
    return phrases


def _apart(one: LinkPosition, other: LinkPosition) -> bool:
    return one.position + len(one.text) <= other.position or other.position + len(other.text) <= one.position


def _linked(article: Article, links: Sequence[ChosenLink]) -> str:
    free = free_text(article.body, article.body_format)
    numbered = sorted(enumerate(links), key=lambda pair: pair[1].position)
    for number, link in numbered:
        _check_link(f"links.{number}", link, article.body, free)
    for (_, one), (number, other) in pairwise(numbered):
        if one.position + len(one.anchor_text) > other.position:
            raise InvalidInput(f"links.{number}.position", "overlaps another of these links")
    body = article.body
    for _, link in reversed(numbered):
        end = link.position + len(link.anchor_text)
        body = body[: link.position] + as_link(link.anchor_text, link.target_url, article.body_format) + body[end:]
    return body


def _check_link(path: str, link: ChosenLink, body: str, free: str) -> None:
    if not _URL.fullmatch(link.target_url):
        raise InvalidInput(f"{path}.target_url", "must be an http or https URL, or a path that begins with /")
    end = link.position + len(link.anchor_text)
    if body[link.position : end] != link.anchor_text:
        raise InvalidInput(
            f"{path}.position",
            "must be where anchor_text begins in the stored body: give both exactly as suggest_internal_links did",
        )
    if free[link.position : end] != link.anchor_text or not link.anchor_text.strip():
        raise InvalidInput(f"{path}.anchor_text", "is inside a link, a heading, code or markup; choose another")
