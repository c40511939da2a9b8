"""Publishing an article to a website, and changing, cancelling or taking down its post."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from pressroom.sdk import InvalidInput, LeaseLost, LockTaken, PluginContext
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.articles.store import Articles
from pressroom_content.config import ContentConfig
from pressroom_content.contract import (
    RecallingSite,
    RemotePost,
    Site,
    SiteError,
    SiteGone,
    SiteUnavailable,
    UnknownOutcome,
)
from pressroom_content.publishing.comparing import compared, is_another, other_post_note
from pressroom_content.publishing.known import check_original, forget_body
from pressroom_content.publishing.posts import Manuscript, removals
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.publish_requests import PublicationStart, PublishRequest
from pressroom_content.publishing.site_resources import author_warnings, drop_uses, remove_unused
from pressroom_content.publishing.store import LeasedPublication, lock_of, owned, steps_of, update_article_status
from pressroom_content.publishing.verifying import RemoteState, look
from pressroom_content.records import Article, Publication, Website
from pressroom_content.websites.store import Websites

_CHECKED_STATUSES: Final = ("published", "draft", "scheduled")


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a website would receive. `known` is the existing publication; `warnings` are messages for the user."""

    manuscript: Manuscript
    article: Article
    website: Website
    known: Publication | None
    warnings: tuple[str, ...]


async def dry_run(
    plugin: PluginContext, user_id: str, content_id: str, website_id: str, request: PublishRequest
) -> DryRun:
    """Return what `bring` would send, without changing anything. Raises the same exceptions as `bring`."""
    publications = Publications(plugin)
    existing = await publications.of_pair(user_id, content_id, website_id)
    options = request.options
    if options is None:
        options = existing.options if existing is not None else {}
    canonical_url = ""
    if request.canonical_of is not None:
        canonical_url = await original_url(plugin, user_id, content_id, website_id, request.canonical_of)
    manuscript, article, website = await publications.preview(user_id, content_id, website_id, options, canonical_url)
    warnings = [f"{website.name} cannot hold: {name}" for name in manuscript.unsupported]
    warnings += removals(manuscript.removed)
    warnings += manuscript.warnings
    warnings += await author_warnings(plugin, website, manuscript.post)
    return DryRun(manuscript, article, website, existing, tuple(warnings))


async def recheck(
    plugin: PluginContext, user_id: str, result: PublicationStart, request: PublishRequest
) -> tuple[PublicationStart, RemoteState | None]:
    """Check a post for which there was nothing to do: it may have been edited or removed on its site.

    A post that no longer exists or is not live is published again. Nothing else is sent.
    """
    publication = result.publication
    if result.started or result.repeated or publication.status not in _CHECKED_STATUSES:
        return result, None
    state = await look(plugin, publication)
    if state.lost:
        repeat = PublishRequest(again=True, request_id=request.request_id)
        return await Publications(plugin).begin(user_id, publication.article_id, publication.website_id, repeat), None
    return PublicationStart(await Publications(plugin).get(user_id, publication.id), started=False, new=False), state


async def bring(
    plugin: PluginContext, user_id: str, content_id: str, website_id: str, request: PublishRequest
) -> PublicationStart:
    """Start a publish request. If a scheduled post is to become a draft, its schedule on the site is cancelled first.

    Raises:
        NotFound: the account has no such article, website or original.
        InvalidInput: the request cannot be fulfilled; the message says why.
        ControlNotProven: the original's website is not proven to control its URL.
        SiteError: the site was to publish the post at a set time and did not cancel that.
    """
    publications = Publications(plugin)
    if request.canonical_of is not None:
        await original_url(plugin, user_id, content_id, website_id, request.canonical_of)
    if request.mode == "draft":
        existing = await publications.of_pair(user_id, content_id, website_id)
        if existing is not None and existing.status == "scheduled":
            existing = await cancel(plugin, user_id, existing.id)
            newest = (await Articles(plugin).get(user_id, content_id)).version
            unchanged = request.options is None and request.canonical_of is None
            if (
                existing.status == "unpublished" and existing.external_id
            ):  # somebody deleted it on the site: create it again
                request = replace(request, again=True)
            elif not existing.external_id or (newest == existing.article_version and unchanged):
                return PublicationStart(existing, started=True, new=False)
    return await publications.begin(user_id, content_id, website_id, request)


