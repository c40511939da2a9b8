"""Images on websites: each is uploaded once, however many posts show it, and removed with the last of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256

import structlog
from pressroom.sdk import CallError, Database, Fetcher, FetchFailed, FetchRefused, FetchUnknown
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.contract import MediaSite, RemoteMedia, Site
from pressroom_content.tables import SiteMediaRow, SiteMediaUseRow

log = structlog.get_logger()

_SECONDS = 10.0
_GONE = frozenset({404, 410})


def media_marker(website_id: str, media_id: str) -> str:
    """Return the name of an image on a website: 25 characters that every platform takes, in slugs too."""
    return f"m{sha256(f'{website_id}:{media_id}'.encode()).hexdigest()[:24]}"


async def media_on(session: AsyncSession, website_id: str, media_ids: Collection[str]) -> frozenset[str]:
    """Return which of these images were uploaded to a website."""
    wanted = select(SiteMediaRow.media_id).where(
        SiteMediaRow.website_id == website_id, SiteMediaRow.media_id.in_(list(media_ids))
    )
    return frozenset(await session.scalars(wanted)) if media_ids else frozenset()


async def claim_media(database: Database, website_id: str, publication_id: str, media_id: str) -> RemoteMedia | None:
    """Return where an image was uploaded to on a website, if it was, and note that a post shows it.

    From then on nobody removes it.
    """
    async with database.writing() as session:
        row = await session.get(SiteMediaRow, (website_id, media_id), with_for_update=True)
        if row is None:
            return None
        await _note_use(session, website_id, publication_id, media_id)
        return RemoteMedia(row.remote_id, row.url)


async def is_there(site: Site, fetcher: Fetcher, known: RemoteMedia, marker: str) -> bool:
    """Tell whether an image is on its website still: people tidy up there. Raises `SiteError`."""
    if await site.find_media(marker) is not None:
        return True
    try:
        answer = await fetcher.request("HEAD", known.url, max_bytes=1, seconds=_SECONDS)
    except (FetchFailed, FetchRefused, FetchUnknown):
        return False
    return answer.status not in _GONE


async def note_uses(
    session: AsyncSession, website_id: str, publication_id: str, uploaded: Mapping[str, RemoteMedia]
) -> None:
    """Note that a post shows images, by their ids in the library."""
    for media_id, made in uploaded.items():
        values = {"remote_id": made.id[:2048], "url": made.url[:2048]}
        row = await session.get(SiteMediaRow, (website_id, media_id))
        # Another post may upload the same image at the same moment: either copy will do.
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
    session: AsyncSession, site: Site, website_id: str, publication_id: str, shown: Collection[str] = ()
) -> Sequence[str]:
    """Note that a post shows none but these images any more, and return the markers of those to be removed there.

    Where the platform removes nothing, an image stays known there.
    """
    uses = select(SiteMediaUseRow).where(
        SiteMediaUseRow.publication_id == publication_id, SiteMediaUseRow.media_id.not_in(list(shown))
    )
    unused: list[str] = []
    for use in (await session.scalars(uses)).all():
        row = await session.get(SiteMediaRow, (website_id, use.media_id), with_for_update=True)
        await session.delete(use)
        await session.flush()
        if row is None or not isinstance(site, MediaSite):
            continue
        same = (SiteMediaUseRow.website_id == website_id, SiteMediaUseRow.media_id == use.media_id)
        if await session.scalar(select(SiteMediaUseRow.publication_id).where(*same).limit(1)) is not None:
            continue
        unused.append(media_marker(website_id, use.media_id))
        await session.delete(row)
    return unused


async def remove_unused(site: Site, markers: Sequence[str]) -> None:
    """Remove images from a website, where its platform can. One that cannot be removed stays there.

    They are looked up by their markers: after a backup of the site was restored, their ids may be other images'.
    """
    if not isinstance(site, MediaSite):
        return
    for marker in markers:
        try:
            there = await site.find_media(marker)
            if there is not None:
                await site.remove_media(there)
        except CallError as error:
            log.info("an image stays on its website", marker=marker, reason=error.message)
