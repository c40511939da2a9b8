"""Documents about the same things as another: BM25 over the account's articles and pages.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Float, Select, case, cast, func, literal, select, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.tables import ArticleRow, PageRow, WordRow

_K1: Final = 1.2
_B: Final = 0.75
_TERMS: Final = 20
"""How many of a text's stems are searched for: those that tell most of it."""

_CANDIDATE_TERMS: Final = 40
_CANDIDATES: Final = 100
_TITLE_WEIGHT: Final = 2.0
_MAX_SHARE_OF_DOCUMENTS: Final = 0.1
"""Stems that more than this part of all documents have tell little."""

_ALWAYS_RARE: Final = 50


@dataclass(frozen=True, slots=True)
class RelatedDocument:
    """A document that is related, with its score, and the stems that it has in common with the text."""

    document_id: str
    score: float


async def related(
    session: AsyncSession, user_id: str, stems: Mapping[str, int], weighty: frozenset[str], *, without: str
) -> Sequence[RelatedDocument]:
    """Return documents of an account by their score, best first.

    `stems` are those of the text with their counts, `weighty` the ones of its title and keyphrase; `without` is the
    document that is the text itself.
    """
    documents = await _count(session, user_id)
    weights = await _weights(session, user_id, stems, weighty, documents)
    if not weights:
        return []
    weight = case(weights, value=WordRow.stem, else_=0.0)
    count = cast(WordRow.count, Float)
    score = func.sum(weight * count * (_K1 + 1) / (count + _K1) * case((WordRow.in_title, _TITLE_WEIGHT), else_=1.0))
    wanted = (
        select(WordRow.document_id, score.label("score"))
        .where(WordRow.user_id == user_id, WordRow.stem.in_(weights), WordRow.document_id != without)
        .group_by(WordRow.document_id)
        .order_by(score.desc(), WordRow.document_id)
        .limit(_CANDIDATES)
    )
    found = [(row.document_id, float(row.score)) for row in await session.execute(wanted)]
    lengths = await _lengths(session, [document_id for document_id, _ in found])
    mean = sum(lengths.values()) / len(lengths) if lengths else 1.0
    # Long documents have every word more often: the candidates are ordered anew by their length.
    ranked = [
        RelatedDocument(id_, score / (1 - _B + _B * max(1.0, lengths[id_]) / max(1.0, mean)) ** 0.5)
        for id_, score in found
        if id_ in lengths
    ]
    return sorted(ranked, key=lambda one: (-one.score, one.document_id))


async def _count(session: AsyncSession, user_id: str) -> int:
    articles = await session.scalar(select(func.count()).select_from(ArticleRow).where(ArticleRow.user_id == user_id))
    pages = await session.scalar(select(func.count()).select_from(PageRow).where(PageRow.user_id == user_id))
    return (articles or 0) + (pages or 0)


async def _weights(
    session: AsyncSession, user_id: str, stems: Mapping[str, int], weighty: frozenset[str], documents: int
) -> dict[str, float]:
    """Return the stems that tell most of a text, with what each counts."""
    first = sorted(stems, key=lambda stem: (stem not in weighty, -stems[stem], stem))[:_CANDIDATE_TERMS]
    most = max(_ALWAYS_RARE, int(documents * _MAX_SHARE_OF_DOCUMENTS))
    found: dict[str, float] = {}
    for row in await session.execute(union_all(*(_frequency(user_id, stem, most) for stem in first))) if first else ():
        if 1 < row.number <= most:
            rarity = math.log(1 + (documents - row.number + 0.5) / (row.number + 0.5))
            own = stems[row.stem]
            found[row.stem] = rarity * own / (own + _K1) * (_TITLE_WEIGHT if row.stem in weighty else 1.0)
    best = sorted(found, key=lambda stem: (-found[stem], stem))[:_TERMS]
    return {stem: found[stem] for stem in best}


def _frequency(user_id: str, stem: str, most: int) -> Select[str, int]:
    """Return the query for how many documents have a stem; it stops counting beyond `most`."""
    some = select(WordRow.document_id).where(WordRow.user_id == user_id, WordRow.stem == stem).limit(most + 1)
    return select(literal(stem).label("stem"), func.count().label("number")).select_from(some.subquery())


async def _lengths(session: AsyncSession, document_ids: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for table in (ArticleRow, PageRow):
        rows = await session.execute(select(table.id, table.length).where(table.id.in_(document_ids)))
        found |= {row.id: row.length for row in rows}
    return found
