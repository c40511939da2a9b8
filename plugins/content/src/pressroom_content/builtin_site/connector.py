"""The built-in site as a platform: posts are rows of this server's own database, and every change is a transaction."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal, cast
from urllib.parse import quote, urlsplit

from pressroom.columns import new_id
from pressroom.sdk import BackendError, Fetcher, PluginContext
from slugify import slugify
from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.builtin_site.store import is_live, may_lead_to
from pressroom_content.contract import (
    Capabilities,
    ConnectionCheck,
    ConnectionReport,
    MediaFile,
    Post,
    RemoteChanged,
    RemoteMedia,
    RemotePost,
    RemoteRedirect,
    Site,
    SiteAddress,
    SiteConnector,
    SiteGone,
    SiteRefused,
    SiteUnavailable,
    Term,
    TermKind,
)
from pressroom_content.contract.connectors import PostState
from pressroom_content.tables import BuiltinFileRow, BuiltinPostRow, BuiltinRedirectRow, WebsiteRow

RESERVED_SLUGS: Final = frozenset({"feed.xml", "sitemap.xml", "files", "cards", "llms.txt"})

_FIELDS: Final = (
    "excerpt", "meta_title", "meta_description", "canonical_url", "language", "author", "keyphrase",
)  # fmt: skip
_MEDIA_TYPES: Final[Mapping[str, str]] = {
    "image/avif": "avif",
    "image/gif": "gif",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/svg+xml": "svg",
    "image/webp": "webp",
}
_PATH = re.compile(r"/[^\s?#\\]{0,499}")

CAPABILITIES: Final = Capabilities(
    draft=True,
    schedule=True,
    update=True,
    unpublish=True,
    delete=True,
    tags=True,
    categories=True,
    canonical=True,
    featured_image=True,
    upload=True,
    seo_meta=True,
    redirects=True,
    import_posts=True,
    featured_caption=True,
)


MAX_REDIRECTS: Final = 10_000


def builtin_connector(plugin: PluginContext) -> SiteConnector:
    """Return the connector of built-in sites."""

    def open_site(address: SiteAddress, credential: Mapping[str, str], fetcher: Fetcher) -> Site:
        del credential, fetcher
        return _BuiltinSite(plugin, address)

    return SiteConnector(
        platform="builtin",
        title="Built-in site",
        summary="A blog on this server itself. It needs no other software and no credential.",
        open=open_site,
        capabilities=CAPABILITIES,
        needs_url=False,
        term_kinds=("category", "tag", "author"),
    )


class _BuiltinSite:
    """Implements `pressroom_content.contract.Site`. An outage of the database is the site's being away."""

    def __init__(self, plugin: PluginContext, address: SiteAddress) -> None:
        self._database = plugin.services.database
        self._storage = plugin.services.storage
        self._address = address
        self._root = urlsplit(address.url).path

    async def check(self) -> ConnectionReport:
        """Look whether the database can be reached."""
        try:
            async with self._database.reading() as session:
                await session.scalar(select(BuiltinPostRow.id).limit(1))
        except BackendError as error:
            raise _away(error) from error
        checks = (
            ConnectionCheck("reachable", "ok", f"The site is served at {self._address.url}"),
            ConnectionCheck("publish", "ok", "Posts can be published"),
            ConnectionCheck("upload", "ok", "Images can be uploaded"),
            ConnectionCheck("seo_meta", "ok", "Titles and descriptions for search engines are kept"),
        )
        return ConnectionReport(checks, CAPABILITIES, name=self._address.name)

    async def terms(self, kind: TermKind, query: str, limit: int) -> Sequence[Term]:
        """Return the tags, categories or authors of the posts."""
        counts: dict[str, int] = {}
        wanted = select(BuiltinPostRow.fields).where(BuiltinPostRow.website_id == self._address.id)
        async with self._database.reading() as session:
            for fields in await session.scalars(wanted):
                for name in _names(fields, kind):
                    counts[name] = counts.get(name, 0) + 1
        found = [name for name in sorted(counts, key=str.casefold) if query.casefold() in name.casefold()]
        return [Term(name, name, slugify(name), counts[name]) for name in found[:limit]]

    async def ensure_terms(self, post: Post) -> Mapping[TermKind, tuple[str, ...]]:
        """Return the names themselves: terms are made with the posts that have them."""
        return {"tag": post.tags, "category": post.categories}

    async def find_media(self, marker: str) -> RemoteMedia | None:
        """Return the file of a marker."""
        wanted = select(BuiltinFileRow.id, BuiltinFileRow.name).where(
            BuiltinFileRow.website_id == self._address.id, BuiltinFileRow.marker == marker
        )
        async with self._database.reading() as session:
            row = (await session.execute(wanted.limit(1))).first()
        return None if row is None else RemoteMedia(row.id, self._file_url(row.name))

    async def upload(self, file: MediaFile, marker: str) -> RemoteMedia:
        """Keep a file."""
        found = await self.find_media(marker)
        if found is not None:
            return found
        extension = _MEDIA_TYPES.get(file.media_type)
        if extension is None:
            raise SiteRefused(f"files of the type {file.media_type} cannot be shown; images can")
        stem = slugify(file.filename.rpartition(".")[0] or file.filename, max_length=80) or "image"
        name = f"{stem}-{marker[-8:]}.{extension}"
        row = BuiltinFileRow(
            id=new_id("f"),
            website_id=self._address.id,
            marker=marker,
            name=name,
            media_type=file.media_type,
            width=file.width,
            height=file.height,
            size=len(file.content),
            content=file.content,
            created_at=datetime.now(UTC),
        )
        async with self._database.writing() as session:
            await self._reserve(session, row.size)
            session.add(row)
        return RemoteMedia(row.id, self._file_url(name))

    async def _reserve(self, session: Any, size: int) -> None:
        """Refuse a write for which the website's account has no room. Raises `QuotaExceeded`."""
        user_id = await session.scalar(select(WebsiteRow.user_id).where(WebsiteRow.id == self._address.id))
        if size and user_id is not None:
            await self._storage.reserve(session, user_id, size)

    async def find(self, post: Post) -> RemotePost | None:
        """Return the post of a marker."""
        async with self._database.reading() as session:
            row = await self._marked(session, post.marker)
            return None if row is None else self._remote(row)

    async def create(self, post: Post) -> RemotePost:
        """Make the post as a draft; one with this marker that is there already is returned."""
        now = datetime.now(UTC)
        row = BuiltinPostRow(
            id=new_id("b"), website_id=self._address.id, marker=post.marker, state="draft", created_at=now, revision=0
        )
        _fill(row, post, self._slug(post), now)
        try:
            async with self._database.writing() as session:
                there = await self._marked(session, post.marker)
                if there is not None:
                    return self._remote(there)
                await self._reserve(session, row.size)
                session.add(row)
                await session.flush()
                return self._remote(row)
        except IntegrityError:
            raise _slug_taken(row.slug) from None
        except BackendError as error:
            raise _away(error) from error

    async def read(self, post_id: str) -> RemotePost:
        """Return a post."""
        async with self._database.reading() as session:
            return self._remote(await self._row(session, post_id))

    async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
        """Write a post again. Where its URL changes, the old one leads to the new one."""
        now, slug = datetime.now(UTC), self._slug(post)
        try:
            async with self._database.writing() as session:
                row = await self._row(session, post_id)
                if revision and revision != str(row.revision):
                    raise RemoteChanged("the post was changed since it was last read")
                if row.slug != slug and row.published_at is not None:
                    # The new URL may have been an old one once: it must not lead away from itself.
                    await self._drop_redirect(session, f"/{slug}")
                    await self._put_redirect(session, f"/{row.slug}", f"/{slug}", permanent=True)
                before = row.size
                with session.no_autoflush:
                    _fill(row, post, slug, now)
                    await self._reserve(session, max(0, row.size - before))
                await session.flush()
                return self._remote(row)
        except IntegrityError:
            raise _slug_taken(slug) from None

    async def set_state(
        self, post_id: str, state: Literal["draft", "scheduled", "live", "trashed", "gone"], at: datetime | None = None
    ) -> RemotePost:
        """Move the post to a state."""
        now = datetime.now(UTC)
        async with self._database.writing() as session:
            row = await self._row(session, post_id)
            if state == "gone":
                await session.delete(row)
                return RemotePost(post_id, "", "gone", "")
            if state == "live" and self._state(row) != "live":
                row.published_at = row.published_at or now
            if state == "scheduled":
                row.published_at = at
            row.state, row.publish_at = state, at if state == "scheduled" else None
            row.revision += 1
            row.updated_at = now
            return self._remote(row)

    async def posts(self, since: datetime | None, most: int) -> AsyncIterator[RemotePost]:
        """Yield the live posts, newest first."""
        wanted = select(BuiltinPostRow).where(BuiltinPostRow.website_id == self._address.id, is_live(datetime.now(UTC)))
        if since is not None:
            wanted = wanted.where(BuiltinPostRow.updated_at >= since)
        wanted = wanted.order_by(BuiltinPostRow.published_at.desc(), BuiltinPostRow.id.desc()).limit(most)
        async with self._database.reading() as session:
            found = [self._remote(row) for row in await session.scalars(wanted)]
        for post in found:
            yield post

    async def redirects(self) -> Sequence[RemoteRedirect]:
        """Return the redirects, by their source."""
        wanted = select(BuiltinRedirectRow).where(BuiltinRedirectRow.website_id == self._address.id)
        async with self._database.reading() as session:
            return [_redirect(row) for row in await session.scalars(wanted.order_by(BuiltinRedirectRow.source))]

    async def add_redirect(self, source: str, target: str, *, permanent: bool) -> RemoteRedirect:
        """Add a redirect, or give the one that is there another target."""
        if not _PATH.fullmatch(source) or source.count("/") > 1:
            raise SiteRefused(f"{source[:80]!r} is not a path of this site; give one such as /old-path")
        async with self._database.writing() as session:
            if await session.scalar(self._of_slug(source.removeprefix("/"))) is not None:
                raise SiteRefused(f"{source} is the URL of a post; take the post down or change its slug first")
            if not await may_lead_to(session, self._address.id, target):
                raise SiteRefused(
                    f"a redirect of this site cannot lead to {target[:200]}: give a path of the site, or a URL of a "
                    "website of this account that is proven to control it (get_website with check: true says how)"
                )
            return _redirect(await self._put_redirect(session, source, target, permanent=permanent))

    async def remove_redirect(self, redirect_id: str) -> None:
        """Remove a redirect."""
        async with self._database.writing() as session:
            row = await session.get(BuiltinRedirectRow, redirect_id)
            if row is None or row.website_id != self._address.id:
                raise SiteGone("the site has no such redirect")
            await session.delete(row)

    async def _put_redirect(
        self, session: AsyncSession, source: str, target: str, *, permanent: bool
    ) -> BuiltinRedirectRow:
        mine = select(BuiltinRedirectRow).where(BuiltinRedirectRow.website_id == self._address.id)
        row: BuiltinRedirectRow | None = await session.scalar(mine.where(BuiltinRedirectRow.source == source))
        if row is None:
            counted = select(func.count()).where(BuiltinRedirectRow.website_id == self._address.id)
            if int(await session.scalar(counted) or 0) >= MAX_REDIRECTS:
                raise SiteRefused(f"the site has {MAX_REDIRECTS:,} redirects, as many as it may; remove some first")
            row = BuiltinRedirectRow(
                id=new_id("r"), website_id=self._address.id, source=source, created_at=datetime.now(UTC)
            )
            session.add(row)
        row.target, row.permanent = target, permanent
        return row

    async def _drop_redirect(self, session: AsyncSession, source: str) -> None:
        mine = delete(BuiltinRedirectRow).where(BuiltinRedirectRow.website_id == self._address.id)
        await session.execute(mine.where(BuiltinRedirectRow.source == source))

    async def _row(self, session: AsyncSession, post_id: str) -> BuiltinPostRow:
        row = await session.get(BuiltinPostRow, post_id)
        if row is None or row.website_id != self._address.id:
            raise SiteGone("the post is not on the site any more")
        return row

    async def _marked(self, session: AsyncSession, marker: str) -> BuiltinPostRow | None:
        wanted = select(BuiltinPostRow).where(
            BuiltinPostRow.website_id == self._address.id, BuiltinPostRow.marker == marker
        )
        return cast("BuiltinPostRow | None", await session.scalar(wanted.limit(1)))

    def _of_slug(self, slug: str) -> Any:
        return select(BuiltinPostRow.id).where(
            BuiltinPostRow.website_id == self._address.id, BuiltinPostRow.slug == slug
        )

    def _slug(self, post: Post) -> str:
        slug = (post.slug or slugify(post.title, max_length=100) or post.marker)[:200]
        if slug in RESERVED_SLUGS or slug.endswith(".md") or "/" in slug:
            raise SiteRefused(f"{slug} cannot be the slug of a post; choose another")
        return slug

    def _state(self, row: BuiltinPostRow) -> PostState:
        due = row.state == "scheduled" and row.publish_at is not None and row.publish_at <= datetime.now(UTC)
        return "live" if due else cast("PostState", row.state)

    def _remote(self, row: BuiltinPostRow) -> RemotePost:
        fields = dict(row.fields)
        return RemotePost(
            id=row.id,
            url=f"{self._address.url}/{quote(row.slug)}",
            state=self._state(row),
            revision=str(row.revision),
            html=row.html,
            fields={
                "title": row.title,
                "slug": row.slug,
                "tags": tuple(fields.get("tags", ())),
                "categories": tuple(fields.get("categories", ())),
                **{name: fields.get(name, "") for name in _FIELDS if name != "keyphrase"},
            },
            featured=bool(row.featured),
            publish_at=row.publish_at,
            marker=row.marker,
            updated_at=row.updated_at,
        )

    def _file_url(self, name: str) -> str:
        return f"{self._root}/files/{quote(name)}"


