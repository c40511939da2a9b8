"""The steps of a publication. Each can be repeated after an interruption at any point."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pressroom_content.contract import BUILTIN, Post, RemoteChanged, RemoteMedia, RemotePost, SiteGone, SiteRefused
from pressroom_content.contract.control import web_url
from pressroom_content.publishing.comparing import (
    baseline_of,
    compared,
    copy_of,
    differences,
    edits_message,
    has_arrived,
    is_another,
    is_ours,
    is_unedited,
    other_post_note,
)
from pressroom_content.publishing.images import PostImage
from pressroom_content.publishing.known import remember_body, unbind
from pressroom_content.publishing.posts import hash_of_post, removals
from pressroom_content.publishing.site_resources import (
    claim_media,
    is_there,
    media_marker,
    note_uses,
    send_with_terms,
    terms,
    with_lost_terms,
)
from pressroom_content.publishing.store import MAX_EXTERNAL_ID_LENGTH, shortened
from pressroom_content.publishing.verifying import RECHECK_DELAYS, ExpectedPage, verify
from pressroom_content.publishing.work import Postponement, PublicationWork

MIN_NOTICE: Final = timedelta(seconds=90)
"""The minimum notice for native scheduling: platforms publish at once if the time is within a minute."""

_MAX_NAMED: Final = 20
"""The maximum number of a site's blocks that warnings list: a post may have thousands."""

_LATE: Final = timedelta(minutes=2)
_LIVE_ON_SITE: Final = "somebody published the post on the site, so it is live there; unpublish_content takes it down"
_LOOK: Final = timedelta(seconds=5)
_RESTORED_FROM_TRASH: Final = (
    "somebody had moved the post to the trash of its site, from which it was brought back; unpublish_content takes it "
    "down again"
)
_CREATED_AGAIN: Final = (
    "the post was no longer on the site and was created again: what only the site stored is lost, such as its date, "
    "comments and featured image"
)


async def media(work: PublicationWork) -> Postponement | None:
    """Upload the images that are not on the site yet."""
    manuscript = await work.manuscript()
    warnings = [*removals(manuscript.removed), *manuscript.warnings]
    for image in manuscript.uploads:
        uploaded = work.step.detail.get("uploaded", {})
        # A built-in site stores each file once and drops it with its last use: an earlier upload may be gone.
        if image.file.id in uploaded and work.website.platform != BUILTIN:
            continue
        try:
            upload = await _upload(work, image)
            if isinstance(upload, Postponement):
                return upload
        except SiteRefused as error:
            warnings.append(f"the site did not take the image {image.file.filename}: {error.message}")
            continue
        all_uploaded = {**uploaded, image.file.id: asdict(upload)}
        # Until this is written, the note that it was sent remains, so that a retry looks for it on the site.
        work.note("running", {**work.without_note(image.file.id), "uploaded": all_uploaded})
    work.done({**work.step.detail, "warnings": warnings})
    uploads = {image.file.id for image in manuscript.uploads}
    hosted = {media_id: media for media_id, media in work.uploaded().items() if media_id in uploads}
    if hosted:
        work.leased.later(lambda session: note_uses(session, work.website.id, work.row.id, hosted))
    return None


async def _upload(work: PublicationWork, image: PostImage) -> RemoteMedia | Postponement:
    marker = media_marker(work.website.id, image.file.id)
    if image.file.id in work.uploaded_media and image.file.id not in work.step.detail.get("sent", {}):
        existing = await claim_media(work.plugin.services.database, work.website.id, work.row.id, image.file.id)
        if existing is not None and await is_there(work.site, work.plugin.services.fetcher, existing, marker):
            return existing
    sent = await work.once(
        image.file.id,
        look=lambda: work.site.find_media(marker),
        send=lambda: work.site.upload(image.file, marker),
    )
    return sent if isinstance(sent, Postponement) else sent[0]


