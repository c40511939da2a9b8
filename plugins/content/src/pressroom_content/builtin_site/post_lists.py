"""Lists of a site's posts: by term, by month, related or adjacent to a post, and search results."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal
from weakref import WeakKeyDictionary

import structlog
from pressroom.sdk import CallError, Overloaded, PluginContext
from sqlalchemy import Select, and_, case, delete, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import defer

from pressroom_content.builtin_site.store import is_live
from pressroom_content.builtin_site.tables import BuiltinPostRow, BuiltinTermRow
from pressroom_content.contract.articles import slug_of, spelled_out
from pressroom_content.records import Website
from pressroom_content.tables import ArticleRow, PublicationRow, WordRow
from pressroom_content.text_index.corpus import counted_stems, language_of, variants_of

BlogTermKind = Literal["tag", "category", "author"]

_BEGINNING: Final = 8_000
"""The number of characters of a body from which an excerpt is made."""

_MAX_QUERY_WORDS: Final = 8
_MAX_MATCHES: Final = 200
_TITLE_WEIGHT: Final = 5
_SEARCHES_AT_ONCE: Final = 2
MAX_SEARCHES: Final = 8
"""The maximum number of running and waiting searches per site. Sites do not wait for each other."""

_MAX_RELATED_FROM: Final = 2_000
"""The number of newest posts considered as related: a tag may be on all posts of a large site."""

_MAX_CHANGED: Final = 20
_MAX_TEXT: Final = 20_000
log = structlog.get_logger()


def term_slug(name: str) -> str:
    """Return the URL segment for a tag, a category or an author; empty if the name has no letters."""
    return slug_of(spelled_out(name), 200)


def terms_of(fields: Mapping[str, Any]) -> Iterator[tuple[BlogTermKind, str, str]]:
    """Yield kind, slug and name of the terms in a post's fields, without duplicate slugs of a kind."""
    known_slugs: set[tuple[str, str]] = set()
    author = str(fields.get("author") or "").strip()
    names: list[tuple[BlogTermKind, str]] = [
        *(("tag", str(name)) for name in fields.get("tags") or ()),
        *(("category", str(name)) for name in fields.get("categories") or ()),
    ]
    if author:
        names.append(("author", author))
    for kind, name in names:
        slug = term_slug(name)
        if slug and (kind, slug) not in known_slugs:
            known_slugs.add((kind, slug))
            yield kind, slug, name[:500]


async def store_terms(session: AsyncSession, row: BuiltinPostRow) -> None:
    """Store the terms of a post that was just written."""
    await session.execute(delete(BuiltinTermRow).where(BuiltinTermRow.post_id == row.id))
    session.add_all(
        BuiltinTermRow(post_id=row.id, kind=kind, slug=slug, website_id=row.website_id, name=name)
        for kind, slug, name in terms_of(row.fields)
    )


@dataclass(frozen=True, slots=True)
class ListedPost:
    """A post in a list: its row without the texts, and the beginning of its body."""

    row: BuiltinPostRow
    beginning: str = ""


@dataclass(frozen=True, slots=True)
class ListedTerm:
    """A tag, a category or an author of posts. `changed` is the latest change of its posts."""

    kind: BlogTermKind
    slug: str
    posts: int
    changed: datetime


def matching(texts: Sequence[tuple[str, str, str]], groups: Sequence[frozenset[str]]) -> Sequence[str]:
    """Return the IDs of the texts (ID, text, language) that contain a stem of every group."""
    ids = []
    for id_, text, language in texts:
        stems = counted_stems(text, language_of(language)).keys()
        if all(group & stems for group in groups):
            ids.append(id_)
    return ids


