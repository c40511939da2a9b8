"""Storage of the media library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import groupby, islice
from typing import Any, Final, Literal, cast

from pressroom.columns import as_id, new_id
from pressroom.sdk import InvalidInput, NotFound, PluginContext, StorageKind
from pressroom_content.contract import Article, FoundImage, MediaFile, content_services
from pressroom_content.language import searchable
from slugify import slugify
from sqlalchemy import Select, and_, delete, func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_images.config import ImagesConfig
from pressroom_images.library.files import EXTENSIONS, InspectedImage
from pressroom_images.tables import BytesRow, MediaRow, ThumbnailRow, UploadRow, UseRow

Hosting = Literal["download", "hotlink", "either"]

_MAX_NAME_LENGTH: Final = 80


@dataclass(frozen=True, slots=True)
class Media:
    """An image of a library. `url` is its URL on this server, or that of the provider if it is hotlinked."""

    id: str
    user_id: str
    provider: str
    title: str
    filename: str
    media_type: str
    width: int
    height: int
    size: int
    alt_text: str
    caption: str
    page_url: str
    url: str
    hosting: Hosting
    license: Mapping[str, Any]
    credit: Mapping[str, str]
    created_at: datetime

    @property
    def hotlinked(self) -> bool:
        """Whether the image is served by its provider and not stored here."""
        return self.size == 0

    @property
    def text_url(self) -> str:
        """The URL for the text of an article. It contains the ID, which credits and uses of the image depend on."""
        return f"{self.url}#{self.id}" if self.hotlinked else self.url


def media_of(row: MediaRow, base_url: str) -> Media:
    """Convert a row to an image."""
    stored_url = f"{base_url}/media/{row.id}/{row.filename}"
    return Media(
        id=row.id,
        user_id=row.user_id,
        provider=row.provider,
        title=row.title,
        filename=row.filename,
        media_type=row.media_type,
        width=row.width,
        height=row.height,
        size=row.size,
        alt_text=row.alt_text,
        caption=row.caption,
        page_url=row.page_url,
        url=stored_url if row.size else row.file_url,
        hosting=cast("Hosting", row.hosting),
        license=row.license,
        credit=row.credit,
        created_at=row.created_at,
    )


async def _measure(session: AsyncSession, user_id: str) -> int:
    return int(await session.scalar(select(func.sum(MediaRow.size)).where(MediaRow.user_id == user_id)) or 0)


STORAGE: Final = StorageKind("images", "images", _measure, "delete images with delete_media")


def _has(article: Article, media_id: str) -> bool:
    return media_id == article.featured_media_id or media_id in article.body


class Library:
    """The images of all accounts. Methods with a `user_id` treat other accounts' images as missing."""

    def __init__(self, plugin: PluginContext[ImagesConfig]) -> None:
        self._plugin = plugin
        self._database = plugin.services.database
        self._storage = plugin.services.storage
        self._base_url = plugin.base_url
        self._config = plugin.config

    async def get(self, user_id: str, media_id: str) -> Media:
        """Return an image. Raises `NotFound`."""
        link = select(UploadRow.expires_at).where(UploadRow.user_id == user_id, UploadRow.media_id == as_id(media_id))
        async with self._database.reading() as session:
            row = await session.scalar(_one(user_id, media_id))
            expires_at = await session.scalar(link.where(UploadRow.used_at.is_(None))) if row is None else None
        if row is not None:
            return media_of(row, self._base_url)
        raise _unknown(media_id) if expires_at is None else _not_uploaded(media_id, expires_at)

    async def by_url(self, user_id: str, url: str) -> Media | None:
        """Return the image with this URL, at this server or at its provider, or `None` if the library has none."""
        prefix = f"{self._base_url}/media/"
        file_url, _, media_id = url.partition("#")
        if url.startswith(prefix):
            media_id = file_url.removeprefix(prefix).partition("/")[0]
        same = or_(MediaRow.id == as_id(media_id), and_(MediaRow.file_url == file_url, MediaRow.file_url != ""))
        async with self._database.reading() as session:
            row = await session.scalar(select(MediaRow).where(MediaRow.user_id == user_id, same).limit(1))
        return media_of(row, self._base_url) if row is not None else None

    async def by_ref(self, user_id: str, ref: str) -> Media | None:
        """Return the image imported under a ref, or `None`."""
        statement = select(MediaRow).where(MediaRow.user_id == user_id, MediaRow.ref == ref)
        async with self._database.reading() as session:
            row = await session.scalar(statement)
        return media_of(row, self._base_url) if row is not None else None

    async def file(self, user_id: str, media_id: str) -> MediaFile:
        """Return an image with its bytes, for publishing. Raises `NotFound`."""
        statement = (
            select(MediaRow, BytesRow.content)
            .outerjoin(BytesRow, BytesRow.media_id == MediaRow.id)
            .where(MediaRow.user_id == user_id, MediaRow.id == as_id(media_id))
        )
        async with self._database.reading() as session:
            row = (await session.execute(statement)).one_or_none()
        if row is None:
            raise _unknown(media_id)
        media = media_of(row[0], self._base_url)
        return MediaFile(
            id=media.id,
            filename=media.filename,
            media_type=media.media_type,
            url=media.url,
            alt=media.alt_text,
            hosting=media.hosting,
            width=media.width,
            height=media.height,
            content=row[1] or b"",
            credit_html=media.credit.get("html", ""),
            credit_text=media.credit.get("text", ""),
            caption=media.caption,
        )

    async def check_content(self, media_id: str) -> None:
        """Raise `NotFound` unless this server stores the image. Like `content`, without reading the bytes."""
        statement = select(BytesRow.media_id).where(BytesRow.media_id == as_id(media_id))
        async with self._database.reading() as session:
            if await session.scalar(statement) is None:
                raise _unknown(media_id)

    async def content(self, media_id: str) -> tuple[bytes, str]:
        """Return the bytes and media type of an image. No authorisation: the ID is unguessable. Raises `NotFound`."""
        statement = (
            select(BytesRow.content, MediaRow.media_type)
            .join(MediaRow, MediaRow.id == BytesRow.media_id)
            .where(BytesRow.media_id == as_id(media_id))
        )
        async with self._database.reading() as session:
            row = (await session.execute(statement)).one_or_none()
        if row is None:
            raise _unknown(media_id)
        return row[0], row[1]

    async def add_result(self, user_id: str, image: FoundImage, alt_text: str, file: InspectedImage | None) -> Media:
        """Add a search result, with its bytes if they may be stored. Idempotent per account and ref.

        Raises:
            InvalidInput: the library has the maximum number of images.
            QuotaExceeded: the account has not enough storage space.
        """
        row = MediaRow(
            id=new_id("m"),
            user_id=user_id,
            ref=image.ref,
            provider=image.provider,
            title=image.title[:300],
            filename=_filename(image.title or alt_text, file.media_type if file else image.mime),
            media_type=file.media_type if file else image.mime,
            width=file.width if file else image.width,
            height=file.height if file else image.height,
            size=len(file.content) if file else 0,
            alt_text=alt_text,
            page_url=image.page_url,
            file_url=image.file_url,
            hosting=image.hosting,
            license=asdict(image.license),
            credit=asdict(image.credit),
            created_at=datetime.now(UTC),
        )
        try:
            return await self._add(row, file)
        except IntegrityError:  # a concurrent call added the same image
            existing = await self.by_ref(user_id, image.ref)
            if existing is None:
                raise
            return existing

    async def add_user_image(
        self,
        user_id: str,
        file: InspectedImage,
        *,
        name: str,
        alt_text: str,
        media_id: str = "",
        page_url: str = "",
        ref: str | None = None,
    ) -> Media:
        """Add a user's own image. Idempotent per `ref`, if given. Raises the errors of `add_result`."""
        row = MediaRow(
            id=media_id or new_id("m"),
            user_id=user_id,
            ref=ref,
            provider="library",
            title=name[:300],
            filename=_filename(name, file.media_type),
            media_type=file.media_type,
            width=file.width,
            height=file.height,
            size=len(file.content),
            alt_text=alt_text,
            page_url=page_url,
            hosting="either",
            created_at=datetime.now(UTC),
        )
        try:
            return await self._add(row, file)
        except IntegrityError:  # a concurrent call added the same image
            existing = await self.by_ref(user_id, ref) if ref is not None else None
            if existing is None:
                raise
            return existing

    async def page(
        self,
        user_id: str,
        *,
        query: str = "",
        content_id: str = "",
        limit: int = 20,
        before: tuple[datetime, str] | None = None,
    ) -> Sequence[Media]:
        """Return up to `limit` of an account's images, newest first, starting after the position `before`.

        With a query, return those whose texts contain each of its words, ignoring case and accents.
        """
        statement = select(MediaRow).where(MediaRow.user_id == user_id)
        if content_id:
            used = select(UseRow.media_id).where(UseRow.content_id == as_id(content_id))
            statement = statement.where(MediaRow.id.in_(used))
        if before is not None:
            at, last = before
            statement = statement.where(
                or_(MediaRow.created_at < at, and_(MediaRow.created_at == at, MediaRow.id < as_id(last)))
            )
        statement = statement.order_by(MediaRow.created_at.desc(), MediaRow.id.desc())
        async with self._database.reading() as session:
            if words := searchable(query).split():
                # Compared here, because databases differ in what they know about case and accents.
                fields = (MediaRow.title, MediaRow.alt_text, MediaRow.caption, MediaRow.filename)
                texts = await session.execute(statement.with_only_columns(MediaRow.id, *fields))
                found = (id_ for id_, *fields_of_row in texts if _contain(fields_of_row, words))
                statement = statement.where(MediaRow.id.in_(list(islice(found, limit))))
            rows = (await session.scalars(statement.limit(limit))).all()
        return [media_of(row, self._base_url) for row in rows]

    async def uses(self, user_id: str, media_ids: Sequence[str]) -> Mapping[str, list[str]]:
        """Map image IDs to the IDs of the articles that use them, in their newest or in a published version.

        A recorded use stays when an article gets another image, since an older version may be restored.
        """
        statement = select(UseRow).where(UseRow.media_id.in_(media_ids)).order_by(UseRow.content_id)
        async with self._database.reading() as session:
            recorded = (await session.scalars(statement)).all()
        article_ids: dict[str, list[str]] = {media_id: [] for media_id in media_ids}
        for content_id, uses in groupby(recorded, key=lambda use: use.content_id):
            used = await self._used_by(user_id, content_id, [use.media_id for use in uses])
            for media_id in used:
                article_ids[media_id].append(content_id)
        return article_ids

    async def _used_by(self, user_id: str, content_id: str, media_ids: Sequence[str]) -> Sequence[str]:
        content = content_services(self._plugin)
        try:
            newest = await content.articles.get(user_id, content_id)
        except NotFound:
            return []
        versions = [newest]
        if not all(_has(newest, media_id) for media_id in media_ids):
            posts = await content.publications.of_article(user_id, content_id)
            live = {post.article_version for post in posts if post.status != "unpublished"} - {newest.version}
            for version in live:
                with suppress(NotFound):
                    versions.append(await content.articles.get(user_id, content_id, version))
        return [media_id for media_id in media_ids if any(_has(version, media_id) for version in versions)]

    async def use(self, media_id: str, content_id: str, role: str) -> None:
        """Record that an article uses an image."""
        async with self._database.writing() as session:
            await session.merge(UseRow(media_id=media_id, content_id=content_id, role=role))

    async def change(self, user_id: str, media_id: str, **values: Any) -> Media:
        """Update `alt_text`, `caption` or `credit`. Raises `NotFound`."""
        async with self._database.writing() as session:
            row = await session.scalar(_one(user_id, media_id))
            if row is None:
                raise _unknown(media_id)
            for name, value in values.items():
                setattr(row, name, value)
            return media_of(row, self._base_url)

    async def delete(self, user_id: str, media_id: str) -> None:
        """Delete an image with its bytes and thumbnail. Raises `NotFound`."""
        async with self._database.writing() as session:
            row = await session.scalar(_one(user_id, media_id))
            if row is None:
                raise _unknown(media_id)
            for table in (BytesRow, ThumbnailRow):
                await session.execute(delete(table).where(table.media_id == row.id))
            await session.delete(row)

    async def _add(self, row: MediaRow, file: InspectedImage | None) -> Media:
        async with self._database.writing() as session:
            if file is not None:
                await self._storage.reserve(session, row.user_id, len(file.content))
            image_count = await session.scalar(select(func.count()).where(MediaRow.user_id == row.user_id))
            if image_count >= self._config.max_images:
                raise InvalidInput(
                    "", f"the library has {image_count} images, the maximum; delete some with delete_media first"
                )
            session.add(row)
            await session.flush()
            if file is not None:
                session.add(BytesRow(media_id=row.id, content=file.content))
            return media_of(row, self._base_url)


def _one(user_id: str, media_id: str) -> Select[Any]:
    return select(MediaRow).where(MediaRow.user_id == user_id, MediaRow.id == as_id(media_id))


def _unknown(media_id: str) -> NotFound:
    return NotFound(f"there is no image {media_id[:40]!r} in the library; list_media lists its images")


def _not_uploaded(media_id: str, expires_at: datetime) -> NotFound:
    if expires_at < datetime.now(UTC):
        return NotFound(
            f"nothing was uploaded as {media_id} before its upload link expired; make a new link with create_upload_url"
        )
    return NotFound(
        f"nothing has been uploaded as {media_id} yet; ask the user to upload the image through its link, which works "
        f"until {expires_at:%Y-%m-%d %H:%M}+00:00 (UTC), then repeat this call"
    )


def _filename(name: str, media_type: str) -> str:
    stem = slugify(name.rpartition(".")[0] or name, max_length=_MAX_NAME_LENGTH, word_boundary=True) or "image"
    return f"{stem}.{EXTENSIONS.get(media_type, 'img')}"


def _contain(texts: Sequence[str], words: Sequence[str]) -> bool:
    plain = [searchable(text) for text in texts]
    return all(any(word in text for text in plain) for word in words)
