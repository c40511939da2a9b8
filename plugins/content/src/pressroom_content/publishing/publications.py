"""Operations on publications: publish, update, retry and query."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pressroom.columns import as_id, new_id
from pressroom.sdk import InvalidInput, PluginContext
from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.articles.store import Articles, read_article
from pressroom_content.contract import SiteRejected, cursor_of
from pressroom_content.publishing.posts import Manuscript, capabilities_of, manuscript
from pressroom_content.publishing.publish_requests import (
    UNDER_WAY,
    Mode,
    PublicationStart,
    PublishRequest,
    is_repeated,
    is_same,
    needs_work,
    resolved,
)
from pressroom_content.publishing.store import (
    PublicationStep,
    begin_attempt,
    listening,
    now_of,
    owned,
    record,
    step_rows,
    steps_of,
    update_article_status,
    work_on,
)
from pressroom_content.records import Article, Publication, Website
from pressroom_content.tables import PublicationRow
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.connectors import connector_of
from pressroom_content.websites.pagination import before
from pressroom_content.websites.store import Websites

MAX_OPTIONS_LENGTH: Final = 20_000

_POLL_SECONDS: Final = 0.5


class Publications:
    """The publications of accounts. Those of another account are treated as nonexistent."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin
        self._database = plugin.services.database

    async def get(self, user_id: str, publication_id: str) -> Publication:
        """Return a publication. Raises `NotFound`."""
        async with self._database.reading() as session:
            return record(await owned(session, user_id, publication_id))

    async def steps(self, publication_id: str) -> Sequence[PublicationStep]:
        """Return the steps of a publication's current attempt."""
        async with self._database.reading() as session:
            return list((await steps_of(session, publication_id)).values())

    async def note_verified(
        self, publication: Publication, facts: Mapping[str, Any], warnings: Sequence[str], *, over: bool = True
    ) -> None:
        """Replace the findings about the page, unless the publication's status has changed meanwhile.

        With `over`, no further automatic check of a live page follows.
        """
        async with self._database.writing() as session:
            row = await owned(session, publication.user_id, publication.id, lock=True)
            step = next((step for step in await step_rows(session, row.id) if step.name == "verify"), None)
            if step is None or row.status != publication.status:
                return
            before = (step.detail or {}).get("warnings", [])
            remaining = [warning for warning in row.warnings or () if warning not in before]
            row.warnings, row.verified = list(dict.fromkeys([*remaining, *warnings])), dict(facts)
            step.detail = {**(step.detail or {}), "warnings": list(warnings)}
            if over and row.status == "published":
                row.due_at = None

    async def schedule_recheck(self, publication: Publication, pauses: Sequence[timedelta]) -> datetime | None:
        """Schedule another check of a page that may appear later. Return its time, or `None` after the last check.

        Nothing changes if work on the publication has continued meanwhile.
        """
        async with self._database.writing() as session:
            row = await owned(session, publication.user_id, publication.id, lock=True)
            step = next((step for step in await step_rows(session, row.id) if step.name == "verify"), None)
            if step is None or row.status != "published" or row.due_at is None or row.attempt != publication.attempt:
                return row.due_at
            check_count = int((step.detail or {}).get("looks", 0)) + 1
            step.detail = {**(step.detail or {}), "looks": check_count}
            row.due_at = await now_of(session) + pauses[check_count] if check_count < len(pauses) else None
            return row.due_at

    async def page(
        self,
        user_id: str,
        *,
        website_id: str | None = None,
        article_id: str | None = None,
        status: str | None = None,
        since: datetime | None = None,
        limit: int = 20,
        cursor: str | None = None,
    ) -> tuple[Sequence[Publication], str | None]:
        """Return publications, most recently changed first, and the cursor of the next page. Raises `InvalidInput`."""
        query = select(PublicationRow).where(PublicationRow.user_id == user_id)
        if website_id is not None:
            query = query.where(PublicationRow.website_id == as_id(website_id))
        if article_id is not None:
            query = query.where(PublicationRow.article_id == as_id(article_id))
        if status is not None:
            query = query.where(_of_status(status))
        if since is not None:
            query = query.where(PublicationRow.updated_at >= since)
        if cursor is not None:
            query = query.where(before(PublicationRow.updated_at, PublicationRow.id, cursor))
        query = query.order_by(PublicationRow.updated_at.desc(), PublicationRow.id.desc()).limit(limit + 1)
        async with self._database.reading() as session:
            publications = [record(row) for row in await session.scalars(query)]
        more = len(publications) > limit
        publications = publications[:limit]
        return publications, cursor_of(publications[-1].updated_at, publications[-1].id) if more else None

    async def scheduled(
        self,
        user_id: str,
        begin: datetime,
        end: datetime,
        *,
        website_id: str | None = None,
        status: str | None = None,
        limit: int = 400,
    ) -> Sequence[Publication]:
        """Return publications scheduled from `begin` until before `end`, in order, including already published ones."""
        query = select(PublicationRow).where(
            PublicationRow.user_id == user_id,
            PublicationRow.mode == "schedule",
            PublicationRow.publish_at >= begin,
            PublicationRow.publish_at < end,
            PublicationRow.status != "unpublished",
        )
        if website_id is not None:
            query = query.where(PublicationRow.website_id == as_id(website_id))
        if status is not None:
            query = query.where(_of_status(status))
        query = query.order_by(PublicationRow.publish_at, PublicationRow.id).limit(limit)
        async with self._database.reading() as session:
            rows = await session.scalars(query)
            return [record(row) for row in rows]

    async def preview(
        self, user_id: str, article_id: str, website_id: str, options: Mapping[str, Any], canonical_url: str = ""
    ) -> tuple[Manuscript, Article, Website]:
        """Return what a website would receive for an article. Raises `NotFound`, `InvalidInput`, `SiteUnavailable`."""
        article = await Articles(self._plugin).get(user_id, article_id)
        website = await Websites(self._plugin).get(user_id, website_id)
        connector = connector_of(self._plugin, website.platform)
        prepared = await manuscript(
            self._plugin, article, website, connector, marker="preview", options=options, canonical_url=canonical_url
        )
        return prepared, article, website

    async def publish(
        self,
        user_id: str,
        article_id: str,
        website_id: str,
        *,
        mode: Mode | None = "publish",
        publish_at: datetime | None = None,
        options: Mapping[str, Any] | None = None,
        request_id: str | None = None,
        canonical_of: str | None = None,
    ) -> Publication:
        """Start publishing an article and return the publication. Raises the same exceptions as `begin`."""
        request = PublishRequest(mode, publish_at, options, canonical_of, request_id=request_id)
        return (await self.begin(user_id, article_id, website_id, request)).publication

    async def begin(self, user_id: str, article_id: str, website_id: str, request: PublishRequest) -> PublicationStart:
        """Start publishing an article's newest version. Each pair of article and website has one publication.

        Publications that are already complete or in progress are not started again. Failed ones continue at the failed
        step.

        Raises:
            NotFound: the account has no such article or website.
            InvalidInput: the request cannot be fulfilled; the message says why.
        """
        while True:
            try:
                async with self._database.writing() as session:
                    article = await read_article(session, user_id, article_id)
                    website, _ = await Websites(self._plugin).sealed(session, user_id, website_id)
                    result = await self._begin(session, article, website, request)
                    if result.started and result.publication.mode == "schedule":
                        await update_article_status(session, user_id, article.id)
                    return result
            except IntegrityError:  # created concurrently by another request
                continue

    async def update(self, user_id: str, publication_id: str, *, force: bool = False) -> Publication:
        """Start publishing the newest version to the site. Raises `NotFound` and `InvalidInput`."""
        publication = await self.get(user_id, publication_id)
        if publication.status == "unpublished":
            raise InvalidInput("publication_id", "was taken down; use publish_content to bring it back")
        request = PublishRequest(force=force)
        return (await self.begin(user_id, publication.article_id, publication.website_id, request)).publication

    async def retry(self, user_id: str, publication_id: str) -> Publication:
        """Continue a failed publication at the step that failed. Raises `NotFound` and `InvalidInput`."""
        async with self._database.writing() as session:
            row = await owned(session, user_id, publication_id, lock=True)
            now = await now_of(session)
            if row.status not in ("failed", "unknown") and not (row.status == "queued" and row.tries):
                raise InvalidInput("publication_id", f"did not fail: it is {row.status}; there is nothing to retry")
            await self._restart(session, row, now, resume=True)
            if row.mode == "schedule":
                await update_article_status(session, user_id, row.article_id)
            return record(row)

    async def wait(self, publication: Publication, seconds: float) -> Publication:
        """Wait until an attempt has ended or the timeout has passed, and return the publication."""
        now = asyncio.get_running_loop().time
        deadline = now() + seconds
        latest = datetime.now(UTC) + timedelta(seconds=seconds)
        with listening(publication.id) as ended:
            while True:
                ended.clear()
                current = await self.get(publication.user_id, publication.id)
                # If the site was unavailable, the automatic retry is later than any caller waits.
                unavailable = current.status == "queued" and bool(current.error)
                postponed = current.due_at is None or current.due_at > latest or unavailable
                finished = current.status not in UNDER_WAY or (current.status != "publishing" and postponed)
                if finished or now() >= deadline:
                    return current
                with suppress(TimeoutError):  # another process may run the attempt
                    async with asyncio.timeout_at(min(deadline, now() + _POLL_SECONDS)):
                        await ended.wait()

    async def problem(self, publication: Publication) -> str:
        """Return the error code of the current attempt; empty if it did not fail."""
        if not publication.error:
            return ""
        codes = [step.detail.get("error_code", "") for step in await self.steps(publication.id)]
        return next((code for code in codes if code), "")

    def _check(self, article: Article, website: Website, mode: Mode, *, exists: bool) -> None:
        if article.status == "trashed":
            raise InvalidInput("content_id", "is in the trash; restore_content brings it back")
        if website.status == "paused":
            raise InvalidInput("website_id", "is paused; resume it in the dashboard first")
        if website.status == "error" and not exists and website.last_error == "":
            raise SiteRejected("the website needs to be connected again", hint="Use connect_website.")
        capabilities = capabilities_of(website, connector_of(self._plugin, website.platform))
        if mode == "draft" and not capabilities.draft:
            raise InvalidInput("mode", f"{website.name} has no drafts; use publish or schedule")

    async def _begin(
        self, session: AsyncSession, article: Article, website: Website, request: PublishRequest
    ) -> PublicationStart:
        now = await now_of(session)
        row = await session.scalar(_of_pair(article.user_id, article.id, website.id).with_for_update())
        if row is not None and is_repeated(row, request):
            return PublicationStart(record(row), started=False, new=False, repeated=True)
        columns = resolved(row, request, article.version, site_settings.read(website.settings).default_status)
        self._check(article, website, columns["mode"], exists=row is not None)
        new, resume = row is None, False
        if row is None:
            row = PublicationRow(
                id=new_id("p"),
                user_id=article.user_id,
                article_id=article.id,
                website_id=website.id,
                marker=f"pr-{secrets.token_hex(12)}",
                created_at=now,
                verified={},
                warnings=[],
            )
            session.add(row)
        elif not needs_work(row, columns, request):
            return PublicationStart(record(row), started=False, new=False)
        else:
            resume = row.status in ("failed", *UNDER_WAY) and is_same(row, columns) and not request.force
        if request.force and not new:
            columns["options"] = {**columns["options"], "force": True}
        for name, value in columns.items():
            setattr(row, name, value)
        row.request_id = request.request_id
        await self._restart(session, row, now, resume=resume)
        return PublicationStart(record(row), started=True, new=new)

    async def of_pair(self, user_id: str, article_id: str, website_id: str) -> Publication | None:
        """Return the publication of an article on a website, or `None`."""
        async with self._database.reading() as session:
            row = await session.scalar(_of_pair(user_id, article_id, website_id))
            return record(row) if row is not None else None

    async def _restart(self, session: AsyncSession, row: PublicationRow, now: datetime, *, resume: bool) -> None:
        row.status, row.due_at, row.error = "queued", now, ""
        row.warnings, row.updated_at = [], now
        with session.no_autoflush:  # the row is written once, with its job
            row.job_id = await work_on(self._plugin, session, row.id, row.user_id, now)
        await begin_attempt(session, row, resume=resume)


def _of_status(status: str) -> ColumnElement[bool]:
    """Return the condition for a status. `queued` includes all publications in progress."""
    return PublicationRow.status.in_(UNDER_WAY) if status == "queued" else PublicationRow.status == status


def _of_pair(user_id: str, article_id: str, website_id: str) -> Select[PublicationRow]:
    return select(PublicationRow).where(
        PublicationRow.user_id == as_id(user_id),
        PublicationRow.article_id == as_id(article_id),
        PublicationRow.website_id == as_id(website_id),
    )