async def original_url(
    plugin: PluginContext, user_id: str, content_id: str, website_id: str, publication_id: str
) -> str:
    """Return the URL of the publication that a copy declares as its original. Raises the same exceptions as `bring`."""
    original = await Publications(plugin).get(user_id, publication_id)
    if original.status != "published" or not original.url:
        raise InvalidInput(
            "canonical_publication_id",
            f"is {original.status}; the original has to be live first: bring it live with publish_content",
        )
    if original.article_id != content_id:
        raise InvalidInput(
            "canonical_publication_id",
            "is a publication of another article; list_publications with content_id shows those of this one",
        )
    if original.website_id == website_id:
        raise InvalidInput("canonical_publication_id", "is on this very website; leave it out to update the original")
    await check_original(plugin, user_id, original.website_id, original.url)
    return original.url


DownMode = Literal["draft", "trash", "delete"]
DownState = Literal["draft", "trashed", "gone"]
_STATES: Final[dict[DownMode, DownState]] = {
    "draft": "draft",
    "trash": "trashed",
    "delete": "gone",
}

_BUSY_SECONDS: Final = 8.0


@dataclass(frozen=True, slots=True)
class UnpublishedPost:
    """A publication that was taken down, and the state of its post on the site: `gone` if the site has no post."""

    publication: Publication
    state: DownState


async def unpublish(
    plugin: PluginContext[ContentConfig], user_id: str, publication_id: str, mode: DownMode
) -> UnpublishedPost:
    """Take a post down, or cancel a pending one. Safe to repeat: if the site has no post, nothing is done.

    If the site has a different post under its ID, that post is left unchanged and the publication's `error` says so.

    Raises:
        NotFound: the account has no such publication.
        InvalidInput: it is being processed, or it is unknown whether the site has the post.
        SiteError: the site did not do it.
    """
    async with changing(plugin, user_id, publication_id) as leased:
        row = leased.row
        values: dict[str, Any] = {"status": "unpublished", "due_at": None, "error": "", "path": ""}
        site: Site | None = None
        state: DownState = "gone"
        columns: dict[str, Any] = {}
        if row.external_id:
            site = await _site(plugin, leased)
            state, columns = await _take_down(plugin, site, leased, mode)
        elif "post" in (leased.steps["draft"].detail.get("sent", {}) if leased.steps else {}):
            raise InvalidInput(
                "publication_id",
                "it is not known yet whether the site has the post; call publish_content again, which checks the "
                "site, then repeat this call",
            )
        forgets = mode == "delete" or "error" in columns
        if forgets and row.external_id:  # otherwise the revision is the last event of a site that cannot be read back
            values |= {"external_id": "", "url": "", "revision": "", "sent_hash": b""}
        values |= columns
        unused: Sequence[str] = ()

        async def forget(session: AsyncSession) -> None:
            nonlocal unused
            await forget_body(session, row.id)
            if site is not None:
                unused = await drop_uses(session, site, row.website_id, row.id)

        if forgets and "media" in leased.steps:
            step = leased.steps["media"]
            leased.note("media", step.state, {**step.detail, "uploaded": {}})
        if "live" in leased.steps:
            step = leased.steps["live"]
            leased.note("live", step.state, {**step.detail, "taken_down": mode})
        await leased.save(*([forget] if forgets else []), **values)
        if site is not None:
            await remove_unused(site, unused)
    publication = await Publications(plugin).get(user_id, publication_id)
    await _note_status(plugin, publication)
    await Articles(plugin).rescore(user_id, publication.article_id)
    return UnpublishedPost(publication, state)


async def cancel(plugin: PluginContext[ContentConfig], user_id: str, publication_id: str) -> Publication:
    """Cancel a scheduled publication. Its post remains on the site as a draft.

    If the site no longer has the post, the publication becomes `unpublished`. A site that cannot be reached counts as
    having it, unless the site was to publish the post itself.

    Raises:
        NotFound: the account has no such publication.
        InvalidInput: it is not scheduled, or is being processed.
        SiteError: the site was to publish the post itself and did not cancel that.
    """
    async with changing(plugin, user_id, publication_id) as leased:
        row = leased.row
        if row.status != "scheduled" or row.mode != "schedule":
            raise InvalidInput("publication_id", f"is not scheduled but {row.status}")
        exists = bool(row.external_id)
        if leased.steps["live"].detail.get("native") and exists:
            site = await _site(plugin, leased)
            exists = (
                await _another(plugin, site, leased) is None
                and await _set_state(site, row.external_id, "draft") is not None
            )
            leased.note("live", "pending", {**leased.steps["live"].detail, "native": False})
        elif exists:
            exists = await _is_there(plugin, leased)
        status = "draft" if exists else "unpublished"
        await leased.save(status=status, mode="draft", publish_at=None, due_at=None, error="")
    publication = await Publications(plugin).get(user_id, publication_id)
    await _note_status(plugin, publication)
    return publication


