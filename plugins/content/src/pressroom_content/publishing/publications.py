"""What people do with publications: publish, update, take down, reschedule, and ask for their status."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

from pressroom.columns import as_id, new_id
from pressroom.sdk import InvalidInput, PluginContext
from sqlalchemy import or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.articles.store import Articles, note_status, read_article
from pressroom_content.contract import SiteRejected, cursor_of
from pressroom_content.publishing.posts import Manuscript, capabilities_of, manuscript
from pressroom_content.publishing.store import (
    PublicationStep,
    begin_attempt,
    listening,
    now_of,
    owned,
    record,
    step_rows,
    steps_of,
    work_on,
)
from pressroom_content.records import Article, Publication, Website
from pressroom_content.tables import PublicationRow
from pressroom_content.websites.connectors import connector_of
from pressroom_content.websites.paging import before
from pressroom_content.websites.store import Websites

Mode = Literal["publish", "draft", "schedule"]

UNDER_WAY: Final = ("queued", "publishing", "unknown")
MAX_OPTIONS_LENGTH: Final = 20_000

_POLL_SECONDS: Final = 0.5


class Publications:
    """The publications of accounts. What belongs to another account does not exist."""

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

    async def note_verified(self, seen: Publication, facts: Mapping[str, Any], warnings: Sequence[str]) -> None:
        """Replace earlier findings on the page by those of just now, unless work on it has continued meanwhile."""
        async with self._database.writing() as session:
            row = await owned(session, seen.user_id, seen.id, lock=True)
            step = next((one for one in await step_rows(session, row.id) if one.name == "verify"), None)
            if step is None or row.status != seen.status:
                return
            before = (step.detail or {}).get("warnings", [])
            kept = [one for one in row.warnings or () if one not in before]
            row.warnings, row.verified = list(dict.fromkeys([*kept, *warnings])), dict(facts)
            step.detail = {**(step.detail or {}), "warnings": list(warnings)}

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
        """Return publications, the last changed first, and the cursor of the next page. Raises `InvalidInput`."""
        wanted = select(PublicationRow).where(PublicationRow.user_id == user_id)
        if website_id is not None:
            wanted = wanted.where(PublicationRow.website_id == as_id(website_id))
        if article_id is not None:
            wanted = wanted.where(PublicationRow.article_id == as_id(article_id))
        if status is not None:
            wanted = wanted.where(
                PublicationRow.status.in_(UNDER_WAY) if status == "queued" else PublicationRow.status == status
            )
        if since is not None:
            wanted = wanted.where(PublicationRow.updated_at >= since)
        if cursor is not None:
            wanted = wanted.where(before(PublicationRow.updated_at, PublicationRow.id, cursor))
        wanted = wanted.order_by(PublicationRow.updated_at.desc(), PublicationRow.id.desc()).limit(limit + 1)
        async with self._database.reading() as session:
            found = [record(row) for row in await session.scalars(wanted)]
        more = len(found) > limit
        found = found[:limit]
        return found, cursor_of(found[-1].updated_at, found[-1].id) if more else None

    async def scheduled(
        self, user_id: str, begin: datetime, end: datetime, website_id: str | None = None
    ) -> Sequence[Publication]:
        """Return what goes out, or went out, at a named time between two moments, in its order."""
        wanted = select(PublicationRow).where(
            PublicationRow.user_id == user_id,
            PublicationRow.mode == "schedule",
            PublicationRow.publish_at >= begin,
            PublicationRow.publish_at < end,
            PublicationRow.status != "unpublished",
        )
        if website_id is not None:
            wanted = wanted.where(PublicationRow.website_id == as_id(website_id))
        async with self._database.reading() as session:
            rows = await session.scalars(wanted.order_by(PublicationRow.publish_at, PublicationRow.id))
            return [record(row) for row in rows]

    async def preview(
        self, user_id: str, article_id: str, website_id: str, options: Mapping[str, Any]
    ) -> tuple[Manuscript, Article, Website]:
        """Return what a website would get of an article. Raises `NotFound`, `InvalidInput` or `SiteUnavailable`."""
        article = await Articles(self._plugin).get(user_id, article_id)
        website = await Websites(self._plugin).get(user_id, website_id)
        connector = connector_of(self._plugin, website.platform)
        made = await manuscript(self._plugin, article, website, connector, marker="preview", options=options)
        return made, article, website

    async def publish(
        self,
        user_id: str,
        article_id: str,
        website_id: str,
        *,
        mode: Mode = "publish",
        publish_at: datetime | None = None,
        options: Mapping[str, Any] | None = None,
        request_id: str | None = None,
        canonical_of: str | None = None,
    ) -> Publication:
        """Begin to bring an article to a website, and return the publication; see `begin`, which raises the same."""
        found, _ = await self.begin(
            user_id,
            article_id,
            website_id,
            mode=mode,
            publish_at=publish_at,
            options=options,
            request_id=request_id,
            canonical_of=canonical_of,
        )
        return found

    async def begin(
        self,
        user_id: str,
        article_id: str,
        website_id: str,
        *,
        mode: Mode = "publish",
        publish_at: datetime | None = None,
        options: Mapping[str, Any] | None = None,
        request_id: str | None = None,
        canonical_of: str | None = None,
    ) -> tuple[Publication, bool]:
        """Begin to bring an article to a website. Return the publication, one for the pair, and whether it is new.

        An article that is there already, or on its way there, is not begun again: its publication is not new.

        Raises:
            NotFound: the account has no such article or website.
            InvalidInput: it cannot be done so; the message says why.
        """
        asked: dict[str, Any] = {
            "mode": mode,
            "publish_at": publish_at,
            "options": dict(options or {}),
            "canonical_of": canonical_of,
        }
        while True:
            try:
                async with self._database.writing() as session:
                    article = await read_article(session, user_id, article_id)
                    website, _ = await Websites(self._plugin).sealed(session, user_id, website_id)
                    self._check(article, website, mode)
                    asked["article_version"] = article.version
                    row, begun, news = await self._begin(session, article, website, asked, request_id)
                    if begun and mode == "schedule":
                        await note_status(session, user_id, article.id, "scheduled")
                    return record(row), news
            except IntegrityError:  # somebody else began it at the same moment
                continue

    async def update(self, user_id: str, publication_id: str, *, force: bool = False) -> Publication:
        """Begin to bring the newest version to the site. Raises `NotFound` and `InvalidInput`."""
        known = await self.get(user_id, publication_id)
        article = await Articles(self._plugin).get(user_id, known.article_id)
        website = await Websites(self._plugin).get(user_id, known.website_id)
        if known.status == "unpublished":
            raise InvalidInput("publication_id", "was taken down; use publish_content to bring it back")
        _refuse_busy(known)
        self._check(article, website, known.mode, known)
        if article.version == known.article_version and known.status in ("published", "draft") and not force:
            return known
        async with self._database.writing() as session:
            row = await owned(session, user_id, publication_id, lock=True)
            now = await now_of(session)
            row.options = {**(row.options or {}), **({"force": True} if force else {})}
            row.article_version = article.version
            await self._restart(session, row, now, resume=False)
            return record(row)

    async def retry(self, user_id: str, publication_id: str) -> Publication:
        """Continue a failed publication at the step that failed. Raises `NotFound` and `InvalidInput`."""
        async with self._database.writing() as session:
            row = await owned(session, user_id, publication_id, lock=True)
            now = await now_of(session)
            if row.status not in ("failed", "unknown") and not (row.status == "queued" and row.tries):
                raise InvalidInput("publication_id", f"did not fail: it is {row.status}; there is nothing to retry")
            await self._restart(session, row, now, resume=True)
            return record(row)

    async def wait(self, publication: Publication, seconds: float) -> Publication:
        """Return the publication once an attempt has ended, or the time is over."""
        now = asyncio.get_running_loop().time
        deadline = now() + seconds
        latest = datetime.now(UTC) + timedelta(seconds=seconds)
        with listening(publication.id) as ended:
            while True:
                ended.clear()
                found = await self.get(publication.user_id, publication.id)
                # Where the site was away, work continues automatically, later than anybody waits.
                away = found.status == "queued" and bool(found.error)
                later = found.due_at is None or found.due_at > latest or away
                over = found.status not in UNDER_WAY or (found.status != "publishing" and later)
                if over or now() >= deadline:
                    return found
                with suppress(TimeoutError):  # another process may work on it
                    async with asyncio.timeout_at(min(deadline, now() + _POLL_SECONDS)):
                        await ended.wait()

    async def problem(self, publication: Publication) -> str:
        """Return the code of the error that the current attempt ended with, or nothing."""
        if not publication.error:
            return ""
        codes = [step.detail.get("error_code", "") for step in await self.steps(publication.id)]
        return next((code for code in codes if code), "")

    def _check(self, article: Article, website: Website, mode: Mode, known: Publication | None = None) -> None:
        if article.status == "trashed":
            raise InvalidInput("content_id", "is in the trash; restore_content brings it back")
        if website.status == "paused":
            raise InvalidInput("website_id", "is paused; resume it in the dashboard first")
        if website.status == "error" and known is None and website.last_error == "":
            raise SiteRejected("the website needs to be connected again")
        able = capabilities_of(website, connector_of(self._plugin, website.platform))
        if mode == "draft" and not able.draft:
            raise InvalidInput("mode", f"{website.name} has no drafts; use publish or schedule")

    async def _begin(
        self,
        session: AsyncSession,
        article: Article,
        website: Website,
        asked: Mapping[str, Any],
        request_id: str | None,
    ) -> tuple[PublicationRow, bool, bool]:
        """Return the row of the pair, whether work on it begins now, and whether it was not under way before."""
        now = await now_of(session)
        same_pair = select(PublicationRow).where(
            PublicationRow.article_id == article.id, PublicationRow.website_id == website.id
        )
        row = await session.scalar(same_pair.with_for_update())
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
        elif not self._is_news(row, asked, request_id):
            return row, False, False
        news = row.status not in UNDER_WAY
        for name, value in asked.items():
            setattr(row, name, value)
        row.request_id = request_id
        await self._restart(session, row, now, resume=False)
        return row, True, news

    async def is_begun(self, user_id: str, article_id: str, website_id: str, request_id: str) -> bool:
        """Tell whether this publication was begun with this `request_id` last."""
        wanted = select(PublicationRow.id).where(
            PublicationRow.user_id == as_id(user_id),
            PublicationRow.article_id == as_id(article_id),
            PublicationRow.website_id == as_id(website_id),
            PublicationRow.request_id == request_id,
        )
        async with self._database.reading() as session:
            return await session.scalar(wanted) is not None

    def _is_news(self, row: PublicationRow, asked: Mapping[str, Any], request_id: str | None) -> bool:
        """Tell whether the request differs from what is there. Raises `InvalidInput` while that is impossible."""
        same = all(getattr(row, name) == value for name, value in asked.items())
        if (request_id is not None and row.request_id == request_id) or (
            same and row.status in ("published", "draft", "scheduled", "publishing")
        ):
            return False
        if row.status in UNDER_WAY and same:
            return True  # it waits for a site that was away, or gave up: continue now
        if row.status in UNDER_WAY:
            _refuse_busy(record(row))
        if asked["mode"] == "draft" and row.status == "published":
            raise InvalidInput("mode", "it is live on this website; unpublish_content takes it down to a draft")
        return True

    async def _restart(self, session: AsyncSession, row: PublicationRow, now: datetime, *, resume: bool) -> None:
        row.status, row.due_at, row.error = "queued", now, ""
        row.warnings, row.updated_at = [], now
        await session.flush()
        await begin_attempt(session, row, resume=resume)
        row.job_id = await work_on(self._plugin, session, row.id, row.user_id, now)

    async def others_live(self, publication: Publication) -> bool:
        """Tell whether the article is live, or about to be, on another website."""
        wanted = select(PublicationRow.id).where(
            PublicationRow.article_id == publication.article_id,
            PublicationRow.id != publication.id,
            or_(PublicationRow.status == "published", PublicationRow.status == "scheduled"),
        )
        async with self._database.reading() as session:
            return await session.scalar(wanted.limit(1)) is not None


def _refuse_busy(publication: Publication) -> None:
    if publication.status in UNDER_WAY:
        what = "its last request was never answered" if publication.status == "unknown" else "it is on its way"
        raise InvalidInput(
            "publication_id",
            f"{publication.id} is {publication.status}: {what}. Call get_publication_status until it has ended, or use "
            "retry_publication, then repeat this",
        )


def busy(publication_id: str) -> InvalidInput:
    """Return the error for a publication that a process works on at the moment."""
    return InvalidInput(
        "publication_id", f"{publication_id} is being worked on at the moment; repeat this in a few seconds"
    )
