"""Single-use links for uploading an image from a browser or with curl."""

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
    """A single-use link, valid until `expires_at`. The uploaded image gets the ID `media_id`."""

    url: str
    media_id: str
    expires_at: datetime


MAX_OPEN: Final = 100
"""Maximum number of unused links per account; creating another one deletes the oldest."""


class Uploads:
    """Creates upload links and accepts uploads."""

    def __init__(self, plugin: PluginContext[ImagesConfig]) -> None:
        self._plugin = plugin
        self._database = plugin.services.database
        self._config = plugin.config

    async def link(self, user_id: str, *, content_id: str | None, filename: str, media_type: str) -> UploadLink:
        """Create an upload link for an account."""
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
        """Return the row of a link. Raises `NotFound` if it is invalid, used or expired."""
        async with self._database.reading() as session:
            row = await session.scalar(select(UploadRow).where(UploadRow.token_hash == hash_of(token)))
        if row is None or row.used_at is not None or row.expires_at < datetime.now(UTC):
            raise NotFound("this upload link was already used or has expired; ask for a new one")
        link: UploadRow = row
        return link

    async def take(self, token: str, content: bytes, filename: str) -> Media:
        """Store an uploaded image. The link stays valid if the file is rejected.

        Raises:
            NotFound: the link is invalid, used or expired.
            InvalidInput: the file is not an image, has another format than announced, or is too large, or the library
                is full.
            QuotaExceeded: the account has not enough storage space.
        """
        link = await self.open(token)
        run, max_bytes = self._plugin.services.workers.run, self._config.max_image_bytes
        file = await run(inspect, content, max_bytes, owner=link.user_id, what="the image")
        if link.media_type not in ("", file.media_type):
            names = KIND_NAMES[file.media_type], KIND_NAMES.get(link.media_type, link.media_type)
            raise InvalidInput(
                "", f"that is a {names[0]} file, but this link takes only {names[1]} ({link.media_type})"
            )
        now = datetime.now(UTC)
        claim = (
            update(UploadRow)
            .where(UploadRow.token_hash == link.token_hash, UploadRow.used_at.is_(None))
            .values(used_at=now)
        )
        async with self._database.writing() as session:
            if (await session.execute(claim)).rowcount != 1:
                raise NotFound("this upload link was already used; ask for a new one")
        library = Library(self._plugin)
        name = link.filename or filename or "image"
        try:
            media = await library.add_user_image(link.user_id, file, name=name, alt_text="", media_id=link.media_id)
        except BaseException:
            async with self._database.writing() as session:
                release = update(UploadRow).where(UploadRow.token_hash == link.token_hash).values(used_at=None)
                await session.execute(release)
            raise
        if link.content_id:
            await library.use(media.id, link.content_id, "inline")
        return media
