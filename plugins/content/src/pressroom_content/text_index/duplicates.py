"""Near-duplicates of an article among the account's articles and pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pressroom.sdk import InvalidInput, PluginContext
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.articles.analysis import plain_text
from pressroom_content.articles.fields import Draft, article_of
from pressroom_content.articles.listing import urls_of
from pressroom_content.articles.store import Articles
from pressroom_content.contract import DuplicateText
from pressroom_content.records import Article
from pressroom_content.tables import ArticleRow, PageRow, ShingleRow
from pressroom_content.text_index.corpus import bands_of, estimate, shingles_of, similarity

_COMPARED: Final = 8
"""How many of the documents with the most bands in common are compared word by word."""

_SAME_PHRASE: Final = 5
_SHARED: Final = 3
_SLACK: Final = 0.25
"""How much an estimate may be below the threshold."""

Shingles = frozenset[tuple[str, ...]]


async def duplicates(plugin: PluginContext, user_id: str, content_id: str, threshold: float) -> Sequence[DuplicateText]:
    """Return what is like an article in at least that part of its text, from 0 to 1, or has its keyphrase.

    Articles in the trash do not count. Raises `NotFound`.
    """
    article = await Articles(plugin).get(user_id, content_id)
    workers = plugin.services.workers
    own = await workers.run(_shingles, article, owner=user_id, what="the article")
    async with plugin.services.database.reading() as session:
        shared_bands = await _sharing(session, article, own)
        likely = {id_: bands for id_, bands in shared_bands.items() if estimate(bands) >= threshold - _SLACK}
        compared = await _articles(session, list(likely)[:_COMPARED])
        pages = await _pages(session, likely, article.id)
        same_phrase = await _same_keyphrase(session, article)
        urls = await urls_of(session, [one.id for one in (*compared, *same_phrase)])
    known = {one.id: one for one in (*compared, *same_phrase)}
    phrases = frozenset(one.id for one in same_phrase)
    found = await workers.run(
        _compared, article, own, list(known.values()), phrases, threshold, owner=user_id, what="the article"
    )
    result = [
        DuplicateText(id_, (urls.get(id_) or ("",))[0], known[id_].title, round(value, 3), shared, exact=True)
        for id_, value, shared in found
    ]
    for page in pages:
        value = estimate(likely[page.id])
        if value >= threshold:
            result.append(DuplicateText("", page.url, page.title, round(value, 3), (), exact=False))
    return sorted(result, key=lambda one: (-one.similarity, one.content_id, one.url))


def _shingles(article: Article) -> Shingles:
    try:
        return shingles_of(plain_text(Draft.of(article)))
    except InvalidInput:
        return frozenset()  # it was stored under bounds that were wider


def _compared(
    article: Article, own: Shingles, others: Sequence[Article], same_phrase: frozenset[str], threshold: float
) -> list[tuple[str, float, tuple[str, ...]]]:
    found: list[tuple[str, float, tuple[str, ...]]] = []
    for other in others:
        shingles = _shingles(other)
        value = similarity(own, shingles)
        phrase = [f"keyphrase: {article.keyphrase}"] if other.id in same_phrase else []
        if value >= threshold or phrase:
            found.append((other.id, value, (*phrase, *_passages(own & shingles))))
    return found


def _passages(shared: Shingles) -> list[str]:
    """Return some passages that both texts have: shingles put together where they overlap."""
    following: dict[tuple[str, ...], tuple[str, ...]] = {}
    ends = set()
    for shingle in shared:
        following.setdefault(shingle[:-1], shingle)
        ends.add(shingle[1:])
    passages: list[str] = []
    for start in sorted(shingle for shingle in shared if shingle[:-1] not in ends):
        words, current = list(start), start
        while len(words) < 40 and (after := following.get(current[1:])) is not None and after != current:
            words.append(after[-1])
            current = after
        passages.append(" ".join(words))
    return sorted(passages, key=len, reverse=True)[:_SHARED]


async def _sharing(session: AsyncSession, article: Article, own: Shingles) -> dict[str, int]:
    """Return the documents that share bands with an article, and how many, those with the most first."""
    shared = func.count()
    wanted = (
        select(ShingleRow.document_id, shared.label("bands"))
        .where(
            ShingleRow.user_id == article.user_id,
            ShingleRow.band.in_(bands_of(own)),
            ShingleRow.document_id != article.id,
        )
        .group_by(ShingleRow.document_id)
        .order_by(shared.desc(), ShingleRow.document_id)
        .limit(100)
    )
    return {row.document_id: row.bands for row in await session.execute(wanted)}


async def _articles(session: AsyncSession, ids: Sequence[str]) -> Sequence[Article]:
    wanted = select(ArticleRow).where(ArticleRow.id.in_(ids), ArticleRow.status != "trashed")
    return [article_of(row) for row in await session.scalars(wanted)]


async def _pages(session: AsyncSession, likely: dict[str, int], article_id: str) -> Sequence[PageRow]:
    wanted = select(PageRow).where(PageRow.id.in_(likely))
    return [page for page in await session.scalars(wanted) if page.article_id != article_id]


async def _same_keyphrase(session: AsyncSession, article: Article) -> Sequence[Article]:
    phrase = article.keyphrase
    if not phrase:
        return []
    forms = {phrase, phrase.lower(), phrase.capitalize(), phrase.title(), phrase.upper()}
    wanted = select(ArticleRow).where(
        ArticleRow.user_id == article.user_id,
        ArticleRow.keyphrase.in_(forms),
        ArticleRow.id != article.id,
        ArticleRow.status != "trashed",
    )
    return [
        article_of(row)
        for row in await session.scalars(wanted.order_by(ArticleRow.updated_at.desc()).limit(_SAME_PHRASE))
    ]
