"""Links with which people upload one image each, from a browser or with curl."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from pressroom.columns import hash_of, new_id, new_secret
from pressroom.sdk import InvalidInput, NotFound, PluginContext
from sqlalchemy import delete, select, update

from pressroom_images.config import ImagesConfig
from pressroom_images.library.files import KIND_NAMES, inspect
from pressroom_images.library.store import Library, Media
from pressroom_images.tables import UploadRow


@dataclass(frozen=True, slots=True)
class UploadLink:
    """A link that works once, until `expires_at`. The image will have the id `media_id`."""

    url: str
    media_id: str
    expires_at: datetime


MAX_OPEN: Final = 100
"""How many unused links an account has; another one ends the oldest."""


class Uploads:
    """Makes such links, and takes what is sent to them."""

    def __init__(self, plugin: PluginContext[ImagesConfig]) -> None:
        self._plugin = plugin
        self._database = plugin.services.database
        self._config = plugin.config

    async def link(self, user_id: str, *, content_id: str | None, filename: str, media_type: str) -> UploadLink:
        """Return a new link for an account."""
        now, token = datetime.now(UTC), new_secret()
        row = UploadRow(
            token_hash=hash_of(token),
            media_id=new_id("m"),
            user_id=user_id,
            content_id=content_id,
            filename=filename,
            media_type=media_type,
            expires_at=now + timedelta(minutes=self._config.upload_minutes),
        )
        async with self._database.writing() as session:
            await session.execute(delete(UploadRow).where(UploadRow.expires_at < now - timedelta(days=1)))
            open_links = select(UploadRow.token_hash).where(UploadRow.user_id == user_id, UploadRow.used_at.is_(None))
            oldest = open_links.order_by(UploadRow.expires_at.desc()).offset(MAX_OPEN - 1)
            await session.execute(delete(UploadRow).where(UploadRow.token_hash.in_(oldest)))
            session.add(row)
        return UploadLink(f"{self._plugin.base_url}/media/upload/{token}", row.media_id, row.expires_at)

    async def open(self, token: str) -> UploadRow:
        """Return what a link is for. Raises `NotFound` if it is invalid, was used, or came too late."""
        async with self._database.reading() as session:
            row = await session.scalar(select(UploadRow).where(UploadRow.token_hash == hash_of(token)))
        if row is None or row.used_at is not None or row.expires_at < datetime.now(UTC):
            raise NotFound("this upload link was already used or has expired; ask for a new one")
        found: UploadRow = row
        return found

    async def take(self, token: str, content: bytes, filename: str) -> Media:
        """Keep what was sent. A file that is refused leaves the link as it was.

        Raises:
            NotFound: the link no longer works.
            InvalidInput: the file is not an image, is another kind of image than was announced, or is too large.
        """
        link = await self.open(token)
        run, most = self._plugin.services.workers.run, self._config.max_image_bytes
        file = await run(inspect, content, most, owner=link.user_id, what="the image")
        if link.media_type not in ("", file.media_type):
            names = KIND_NAMES[file.media_type], KIND_NAMES.get(link.media_type, link.media_type)
            raise InvalidInput(
                "", f"that is a {names[0]} file, but this link takes only {names[1]} ({link.media_type})"
            )
        now = datetime.now(UTC)
        taking = (
            update(UploadRow)
            .where(UploadRow.token_hash == link.token_hash, UploadRow.used_at.is_(None))
            .values(used_at=now)
        )
        async with self._database.writing() as session:
            if (await session.execute(taking)).rowcount != 1:
                raise NotFound("this upload link was already used; ask for a new one")
        library = Library(self._plugin)
        name = link.filename or filename or "image"
        try:
            media = await library.add_own(link.user_id, file, name=name, alt_text="", media_id=link.media_id)
        except BaseException:
            async with self._database.writing() as session:
                again = update(UploadRow).where(UploadRow.token_hash == link.token_hash).values(used_at=None)
                await session.execute(again)
            raise
        if link.content_id:
            await library.use(media.id, link.content_id, "inline")
        return media
