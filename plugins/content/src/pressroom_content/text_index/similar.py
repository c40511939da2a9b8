"""Similar texts: near-duplicates, and documents about the same topics.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pressroom.sdk import InvalidInput, PluginContext
from sqlalchemy import Float, Select, case, cast, func, literal, select, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.articles.analysis import plain_text
from pressroom_content.articles.fields import article_of
from pressroom_content.articles.listing import urls_of
from pressroom_content.articles.store import Articles
from pressroom_content.contract import DuplicateText
from pressroom_content.records import Article
from pressroom_content.tables import ArticleRow, PageRow, ShingleRow, WordRow
from pressroom_content.text_index.corpus import bands_of, estimate, shingles_of, similarity

_COMPARED: Final = 8
"""Maximum number of documents, those with the most bands in common, that are compared in full."""

_SAME_PHRASE: Final = 5
_SHARED: Final = 3
_SLACK: Final = 0.25
"""How far an estimate may be below the threshold for a document to be compared."""

Shingles = frozenset[tuple[str, ...]]


async def duplicates(plugin: PluginContext, user_id: str, content_id: str, threshold: float) -> Sequence[DuplicateText]:
    """Return texts whose similarity to an article is at least `threshold` (0 to 1), or that have its keyphrase.

    Articles in the trash do not count. Raises `NotFound`.
    """
    article = await Articles(plugin).get(user_id, content_id)
    workers = plugin.services.workers
    article_shingles = await workers.run(_shingles, article, owner=user_id, what="the article")
    async with plugin.services.database.reading() as session:
        shared_bands = await _sharing(session, article, article_shingles)
        likely = {id_: bands for id_, bands in shared_bands.items() if estimate(bands) >= threshold - _SLACK}
        compared = await _articles(session, list(likely)[:_COMPARED])
        pages = await _pages(session, likely, article.id)
        same_phrase = await _same_keyphrase(session, article)
        urls = await urls_of(session, [candidate.id for candidate in (*compared, *same_phrase)])
    articles = {candidate.id: candidate for candidate in (*compared, *same_phrase)}
    phrases = frozenset(candidate.id for candidate in same_phrase)
    matches = await workers.run(
        _compared,
        article,
        article_shingles,
        list(articles.values()),
        phrases,
        threshold,
        owner=user_id,
        what="the article",
    )
    result = [
        DuplicateText(id_, (urls.get(id_) or ("",))[0], articles[id_].title, round(value, 3), shared, exact=True)
        for id_, value, shared in matches
    ]
    for page in pages:
        value = estimate(likely[page.id])
        if value >= threshold:
            result.append(DuplicateText("", page.url, page.title, round(value, 3), (), exact=False))
    return sorted(result, key=lambda duplicate: (-duplicate.similarity, duplicate.content_id, duplicate.url))


def _shingles(article: Article) -> Shingles:
    try:
        return shingles_of(plain_text(article))
    except InvalidInput:
        return frozenset()  # it was stored when the limits were higher


def _compared(
    article: Article,
    article_shingles: Shingles,
    candidates: Sequence[Article],
    same_phrase: frozenset[str],
    threshold: float,
) -> list[tuple[str, float, tuple[str, ...]]]:
    matches: list[tuple[str, float, tuple[str, ...]]] = []
    for candidate in candidates:
        shingles = _shingles(candidate)
        value = similarity(article_shingles, shingles)
        phrase = [f"keyphrase: {article.keyphrase}"] if candidate.id in same_phrase else []
        if value >= threshold or phrase:
            matches.append((candidate.id, value, (*phrase, *_passages(article_shingles & shingles))))
    return matches


def _passages(shared: Shingles) -> list[str]:
    """Return the longest passages that both texts contain, joined from overlapping shingles."""
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


async def _sharing(session: AsyncSession, article: Article, shingles: Shingles) -> dict[str, int]:
    """Return the documents that share bands with an article, with the number of shared bands, most first."""
    shared = func.count()
    query = (
        select(ShingleRow.document_id, shared.label("bands"))
        .where(
            ShingleRow.user_id == article.user_id,
            ShingleRow.band.in_(bands_of(shingles)),
            ShingleRow.document_id != article.id,
        )
        .group_by(ShingleRow.document_id)
        .order_by(shared.desc(), ShingleRow.document_id)
        .limit(100)
    )
    return {row.document_id: row.bands for row in await session.execute(query)}


async def _articles(session: AsyncSession, ids: Sequence[str]) -> Sequence[Article]:
    query = select(ArticleRow).where(ArticleRow.id.in_(ids), ArticleRow.status != "trashed")
    return [article_of(row) for row in await session.scalars(query)]


async def _pages(session: AsyncSession, likely: dict[str, int], article_id: str) -> Sequence[PageRow]:
    query = select(PageRow).where(PageRow.id.in_(likely))
    return [page for page in await session.scalars(query) if page.article_id != article_id]


async def _same_keyphrase(session: AsyncSession, article: Article) -> Sequence[Article]:
    phrase = article.keyphrase
    if not phrase:
        return []
    forms = {phrase, phrase.lower(), phrase.capitalize(), phrase.title(), phrase.upper()}
    query = select(ArticleRow).where(
        ArticleRow.user_id == article.user_id,
        ArticleRow.keyphrase.in_(forms),
        ArticleRow.id != article.id,
        ArticleRow.status != "trashed",
    )
    return [
        article_of(row)
        for row in await session.scalars(query.order_by(ArticleRow.updated_at.desc()).limit(_SAME_PHRASE))
    ]


_K1: Final = 1.2
_B: Final = 0.75
_TERMS: Final = 20
"""Maximum number of a text's stems to search for: the most significant ones."""

