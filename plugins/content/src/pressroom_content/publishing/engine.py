"""The publishing engine: runs the steps of a publication, resuming where the last process stopped."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import structlog
from pressroom.sdk import (
    BackendError,
    CallError,
    Job,
    JobRun,
    Lease,
    LeaseLost,
    Pause,
    PluginContext,
    PluginError,
    Reschedule,
    publishing,
)
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.articles.fields import media_ids_of
from pressroom_content.articles.store import Articles, note_status, read_article
from pressroom_content.config import ContentConfig
from pressroom_content.contract import (
    RecallingSite,
    RemoteChanged,
    SiteRefused,
    SiteRejected,
    SiteUnavailable,
    UnknownOutcome,
)
from pressroom_content.publishing.known import KnownBody, canonical_of_copy, known_body
from pressroom_content.publishing.posts import capabilities_of
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.publish_requests import MAX_RETRY_AFTER_SECONDS, pause
from pressroom_content.publishing.site_resources import drop_uses, media_on, remove_unused
from pressroom_content.publishing.steps import ACTIONS
from pressroom_content.publishing.store import (
    JOB,
    STEPS,
    LeasedPublication,
    Write,
    as_on_site,
    lock_of,
    notify,
    now_of,
    record,
    steps_of,
    update_article_status,
)
from pressroom_content.publishing.verifying import PATIENT_SECONDS, RECHECK_DELAYS, look
from pressroom_content.publishing.work import Postponement, PublicationWork
from pressroom_content.records import Article, Publication, Website
from pressroom_content.tables import PublicationRow
from pressroom_content.websites.connectors import connector_of
from pressroom_content.websites.findings import note_error, note_published
from pressroom_content.websites.store import Websites

log = structlog.get_logger()


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


class Engine:
    """Processes the publications of one server.

    `clock` determines the time of the next attempt if a site is unavailable or does not respond. `chance`, from 0 to 1,
    adds jitter to retries.
    """

    def __init__(
        self,
        plugin: PluginContext[ContentConfig],
        *,
        clock: Callable[[], datetime] = utc_now,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._plugin = plugin
        self._clock = clock
        self._chance = chance

    async def run(self, publication_id: str, lease: Lease, *, job_id: str = "") -> Reschedule | None:
        """Continue a publication if it is due. Return when to run again, or `None` if nothing is left to do.

        `lease` is that of the publication's lock. With `job_id`, nothing is done if another job is in charge.

        Raises:
            LeaseLost: another process has taken over the publication.
            BackendError: the database failed. Progress is stored, so the call can be repeated.
        """
        attempt = await self._begin(publication_id, lease, job_id)
        if isinstance(attempt, Publication):
            return await self._recheck(attempt)
        if not isinstance(attempt, _StartedPublication):
            return attempt
        leased = attempt.leased
        try:
            with publishing():
                await self._continue(attempt)
        finally:
            notify(publication_id)
        return Reschedule(leased.row.due_at) if leased.row.due_at is not None else None

    async def _recheck(self, publication: Publication) -> Reschedule | None:
        """Recheck a live page that was being built or unreachable. Return when to check next. Nothing is sent."""
        await look(self._plugin, publication, PATIENT_SECONDS)
        next_look = await Publications(self._plugin).schedule_recheck(publication, RECHECK_DELAYS)
        if next_look is None and publication.due_at is not None:
            # That was the last check: report what the page still lacks.
            latest = await Publications(self._plugin).get(publication.user_id, publication.id)
            await look(self._plugin, latest, PATIENT_SECONDS)
        return Reschedule(next_look) if next_look is not None else None

    async def _begin(
        self, publication_id: str, lease: Lease, job_id: str
    ) -> _StartedPublication | Publication | Reschedule | None:
        database = self._plugin.services.database
        async with database.writing() as session:
            await lease.keep(session)
            row = await session.get(PublicationRow, publication_id)
            if row is None or row.due_at is None or (job_id and row.job_id not in ("", job_id)):
                return None
            now = await now_of(session)
            if row.due_at > now:
                return Reschedule(row.due_at)
            if row.status == "published":
                return record(row)
            row.status, row.updated_at, row.job_id = "publishing", now, job_id or row.job_id
            leased = LeasedPublication(database, lease, row, await steps_of(session, publication_id))
            try:
                website, sealed = await Websites(self._plugin).sealed(session, row.user_id, row.website_id)
                if website.status == "paused":
                    raise SiteRefused("the website is paused; resume it in the dashboard, then retry")
                article = await read_article(session, row.user_id, row.article_id, row.article_version)
                known = await known_body(session, row.id)
                uploaded_media = await media_on(session, website.id, media_ids_of(article))
            except CallError as error:
                return _StartedPublication(leased, error)
            return _StartedPublication(leased, _Source(website, sealed, article, known, uploaded_media))

    async def _continue(self, attempt: _StartedPublication) -> None:
        leased = attempt.leased
        work: PublicationWork | None = None
        try:
            with self._plugin.extensions.calling(f"publication {leased.row.id}", passes=(LeaseLost,)):
                prepared = await self._prepare(leased, attempt.source)
                if isinstance(prepared, Postponement):
                    postponed: Postponement | None = prepared
                else:
                    work = prepared
                    postponed = await self._do_steps(work)
            if postponed is not None:
                await self._release(leased, status=postponed.status, due_at=postponed.due_at, error=postponed.error)
            elif work is not None:
                await self._finish(work)
        except UnknownOutcome as error:
            await self._unknown(leased, work, error)
        except SiteUnavailable as error:
            await self._away(leased, work, error)
        except CallError as error:
            await self._fail(leased, work, error)
        except (BackendError, LeaseLost):
            raise
        except Exception as error:
            log.exception("publishing failed with an internal error", publication=leased.row.id)
            await self._fail(leased, work, CallError(_internal_error(error, self._plugin.id, leased.row.id)))

    async def _do_steps(self, work: PublicationWork) -> Postponement | None:
        for name in STEPS:
            if work.leased.steps[name].state != "done":
                work.current = name
                postponed = await ACTIONS[name](work)
                if postponed is not None:
                    return postponed
        return None

    async def _prepare(self, leased: LeasedPublication, source: _Source | CallError) -> PublicationWork | Postponement:
        if isinstance(source, CallError):
            raise source
        row, plugin, website = leased.row, self._plugin, source.website
        _, site = Websites(plugin).unsealed(website, source.sealed)
        if isinstance(site, RecallingSite):
            site.recall(row.external_id, row.url, row.revision)
        connector = connector_of(plugin, website.platform)
        capabilities = capabilities_of(website, connector)
        if row.mode == "schedule" and not capabilities.draft and row.publish_at and row.publish_at > datetime.now(UTC):
            return Postponement("scheduled", row.publish_at)
        url = await canonical_of_copy(plugin, row.user_id, row.canonical_of)
        return PublicationWork(
            plugin,
            leased,
            website,
            connector,
            capabilities,
            site,
            source.article,
            url,
            source.known,
            source.uploaded_media,
        )

    async def _finish(self, work: PublicationWork) -> None:
        row = work.row
        status = "draft" if row.mode == "draft" else "published"
        published_at = (row.published_at or datetime.now(UTC)) if status == "published" else row.published_at

        await self._remove_unused(work)
        newest = work.article

        async def note(session: AsyncSession) -> None:
            nonlocal newest
            await note_published(session, row.website_id)
            if status == "published":
                await note_status(session, row.user_id, row.article_id, "published", published_at)
            newest = await read_article(session, row.user_id, row.article_id)

        await self._release(
            work.leased,
            note,
            status=status,
            due_at=work.recheck_at,
            error="",
            tries=0,
            published_at=published_at,
            options={name: value for name, value in (row.options or {}).items() if name != "force"},
        )
        await Articles(self._plugin).rescored(newest)

    async def _remove_unused(self, work: PublicationWork) -> None:
        """Remove images that no post of the website shows, while this process holds the publication's lock."""
        step = work.leased.steps["media"]
        uploaded = step.detail.get("uploaded", {})
        if not uploaded:
            return  # avoids rendering the article
        used_ids = {image.file.id for image in (await work.manuscript()).uploads}
        if uploaded.keys() <= used_ids:
            return
        remaining = {name: at for name, at in uploaded.items() if name in used_ids}
        work.leased.note("media", step.state, {**step.detail, "uploaded": remaining})
        unused: Sequence[str] = ()

        async def drop(session: AsyncSession) -> None:
            nonlocal unused
            unused = await drop_uses(session, work.site, work.row.website_id, work.row.id, used_ids)

        await work.leased.save(drop)
        await remove_unused(work.site, unused)

    async def _unknown(self, leased: LeasedPublication, work: PublicationWork | None, error: UnknownOutcome) -> None:
        """Schedule a check of the outcome, at growing intervals. After the last one, fail with instructions."""
        if work is not None:
            work.note("unknown")
        tries = leased.row.tries or 0
        seconds = pause(tries, self._chance())
        if seconds is None:
            await self._fail(leased, work, _unanswered_error(error, tries + 1, lost=_is_unknown(leased)))
            return
        if tries == 0 and work is not None:
            seconds = min(seconds, work.first_check_seconds())
        due_at = self._clock() + timedelta(seconds=seconds)
        message = f"{_sentences(error)} Pressroom looks for it there before it sends anything again."
        await self._release(leased, status="unknown", due_at=due_at, error=message, tries=tries + 1)

    async def _away(self, leased: LeasedPublication, work: PublicationWork | None, error: SiteUnavailable) -> None:
        """Schedule a retry, at growing intervals. The outcome of an unanswered request stays unknown meanwhile."""
        tries = leased.row.tries or 0
        seconds = pause(tries, self._chance())
        if seconds is None:
            await self._fail(leased, work, error)
            return
        seconds = max(seconds, min(error.retry_after or 0.0, MAX_RETRY_AFTER_SECONDS))
        due_at = self._clock() + timedelta(seconds=seconds)
        status = "unknown" if _is_unknown(leased) else "queued"
        message = f"{_sentences(error)} It is retried automatically."
        note = _error_write(leased, error)
        await self._release(leased, note, status=status, due_at=due_at, error=message, tries=tries + 1)

    async def _fail(self, leased: LeasedPublication, work: PublicationWork | None, error: CallError) -> None:
        unknown = _is_unknown(leased)
        if work is not None and work.current:
            work.note("unknown" if unknown else "failed", {**work.step.detail, "error_code": error.code})
        values: dict[str, Any] = {"status": "unknown" if unknown else "failed", "due_at": None}
        if isinstance(error, RemoteChanged):
            values |= as_on_site(leased)
        log.info("a publication failed", publication=leased.row.id, code=error.code, step=work.current if work else "")
        from_site = isinstance(error, SiteRejected | SiteRefused | SiteUnavailable)
        also = [_error_write(leased, error)] if from_site else []
        if leased.row.mode == "schedule":
            row = leased.row
            also.append(lambda session: update_article_status(session, row.user_id, row.article_id))
        await self._release(leased, *also, error=_sentences(error), **values)

    async def _release(self, leased: LeasedPublication, *also: Write, **values: Any) -> None:
        """End the attempt: store the publication's status and the time when work continues."""
        warnings: list[str] = []
        for step in leased.steps.values():
            warnings += step.detail.get("warnings", [])
        await leased.save(*also, warnings=list(dict.fromkeys(warnings)), **values)


