"""The WordPress platform: one site, and the checks of its connection with instructions."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from html import escape
from typing import Any, Final, Literal

from pressroom.sdk import Fetcher, Workers
from pressroom_content.contract import (
    BodyCodec,
    Capabilities,
    ConnectionCheck,
    ConnectionReport,
    MediaFile,
    Post,
    RemoteMedia,
    RemotePost,
    RemoteRedirect,
    SiteError,
    SiteGone,
    SiteInfo,
    SiteRefused,
    SiteRejected,
    Term,
    TermKind,
)

from pressroom_wordpress import parsing
from pressroom_wordpress.client import WordPressClient, language_tag
from pressroom_wordpress.codec import WordPressCodec
from pressroom_wordpress.posts import WordPressPosts
from pressroom_wordpress.terms import NAMESPACE, Redirection, author_ids, list_terms, not_there, term_ids

_SKEW: Final = 60.0
"""The maximum clock skew of the site for accurate scheduling, in seconds."""


def check_encryption(url: str) -> ConnectionCheck:
    """Check that a site's URL uses TLS."""
    if url.startswith("https://"):
        return ConnectionCheck("encrypted", "ok", "the connection is encrypted")
    return ConnectionCheck(
        "encrypted",
        "warning",
        "the connection is not encrypted",
        "Use the site's https URL if it has one.",
    )


def check_kind(*, hosted: bool, settings: Mapping[str, Any]) -> list[ConnectionCheck]:
    """Report whether a site is on WordPress.com or part of a multisite network.

    WordPress shows administrators the settings `url` and `email`, except on a multisite network.
    """
    checks = []
    if hosted:
        checks.append(ConnectionCheck("platform", "ok", "the site is on WordPress.com"))
    if settings and not {"url", "email"} & set(settings):
        message = "the site is one of a multisite network; the application password is valid for all sites of its user"
        checks.append(ConnectionCheck("network", "ok", message))
    return checks


def check_role(user_capabilities: Mapping[str, Any]) -> ConnectionCheck:
    """Check whether a user with these capabilities may publish, or at least write."""
    if user_capabilities.get("publish_posts"):
        return ConnectionCheck("publish", "ok", "this user may publish")
    fix = "Give the user the role Author or Editor in WordPress, or publish as drafts."
    return ConnectionCheck(
        "publish", "error" if not user_capabilities.get("edit_posts") else "warning", "this user may not publish", fix
    )


def check_upload(user_capabilities: Mapping[str, Any]) -> ConnectionCheck:
    """Check whether a user with these capabilities may upload images."""
    if user_capabilities.get("upload_files"):
        return ConnectionCheck("upload", "ok", "this user may upload images")
    return ConnectionCheck(
        "upload", "warning", "this user may not upload images", "Give the user the role Author or Editor."
    )


def check_seo(keys: Mapping[str, tuple[str, ...]]) -> ConnectionCheck:
    """Check which SEO plugins have writable meta keys."""
    if keys:
        names = ", ".join(parsing.plugins_of(keys))
        return ConnectionCheck("seo_meta", "ok", f"meta title and description are writable ({names})")
    fix = "Register the meta keys of your SEO plugin for the REST API; the documentation has the few lines of code."
    return ConnectionCheck("seo_meta", "warning", "meta title and description cannot be written over the REST API", fix)


def check_clock(skew: float) -> ConnectionCheck:
    """Check whether a clock that is this many seconds ahead is accurate enough."""
    if abs(skew) <= _SKEW:
        return ConnectionCheck("clock", "ok", "the clocks agree")
    message = f"the site's clock is {abs(skew):.0f} s {'ahead' if skew > 0 else 'behind'}"
    return ConnectionCheck(
        "clock",
        "warning",
        message,
        "Scheduled posts are published by the site's clock: ask its hosting provider to correct it.",
    )


