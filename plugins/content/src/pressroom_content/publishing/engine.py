"""Working on a publication: one step after the other, from where the last process stopped."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import structlog
from pressroom.sdk import BackendError, CallError, PluginContext, publishing
from sqlalchemy import select

from pressroom_content.articles.store import Articles
from pressroom_content.contract import (
    RecallingSite,
    RemoteChanged,
    SiteRefused,
    SiteRejected,
    SiteUnavailable,
    UnknownOutcome,
)
from pressroom_content.publishing.originals import check_original
from pressroom_content.publishing.patience import MAX_RETRY_AFTER_SECONDS, pause
from pressroom_content.publishing.posts import capabilities_of, manuscript
from pressroom_content.publishing.steps import ACTIONS
from pressroom_content.publishing.store import STEPS, Held, LeaseLost, PublicationStore
from pressroom_content.publishing.work import Later, Work
from pressroom_content.tables import PublicationRow
from pressroom_content.websites.connectors import connector_of
from pressroom_content.websites.store import Websites

log = structlog.get_logger()

JOB: Final = "content.publish"


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


class Engine:
    """Works on publications of one server.

    `clock` says when a site is tried again that is away or does not answer, and `chance`, from 0 to 1, spreads that.
    """

    def __init__(
        self,
        plugin: PluginContext,
        *,
        clock: Callable[[], datetime] = utc_now,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._plugin = plugin
        self._clock = clock
        self._chance = chance
        self._store = PublicationStore(plugin)

    async def run(self, publication_id: str) -> bool:
        """Go on with a publication, if there is something to do and nobody else does it; tell whether it was.

        Raises `BackendError` where the database fails: the lease then ends, and somebody goes on later.
        """
        held = await self._store.claim(publication_id)
        if held is None:
            return False
        try:
            async with self._kept(held):
                with publishing():
                    await self._go_on(held)
        except LeaseLost:
            log.warning("a publication was taken over by another process", publication=publication_id)
        except asyncio.CancelledError:
            # The server stops: another process may go on at once. What is on its way has been noted.
            with suppress(LeaseLost, BackendError):
                await asyncio.shield(self._store.release(held))
            raise
        return True

    async def _go_on(self, held: Held) -> None:
        work: Work | None = None
        try:
            work = await self._prepare(held)
            for name in STEPS:
                if held.steps[name].state != "done":
                    work.current = name
                    await self._store.change(held, status="publishing")
                    await ACTIONS[name](work)
            await self._finish(work)
        except Later as later:
            await self._release(held, status=later.status, due_at=later.due_at, error=later.error)
        except UnknownOutcome as error:
            await self._unknown(held, work, error)
        except SiteUnavailable as error:
            await self._away(held, work, error)
        except CallError as error:
            await self._fail(held, work, error)
        except (BackendError, LeaseLost):
            raise
        except Exception:
            log.exception("publishing failed inside", publication=held.row.id)
            told = f"publishing failed inside; the operator finds the reason in the log under {held.row.id}"
            await self._fail(held, work, CallError(told))

    async def _prepare(self, held: Held) -> Work:
        row, plugin = held.row, self._plugin
        websites = Websites(plugin)
        website = await websites.get(row.user_id, row.website_id)
        if website.status == "paused":
            raise SiteRefused("the website is paused; resume it in the dashboard, then retry")
        _, site = await websites.open(row.user_id, row.website_id)
        if isinstance(site, RecallingSite):
            site.recall(row.external_id, row.url, row.revision)
        connector = connector_of(plugin, website.platform)
        able = capabilities_of(website, connector)
        if row.mode == "schedule" and not able.draft and row.publish_at and row.publish_at > datetime.now(UTC):
            raise Later("scheduled", row.publish_at)
        article = await Articles(plugin).get(row.user_id, row.article_id, row.article_version)
        made = await manuscript(
            plugin,
            article,
            website,
            connector,
            marker=row.marker,
            options=row.options or {},
            canonical_url=await self._canonical(row),
        )
        return Work(plugin, self._store, held, website, able, site, article, made)

    async def _canonical(self, row: PublicationRow) -> str:
        """Return the URL of the original, where this is a copy of it. Raises what `check_original` does."""
        if row.canonical_of is None:
            return ""
        async with self._plugin.services.database.reading() as session:
            wanted = select(PublicationRow.url, PublicationRow.website_id).where(
                PublicationRow.id == row.canonical_of, PublicationRow.user_id == row.user_id
            )
            original = (await session.execute(wanted)).first()
        if original is None or not original.url:
            return ""
        await check_original(self._plugin, row.user_id, original.website_id, original.url)
        return str(original.url)

    async def _finish(self, work: Work) -> None:
        row = work.row
        status = "draft" if row.mode == "draft" else "published"
        published_at = (row.published_at or datetime.now(UTC)) if status == "published" else row.published_at
        await Websites(self._plugin).note_published(row.website_id)
        if status == "published":
            await Articles(self._plugin).set_status(row.user_id, row.article_id, "published", published_at)
        await self._release(
            work.held,
            status=status,
            due_at=None,
            error="",
            tries=0,
            published_at=published_at,
            options={name: value for name, value in (row.options or {}).items() if name != "force"},
        )
        await Articles(self._plugin).rescore(row.user_id, row.article_id)

    async def _unknown(self, held: Held, work: Work | None, error: UnknownOutcome) -> None:
        """Look soon what became of a request, then with growing patience; give up in the end, and say what to do."""
        if work is not None:
            await self._store.step(held, work.current, "unknown")
        tries = held.row.tries or 0
        seconds = pause(tries, self._chance())
        if seconds is None:
            await self._fail(held, work, _never_answered(error, tries + 1, lost=_is_unknown(held)))
            return
        if tries == 0 and work is not None:
            seconds = min(seconds, work.first_look())
        due_at = self._clock() + timedelta(seconds=seconds)
        told = f"{_told(error)} It is looked for there before anything is sent again."
        await self._release(held, status="unknown", due_at=due_at, error=told, tries=tries + 1)

    async def _away(self, held: Held, work: Work | None, error: SiteUnavailable) -> None:
        """Try again later, with growing patience; what was sent and never answered stays unknown all the while."""
        await Websites(self._plugin).note_error(held.row.website_id, error)
        open_question = _is_unknown(held)
        tries = held.row.tries or 0
        seconds = pause(tries, self._chance())
        if seconds is None:
            await self._fail(held, work, error)
            return
        seconds = max(seconds, min(error.retry_after or 0.0, MAX_RETRY_AFTER_SECONDS))
        due_at = self._clock() + timedelta(seconds=seconds)
        status = "unknown" if open_question else "queued"
        told = f"{_told(error)} It is tried again by itself."
        await self._release(held, status=status, due_at=due_at, error=told, tries=tries + 1)

    async def _fail(self, held: Held, work: Work | None, error: CallError) -> None:
        if isinstance(error, SiteRejected | SiteRefused):
            await Websites(self._plugin).note_error(held.row.website_id, error)
        unknown = _is_unknown(held)
        if work is not None and work.current:
            detail = {**work.step.detail, "error_code": error.code}
            await self._store.step(held, work.current, "unknown" if unknown else "failed", detail)
        status = "unknown" if unknown else "failed"
        if isinstance(error, RemoteChanged):
            status = "published" if held.row.published_at else "draft"  # what is on the site stays as it is
        log.info("a publication failed", publication=held.row.id, code=error.code, step=work.current if work else "")
        await self._release(held, status=status, due_at=None, error=_told(error))

    async def _release(self, held: Held, **values: Any) -> None:
        """Let go of a publication, and see to it that somebody goes on when it is due."""
        warnings: list[str] = []
        for step in held.steps.values():
            warnings += step.detail.get("warnings", [])
        values.setdefault("warnings", list(dict.fromkeys(warnings)))
        await self._store.release(held, **values)
        if values.get("due_at") is not None:
            await wake(self._plugin, held.row.id, held.row.user_id, values["due_at"])

    @asynccontextmanager
    async def _kept(self, held: Held) -> AsyncIterator[None]:
        """Keep the lease while the block runs; the block is cancelled where it is lost."""
        working = asyncio.current_task()
        lost = False

        async def keep() -> None:
            nonlocal lost
            interval = float(self._plugin.config.lease_seconds) / 4
            while True:
                await asyncio.sleep(interval)
                try:
                    await self._store.renew(held)
                except LeaseLost:
                    break
                except BackendError:
                    if asyncio.get_running_loop().time() >= held.ends:
                        break
            lost = True
            if working is not None:
                working.cancel()

        heart = asyncio.create_task(keep())
        try:
            yield
        except asyncio.CancelledError:
            if not lost:
                raise
            if working is not None:
                working.uncancel()
            raise LeaseLost from None
        finally:
            heart.cancel()


async def wake(plugin: PluginContext, publication_id: str, user_id: str, at: datetime) -> str:
    """Have somebody go on with a publication at a time, and return the job's id. The same time is one job."""
    key = f"{publication_id}:{at.timestamp():.6f}"
    payload = {"publication_id": publication_id}
    return await plugin.services.jobs.enqueue(JOB, payload, subject=user_id, key=key, run_at=at)


def _is_unknown(held: Held) -> bool:
    """Tell whether a request that makes a post went out, and its outcome is unknown."""
    return "post" in held.steps["draft"].detail.get("sent", {}) if "draft" in held.steps else False


def _never_answered(error: UnknownOutcome, times: int, *, lost: bool) -> UnknownOutcome:
    """Return the last word on a request that the site was sent so many times without an answer."""
    what = "whether the post is there is not known" if lost else "what it did of that is not known"
    return UnknownOutcome(
        f"{error.message.rstrip('.')}; that was so {times} times in a row, and {what}",
        hint="Nothing more is sent by itself. Look at the site, fix what keeps it from answering, then use "
        "retry_publication: it looks there first, and goes on at this step",
    )


def _told(error: CallError) -> str:
    """Return what went wrong as whole sentences, after which others may come."""
    parts = (part.strip().rstrip(".") for part in (error.message, error.hint or ""))
    return " ".join(f"{part}." for part in parts if part)