@dataclass(frozen=True, slots=True)
class _Source:
    """The input of a publication: the website with its sealed credential, and the article.

    `known` is the stored body of the post. `uploaded_media` holds the IDs of the article's images that were uploaded to
    the website.
    """

    website: Website
    sealed: str
    article: Article
    known: KnownBody | None
    uploaded_media: frozenset[str]


@dataclass(frozen=True, slots=True)
class _StartedPublication:
    """A publication whose processing has begun, with its input or the error that prevents it."""

    leased: LeasedPublication
    source: _Source | CallError


def _error_write(leased: LeasedPublication, error: CallError) -> Write:
    return lambda session: note_error(session, leased.row.website_id, error)


def _internal_error(error: Exception, content_plugin_id: str, publication_id: str) -> str:
    """Return the error message for an internal error. `content_plugin_id` is the ID of the content plugin."""
    plugin = error.plugin if isinstance(error, PluginError) else ""
    summary = "publishing failed with an internal error"
    if plugin not in ("", content_plugin_id):
        summary = f"the plugin {plugin} failed while the article was published"
    return f"{summary}; the operator finds it in the log under {publication_id}"


def _is_unknown(leased: LeasedPublication) -> bool:
    """Check whether a request that creates the post was sent and its outcome is unknown."""
    return "post" in leased.steps["draft"].detail.get("sent", {}) if "draft" in leased.steps else False