class WordPressSite:
    """One WordPress site with an application password.

    Implements `Site` and `BlockSite` of `pressroom_content.contract`.
    """

    def __init__(self, info: SiteInfo, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        self._info = info
        self._client = WordPressClient(info, credential, fetcher)
        self._posts = WordPressPosts(self._client)

    @property
    def workers(self) -> Workers | None:
        """The server's worker processes, which process long posts."""
        return self._posts.workers

    @workers.setter
    def workers(self, workers: Workers | None) -> None:
        self._posts.workers = workers

    @property
    def codec(self) -> BodyCodec:
        """The codec for bodies."""
        return WordPressCodec()

    async def check(self) -> ConnectionReport:
        """Check the API, the credential, the role, uploads, SEO meta and the clock."""
        discovered = await self._client.discovered()
        checks = [ConnectionCheck("reachable", "ok", f"WordPress responds at {discovered.root}")]
        checks.append(check_encryption(self._info.url))
        try:
            me = (await self._client.get("/wp/v2/users/me", {"context": "edit"})).body
        except SiteRejected:
            message = "WordPress does not accept this user name with this application password"
            fix = "Create one under Users, Profile. Some hosting providers drop the Authorization header: ask yours."
            return ConnectionReport(
                (*checks, ConnectionCheck("credential", "error", message, fix)), Capabilities(), name=discovered.name
            )
        me = me if isinstance(me, dict) else {}
        user_capabilities = me.get("capabilities")
        user_capabilities = user_capabilities if isinstance(user_capabilities, dict) else {}
        roles = me.get("roles")
        role_names = ", ".join(map(str, roles)) if isinstance(roles, list) else ""
        checks.append(ConnectionCheck("credential", "ok", f"signed in as {me.get('name', '')} ({role_names})"))
        keys = await self._client.meta_keys()
        settings = await self._settings() if user_capabilities.get("manage_options") is True else {}
        checks += check_kind(hosted=discovered.hosted, settings=settings)
        checks += [
            check_role(user_capabilities),
            check_upload(user_capabilities),
            check_seo(keys),
            check_clock(discovered.skew),
        ]
        capabilities = Capabilities(
            draft=True,
            schedule=bool(user_capabilities.get("publish_posts")),
            update=bool(user_capabilities.get("edit_published_posts")),
            unpublish=bool(user_capabilities.get("edit_published_posts")),
            delete=bool(user_capabilities.get("delete_published_posts")),
            tags=True,
            categories=True,
            canonical="canonical_url" in keys,
            featured_image=bool(user_capabilities.get("upload_files")),
            upload=bool(user_capabilities.get("upload_files")),
            seo_meta="meta_description" in keys or "meta_title" in keys,
            redirects=await self._has_redirects(),
            import_posts=True,
            authors=True,
            featured_caption=True,
        )
        # Authors and subscribers can create passwords too; only administrators speak for the site's URL.
        site_url = discovered.home if user_capabilities.get("manage_options") is True else ""
        return ConnectionReport(
            tuple(checks),
            capabilities,
            name=discovered.name,
            language=language_tag(settings.get("language")) if settings else "",
            timezone=discovered.timezone,
            site_url=site_url,
        )

    async def _settings(self) -> Mapping[str, Any]:
        """Return the site's settings, which only administrators can read; empty if they are not available."""
        try:
            settings = (await self._client.get("/wp/v2/settings")).body
        except SiteError:
            return {}
        return settings if isinstance(settings, dict) else {}

    async def terms(self, kind: TermKind, query: str, limit: int) -> Sequence[Term]:
        """Return categories, tags or authors; WordPress has no other kinds."""
        return await list_terms(self._client, kind, query, limit)

    async def ensure_terms(self, post: Post) -> Mapping[TermKind, tuple[str, ...]]:
        """Return the IDs of tags and categories. Those that the role cannot create are left out, and reported later."""
        ids: dict[TermKind, tuple[str, ...]] = {}
        names_by_kind: tuple[tuple[TermKind, Sequence[str]], ...] = (("tag", post.tags), ("category", post.categories))
        for kind, names in names_by_kind:
            ids_by_name = await term_ids(self._client, kind, names) if names else {}
            ids[kind] = tuple(ids_by_name.values())
        if post.author:
            ids["author"] = await author_ids(self._client, post.author)
        return ids

    async def find_media(self, marker: str) -> RemoteMedia | None:
        """Return the file whose name contains the marker."""
        for row in (await self._client.get("/wp/v2/media", {"search": marker, "context": "edit"})).rows():
            if marker in str(row.get("source_url", "")):
                return RemoteMedia(str(row.get("id", "")), str(row["source_url"]))
        return None

    async def upload(self, file: MediaFile, marker: str) -> RemoteMedia:
        """Upload a file and its texts in one request, so that it is never incomplete."""
        stem, _, extension = file.filename.rpartition(".")
        stem = re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-")[:60]
        name = f"{stem}-{marker}.{extension}" if stem else f"{marker}.{extension}"
        row = (
            await self._client.send(
                "POST",
                "/wp/v2/media",
                query={"alt_text": file.alt, "caption": _caption(file), "title": f"{stem or 'image'} {marker}"},
                content=file.content,
                headers={
                    "Content-Type": file.media_type,
                    "Content-Disposition": f'attachment; filename="{name}"',
                },
            )
        ).row(written=True)
        return RemoteMedia(str(row["id"]), str(row.get("source_url", "")))

    async def remove_media(self, media: RemoteMedia) -> None:
        """Permanently delete a file of the media library: WordPress has no trash for them."""
        if media.id.isascii() and media.id.isdecimal():
            with suppress(SiteGone):
                await self._client.send("DELETE", f"/wp/v2/media/{media.id}", query={"force": "true"})

    async def find(self, post: Post) -> RemotePost | None:
        """Search the posts for the marker, which is in a comment at the end of the body."""
        return await self._posts.find(post.marker) if post.marker else None

    async def create(self, post: Post) -> RemotePost:
        """Create the post as a draft."""
        return await self._posts.create(post)

    async def read(self, post_id: str) -> RemotePost:
        """Return a post with its tags and categories by name."""
        return await self._posts.read(post_id)

    async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
        """Update the post. Its status, its date and the fields in `post.kept` are unchanged."""
        return await self._posts.update(post_id, post, revision)

    async def set_state(
        self, post_id: str, state: Literal["draft", "scheduled", "live", "trashed", "gone"], at: datetime | None = None
    ) -> RemotePost:
        """Move the post to a state."""
        return await self._posts.set_state(post_id, state, at)

    async def locate(self, url: str) -> RemotePost | None:
        """Return the post or page at a URL: its page, a preview, its editor, or a former slug."""
        return await self._posts.locate(url, self._info.url, (await self._client.discovered()).home)

    def posts(self, since: datetime | None, limit: int) -> AsyncIterator[RemotePost]:
        """Yield published posts and pages, most recently changed first."""
        return self._posts.listed(since, limit)

    async def redirects(self) -> Sequence[RemoteRedirect]:
        """Return the redirects of the plugin Redirection."""
        return await (await self._redirection()).all()

    async def add_redirect(self, source: str, target: str, *, permanent: bool) -> RemoteRedirect:
        """Add a redirect to the plugin Redirection."""
        return await (await self._redirection()).add(source, target, permanent=permanent)

    async def remove_redirect(self, redirect_id: str) -> None:
        """Remove a redirect from the plugin Redirection."""
        await (await self._redirection()).remove(redirect_id)

    async def _redirection(self) -> Redirection:
        if NAMESPACE not in (await self._client.discovered()).namespaces:
            raise not_there()
        return Redirection(await self._client.api())

    async def _has_redirects(self) -> bool:
        try:
            await self.redirects()
        except (SiteRefused, SiteRejected, SiteGone):  # the plugin is not installed, or not available to this user
            return False
        return True


def _caption(file: MediaFile) -> str:
    """Return the text that WordPress shows below an image: its caption, then its credit."""
    return " ".join(filter(None, [escape(file.caption, quote=False), file.credit_html]))