async def draft(work: PublicationWork) -> Postponement | None:
    """Create or update the post. Anything sent in an earlier attempt is looked up first."""
    if not work.row.external_id:
        audience = _audience(work)
        sent = await send_with_terms(
            work,
            lambda post: work.once(
                "post",
                look=lambda: work.site.find(post),
                send=lambda: work.site.create(replace(post, audience=audience)),
            ),
        )
        if isinstance(sent, Postponement):
            return sent
        post, (remote, existed) = await work.post(), sent
        if not 0 < len(remote.id) <= MAX_EXTERNAL_ID_LENGTH:
            raise SiteRefused(f"the site gave the post an id of {len(remote.id)} characters, which cannot be kept")
        ours = not existed or await compared(work.plugin, is_ours, post, remote)
        if ours:
            remote = await with_lost_terms(work, remote)
        values = {"external_id": remote.id, "url": web_url(remote.url), "revision": shortened(remote.revision)}
        if ours:
            work.done({**work.without_note("post"), **_written(work, post)}, **values)
            await work.leased.save()
            return None
        work.note("running", work.without_note("post"), **values)
        await work.leased.save()
    return await _rewrite(work)


def _audience(work: PublicationWork) -> str:
    """Return the audience of the post that the new one replaces.

    Raises `SiteRefused` if the platform cannot restrict the audience: the new post would be public.
    """
    audience = work.audience
    if audience and not work.capabilities.audience:
        raise SiteRefused(
            f"the post that was on the site before was not for everybody ({audience}), and this platform cannot be "
            "told so from here: everybody could read the new post. unpublish_content ends this publication; after "
            "that, publish_content makes a post for everybody"
        )
    return audience


async def _rewrite(work: PublicationWork) -> Postponement | None:
    post = await work.post()
    digest = hash_of_post(post)
    try:
        remote = await work.site.read(work.row.external_id)
        baseline = work.leased.steps["read_back"].detail.get("seen")
        if baseline and await compared(work.plugin, is_another, baseline, remote, work.row.marker):
            raise SiteRefused(
                f"{other_post_note(remote)}. Take this publication down with unpublish_content, which leaves that post "
                "alone too; after that, publish_content makes a new post"
            )
        if remote.state == "trashed":
            _note_trashed(work)
        unchanged = work.step.detail.get("post_hash") == digest or await work.equals_site_post()
        if unchanged and not work.force:
            # Only its state changes; edits made on the site are kept.
            work.done({**work.without_note("update"), **_written(work, post)})
            return None
        remote = await with_lost_terms(work, await _write(work, remote))
    except SiteGone:
        if work.bound and not work.force:
            raise SiteRefused(
                "the post that the article was taken over from is no longer on the site; nothing was written. "
                "publish_content with force creates it again"
            ) from None
        work.note(
            "running",
            {**work.without_note("update"), "post_hash": ""},
            external_id="",
            revision="" if work.capabilities.read_back else work.row.revision,
            sent_hash=b"",
        )
        if await work.kept():  # the terms that the post had on the site have to be sent from here
            work.leased.note("terms", "pending", work.leased.steps["terms"].detail)
        if work.bound:
            work.step.detail["warnings"] = [_CREATED_AGAIN]
        work.unbind()
        await work.leased.save(lambda session: unbind(session, work.row.id))
        if work.leased.steps["terms"].state != "done":
            work.current = "terms"
            await terms(work)
            work.current = "draft"
        return await draft(work)  # it was deleted on the site: create it again
    work.done(
        {**work.without_note("update"), **_written(work, post)},
        revision=shortened(remote.revision),
        url=web_url(remote.url) or work.row.url,
    )
    await work.leased.save()
    return None


def _note_trashed(work: PublicationWork) -> None:
    """Warn that a post is restored from its site's trash. Raises `SiteRefused` if the post is bound."""
    if "taken_down" in work.leased.steps["live"].detail:
        return
    if work.bound and not work.force:
        raise SiteRefused(
            "somebody moved the post that the article was taken over from to the trash of its site; nothing was "
            "written. publish_content with force brings it back"
        )
    work.step.detail["warnings"] = [_RESTORED_FROM_TRASH]


