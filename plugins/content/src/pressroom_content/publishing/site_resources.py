"""Resources that posts refer to on their website: uploaded images, and the IDs of tags, categories and authors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final, TypeVar

import structlog
from pressroom.sdk import (
    CallError,
    Database,
    Fetcher,
    FetchFailed,
    FetchRefused,
    FetchUnknown,
    InvalidInput,
    PluginContext,
)
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.contract import (
    Capabilities,
    MediaSite,
    Post,
    RemoteMedia,
    RemotePost,
    Site,
    SiteConnector,
    SiteRefused,
    SiteRejected,
    Term,
    TermKind,
)
from pressroom_content.publishing.comparing import plain, without_spaces
from pressroom_content.publishing.posts import capabilities_of, lacks_author, unknown_author
from pressroom_content.publishing.work import PublicationWork
from pressroom_content.records import Website
from pressroom_content.tables import SiteMediaRow, SiteMediaUseRow
from pressroom_content.websites.connectors import connector_of
from pressroom_content.websites.store import Websites

Sent = TypeVar("Sent")

_FIELDS: Final[Mapping[TermKind, str]] = {"tag": "tags", "category": "categories", "author": "author"}


async def terms(work: PublicationWork) -> None:
    """Create the tags and categories that are missing on the site. Safe to repeat, so nothing is recorded beforehand.

    IDs from an earlier attempt are reused for the same names if the platform can be read back.
    """
    ids, names = (work.step.detail.get(name, {}) for name in ("term_ids", "term_names"))
    requested = await _requested_terms(work)
    reusable = {
        kind: ids[kind]
        for kind, term_names in requested.items()
        if work.capabilities.read_back
        and names.get(kind) == term_names
        and len(ids.get(kind, ())) >= len(set(term_names))
    }
    work.done(await _look_up_terms(work, requested, reusable))


async def send_with_terms(work: PublicationWork, send: Callable[[Post], Awaitable[Sent]]) -> Sent:
    """Send the post. If the site refuses it, look up its terms again and resend if their IDs have changed.

    Raises the same exceptions as `send`, and `InvalidInput` if the site no longer has the author.
    """
    try:
        return await send(await work.post())
    except SiteRefused:
        if not await _renew_terms(work, tuple(_FIELDS)):
            raise
    work.leased.lease.check()
    return await send(await work.post())


async def with_lost_terms(work: PublicationWork, remote: RemotePost) -> RemotePost:
    """Return a post that was just written, writing it again if the site dropped terms that were deleted there."""
    lost = list(_lost(await work.post(), remote, await _requested_terms(work)))
    if not lost or not await _renew_terms(work, lost):
        return remote
    work.leased.lease.check()
    return await work.site.update(remote.id, await work.post(), remote.revision)


async def _requested_terms(work: PublicationWork) -> dict[TermKind, list[str]]:
    """Return the names of the terms to send, by kind, without those of fields that stay unchanged on the site."""
    post, kept_fields = (await work.manuscript()).post, await work.kept()
    names: dict[TermKind, Sequence[str]] = {
        "tag": post.tags,
        "category": post.categories,
        "author": [post.author] if post.author else [],
    }
    return {
        kind: list(term_names) for kind, term_names in names.items() if term_names and _FIELDS[kind] not in kept_fields
    }


async def _look_up_terms(
    work: PublicationWork, requested: Mapping[TermKind, list[str]], known: Mapping[TermKind, list[str]]
) -> dict[str, Any]:
    """Return the detail of the step, with the IDs of all wanted terms. Those that are not known are looked up."""
    missing = {kind: term_names for kind, term_names in requested.items() if kind not in known}
    post = replace(
        (await work.manuscript()).post,
        author="".join(missing.get("author", ())),
        tags=tuple(missing.get("tag", ())),
        categories=tuple(missing.get("category", ())),
    )
    author_ids, warnings = await find_author(work.site, work.connector, work.capabilities, post)
    ids: dict[TermKind, Sequence[str]] = {**author_ids, **known}
    if post.tags or post.categories:
        term_ids = await work.site.ensure_terms(replace(post, author=""))
        ids = {**term_ids, **{kind: kind_ids for kind, kind_ids in ids.items() if kind_ids}}
    work.current_term_kinds |= missing.keys()
    return {
        "term_ids": {kind: list(kind_ids) for kind, kind_ids in ids.items()},
        "term_names": dict(requested),
        "warnings": warnings,
    }


async def _renew_terms(work: PublicationWork, kinds: Collection[TermKind]) -> bool:
    """Look up earlier term IDs again. Return whether any of them changed."""
    step, requested = work.leased.steps["terms"], await _requested_terms(work)
    before = step.detail.get("term_ids", {})
    renewed = [kind for kind in kinds if kind in requested and kind not in work.current_term_kinds]
    if not renewed:
        return False
    detail = await _look_up_terms(
        work, requested, {kind: kind_ids for kind, kind_ids in before.items() if kind not in renewed}
    )
    work.leased.note("terms", step.state, detail)
    return bool(detail["term_ids"] != before)


def _lost(post: Post, remote: RemotePost, requested: Collection[TermKind]) -> Iterator[TermKind]:
    """Yield the kinds of terms of which the post on the site lacks some. Fields that it does not report are ignored."""
    for kind in ("tag", "category"):
        if kind in requested and _FIELDS[kind] in remote.fields:
            site_terms = {without_spaces(term) for term in remote.fields[_FIELDS[kind]] or ()}
            if not site_terms.issuperset(map(without_spaces, getattr(post, _FIELDS[kind]))):
                yield kind
    author = remote.fields.get("author")
    if "author" in requested and author and plain(author) != plain(post.author):
        yield "author"


_MAX_LISTED: Final = 100
_MAX_NAMED: Final = 20


async def find_author(
    site: Site, connector: SiteConnector, capabilities: Capabilities, post: Post
) -> tuple[Mapping[TermKind, tuple[str, ...]], list[str]]:
    """Return the ID of a post's author in the form of `ensure_terms`, and warnings. Nothing on the site changes.

    If the site does not list its authors, an unknown author is only a warning.

    Raises:
        InvalidInput: the site has no such author; the message lists the available ones.
        SiteError: the site could not be queried.
    """
    if not post.author or "author" in post.kept:
        return {}, []
    ids = await site.ensure_terms(replace(post, tags=(), categories=()))
    if not lacks_author(post, capabilities, ids):
        return ids, []
    authors: Sequence[Term] = ()
    if "author" in connector.term_kinds:
        try:
            authors = await site.terms("author", "", _MAX_LISTED)
        except (SiteRefused, SiteRejected):
            authors = ()
    if not authors:
        return ids, [unknown_author(post.author)]
    names = ", ".join(_term_text(author) for author in authors[:_MAX_NAMED])
    more = (
        f" and {len(authors) - _MAX_NAMED} more, which list_site_taxonomies shows" if len(authors) > _MAX_NAMED else ""
    )
    raise InvalidInput(
        "author",
        f"the site has no author {post.author[:100]!r}; it has {names}{more}. Name one of them in the option author of "
        "publish_content or in the article, or leave the author out: then the post is by the account that publishes",
    )


async def author_warnings(plugin: PluginContext, website: Website, post: Post) -> tuple[str, ...]:
    """Return the warnings about a post's author before it is sent. Nothing on the site changes.

    Raises:
        InvalidInput: the site has no such author.
    """
    connector = connector_of(plugin, website.platform)
    capabilities = capabilities_of(website, connector)
    if not lacks_author(post, capabilities, {}):
        return ()
    try:
        _, site = await Websites(plugin).open(website.user_id, website.id)
        _, warnings = await find_author(site, connector, capabilities, post)
    except InvalidInput:
        raise
    except CallError as error:
        return (f"the site could not be asked whether it has the author {post.author!r}: {error.message}",)
    return tuple(warnings)


def _term_text(term: Term) -> str:
    return f"{term.name} ({term.slug})" if term.slug and term.slug != term.name else term.name


log = structlog.get_logger()

_SECONDS = 10.0
_GONE = frozenset({404, 410})


def media_marker(website_id: str, media_id: str) -> str:
    """Return the name of an image on a website: 25 characters that every platform accepts, even in slugs."""
    return f"m{sha256(f'{website_id}:{media_id}'.encode()).hexdigest()[:24]}"


async def media_on(session: AsyncSession, website_id: str, media_ids: Collection[str]) -> frozenset[str]:
    """Return which of these images were uploaded to a website."""
    query = select(SiteMediaRow.media_id).where(
        SiteMediaRow.website_id == website_id, SiteMediaRow.media_id.in_(list(media_ids))
    )
    return frozenset(await session.scalars(query)) if media_ids else frozenset()


async def claim_media(database: Database, website_id: str, publication_id: str, media_id: str) -> RemoteMedia | None:
    """Record that a post uses an image. Return where it was uploaded on the website, or `None`.

    The recorded use keeps the image from being removed.
    """
    async with database.writing() as session:
        row = await session.get(SiteMediaRow, (website_id, media_id), with_for_update=True)
        if row is None:
            return None
        await _note_use(session, website_id, publication_id, media_id)
        return RemoteMedia(row.remote_id, row.url)


async def is_there(site: Site, fetcher: Fetcher, media: RemoteMedia, marker: str) -> bool:
    """Check whether an image is still on its website: people may delete it there. Raises `SiteError`."""
    if await site.find_media(marker) is not None:
        return True
    try:
        response = await fetcher.request("HEAD", media.url, max_bytes=1, seconds=_SECONDS)
    except (FetchFailed, FetchRefused, FetchUnknown):
        return False
    return response.status not in _GONE


async def note_uses(
    session: AsyncSession, website_id: str, publication_id: str, uploaded: Mapping[str, RemoteMedia]
) -> None:
    """Record that a post uses images, given by their IDs in the library."""
    for media_id, media in uploaded.items():
        values = {"remote_id": media.id[:2048], "url": media.url[:2048]}
        row = await session.get(SiteMediaRow, (website_id, media_id))
        # Another post may upload the same image concurrently: either copy will do.
        with suppress(IntegrityError):
            async with session.begin_nested():
                if row is None:
                    session.add(SiteMediaRow(website_id=website_id, media_id=media_id, **values))
                else:
                    row.remote_id, row.url = values["remote_id"], values["url"]
        await _note_use(session, website_id, publication_id, media_id)


async def _note_use(session: AsyncSession, website_id: str, publication_id: str, media_id: str) -> None:
    if await session.get(SiteMediaUseRow, (publication_id, media_id)) is None:
        session.add(SiteMediaUseRow(publication_id=publication_id, media_id=media_id, website_id=website_id))


async def drop_uses(
    session: AsyncSession, site: Site, website_id: str, publication_id: str, used_ids: Collection[str] = ()
) -> Sequence[str]:
    """Drop a post's uses of all images except `used_ids`. Return the markers of the images to remove from the site.

    If the platform cannot remove images, the record of the upload is kept.
    """
    uses = select(SiteMediaUseRow).where(
        SiteMediaUseRow.publication_id == publication_id, SiteMediaUseRow.media_id.not_in(list(used_ids))
    )
    unused: list[str] = []
    for use in (await session.scalars(uses)).all():
        row = await session.get(SiteMediaRow, (website_id, use.media_id), with_for_update=True)
        await session.delete(use)
        await session.flush()
        if row is None or not isinstance(site, MediaSite):
            continue
        conditions = (SiteMediaUseRow.website_id == website_id, SiteMediaUseRow.media_id == use.media_id)
        if await session.scalar(select(SiteMediaUseRow.publication_id).where(*conditions).limit(1)) is not None:
            continue
        unused.append(media_marker(website_id, use.media_id))
        await session.delete(row)
    return unused


async def remove_unused(site: Site, markers: Sequence[str]) -> None:
    """Remove images from a website if its platform supports it. Images that cannot be removed are left there.

    They are looked up by marker: after a restore of the site, their IDs may belong to other images.
    """
    if not isinstance(site, MediaSite):
        return
    for marker in markers:
        try:
            media = await site.find_media(marker)
            if media is not None:
                await site.remove_media(media)
        except CallError as error:
            log.info("an image stays on its website", marker=marker, reason=error.message)