async def _note_status(plugin: PluginContext[ContentConfig], publication: Publication) -> None:
    """Give the article of a publication the status that follows from all its publications."""
    async with plugin.services.database.writing() as session:
        await update_article_status(session, publication.user_id, publication.article_id)


@asynccontextmanager
async def changing(
    plugin: PluginContext[ContentConfig], user_id: str, publication_id: str
) -> AsyncIterator[LeasedPublication]:
    """Yield a publication under its lock.

    It waits a few seconds for another holder of the lock. Raises `NotFound`, or `InvalidInput` if the lock is still
    taken then.
    """
    await Publications(plugin).get(user_id, publication_id)
    database, seconds = plugin.services.database, float(plugin.config.lease_seconds)
    try:
        async with plugin.services.jobs.lock(lock_of(publication_id), wait=_BUSY_SECONDS, lease=seconds) as lease:
            async with database.reading() as session:
                row = await owned(session, user_id, publication_id)
                leased = LeasedPublication(database, lease, row, await steps_of(session, row.id))
            yield leased
    except (LockTaken, LeaseLost):
        raise InvalidInput(
            "publication_id", f"{publication_id} is being processed right now; repeat this in a few seconds"
        ) from None


async def _site(plugin: PluginContext[ContentConfig], leased: LeasedPublication) -> Site:
    _, site = await Websites(plugin).open(leased.row.user_id, leased.row.website_id)
    leased.lease.check()
    if isinstance(site, RecallingSite):
        site.recall(leased.row.external_id, leased.row.url, leased.row.revision)
    return site


async def _take_down(
    plugin: PluginContext[ContentConfig], site: Site, leased: LeasedPublication, mode: DownMode
) -> tuple[DownState, dict[str, Any]]:
    """Move a publication's post to its new state, unless it is another post. Return the state and columns to set."""
    other = await _another(plugin, site, leased)
    if other is not None:
        return "gone", {"error": other_post_note(other)}
    remote = await _set_state(site, leased.row.external_id, _STATES[mode])
    state = _STATES[mode] if remote is not None else "gone"
    if not isinstance(site, RecallingSite):
        return state, {}
    return state, {"revision": remote.revision if remote else leased.row.revision}


async def _another(plugin: PluginContext[ContentConfig], site: Site, leased: LeasedPublication) -> RemotePost | None:
    """Return the post on the site if it has the ID of ours but is a different one."""
    baseline = leased.steps["read_back"].detail.get("seen") if "read_back" in leased.steps else None
    if not baseline:
        return None
    try:
        remote = await site.read(leased.row.external_id)
    except SiteGone:
        return None
    return remote if await compared(plugin, is_another, baseline, remote, leased.row.marker) else None


async def _is_there(plugin: PluginContext[ContentConfig], leased: LeasedPublication) -> bool:
    """Check whether the site has the post of a publication. A site that cannot respond counts as having it."""
    try:
        site = await _site(plugin, leased)
        await site.read(leased.row.external_id)
        return await _another(plugin, site, leased) is None
    except SiteGone:
        return False
    except SiteError:
        return True


async def _set_state(site: Site, post_id: str, state: Literal["draft", "trashed", "gone"]) -> RemotePost | None:
    """Move a post to a state and return it; `None` if the site no longer has it."""
    try:
        return await site.set_state(post_id, state)
    except SiteGone:
        return None  # somebody else removed it first
    except UnknownOutcome:
        try:
            remote: RemotePost | None = await site.read(post_id)
        except SiteGone:
            remote = None
        if (remote.state if remote is not None else "gone") != state:
            raise SiteUnavailable("the site did not respond, and has not done this so far; repeat the call") from None
        return remote
