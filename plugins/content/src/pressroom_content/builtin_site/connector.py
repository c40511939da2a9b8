"""The built-in site as a platform: posts are rows of this server's database, and every change is a transaction."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final, Literal, cast
from urllib.parse import urlsplit

import structlog
from pressroom.columns import new_id
from pressroom.sdk import BackendError, CallError, Fetcher, PluginContext
from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.builtin_site import store
from pressroom_content.builtin_site.files import SiteFiles, make_variants, names_in, names_of
from pressroom_content.builtin_site.post_lists import store_terms, term_slug
from pressroom_content.builtin_site.post_rows import fill, is_past, remote_post, slug_of_post, state_of, term_names
from pressroom_content.builtin_site.store import is_live, may_lead_to
from pressroom_content.builtin_site.tables import BuiltinPostRow, BuiltinRedirectRow
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
    SiteConnector,
    SiteGone,
    SiteInfo,
    SiteRefused,
    SiteUnavailable,
    Term,
    TermKind,
)
from pressroom_content.language import searchable
from pressroom_content.tables import WebsiteRow
from pressroom_content.websites.domain_names import server_url

RESERVED_SLUGS: Final = frozenset(
    {
        "archive", "atom.xml", "authors", "card.png", "cards", "categories", "feed.json", "feed.xml", "files",
        "icon.svg", "llms.txt", "robots.txt", "search", "sitemap.xml", "style.css", "tags",
    }
)  # fmt: skip
log = structlog.get_logger()
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


def builtin_connector(plugin: PluginContext) -> SiteConnector:
    """Return the connector of built-in sites."""

    def open_site(info: SiteInfo, credential: Mapping[str, str], fetcher: Fetcher) -> Site:
        del credential, fetcher
        return _BuiltinSite(plugin, info)

    return SiteConnector(
        platform="builtin",
        title="Built-in site",
        summary="A blog on this server. It needs no other software and no credential.",
        open=open_site,
        capabilities=CAPABILITIES,
        needs_url=False,
        term_kinds=("category", "tag", "author"),
        fidelity=FIDELITY,
    )


class _BuiltinSite:
    """Implements `pressroom_content.contract.Site`. A database outage counts as an outage of the site."""

    def __init__(self, plugin: PluginContext, info: SiteInfo) -> None:
        self._database = plugin.services.database
        self._storage = plugin.services.storage
        self._workers = plugin.services.workers
        self._info = info
        self._base_url = plugin.base_url

    async def check(self) -> ConnectionReport:
        """Check that the database can be reached."""
        try:
            async with self._database.reading() as session:
                await session.scalar(select(BuiltinPostRow.id).limit(1))
        except BackendError as error:
            raise _away(error) from error
        checks = (
            ConnectionCheck("reachable", "ok", f"The site is served at {self._info.url}"),
            ConnectionCheck("publish", "ok", "Posts can be published"),
            ConnectionCheck("upload", "ok", "Images can be uploaded"),
            ConnectionCheck("seo_meta", "ok", "Titles and descriptions for search engines are kept"),
        )
        return ConnectionReport(checks, CAPABILITIES, name=self._info.name)

    async def terms(self, kind: TermKind, query: str, limit: int) -> Sequence[Term]:
        """Return the tags, categories or authors of the posts."""
        counts: dict[str, int] = {}
        statement = select(BuiltinPostRow.fields).where(BuiltinPostRow.website_id == self._info.id)
        async with self._database.reading() as session:
            for fields in await session.scalars(statement):
                for name in term_names(fields, kind):
                    counts[name] = counts.get(name, 0) + 1
        names = [name for name in sorted(counts, key=str.casefold) if searchable(query) in searchable(name)]
        return [Term(name, name, term_slug(name), counts[name]) for name in names[:limit]]

    async def ensure_terms(self, post: Post) -> Mapping[TermKind, tuple[str, ...]]:
        """Return the names themselves: terms are created together with their posts."""
        return {"tag": post.tags, "category": post.categories}

    async def find_media(self, marker: str) -> RemoteMedia | None:
        """Return the file that was uploaded under a marker and is not in a post yet."""
        async with self._database.reading() as session:
            return await (await self._files(session)).marked(marker)

    async def upload(self, file: MediaFile, marker: str) -> RemoteMedia:
        """Store a file for a post that is about to be written. Files with the same content are stored once."""
        try:
            media = await self._upload(file, marker)
        except IntegrityError:
            media = await self._upload(file, marker)  # the same file was uploaded concurrently
        await self._add_copies(file, next(iter(names_in(media.url))))
        return media

    async def _add_copies(self, file: MediaFile, name: str) -> None:
        """Create smaller copies of an image, unless it has some. Without them, pages show the image itself."""
        async with self._database.reading() as session:
            if file.media_type == "image/svg+xml" or await (await self._files(session)).has_copies(name):
                return
        try:
            copies = await self._workers.run(make_variants, file.content, what="the image")
            async with self._database.writing() as session:
                files = await self._files(session)
                if copies and not await files.has_copies(name):
                    await self._reserve(session, sum(len(content) for _, _, content in copies))
                    files.add_copies(name, copies)
        except CallError as error:
            log.warning("an image has no smaller copies", file=name, error=error.message)

    async def _upload(self, file: MediaFile, marker: str) -> RemoteMedia:
        async with self._database.writing() as session:
            files = await self._files(session)
            media = await files.held(file) or await files.marked(marker)
            if media is None:
                media = files.add(file)
                await self._reserve(session, len(file.content))
                await session.flush()
            await files.reserve(media, marker)
            return media

    async def _files(self, session: AsyncSession) -> SiteFiles:
        """Return the site's files. Their stored URLs are those on this server, with or without a domain."""
        key = await session.scalar(select(WebsiteRow.site_key).where(WebsiteRow.id == self._info.id))
        return SiteFiles(session, self._info.id, urlsplit(server_url(key, self._base_url)).path)

    async def _reserve(self, session: Any, size: int) -> None:
        """Reserve storage of the website's account. Raises `QuotaExceeded` if there is not enough."""
        user_id = await session.scalar(select(WebsiteRow.user_id).where(WebsiteRow.id == self._info.id))
        if size and user_id is not None:
            await self._storage.reserve(session, user_id, size)

    async def find(self, post: Post) -> RemotePost | None:
        """Return the post with the marker."""
        async with self._database.reading() as session:
            row = await self._marked(session, post.marker)
            return None if row is None else remote_post(row, self._info.url)

    async def create(self, post: Post) -> RemotePost:
        """Create the post as a draft, or return the existing one with the same marker."""
        now = datetime.now(UTC)
        row = BuiltinPostRow(
            id=new_id("b"), website_id=self._info.id, marker=post.marker, state="draft", created_at=now, revision=0
        )
        fill(row, post, self._slug(post), now)
        try:
            async with self._database.writing() as session:
                existing = await self._marked(session, post.marker)
                if existing is not None:
                    return remote_post(existing, self._info.url)
                await self._reserve(session, row.size)
                session.add(row)
                await session.flush()
                await store_terms(session, row)
                await (await self._files(session)).written(names_of(row))
                return remote_post(row, self._info.url)
        except IntegrityError:
            raise _slug_taken(row.slug) from None
        except BackendError as error:
            raise _away(error) from error

    async def read(self, post_id: str) -> RemotePost:
        """Return a post."""
        async with self._database.reading() as session:
            return remote_post(await self._row(session, post_id), self._info.url)

    async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
        """Update a post. If its URL changes, the old one redirects to the new one."""
        now, slug = datetime.now(UTC), slug_of_post(post)
        try:
            async with self._database.writing() as session:
                await self._touch(session, now)
                row = await self._row(session, post_id)
                if row.slug != slug:
                    self._slug(post)
                if revision and revision != str(row.revision):
                    raise RemoteChanged("the post was changed since it was last read")
                if row.slug != slug and await self._was_public(session, row):
                    await store.move(session, self._info.id, row.slug, slug)
                size, used = row.size, names_of(row)
                with session.no_autoflush:
                    fill(row, post, slug, now)
                    await self._reserve(session, max(0, row.size - size))
                await session.flush()
                await store_terms(session, row)
                files, uses = await self._files(session), names_of(row)
                await files.written(uses)
                await files.release(used - uses)
                return remote_post(row, self._info.url)
        except IntegrityError:
            raise _slug_taken(slug) from None

    async def set_state(
        self, post_id: str, state: Literal["draft", "scheduled", "live", "trashed", "gone"], at: datetime | None = None
    ) -> RemotePost:
        """Move the post to a state. A page that was public before responds with 410 Gone afterwards, not with 404."""
        now, site = datetime.now(UTC), self._info.id
        async with self._database.writing() as session:
            await self._touch(session, now)
            row = await self._row(session, post_id)
            was_live = state_of(row) == "live"
            if state == "gone":
                has_rule = await store.rule_at(session, site, f"/{row.slug}") is not None
                if was_live or (not has_rule and await self._was_public(session, row)):
                    await store.mark_gone(session, site, row.slug)
                files, used = await self._files(session), names_of(row)
                await session.delete(row)
                await session.flush()
                await files.written(used)
                await files.release(used)
                return RemotePost(post_id, "", "gone", "")
            if state == "scheduled":
                row.published_at = at
            elif state == "live" and not was_live:
                row.published_at = row.published_at if is_past(row.published_at, now) else now
            elif state != "live" and not is_past(row.published_at, now):
                row.published_at = None  # the time that it was scheduled for
            row.state, row.publish_at = state, at if state == "scheduled" else None
            row.revision += 1
            row.updated_at = now
            if state_of(row) == "live":
                await store.forget(session, site, row.slug)
            elif was_live:
                await store.mark_gone(session, site, row.slug)
            return remote_post(row, self._info.url)

    async def _was_public(self, session: AsyncSession, row: BuiltinPostRow) -> bool:
        """Check whether a post is or was public under its slug."""
        if state_of(row) == "live" or (row.state != "scheduled" and row.published_at is not None):
            return True
        rule = await store.rule_at(session, self._info.id, f"/{row.slug}")
        return rule is not None and rule.target == store.GONE

    async def _touch(self, session: AsyncSession, now: datetime) -> None:
        """Update the site's time of change: lists and neighbouring posts change with each post."""
        statement = update(WebsiteRow).where(WebsiteRow.id == self._info.id)
        await session.execute(statement.values(updated_at=now).execution_options(synchronize_session=False))

    async def posts(self, since: datetime | None, most: int) -> AsyncIterator[RemotePost]:
        """Yield the live posts, newest first."""
        statement = select(BuiltinPostRow).where(BuiltinPostRow.website_id == self._info.id, is_live(datetime.now(UTC)))
        if since is not None:
            statement = statement.where(BuiltinPostRow.updated_at >= since)
        statement = statement.order_by(BuiltinPostRow.published_at.desc(), BuiltinPostRow.id.desc()).limit(most)
        async with self._database.reading() as session:
            posts = [remote_post(row, self._info.url) for row in await session.scalars(statement)]
        for post in posts:
            yield post

    async def redirects(self) -> Sequence[RemoteRedirect]:
        """Return the redirects, ordered by source."""
        statement = select(BuiltinRedirectRow).where(
            BuiltinRedirectRow.website_id == self._info.id, BuiltinRedirectRow.target != store.GONE
        )
        async with self._database.reading() as session:
            return [_redirect(row) for row in await session.scalars(statement.order_by(BuiltinRedirectRow.source))]

    async def add_redirect(self, source: str, target: str, *, permanent: bool) -> RemoteRedirect:
        """Add a redirect, or change the target of an existing one."""
        if not _PATH.fullmatch(source) or source.count("/") > 1:
            raise SiteRefused(f"{source[:80]!r} is not a path of this site; give one such as /old-path")
        async with self._database.writing() as session:
            post = await session.scalar(self._of_slug(source.removeprefix("/")))
            if post is not None and state_of(post) in ("live", "scheduled"):
                raise SiteRefused(f"{source} is the URL of a post; take the post down or change its slug first")
            if not await may_lead_to(session, self._info.id, target):
                raise SiteRefused(
                    f"a redirect of this site cannot lead to {target[:200]}: give a path of the site, or a URL of a "
                    "website of this account that is proven to control it (get_website with check: true says how)"
                )
            rule = await store.redirect(session, self._info.id, source, target, permanent=permanent)
            return _redirect(rule)

    async def remove_redirect(self, redirect_id: str) -> None:
        """Remove a redirect."""
        async with self._database.writing() as session:
            row = await session.get(BuiltinRedirectRow, redirect_id)
            if row is None or row.website_id != self._info.id or row.target == store.GONE:
                raise SiteGone("the site has no such redirect")
            await session.delete(row)

    async def _row(self, session: AsyncSession, post_id: str) -> BuiltinPostRow:
        row = await session.get(BuiltinPostRow, post_id)
        if row is None or row.website_id != self._info.id:
            raise SiteGone("the post is no longer on the site")
        return row

    async def _marked(self, session: AsyncSession, marker: str) -> BuiltinPostRow | None:
        statement = select(BuiltinPostRow).where(
            BuiltinPostRow.website_id == self._info.id, BuiltinPostRow.marker == marker
        )
        return cast("BuiltinPostRow | None", await session.scalar(statement.limit(1)))

    def _of_slug(self, slug: str) -> Any:
        return select(BuiltinPostRow).where(BuiltinPostRow.website_id == self._info.id, BuiltinPostRow.slug == slug)

    def _slug(self, post: Post) -> str:
        slug = slug_of_post(post)
        if slug in RESERVED_SLUGS or slug.endswith(".md") or "/" in slug:
            raise SiteRefused(f"{slug} cannot be the slug of a post; choose another")
        return slug


def _redirect(row: BuiltinRedirectRow) -> RemoteRedirect:
    return RemoteRedirect(row.id, row.source, row.target, row.permanent)


def _slug_taken(slug: str) -> SiteRefused:
    return SiteRefused(
        f"another post of this site has the slug {slug!r}",
        hint="Change the slug with update_content, or in options.slug if you gave it there, then call publish_content "
        "again.",
    )


def _away(error: BackendError) -> SiteUnavailable:
    return SiteUnavailable(f"this server's database cannot be used at the moment: {error.message}")


FIDELITY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "task_lists": "converted: boxes are characters",
    }
)
"""The constructs that readers on built-in sites do not see as written. Generated by the fidelity tests."""