class PostLists:
    """The lists of one built-in site. They contain live posts only, newest first unless stated otherwise."""

    def __init__(self, plugin: PluginContext, website: Website) -> None:
        self._database = plugin.services.database
        self._workers = plugin.services.workers
        self._website = website

    async def page(
        self, *, limit: int, offset: int = 0, term: tuple[BlogTermKind, str] | None = None
    ) -> Sequence[ListedPost]:
        """Return posts, optionally only those with a term (kind and slug)."""
        statement = self._posts().order_by(BuiltinPostRow.published_at.desc(), BuiltinPostRow.id.desc())
        if term is not None:
            statement = statement.where(BuiltinPostRow.id.in_(self._of_term(*term)))
        return await self._listed(statement.limit(limit).offset(offset))

    async def count(self, term: tuple[BlogTermKind, str] | None = None) -> int:
        """Return the number of posts, or of those with a term."""
        statement = select(func.count()).select_from(BuiltinPostRow).where(self._is_listed())
        if term is not None:
            statement = statement.where(BuiltinPostRow.id.in_(self._of_term(*term)))
        async with self._database.reading() as session:
            return int(await session.scalar(statement) or 0)

    async def terms(self, limit: int) -> Sequence[ListedTerm]:
        """Return the terms of posts, most used first."""
        posts = func.count(BuiltinTermRow.post_id)
        statement = (
            select(BuiltinTermRow.kind, BuiltinTermRow.slug, posts, func.max(BuiltinPostRow.updated_at))
            .join(BuiltinPostRow, BuiltinPostRow.id == BuiltinTermRow.post_id)
            .where(self._is_listed())
            .group_by(BuiltinTermRow.kind, BuiltinTermRow.slug)
            .order_by(posts.desc(), BuiltinTermRow.kind, BuiltinTermRow.slug)
        )
        async with self._database.reading() as session:
            rows = (await session.execute(statement.limit(limit))).all()
        return [ListedTerm(kind, slug, number, changed) for kind, slug, number, changed in rows]

    async def term_name(self, kind: BlogTermKind, slug: str) -> str:
        """Return the name of a term as its newest post spells it; empty if no live post has it."""
        statement = (
            select(BuiltinTermRow.name)
            .join(BuiltinPostRow, BuiltinPostRow.id == BuiltinTermRow.post_id)
            .where(self._is_listed(), *self._is_term(kind, slug))
            .order_by(BuiltinPostRow.published_at.desc())
        )
        async with self._database.reading() as session:
            return await session.scalar(statement.limit(1)) or ""

    async def months(self, *, limit: int, offset: int = 0) -> Sequence[BuiltinPostRow]:
        """Return the rows of posts for an archive, without their texts."""
        return [post.row for post in await self._listed(self._newest(limit, offset), beginnings=False)]

    async def pages(self) -> Sequence[tuple[str, str]]:
        """Return title and slug of up to 12 of the site's pages, ordered by title."""
        statement = select(BuiltinPostRow.title, BuiltinPostRow.slug).where(
            BuiltinPostRow.website_id == self._website.id, is_live(datetime.now(UTC)), BuiltinPostRow.kind == "page"
        )
        async with self._database.reading() as session:
            rows = await session.execute(statement.order_by(BuiltinPostRow.title).limit(12))
            return [(row.title, row.slug) for row in rows]

    async def neighbours(self, row: BuiltinPostRow) -> tuple[BuiltinPostRow | None, BuiltinPostRow | None]:
        """Return the previous and the next post, or `None`."""
        if row.published_at is None:
            return None, None
        at, id_ = BuiltinPostRow.published_at, BuiltinPostRow.id
        before = or_(at < row.published_at, and_(at == row.published_at, id_ < row.id))
        after = or_(at > row.published_at, and_(at == row.published_at, id_ > row.id))
        older = await self._listed(
            self._posts().where(before).order_by(at.desc(), id_.desc()).limit(1), beginnings=False
        )
        newer = await self._listed(self._posts().where(after).order_by(at, id_).limit(1), beginnings=False)
        return (older[0].row if older else None), (newer[0].row if newer else None)

    async def related(self, row: BuiltinPostRow, limit: int, without: Collection[str] = ()) -> Sequence[ListedPost]:
        """Return recent posts that share tags or categories with a post, those with the most in common first."""
        own_terms = select(BuiltinTermRow.kind, BuiltinTermRow.slug).where(
            BuiltinTermRow.post_id == row.id, BuiltinTermRow.kind.in_(("tag", "category"))
        )
        async with self._database.reading() as session:
            terms = [
                and_(BuiltinTermRow.kind == kind, BuiltinTermRow.slug == slug)
                for kind, slug in await session.execute(own_terms)
            ]
        if not terms:
            return []
        newest = self._newest(_MAX_RELATED_FROM, 0).with_only_columns(BuiltinPostRow.id).subquery()
        shared = (
            select(BuiltinTermRow.post_id, func.count().label("number"))
            .join(newest, newest.c.id == BuiltinTermRow.post_id)
            .where(or_(*terms[:40]))
            .group_by(BuiltinTermRow.post_id)
            .subquery()
        )
        statement = (
            self._posts()
            .join(shared, shared.c.post_id == BuiltinPostRow.id)
            .where(BuiltinPostRow.id.not_in({row.id, *without}))
            .order_by(shared.c.number.desc(), BuiltinPostRow.published_at.desc(), BuiltinPostRow.id.desc())
        )
        return await self._listed(statement.limit(limit))

    async def search(self, query: str, *, limit: int, offset: int = 0) -> tuple[int, Sequence[ListedPost]]:
        """Return the number of posts with every word of a query in any inflection, and a page of them, best first.

        Raises `Overloaded` if too many searches of the site are running: common words take time in proportion to the
        number of posts.
        """
        async with search_slot(self._website.id):
            return await self._search(query, limit, offset)

    async def _search(self, query: str, limit: int, offset: int) -> tuple[int, Sequence[ListedPost]]:
        languages = {language_of(self._website.settings.get("language", ""))}
        async with self._database.reading() as session:
            statement = (
                select(ArticleRow.language).distinct().join(PublicationRow, PublicationRow.article_id == ArticleRow.id)
            )
            languages |= set(await session.scalars(statement.where(PublicationRow.website_id == self._website.id)))
            groups = variants_of(query, languages)[:_MAX_QUERY_WORDS]
            if not groups:
                return 0, []
            matches = list(await session.scalars(self._candidates(groups)))
            changed = (await session.execute(self._changed())).all()
        matches += await self._that_have(changed, groups)
        page_ids = matches[offset : offset + limit]
        by_id = {post.row.id: post for post in await self._listed(self._posts().where(BuiltinPostRow.id.in_(page_ids)))}
        return len(matches), [by_id[id_] for id_ in page_ids if id_ in by_id]

    def _candidates(self, groups: Sequence[frozenset[str]]) -> Select[str]:
        """Return the query for the IDs of matching posts whose indexed version is the published one, best first."""
        score = func.sum(WordRow.count) + _TITLE_WEIGHT * func.sum(case((WordRow.in_title, 1), else_=0))
        conditions = [func.sum(case((WordRow.stem.in_(group), 1), else_=0)) > 0 for group in groups]
        return (
            self._published(BuiltinPostRow.id)
            .join(WordRow, WordRow.document_id == ArticleRow.id)
            .where(
                ArticleRow.version == PublicationRow.article_version,
                WordRow.user_id == self._website.user_id,
                WordRow.stem.in_(frozenset().union(*groups)),
            )
            .group_by(BuiltinPostRow.id, BuiltinPostRow.published_at)
            .having(and_(*conditions))
            .order_by(score.desc(), BuiltinPostRow.published_at.desc(), BuiltinPostRow.id)
            .limit(_MAX_MATCHES)
        )

    def _changed(self) -> Select[Any]:
        """Return the query for posts whose articles changed after publication: the index has unpublished text."""
        text = func.substr(BuiltinPostRow.markdown, 1, _MAX_TEXT)
        return (
            self._published(BuiltinPostRow.id, BuiltinPostRow.title, text, BuiltinPostRow.fields)
            .where(ArticleRow.version != PublicationRow.article_version)
            .order_by(BuiltinPostRow.published_at.desc())
            .limit(_MAX_CHANGED)
        )

    def _published(self, *columns: Any) -> Select[Any]:
        return (
            select(*columns)
            .join(PublicationRow, PublicationRow.external_id == BuiltinPostRow.id)
            .join(ArticleRow, ArticleRow.id == PublicationRow.article_id)
            .where(self._is_listed(), PublicationRow.website_id == self._website.id)
        )

    async def _that_have(self, posts: Sequence[Any], groups: Sequence[frozenset[str]]) -> Sequence[str]:
        """Return the IDs of the posts (ID, title, text, fields) that contain a stem of every group."""
        if not posts:
            return []
        texts = [(id_, f"{title}\n{text}", fields.get("language") or "") for id_, title, text, fields in posts]
        try:
            return await self._workers.run(matching, texts, groups, owner=self._website.user_id, what="the posts")
        except CallError as error:
            log.warning("a search left out posts whose articles changed", error=error.message)
            return []

    def _newest(self, limit: int, offset: int) -> Select[Any]:
        newest = self._posts().order_by(BuiltinPostRow.published_at.desc(), BuiltinPostRow.id.desc())
        return newest.limit(limit).offset(offset)

    def _posts(self) -> Select[Any]:
        return select(BuiltinPostRow).where(self._is_listed())

    def _is_listed(self) -> Any:
        return and_(
            BuiltinPostRow.website_id == self._website.id, is_live(datetime.now(UTC)), BuiltinPostRow.kind == "post"
        )

    def _is_term(self, kind: BlogTermKind, slug: str) -> Sequence[Any]:
        return (
            BuiltinTermRow.website_id == self._website.id,
            BuiltinTermRow.kind == kind,
            BuiltinTermRow.slug == slug,
        )

    def _of_term(self, kind: BlogTermKind, slug: str) -> Select[Any]:
        return select(BuiltinTermRow.post_id).where(*self._is_term(kind, slug))

    async def _listed(self, statement: Select[Any], *, beginnings: bool = True) -> Sequence[ListedPost]:
        statement = statement.options(defer(BuiltinPostRow.html), defer(BuiltinPostRow.markdown))
        if beginnings:
            statement = statement.add_columns(func.substr(BuiltinPostRow.html, 1, _BEGINNING))
        async with self._database.reading() as session:
            rows = (await session.execute(statement)).all()
        return [ListedPost(row[0], row[1] if beginnings else "") for row in rows]


@dataclass(slots=True)
class _Searches:
    """The searches of a site: the number of running and waiting ones."""

    slots: asyncio.Semaphore
    number: int = 0


_searches: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, _Searches]] = WeakKeyDictionary()


@asynccontextmanager
async def search_slot(website_id: str) -> AsyncIterator[None]:
    """Wait for a free search slot of a site. Raises `Overloaded` if too many are waiting."""
    of_sites = _searches.setdefault(asyncio.get_running_loop(), {})
    searches = of_sites.setdefault(website_id, _Searches(asyncio.Semaphore(_SEARCHES_AT_ONCE)))
    if searches.number >= MAX_SEARCHES:
        raise Overloaded("Many people search this blog at the moment. Try again in a few seconds.")
    searches.number += 1
    try:
        async with searches.slots:
            yield
    finally:
        searches.number -= 1
        if not searches.number:
            del of_sites[website_id]
