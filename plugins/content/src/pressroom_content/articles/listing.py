"""Article lists, article search, and paging through long texts."""

from __future__ import annotations

import base64
import binascii
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pressroom.columns import as_id
from pressroom.sdk import InvalidInput
from sqlalchemy import ColumnElement, and_, case, false, func, literal, or_, select, true
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.language import searchable
from pressroom_content.records import ArticleStatus
from pressroom_content.tables import ArticleRow, PublicationRow, WordRow
from pressroom_content.text_index.corpus import variants_of

_SEPARATORS: Final = ("\n\n", "\n", ". ", "。", " ")
_MIN_FILLED: Final = 0.5
"""Minimum filled share of a page that is cut at a boundary, such as the end of a paragraph."""

_JOINERS: Final = frozenset("\u200c\u200d\ufe0e\ufe0f")


def part(text: str, offset: int, limit: int) -> tuple[str, int | None]:
    """Return at most `limit` characters of a text from an offset, and the next part's offset, `None` at the end."""
    window = text[offset : offset + limit + 1]
    if len(window) <= limit:
        return window, None
    end = _end(window, limit)
    return window[:end], offset + end


def _end(text: str, limit: int) -> int:
    min_length = int(limit * _MIN_FILLED)
    for separator in _SEPARATORS:
        index = text.rfind(separator, min_length, limit - len(separator) + 1)
        if index >= 0:
            return index + len(separator)
    end = limit
    while end > min_length and _continues(text[end]):
        end -= 1
    return end if end > min_length else limit


def _continues(character: str) -> bool:
    """Return whether a character combines with the one before it."""
    return character in _JOINERS or unicodedata.category(character).startswith("M")


MAX_QUERY_WORDS: Final = 12
LIVE: Final = ("published",)
"""Statuses of publications whose URL readers can open."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ArticleEntry:
    """An article in a list. `urls` are the URLs at which it is live."""

    id: str
    title: str
    slug: str
    status: ArticleStatus
    website_id: str | None
    version: int
    word_count: int
    score: int | None
    updated_at: datetime
    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ArticleFilter:
    """Filters for a list of articles. Without a status, all articles that are not in the trash match."""

    website_id: str | None = None
    status: str | None = None
    query: str = ""
    tag: str = ""
    updated_since: datetime | None = None


async def page(
    session: AsyncSession, user_id: str, criteria: ArticleFilter, *, limit: int, cursor: str | None = None
) -> tuple[Sequence[ArticleEntry], str | None]:
    """Return articles of an account, and the cursor of the next page, `None` on the last page.

    The most recently changed articles come first; in a search, those that match by title come before others. An article
    that is created or changed meanwhile moves to the front, and the next page continues where this one ended.

    Raises:
        InvalidInput: the cursor is not valid.
    """
    conditions = _conditions(user_id, criteria)
    if criteria.tag:
        conditions.append(await _has_tag(session, criteria.tag, conditions))
    matches = await _search(session, user_id, criteria.query) if criteria.query else None
    if criteria.query and matches is None:
        conditions.append(ArticleRow.title.icontains(criteria.query, autoescape=True))
    newest = (ArticleRow.updated_at.desc(), ArticleRow.id.desc())
    statement: Any
    if matches is None:
        statement = select(*_COLUMNS, literal(0).label("rank")).order_by(*newest)
    else:
        statement = select(*_COLUMNS, matches.c.in_title.label("rank"))
        statement = statement.join(matches, matches.c.document_id == ArticleRow.id)
        statement = statement.order_by(matches.c.in_title.desc(), *newest)
    if cursor is not None:
        conditions.append(_behind(None if matches is None else matches.c.in_title, cursor))
    rows = (await session.execute(statement.where(*conditions).limit(limit + 1))).all()
    more = len(rows) > limit
    urls = await urls_of(session, [row.id for row in rows[:limit]])
    listed = [_listed(row, urls.get(row.id, ())) for row in rows[:limit]]
    return listed, _cursor(rows[limit - 1].rank, listed[-1]) if more else None


async def urls_of(session: AsyncSession, article_ids: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the URLs at which articles are live, by article id."""
    if not article_ids:
        return {}
    statement = (
        select(PublicationRow.article_id, PublicationRow.url)
        .where(PublicationRow.article_id.in_(article_ids), PublicationRow.status.in_(LIVE), PublicationRow.url != "")
        .order_by(PublicationRow.created_at)
    )
    urls: dict[str, tuple[str, ...]] = {}
    for article_id, url in await session.execute(statement):
        urls[article_id] = (*urls.get(article_id, ()), url)
    return urls