def _unanswered_error(error: UnknownOutcome, times: int, *, lost: bool) -> UnknownOutcome:
    """Return the final error for a request that the site did not respond to in this number of attempts."""
    uncertainty = "it is unknown whether the post is there" if lost else "it is unknown what it did"
    return UnknownOutcome(
        f"{error.message.rstrip('.')}; that happened {times} times in a row, and {uncertainty}",
        hint="Nothing more is sent automatically. Look at the site, fix what keeps it from responding, then use "
        "publish_content again: it checks the site first, and continues at this step",
    )


def _sentences(error: CallError) -> str:
    """Return an error's message and hint as complete sentences."""
    parts = (part.strip().rstrip(".") for part in (error.message, error.hint or ""))
    return " ".join(f"{part}." for part in parts if part)


_RETRY_SECONDS: Final = 1.0
_MANY: Final = 1000
_SECONDS: Final = 900.0
_MIN_LEASE_SECONDS: Final = 1.0


def jobs(plugin: PluginContext[ContentConfig]) -> Sequence[Job]:
    """Return the job that processes one publication until it finishes or needs the user."""

    async def publish(run: JobRun) -> Mapping[str, Any] | Pause | Reschedule:
        publication_id = str(run.payload["publication_id"])
        try:
            reschedule = await Engine(plugin).run(publication_id, run, job_id=run.id)
        except (BackendError, LeaseLost) as error:
            # The publication did not fail, and may be due at a certain time: retry without the usual backoff.
            log.warning("publishing was interrupted", publication=publication_id, error=str(error))
            return Pause(_RETRY_SECONDS)
        return reschedule or {"publication_id": publication_id}

    def lock(payload: Mapping[str, Any]) -> str:
        return lock_of(str(payload["publication_id"]))

    lease = max(_MIN_LEASE_SECONDS, float(plugin.config.lease_seconds))
    # A killed process costs an attempt of the job. The publication counts its own attempts.
    return [Job(JOB, publish, attempts=_MANY, lease=lease, timeout=_SECONDS, urgent=True, lock=lock)]