async def _write(work: PublicationWork, remote: RemotePost) -> RemotePost:
    """Overwrite a post, unless it was edited on the site. Repeating this never creates a second post."""
    post, row, plugin = await work.post(), work.row, work.plugin
    edited = bool(row.sent_hash) and shortened(remote.revision) != row.revision
    edited = edited and not await compared(plugin, is_unedited, remote, row.sent_hash)
    if edited and not work.force:
        baseline = work.leased.steps["read_back"].detail.get("seen") or {}
        was_sent = "update" in work.step.detail.get("sent", {})
        if was_sent and await _has_arrived(work, baseline, post, remote):
            return remote  # this was our own request, whose response was lost
        at = remote.publish_at.isoformat() if remote.publish_at else None
        work.note("running", {**work.step.detail, "remote_state": remote.state, "remote_at": at})
        comparison = "; ".join(await compared(plugin, differences, post, remote)) if not baseline else ""
        raise RemoteChanged(
            await compared(plugin, edits_message, baseline, remote)
            + (f". Compared with what would be written: {comparison}" if comparison else ""),
            hint="Nothing was written. merge_site_edits brings the edit into the article; publish_content with "
            "force overwrites it."
            if work.known is not None
            else "Nothing was written; publish_content with force overwrites the edit.",
        )
    if not work.capabilities.update:
        raise SiteRefused("posts on this platform cannot be changed once they are there")
    work.leased.lease.check()
    sent = {**work.step.detail.get("sent", {}), "update": datetime.now(UTC).isoformat()}
    backup = {"overwritten": await compared(plugin, copy_of, remote)} if edited else {}
    work.note("running", {**work.step.detail, **backup, "sent": sent})
    await work.leased.save()
    revision = "" if work.force else remote.revision
    return await send_with_terms(work, lambda new_post: work.site.update(row.external_id, new_post, revision))


async def _has_arrived(work: PublicationWork, baseline: Mapping[str, Any], post: Post, remote: RemotePost) -> bool:
    """Check whether the post on the site contains what an earlier request of ours sent."""
    if not await compared(work.plugin, is_ours, post, remote):
        return False
    return work.connector.markdown or await compared(work.plugin, has_arrived, baseline, post, remote)


def _written(work: PublicationWork, post: Post) -> dict[str, Any]:
    """Return the detail to record about a version that is on the site."""
    return {"post_hash": hash_of_post(post), "version": work.article.version}


async def read_back(work: PublicationWork) -> None:
    """Read the post back from the site, and record its differences from what was sent."""
    if not work.capabilities.read_back:
        work.done({"warnings": []}, sent_hash=b"")
        return
    remote = work.remote = await work.site.read(work.row.external_id)
    warnings = await compared(work.plugin, differences, await work.post(), remote)
    values = await _record_baseline(work, remote)
    work.step.detail["state"] = remote.state
    codec = work.codec
    if codec is None:
        work.done({**work.step.detail, "warnings": warnings}, **values)
        return
    warnings += _dropped_warnings(work.dropped())
    body, (sent, kept_fields) = await work.remembered(remote.raw, codec), await work.sent_fields()
    work.done({**work.step.detail, "warnings": warnings}, **values)
    work.leased.later(lambda session: remember_body(session, work.row.id, body, remote, sent, kept_fields))


def _dropped_warnings(names: Sequence[str]) -> Iterator[str]:
    for name in names[:_MAX_NAMED]:
        yield f"{name}, which only the site understood, is no longer in the article"
    if len(names) > _MAX_NAMED:
        yield f"{len(names) - _MAX_NAMED} more blocks that only the site understood are no longer in the article"


async def live(work: PublicationWork) -> Postponement | None:
    """Move the post to the requested state."""
    if work.row.mode == "draft":
        await _unscheduled(work)
        return None
    remote = work.remote or await work.site.read(work.row.external_id)
    if work.row.mode == "schedule" and remote.state != "live":
        result = await _wait_until_due(work, remote)
        if isinstance(result, Postponement):
            return result
        remote = result
    if remote.state != "live":
        work.leased.lease.check()
        # If there is no response, the post is read and set again if needed. Setting a state is idempotent.
        remote = await work.site.set_state(remote.id, "live")
        if remote.state != "live":
            raise SiteRefused(f"the site took the post, but it is {remote.state} there and not live")
    work.done(_without_takedown(work), **await _record_baseline(work, remote))
    await work.leased.save()  # checking the page may take a while
    return None


