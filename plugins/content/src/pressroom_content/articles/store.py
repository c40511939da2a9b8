"""The article store: reading, creating and changing articles."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, cast

from pressroom.columns import as_id, new_id
from pressroom.sdk import InvalidInput, NotFound, PluginContext
from sqlalchemy import CursorResult, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.articles import versions
from pressroom_content.articles.analysis import Analysis, analyse, rated, scorer_of
from pressroom_content.articles.edits import Edit, with_edits
from pressroom_content.articles.fields import (
    FIELDS,
    Draft,
    article_of,
    available_slug,
    check_website,
    explicit_slug,
    media_ids_of,
    slug_for,
)
from pressroom_content.config import ContentConfig
from pressroom_content.contract import Score
from pressroom_content.publishing.images import note_images
from pressroom_content.records import Article, ArticleStatus
from pressroom_content.tables import ArticleRow
from pressroom_content.text_index import corpus

_TRIES = 20
"""Maximum attempts to create an article while concurrent requests take its slug."""


@dataclass(frozen=True, slots=True)
class ArticleUpdate:
    """The result of a change to an article. `score` is `None` without a scorer; `delta` is the change of the score.

    `repeated` means that an earlier request already created the article.
    """

    article: Article
    changed: tuple[str, ...] = ()
    score: Score | None = None
    delta: int | None = None
    repeated: bool = False


class Articles:
    """The articles of all accounts. Articles of other accounts are not found."""

    def __init__(self, plugin: PluginContext[ContentConfig]) -> None:
        services = plugin.services
        self._plugin = plugin
        self._database, self._storage, self._workers = services.database, services.storage, services.workers

    async def get(self, user_id: str, content_id: str, version: int | None = None) -> Article:
        """Return an article, or an older version of it. Raises `NotFound`."""
        async with self._database.reading() as session:
            return await read_article(session, user_id, content_id, version)

    async def create(
        self,
        user_id: str,
        draft: Draft,
        *,
        request_id: str | None = None,
        origin: str = "",
        also: Callable[[AsyncSession, Article], Awaitable[None]] | None = None,
    ) -> ArticleUpdate:
        """Store a new article, or return the one that an earlier request with the same `request_id` created.

        `origin` is the client that wrote it. `also` runs in the same transaction.

        Raises:
            InvalidInput: a field is invalid, the account has its maximum number of articles, or the `request_id`
                created an article with other values.
            NotFound: the account has no such website.
            QuotaExceeded: the account's storage is full.
        """
        draft = draft.normalised()
        if request_id is not None and (earlier := await self._created_earlier(user_id, request_id, draft)) is not None:
            return earlier
        provisional = replace(draft, slug=await slug_for(self._database, draft))
        analysis = await analyse(self._plugin, unstored(user_id, provisional))
        for attempt in range(_TRIES):
            try:
                async with self._database.writing() as session:
                    slug = await available_slug(session, user_id, provisional, self._plugin.config.max_articles)
                    final = provisional if slug == provisional.slug else replace(provisional, slug=slug)
                    size = final.size()
                    stored = size + final.body_size()
                    await self._storage.reserve(session, user_id, stored)
                    row = _new_row(user_id, final, analysis, request_id, stored)
                    session.add(row)
                    await session.flush()
                    await versions.add(session, row, final, None, origin, size=size)
                    await corpus.add(session, user_id, row.id, analysis.fingerprint)
                    if also is not None:
                        await also(session, article_of(row))
                article = article_of(row)
                if media_ids := media_ids_of(article):
                    await note_images(self._plugin, article, media_ids)
                return await self._creation_result(article, provisional, analysis)
            except IntegrityError:
                # A concurrent request took the slug, or had the same request id.
                earlier = await self._created_earlier(user_id, request_id, draft) if request_id is not None else None
                if earlier is not None:
                    return earlier
                if attempt == _TRIES - 1:
                    raise
        raise AssertionError("unreachable")

    async def update(
        self,
        user_id: str,
        content_id: str,
        expected_version: int,
        *,
        changes: Mapping[str, Any] | None = None,
        edits: Sequence[Edit] = (),
        origin: str = "",
    ) -> ArticleUpdate:
        """Change an article. A change without effect creates no version, and repeating the last change has no effect.

        Raises:
            InvalidInput: the article is at another version or in the trash, or a change is invalid.
            NotFound: the account has no such article, or no such website.
            QuotaExceeded: the account's storage is full.
        """
        article = await self.get(user_id, content_id)
        if article.status == "trashed":
            raise InvalidInput("content_id", "is in the trash; restore it with restore_content, then change it")
        if article.version != expected_version:
            return await self._repeated(article, expected_version, changes, edits)
        try:
            draft = await self._changed(user_id, Draft.of(article), changes, edits)
            return await self.write(article, draft, origin=origin)
        except InvalidInput as error:
            if error.field in (changes or {}):  # as the parameter of update_content
                raise InvalidInput(f"fields.{error.field}", error.problem) from error
            raise

    async def write(self, article: Article, draft: Draft, *, origin: str = "") -> ArticleUpdate:
        """Store a draft as the newest version of an article, if the article is still at the version that was read.

        Raises the same errors as `update`.
        """
        before = Draft.of(article)
        if not draft.slug:
            draft = replace(draft, slug=article.slug)
        changed = draft.changed_from(before)
        now = datetime.now(UTC)
        values_by_field = {name: getattr(draft, name) for name in FIELDS}
        candidate = replace(article, **values_by_field, updated_at=now) if changed else article
        analysis = await analyse(self._plugin, candidate)
        delta = _delta(article.score, analysis.score)
        if not changed:
            return ArticleUpdate(await self._noted(article, analysis.score), (), analysis.score, delta)
        size, growth = draft.size(), draft.body_size() - before.body_size()
        values = {
            **draft.columns(),
            "version": article.version + 1,
            "word_count": analysis.word_count,
            "length": analysis.fingerprint.length,
            "score": analysis.score.score if analysis.score else None,
            "updated_at": now,
        }
        try:
            async with self._database.writing() as session:
                await self._storage.reserve(session, article.user_id, size + max(0, growth))
                if "website_id" in changed:
                    await check_website(session, article.user_id, draft.website_id)
                if {"slug", "website_id"}.intersection(changed):
                    await explicit_slug(session, article.user_id, article.id, draft)
                row = await self._claim_version(session, article, values)
                row.stored += size + growth
                await versions.add(
                    session, row, draft, before, origin, size=size, max_versions=self._plugin.config.max_versions
                )
                if {"title", "body", "body_format", "language"}.intersection(changed):
                    await corpus.remember(session, article.user_id, article.id, analysis.fingerprint)
        except IntegrityError:
            raise InvalidInput("fields.slug", "was taken by another article just now; choose another one") from None
        written = article_of(row)
        if {"body", "featured_media_id"}.intersection(changed):
            await note_images(self._plugin, written, media_ids_of(written))
        return ArticleUpdate(written, changed, analysis.score, delta)

    async def rescore(self, user_id: str, content_id: str) -> None:
        """Score an article again after its context changed, such as where it is published."""
        await self.rescored(await self.get(user_id, content_id))

    async def rescored(self, article: Article) -> None:
        """Do the same as `rescore`, given the newest version of an article."""
        scorer = scorer_of(self._plugin)
        if scorer is None or scorer.prepare is None:
            return
        score = await rated(self._plugin, scorer, article)
        if score is not None:
            await self.note_score(article, score.score, score.words)

    async def note_score(self, article: Article, score: int, words: int | None) -> Article:
        """Store a newer score of an article for lists, which then agree with its pages; return the article with it.

        The score of an older version is not stored.
        """
        updated = replace(article, score=score, word_count=article.word_count if words is None else words)
        if updated == article:
            return article
        conditions = (ArticleRow.id == article.id, ArticleRow.user_id == article.user_id)
        statement = update(ArticleRow).where(*conditions, ArticleRow.version == article.version)
        async with self._database.writing() as session:
            await session.execute(statement.values(score=score, word_count=updated.word_count))
        return updated

    async def _creation_result(self, article: Article, provisional: Draft, analysis: Analysis) -> ArticleUpdate:
        """Return a newly created article with its score, which is computed again if the slug had to change."""
        if article.slug == provisional.slug:
            return ArticleUpdate(article, score=analysis.score)
        score = (await analyse(self._plugin, article)).score
        return ArticleUpdate(await self._noted(article, score), score=score)

    async def _noted(self, article: Article, score: Score | None) -> Article:
        return article if score is None else await self.note_score(article, score.score, score.words)

    async def _changed(
        self, user_id: str, draft: Draft, changes: Mapping[str, Any] | None, edits: Sequence[Edit]
    ) -> Draft:
        """Return a draft with changes applied; edits run in a worker process. Raises `InvalidInput`."""
        max_bytes = self._plugin.config.max_body_bytes
        if not edits:
            return _changed(draft, changes, edits, max_bytes)
        return await self._workers.run(_changed, draft, changes, edits, max_bytes, owner=user_id, what="the article")

    async def _claim_version(self, session: AsyncSession, article: Article, values: Mapping[str, Any]) -> ArticleRow:
        """Write the new version unless another request wrote one, and return the row. Raises `InvalidInput`."""
        conditions = (
            ArticleRow.id == article.id,
            ArticleRow.user_id == article.user_id,
            ArticleRow.version == article.version,
            ArticleRow.status != "trashed",
        )
        result: Any = await session.execute(update(ArticleRow).where(*conditions).values(**values))
        row = await owned(session, article.user_id, article.id)
        if not result.rowcount:
            raise stale(row.version, article.version)
        return row

    async def _repeated(
        self, article: Article, expected: int, changes: Mapping[str, Any] | None, edits: Sequence[Edit]
    ) -> ArticleUpdate:
        """Return the result of a change that is repeated after a lost response; raise `InvalidInput` for any other."""
        if article.version == expected + 1:
            try:
                before = Draft.of(await self.get(article.user_id, article.id, expected))
                repeated = await self._changed(article.user_id, before, changes, edits)
            except (NotFound, InvalidInput):
                raise stale(article.version, expected) from None
            if not repeated.changed_from(Draft.of(article)):
                score = (await analyse(self._plugin, article)).score
                return ArticleUpdate(await self._noted(article, score), repeated.changed_from(before), score, None)
        raise stale(article.version, expected)

    async def _created_earlier(self, user_id: str, request_id: str, draft: Draft) -> ArticleUpdate | None:
        statement = select(ArticleRow).where(ArticleRow.user_id == user_id, ArticleRow.request_id == request_id)
        async with self._database.reading() as session:
            row = await session.scalar(statement)
        if row is None:
            return None
        article = article_of(row)
        try:
            first = Draft.of(await self.get(user_id, article.id, 1))
        except NotFound:  # only a limited number of versions is stored
            first = Draft.of(article)
        if differing := [name for name in draft.changed_from(first) if name != "slug" or draft.slug]:
            raise InvalidInput(
                "client_request_id",
                f"made {article.id} before, with other values of {', '.join(differing)}. Nothing was stored. Choose "
                "another client_request_id for a new article, or use update_content to change that one",
            )
        score = (await analyse(self._plugin, article)).score
        return ArticleUpdate(await self._noted(article, score), score=score, repeated=True)


async def read_article(session: AsyncSession, user_id: str, content_id: str, version: int | None = None) -> Article:
    """Return an article, or an older version of it. Raises `NotFound`."""
    row = await owned(session, user_id, content_id)
    article = article_of(row)
    if version is None or version == row.version:
        return article
    older = await versions.read(session, row.id, version)
    fields = {name: getattr(older, name) for name in Draft.__dataclass_fields__}
    return replace(article, version=version, **fields)


async def note_status(
    session: AsyncSession, user_id: str, content_id: str, status: ArticleStatus, published_at: datetime | None = None
) -> None:
    """Set an article's status after publishing, without creating a version. Articles in the trash stay there.

    Raises `NotFound`.
    """
    values: dict[str, Any] = {"status": status}
    if published_at is not None:
        values["published_at"] = published_at
    conditions = (
        ArticleRow.id == as_id(content_id),
        ArticleRow.user_id == as_id(user_id),
        ArticleRow.status != "trashed",
    )
    done = await session.execute(update(ArticleRow).where(*conditions).values(**values))
    if not cast("CursorResult[Any]", done).rowcount:
        await owned(session, user_id, content_id)


async def owned(session: AsyncSession, user_id: str, content_id: str) -> ArticleRow:
    """Return the row of an article of an account. Raises `NotFound`."""
    statement = select(ArticleRow).where(ArticleRow.id == as_id(content_id), ArticleRow.user_id == as_id(user_id))
    row = await session.scalar(statement.execution_options(populate_existing=True))
    if row is None:
        raise NotFound(f"this account has no article {content_id[:40]!r}; list_content shows the ones it has")
    return row


def stale(version: int, expected: int) -> InvalidInput:
    """Return the error for a change to a version that is not the newest."""
    if expected > version:
        return InvalidInput(
            "expected_version",
            f"the article has no version {expected}: the newest is {version}, and nothing was written. Read it with "
            "get_content, and repeat with its version",
        )
    return InvalidInput(
        "expected_version",
        f"the article is now at version {version}, not {expected}: somebody changed it in the meantime, and nothing "
        "was written. Read it with get_content, make the change to that text, and repeat with its version",
    )


def _changed(draft: Draft, changes: Mapping[str, Any] | None, edits: Sequence[Edit], max_bytes: int) -> Draft:
    changes = dict(changes or {})
    if edits and "body" in changes:
        raise InvalidInput("edits", "cannot be given together with fields.body; give the whole body or edits of it")
    if "body_format" in changes and changes["body_format"] != draft.body_format and "body" not in changes:
        raise InvalidInput("fields.body_format", "needs fields.body: the whole body in the new format")
    if changes:
        draft = draft.with_changes(changes)
    return replace(draft, body=with_edits(draft.body, edits, max_length=max_bytes)) if edits else draft


def unstored(user_id: str, draft: Draft) -> Article:
    """Return the article that a draft would become."""
    now = datetime.now(UTC)
    values = {name: getattr(draft, name) for name in FIELDS}
    return Article(
        id="",
        user_id=user_id,
        status="draft",
        version=1,
        word_count=0,
        score=None,
        created_at=now,
        updated_at=now,
        published_at=None,
        trashed_at=None,
        **values,
    )


def _new_row(user_id: str, draft: Draft, analysis: Analysis, request_id: str | None, stored: int) -> ArticleRow:
    now = datetime.now(UTC)
    return ArticleRow(
        id=new_id("a"),
        user_id=user_id,
        status="draft",
        version=1,
        word_count=analysis.word_count,
        length=analysis.fingerprint.length,
        score=analysis.score.score if analysis.score else None,
        stored=stored,
        request_id=request_id,
        created_at=now,
        updated_at=now,
        **draft.columns(),
    )


def _delta(before: int | None, score: Score | None) -> int | None:
    return score.score - before if score is not None and before is not None else None
