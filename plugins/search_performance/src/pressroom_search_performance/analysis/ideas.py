"""Keywords that a website tracks, and ideas for new ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, cast

from pressroom.sdk import InvalidInput, PluginContext
from pressroom_content.contract import content_services
from pressroom_content.language import searchable, split_words
from sqlalchemy import CursorResult, delete, func, select
from sqlalchemy.exc import IntegrityError

from pressroom_search_performance.figures.queries import SUMS, DimensionFigures, Question, figures_of, matching
from pressroom_search_performance.tables import FigureRow, KeywordRow

MAX_KEYWORDS: Final = 500


@dataclass(frozen=True, slots=True)
class FollowedKeyword:
    """A tracked phrase and the URL that should rank for it, or an empty string."""

    phrase: str
    target_url: str
    since: datetime


class FollowedKeywords:
    """Stores the tracked phrases of one website, which must belong to the caller."""

    def __init__(self, plugin: PluginContext, user_id: str, website_id: str) -> None:
        self._database = plugin.services.database
        self._user_id = user_id
        self._website_id = website_id

    async def every(self) -> Sequence[FollowedKeyword]:
        """Return all phrases in alphabetical order."""
        statement = select(KeywordRow).where(
            KeywordRow.website_id == self._website_id, KeywordRow.user_id == self._user_id
        )
        async with self._database.reading() as session:
            rows = await session.scalars(statement.order_by(KeywordRow.phrase))
            return [FollowedKeyword(row.phrase, row.target_url, row.created_at) for row in rows]

    async def follow(self, phrase: str, target_url: str | None) -> FollowedKeyword:
        """Track a phrase, or change its URL if one is given. Raises `InvalidInput` at the limit of `MAX_KEYWORDS`."""
        try:
            return await self._follow(phrase, target_url)
        except IntegrityError:  # a concurrent call inserted the row
            return await self._follow(phrase, target_url)

    async def _follow(self, phrase: str, target_url: str | None) -> FollowedKeyword:
        async with self._database.writing() as session:
            row = await session.get(KeywordRow, (self._website_id, phrase))
            if row is None:
                statement = select(func.count()).where(KeywordRow.website_id == self._website_id)
                if int(await session.scalar(statement) or 0) >= MAX_KEYWORDS:
                    raise InvalidInput(
                        "phrase", f"a website tracks at most {MAX_KEYWORDS} phrases; stop one with remove=true"
                    )
                row = KeywordRow(
                    website_id=self._website_id,
                    phrase=phrase,
                    user_id=self._user_id,
                    target_url="",
                    created_at=datetime.now(UTC),
                )
                session.add(row)
            if target_url is not None:
                row.target_url = target_url
            await session.flush()
            return FollowedKeyword(row.phrase, row.target_url, row.created_at)

    async def forget(self, phrase: str) -> bool:
        """Stop tracking a phrase, and return whether it was tracked. Idempotent."""
        statement = delete(KeywordRow).where(KeywordRow.website_id == self._website_id, KeywordRow.phrase == phrase)
        async with self._database.writing() as session:
            result = await session.execute(statement)
        return bool(cast("CursorResult[Any]", result).rowcount)


Source = Literal["gap", "search_query", "title"]

_MAX_QUERIES: Final = 2000
_MAX_TITLES: Final = 2000
_GOOD: Final = 10.0
_JOINTS = re.compile(r"['’ʼ._\-‐‑]+")  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class Topic:
    """The subject of a page or article."""

    phrase: str
    words: frozenset[str]
    url: str


@dataclass(frozen=True, slots=True)
class KeywordIdea:
    """A keyword suggestion.

    A `gap` is a query that finds the site although no page covers it; a `search_query` is one that a page covers; a
    `title` comes from a page or article without search figures.

    `impressions` and `position` are `None` if there are no figures for the phrase.
    """

    phrase: str
    source: Source
    impressions: int | None
    position: float | None
    existing_page: str | None


def words_of(text: str) -> frozenset[str]:
    """Return the distinct words of a text without case and accents; hyphens and apostrophes divide words."""
    words = split_words(searchable(text))
    return frozenset(part for word in words for part in _JOINTS.split(word) if part)


async def topics(plugin: PluginContext, user_id: str, website_id: str) -> Sequence[Topic]:
    """Return the topics of the website's pages and articles: their keyphrases, or else their titles."""
    content = content_services(plugin)
    pages = await content.websites.site_pages(user_id, website_id, limit=_MAX_TITLES)
    articles = await content.articles.summaries(user_id, website_id, limit=_MAX_TITLES, order="created")
    entries = [(page.keyphrase, page.title, page.url) for page in pages]
    entries += [(article.keyphrase, article.title, article.canonical_url) for article in articles]
    return [Topic(keyphrase or title, words_of(f"{keyphrase} {title}"), url) for keyphrase, title, url in entries]


async def searched_queries(plugin: PluginContext, connection_id: str, question: Question) -> Sequence[DimensionFigures]:
    """Return the queries by impressions, highest first, each with the page that gets the most of them."""
    clicks, impressions, weighted = SUMS
    statement = matching(
        select(FigureRow.query, FigureRow.page, clicks, impressions, weighted), connection_id, "page_query", question
    )
    statement = statement.group_by(FigureRow.query, FigureRow.page).order_by(impressions.desc(), FigureRow.query)
    async with plugin.services.database.reading() as session:
        rows = [tuple(row) for row in await session.execute(statement.limit(_MAX_QUERIES))]
    best: dict[str, DimensionFigures] = {}
    for query, page, *sums in rows:
        best.setdefault(query, DimensionFigures({"query": query, "page": page}, figures_of(*sums)))
    return list(best.values())


def ideas(
    rows: Sequence[DimensionFigures], site_topics: Sequence[Topic], seed: str, limit: int
) -> Sequence[KeywordIdea]:
    """Return ideas, the most promising first. If `seed` is given, only those that share a word with it."""
    seeds = words_of(seed)
    queries = [_from_query(row, site_topics) for row in rows]
    searched = {row.keys["query"].casefold() for row in rows}
    titles = [
        KeywordIdea(topic.phrase, "title", None, None, topic.url or None)
        for topic in site_topics
        if topic.phrase and topic.phrase.casefold() not in searched
    ]
    # A query whose page already ranks near the top needs no action.
    useful = [idea for idea in queries if idea.source == "gap" or (idea.position or 0) > _GOOD]
    candidates = sorted(useful, key=lambda idea: (idea.source != "gap", -(idea.impressions or 0))) + titles
    return [idea for idea in _without_duplicates(candidates) if not seeds or seeds & words_of(idea.phrase)][:limit]


def _from_query(row: DimensionFigures, site_topics: Sequence[Topic]) -> KeywordIdea:
    words = words_of(row.keys["query"])
    covered = any(words <= topic.words for topic in site_topics)
    source: Source = "search_query" if covered else "gap"
    position = round(row.figures.position, 1) or None
    return KeywordIdea(row.keys["query"], source, row.figures.impressions, position, row.keys["page"])


def _without_duplicates(candidates: Iterable[KeywordIdea]) -> Iterable[KeywordIdea]:
    known_phrases: set[str] = set()
    for idea in candidates:
        if idea.phrase.casefold() not in known_phrases:
            known_phrases.add(idea.phrase.casefold())
            yield idea