async def _unscheduled(work: PublicationWork) -> None:
    """Leave the post as a draft: it may be in the trash, or natively scheduled on the site."""
    state = work.leased.steps["read_back"].detail.get("state", "draft")
    unknown = not work.capabilities.read_back and "taken_down" in work.step.detail  # it may be in the trash
    if state == "draft" and not work.step.detail.get("native") and not unknown:
        work.done(_without_takedown(work))
        return
    remote = work.remote or await work.site.read(work.row.external_id)
    if remote.state in ("scheduled", "trashed"):
        work.leased.lease.check()
        remote = await work.site.set_state(remote.id, "draft")
    warnings = [_LIVE_ON_SITE] if remote.state == "live" else []
    work.done(
        {**_without_takedown(work), "native": False, "warnings": warnings}, **await _record_baseline(work, remote)
    )


def _without_takedown(work: PublicationWork) -> dict[str, Any]:
    """Return the current step's detail without the note that the post was taken down from here."""
    return {name: value for name, value in work.step.detail.items() if name != "taken_down"}


async def _wait_until_due(work: PublicationWork, remote: RemotePost) -> Postponement | RemotePost:
    """Return a postponement until the post is due, or the current post if it is due."""
    at, now = work.row.publish_at, datetime.now(UTC)
    if at is None:
        return remote
    detail = work.step.detail
    if at <= now and not (detail.get("native") and detail.get("native_at", at.isoformat()) == at.isoformat()):
        return remote
    if at <= now:
        if now - at < _LATE:
            return Postponement("scheduled", now + _LOOK)
        work.step.detail["warnings"] = ["the site did not publish the post at its time; it was published from here"]
        return remote
    native = work.capabilities.schedule and at - now >= MIN_NOTICE
    if remote.state in ("scheduled", "trashed") and not native:  # scheduled for another time, or trashed
        work.leased.lease.check()
        remote = await work.site.set_state(remote.id, "draft")
    if native and not (remote.state == "scheduled" and remote.publish_at == at):
        work.leased.lease.check()
        remote = await work.site.set_state(remote.id, "scheduled", at)
        native = remote.state == "scheduled" and remote.publish_at is not None and abs(remote.publish_at - at) < _LOOK
        if remote.state == "live":
            return remote
    detail = {"native": native, "native_at": at.isoformat()}
    work.note("pending", {**work.step.detail, **detail}, **await _record_baseline(work, remote))
    return Postponement("scheduled", at)


async def verify_url(work: PublicationWork) -> None:
    """Check the live page as a visitor would see it."""
    if work.row.mode == "draft":
        work.done(verified={})
        return
    updated = work.row.published_at is not None
    expected = ExpectedPage(
        url=work.row.url,
        title=work.article.title,
        canonical_url=work.canonical_url,
        html=(await work.post()).html,
        built=work.capabilities.built,
        waiting=work.capabilities.built,
        updated=work.capabilities.built and updated,
    )
    verification = await verify(work.plugin, expected)
    if verification.later:
        work.recheck_at = datetime.now(UTC) + RECHECK_DELAYS[0]
    work.done({"warnings": list(verification.warnings), "updated": updated}, verified=dict(verification.facts))


async def _record_baseline(work: PublicationWork, remote: RemotePost) -> dict[str, Any]:
    digest = b""
    if work.capabilities.read_back:
        baseline, digest = await compared(work.plugin, baseline_of, remote)
        step = work.leased.steps["read_back"]
        work.leased.note("read_back", step.state, {**step.detail, "seen": baseline})
    url = web_url(remote.url) or work.row.url
    return {
        "revision": shortened(remote.revision),
        "sent_hash": digest,
        "url": url,
        "path": work.page_path(url) if remote.state == "live" else "",
    }


ACTIONS: Final[Mapping[str, Callable[[PublicationWork], Awaitable[Postponement | None]]]] = {
    "terms": terms,
    "media": media,
    "draft": draft,
    "read_back": read_back,
    "live": live,
    "verify": verify_url,
}
"""The action of each step. If it returns a postponement, the publication later continues at this step."""