_CANDIDATE_TERMS: Final = 40
_CANDIDATES: Final = 100
_TITLE_WEIGHT: Final = 2.0
_MAX_SHARE_OF_DOCUMENTS: Final = 0.1
"""Stems in more than this share of all documents are not significant."""

_ALWAYS_RARE: Final = 50


@dataclass(frozen=True, slots=True)
class RelatedDocument:
    """A related document, with its score."""

    document_id: str
    score: float


async def related(
    session: AsyncSession, user_id: str, stems: Mapping[str, int], weighty: frozenset[str], *, without: str
) -> Sequence[RelatedDocument]:
    """Return related documents of an account, best first.

    `stems` maps the stems of the text to their counts, `weighty` are those in its title and keyphrase; `without` is the
    document of the text itself.
    """
    documents = await _count(session, user_id)
    weights = await _weights(session, user_id, stems, weighty, documents)
    if not weights:
        return []
    weight = case(weights, value=WordRow.stem, else_=0.0)
    count = cast(WordRow.count, Float)
    score = func.sum(weight * count * (_K1 + 1) / (count + _K1) * case((WordRow.in_title, _TITLE_WEIGHT), else_=1.0))
    query = (
        select(WordRow.document_id, score.label("score"))
        .where(WordRow.user_id == user_id, WordRow.stem.in_(weights), WordRow.document_id != without)
        .group_by(WordRow.document_id)
        .order_by(score.desc(), WordRow.document_id)
        .limit(_CANDIDATES)
    )
    candidates = [(row.document_id, float(row.score)) for row in await session.execute(query)]
    lengths = await _lengths(session, [document_id for document_id, _ in candidates])
    mean = sum(lengths.values()) / len(lengths) if lengths else 1.0
    # Long documents contain every word more often: normalise the scores of the candidates by length.
    ranked = [
        RelatedDocument(id_, score / (1 - _B + _B * max(1.0, lengths[id_]) / max(1.0, mean)) ** 0.5)
        for id_, score in candidates
        if id_ in lengths
    ]
    return sorted(ranked, key=lambda document: (-document.score, document.document_id))


async def _count(session: AsyncSession, user_id: str) -> int:
    articles = await session.scalar(select(func.count()).select_from(ArticleRow).where(ArticleRow.user_id == user_id))
    pages = await session.scalar(select(func.count()).select_from(PageRow).where(PageRow.user_id == user_id))
    return (articles or 0) + (pages or 0)


async def _weights(
    session: AsyncSession, user_id: str, stems: Mapping[str, int], weighty: frozenset[str], documents: int
) -> dict[str, float]:
    """Return the most significant stems of a text, with their weights."""
    first = sorted(stems, key=lambda stem: (stem not in weighty, -stems[stem], stem))[:_CANDIDATE_TERMS]
    max_documents = max(_ALWAYS_RARE, int(documents * _MAX_SHARE_OF_DOCUMENTS))
    weights: dict[str, float] = {}
    for row in (
        await session.execute(union_all(*(_frequency(user_id, stem, max_documents) for stem in first))) if first else ()
    ):
        if 1 < row.number <= max_documents:
            rarity = math.log(1 + (documents - row.number + 0.5) / (row.number + 0.5))
            count = stems[row.stem]
            weights[row.stem] = rarity * count / (count + _K1) * (_TITLE_WEIGHT if row.stem in weighty else 1.0)
    best = sorted(weights, key=lambda stem: (-weights[stem], stem))[:_TERMS]
    return {stem: weights[stem] for stem in best}


def _frequency(user_id: str, stem: str, max_documents: int) -> Select[str, int]:
    """Return the query for the number of documents with a stem; it stops counting above `max_documents`."""
    matching = (
        select(WordRow.document_id).where(WordRow.user_id == user_id, WordRow.stem == stem).limit(max_documents + 1)
    )
    return select(literal(stem).label("stem"), func.count().label("number")).select_from(matching.subquery())


async def _lengths(session: AsyncSession, document_ids: Sequence[str]) -> dict[str, int]:
    lengths: dict[str, int] = {}
    for table in (ArticleRow, PageRow):
        rows = await session.execute(select(table.id, table.length).where(table.id.in_(document_ids)))
        lengths |= {row.id: row.length for row in rows}
    return lengths