_COLUMNS: Final = (
    ArticleRow.id,
    ArticleRow.title,
    ArticleRow.slug,
    ArticleRow.status,
    ArticleRow.website_id,
    ArticleRow.version,
    ArticleRow.word_count,
    ArticleRow.score,
    ArticleRow.updated_at,
)


def _conditions(user_id: str, criteria: ArticleFilter) -> list[ColumnElement[bool]]:
    conditions = [ArticleRow.user_id == user_id]
    if criteria.status is not None:
        conditions.append(ArticleRow.status == criteria.status)
    else:
        conditions.append(ArticleRow.status != "trashed")
    if criteria.website_id is not None:
        conditions.append(ArticleRow.website_id == as_id(criteria.website_id))
    if criteria.updated_since is not None:
        conditions.append(ArticleRow.updated_at >= criteria.updated_since)
    return conditions


async def _has_tag(session: AsyncSession, tag: str, conditions: Sequence[ColumnElement[bool]]) -> ColumnElement[bool]:
    """Return the condition that an article has a tag, ignoring case and accents, for articles that meet others.

    The tags are compared here, because databases differ in what they know about case and accents.
    """
    elements = func.json_each if session.get_bind().dialect.name == "sqlite" else func.json_array_elements_text
    tags = elements(ArticleRow.tags).table_valued("value")
    statement = select(tags.c.value).select_from(ArticleRow).join(tags, true())
    names = await session.scalars(statement.where(*conditions).distinct())
    wanted = searchable(tag)
    same = [name for name in names if searchable(name) == wanted]
    return select(tags).where(tags.c.value.in_(same)).exists() if same else false()


async def _search(session: AsyncSession, user_id: str, query: str) -> Any:
    """Return a subquery of the documents that contain every word of a query, or `None` if all words are too common."""
    languages = await session.scalars(select(ArticleRow.language).where(ArticleRow.user_id == user_id).distinct())
    groups = variants_of(query, languages.all())[:MAX_QUERY_WORDS]
    if not groups:
        return None
    conditions = [func.sum(case((WordRow.stem.in_(group), 1), else_=0)) > 0 for group in groups]
    return (
        select(WordRow.document_id, func.sum(case((WordRow.in_title, 1), else_=0)).label("in_title"))
        .where(WordRow.user_id == user_id, WordRow.stem.in_(frozenset().union(*groups)))
        .group_by(WordRow.document_id)
        .having(and_(*conditions))
        .subquery()
    )


def _listed(row: Any, urls: tuple[str, ...]) -> ArticleEntry:
    return ArticleEntry(
        id=row.id,
        title=row.title,
        slug=row.slug,
        status=row.status,
        website_id=row.website_id,
        version=row.version,
        word_count=row.word_count,
        score=row.score,
        updated_at=row.updated_at,
        urls=urls,
    )


def _cursor(rank: int, last: ArticleEntry) -> str:
    micros = (last.updated_at - _EPOCH) // timedelta(microseconds=1)
    return base64.urlsafe_b64encode(f"{rank}.{micros}.{last.id}".encode()).decode().rstrip("=")


def _behind(rank: ColumnElement[int] | None, cursor: str) -> ColumnElement[bool]:
    last_rank, last_at, last_id = _read_cursor(cursor)
    at, id_ = ArticleRow.updated_at, ArticleRow.id
    # Only the first condition can use an index.
    older = and_(at <= last_at, or_(at < last_at, id_ < last_id))
    return older if rank is None else or_(rank < last_rank, and_(rank == last_rank, older))


def _read_cursor(cursor: str) -> tuple[int, datetime, str]:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
        rank, micros, id_ = text.split(".", 2)
        position = int(rank) % 2**31, _EPOCH + timedelta(microseconds=int(micros)), as_id(id_)
    except (binascii.Error, UnicodeError, ValueError, OverflowError):
        position = 0, _EPOCH, ""
    if not position[2]:
        raise InvalidInput("cursor", "must be the next_cursor of an earlier result; leave it out to start over")
    return position