def _fill(row: BuiltinPostRow, post: Post, slug: str, now: datetime) -> None:
    row.slug, row.title, row.html, row.markdown = slug, post.title, post.html, post.markdown
    row.fields = {
        **{name: getattr(post, name) for name in _FIELDS},
        "tags": list(post.tags),
        "categories": list(post.categories),
    }
    row.featured = (
        {"id": post.featured.id, "url": post.featured.url, "alt": post.featured_alt, "caption": post.featured_caption}
        if post.featured
        else {}
    )
    row.size = len(post.html.encode("utf-8", "replace")) + len(post.markdown.encode("utf-8", "replace"))
    row.revision = (row.revision or 0) + 1
    row.updated_at = now


def _names(fields: Mapping[str, Any], kind: TermKind) -> Sequence[str]:
    match kind:
        case "tag":
            return list(fields.get("tags", ()))
        case "category":
            return list(fields.get("categories", ()))
        case "author":
            return [fields["author"]] if fields.get("author") else []
        case _:
            return []


def _redirect(row: BuiltinRedirectRow) -> RemoteRedirect:
    return RemoteRedirect(row.id, row.source, row.target, row.permanent)


def _slug_taken(slug: str) -> SiteRefused:
    return SiteRefused(
        f"another post of this site has the slug {slug!r}",
        hint="Change the slug with update_content, then call publish_content again.",
    )


def _away(error: BackendError) -> SiteUnavailable:
    return SiteUnavailable(f"this server's database cannot be used at the moment: {error.message}")
