"""One WordPress site."""

from __future__ import annotations

import base64
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import escape, unescape
from typing import Any, Final, Literal
from urllib.parse import quote, urlsplit

from pressroom.sdk import Fetcher
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
    SiteAddress,
    SiteApi,
    SiteError,
    SiteGone,
    SiteRefused,
    SiteRejected,
    Term,
    TermKind,
)

from pressroom_wordpress import seo_meta
from pressroom_wordpress.connection_checks import check_clock, check_encryption, check_role, check_seo, check_upload
from pressroom_wordpress.discovery import DiscoveredSite, discover, language_tag
from pressroom_wordpress.reading import body_with_marker, date_of, marker_of, post_of
from pressroom_wordpress.redirects import NAMESPACE, Redirection, not_there

_POSTS: Final = "/wp/v2/posts"
_STATUSES: Final = "publish,future,draft,pending,private,trash"
_TAXONOMIES: Final[Mapping[str, str]] = {"category": "/wp/v2/categories", "tag": "/wp/v2/tags"}
_PAGE: Final = 50


class WordPressSite:
    """One WordPress site with an application password; it implements `pressroom_content.contract.Site`."""

    def __init__(self, address: SiteAddress, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        pair = f"{credential.get('username', '')}:{credential.get('application_password', '')}"
        self._address = address
        self._fetcher = fetcher
        self._headers = {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
        self._discovered: DiscoveredSite | None = None
        self._keys: Mapping[str, tuple[str, ...]] | None = None

    async def check(self) -> ConnectionReport:
        """Look at the API, the credential, the role, uploads, SEO meta and the clock."""
        found = await self._discover()
        checks = [ConnectionCheck("reachable", "ok", f"WordPress answers at {found.root}")]
        checks.append(check_encryption(self._address.url))
        try:
            me = (await (await self._api()).get("/wp/v2/users/me", {"context": "edit"})).body
        except SiteRejected:
            message = "WordPress does not accept this user name with this application password"
            fix = "Make a new one under Users, Profile. Some hosts drop the Authorization header: ask yours."
            return ConnectionReport(
                (*checks, ConnectionCheck("credential", "error", message, fix)), Capabilities(), name=found.name
            )
        able = me.get("capabilities") if isinstance(me, dict) else {}
        able = able if isinstance(able, dict) else {}
        checks.append(
            ConnectionCheck(
                "credential", "ok", f"signed in as {me.get('name', '')} ({', '.join(me.get('roles') or [])})"
            )
        )
        keys = await self._meta_keys()
        checks += [check_role(able), check_upload(able), check_seo(keys), check_clock(found.skew)]
        capabilities = Capabilities(
            draft=True,
            schedule=bool(able.get("publish_posts")),
            update=bool(able.get("edit_published_posts")),
            unpublish=bool(able.get("edit_published_posts")),
            delete=bool(able.get("delete_published_posts")),
            tags=True,
            categories=True,
            canonical="canonical_url" in keys,
            featured_image=bool(able.get("upload_files")),
            upload=bool(able.get("upload_files")),
            seo_meta="meta_description" in keys or "meta_title" in keys,
            redirects=await self._has_redirects(),
            import_posts=True,
            authors=True,
            featured_caption=True,
        )
        # Authors and subscribers of somebody's site get passwords too; only its administrators speak for its URL.
        site_url = found.home if able.get("manage_options") is True else ""
        return ConnectionReport(
            tuple(checks),
            capabilities,
            name=found.name,
            language=await self._language() if able.get("manage_options") is True else "",
            timezone=found.timezone,
            site_url=site_url,
        )

    async def _language(self) -> str:
        """Return the site's language, which WordPress tells its administrators only."""
        try:
            settings = (await (await self._api()).get("/wp/v2/settings", {})).body
        except SiteError:
            return ""
        return language_tag(settings.get("language")) if isinstance(settings, dict) else ""

    async def terms(self, kind: TermKind, query: str, limit: int) -> Sequence[Term]:
        """Return categories, tags or authors; WordPress has no other kinds."""
        if kind == "author":
            path = "/wp/v2/users"
        elif kind in _TAXONOMIES:
            path = _TAXONOMIES[kind]
        else:
            raise SiteRefused(f"WordPress has categories, tags and authors to list, but no kind {kind}")
        found: list[Term] = []
        page = 1
        while len(found) < limit:
            size = min(100, limit)
            answer = await (await self._api()).get(path, {"search": query, "per_page": size, "page": page})
            rows = answer.rows()
            found += [
                Term(
                    str(row.get("id", "")),
                    unescape(str(row.get("name", ""))),
                    str(row.get("slug", "")),
                    row.get("count"),
                )
                for row in rows
            ]
            if len(rows) < size or page >= _pages(answer.headers):
                break
            page += 1
        return found[:limit]

    async def ensure_terms(self, post: Post) -> Mapping[TermKind, tuple[str, ...]]:
        """Return the ids of tags and categories; what the role may not make is left out, and reported afterwards."""
        ids: dict[TermKind, tuple[str, ...]] = {}
        wanted: tuple[tuple[TermKind, Sequence[str]], ...] = (("tag", post.tags), ("category", post.categories))
        for kind, names in wanted:
            found = [await self._term(kind, name) for name in dict.fromkeys(names)]
            ids[kind] = tuple(one for one in found if one)
        if post.author:
            ids["author"] = await self._author(post.author)
        return ids

    async def find_media(self, marker: str) -> RemoteMedia | None:
        """Return the file whose name holds the marker."""
        for row in (await (await self._api()).get("/wp/v2/media", {"search": marker, "context": "edit"})).rows():
            if marker in str(row.get("source_url", "")):
                return RemoteMedia(str(row.get("id", "")), str(row["source_url"]))
        return None

    async def upload(self, file: MediaFile, marker: str) -> RemoteMedia:
        """Upload a file with its texts in one request, so that there is no half of it."""
        stem, _, extension = file.filename.rpartition(".")
        stem = re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-")[:60]
        name = f"{stem}-{marker}.{extension}" if stem else f"{marker}.{extension}"
        row = (
            await (await self._api()).send(
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

    async def find(self, post: Post) -> RemotePost | None:
        """Search the posts for the marker, which is in a comment at the end of the body."""
        query = {"search": post.marker, "context": "edit", "status": _STATUSES, "per_page": 20}
        rows = (await (await self._api()).get(_POSTS, query)).rows()
        keys = await self._meta_keys()
        for row in rows:
            if marker_of(row) == post.marker:
                return await self._named(post_of(row, keys))
        return None

    async def create(self, post: Post) -> RemotePost:
        """Make the post as a draft."""
        document = await self._document(post)
        answer = await (await self._api()).send(
            "POST", _POSTS, query={"context": "edit"}, document={**document, "status": "draft"}
        )
        return post_of(answer.row(written=True), await self._meta_keys())

    async def read(self, post_id: str) -> RemotePost:
        """Return a post with its tags and categories by name."""
        answer = await (await self._api()).get(_path(post_id), {"context": "edit"})
        return await self._named(post_of(answer.row(written=False), await self._meta_keys()))

    async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
        """Write the post again; its status stays."""
        if revision:
            there = await self.read(post_id)
            if there.revision != revision:
                raise RemoteChanged("the post was edited in WordPress since it was published from here")
        answer = await (await self._api()).send(
            "POST", _path(post_id), query={"context": "edit"}, document=await self._document(post)
        )
        return await self._named(post_of(answer.row(written=True), await self._meta_keys()))

    async def set_state(
        self, post_id: str, state: Literal["draft", "scheduled", "live", "trashed", "gone"], at: datetime | None = None
    ) -> RemotePost:
        """Move the post to a state."""
        api = await self._api()
        if state in ("trashed", "gone"):
            return await self._remove(api, post_id, for_good=state == "gone")
        document: dict[str, Any] = {"status": {"live": "publish", "draft": "draft", "scheduled": "future"}[state]}
        if state == "scheduled":
            if at is None:
                raise SiteRefused("a time is needed to schedule a post")
            document["date_gmt"] = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
        elif state == "live":
            document |= await self._date_of_today(api, post_id)
        answer = await api.send("POST", _path(post_id), query={"context": "edit"}, document=document)
        return await self._named(post_of(answer.row(written=True), await self._meta_keys()))

    async def posts(self, since: datetime | None, most: int) -> AsyncIterator[RemotePost]:
        """Yield published posts, newest first."""
        query: dict[str, Any] = {"per_page": _PAGE, "orderby": "modified", "order": "desc", "status": "publish"}
        if since is not None:
            query["modified_after"] = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
        left, page = most, 1
        while left > 0:
            answer = await (await self._api()).get(_POSTS, {**query, "page": page})
            rows = answer.rows()
            for row in rows[:left]:
                yield post_of(row, {})
            left -= len(rows)
            if len(rows) < _PAGE or page >= _pages(answer.headers):
                return
            page += 1

    async def redirects(self) -> Sequence[RemoteRedirect]:
        """Return those of the plugin Redirection."""
        return await (await self._redirection()).all()

    async def add_redirect(self, source: str, target: str, *, permanent: bool) -> RemoteRedirect:
        """Add one to the plugin Redirection."""
        return await (await self._redirection()).add(source, target, permanent=permanent)

    async def remove_redirect(self, redirect_id: str) -> None:
        """Remove one from the plugin Redirection."""
        await (await self._redirection()).remove(redirect_id)

    async def _redirection(self) -> Redirection:
        if NAMESPACE not in (await self._discover()).namespaces:
            raise not_there()
        return Redirection(await self._api())

    async def _has_redirects(self) -> bool:
        try:
            await self.redirects()
        except (SiteRefused, SiteRejected, SiteGone):  # it is not there, or not for this user
            return False
        return True

    async def _discover(self) -> DiscoveredSite:
        if self._discovered is None:
            self._discovered = await discover(self._address.url, self._fetcher)
        return self._discovered

    async def _api(self) -> SiteApi:
        found = await self._discover()
        return SiteApi(self._fetcher, f"WordPress at {urlsplit(found.root).netloc}", found.root, self._headers)

    async def _meta_keys(self) -> Mapping[str, tuple[str, ...]]:
        if self._keys is None:
            self._keys = seo_meta.writable((await (await self._api()).send("OPTIONS", _POSTS)).body)
        return self._keys

    async def _document(self, post: Post) -> dict[str, Any]:
        document: dict[str, Any] = {
            "title": post.title,
            "slug": post.slug,
            "content": body_with_marker(post.html, post.marker),
            "excerpt": post.excerpt,
            "tags": [int(one) for one in post.term_ids.get("tag", ())],
            "featured_media": int(post.featured.id) if post.featured and post.featured.id.isdigit() else 0,
            "meta": seo_meta.to_meta(post, await self._meta_keys()),
        }
        categories = [int(one) for one in post.term_ids.get("category", ())]
        if categories:  # an empty list would take away the site's default category
            document["categories"] = categories
        if post.term_ids.get("author"):
            document["author"] = int(post.term_ids["author"][0])
        return document

    async def _date_of_today(self, api: SiteApi, post_id: str) -> dict[str, str]:
        """Return the date with which a post goes live at once, where its own lies ahead: WordPress waits for that one.

        A draft keeps the date for which it was scheduled, and a post the one that people gave it there.
        """
        row = (await api.get(_path(post_id), {"context": "edit"})).row(written=False)
        now = datetime.now(UTC) + timedelta(seconds=(await self._discover()).skew)
        return {"date_gmt": now.strftime("%Y-%m-%dT%H:%M:%S")} if date_of(row, now) > now else {}

    async def _remove(self, api: SiteApi, post_id: str, *, for_good: bool) -> RemotePost:
        there = await self.read(post_id)
        if there.state == "trashed" and not for_good:
            return there
        await api.send("DELETE", _path(post_id), query={"force": "true"} if for_good else None)
        return replace(there, state="gone" if for_good else "trashed")

    async def _named(self, post: RemotePost) -> RemotePost:
        """Return a post whose tags and categories are names instead of numbers."""
        fields = dict(post.fields)
        for kind, field in (("tag", "tags"), ("category", "categories")):
            ids = [str(one) for one in fields.get(field, ())]
            fields[field] = await self._names(kind, ids) if ids else ()
        return replace(post, fields=fields)

    async def _names(self, kind: str, ids: Sequence[str]) -> tuple[str, ...]:
        answer = await (await self._api()).get(_TAXONOMIES[kind], {"include": ",".join(ids), "per_page": 100})
        return tuple(unescape(str(row.get("name", ""))) for row in answer.rows())

    async def _term(self, kind: TermKind, name: str) -> str:
        """Return the id of a term, having made it where it is missing; empty where the role may not make one."""
        api, path = await self._api(), _TAXONOMIES[kind]
        for row in (await api.get(path, {"search": name, "per_page": 100})).rows():
            if unescape(str(row.get("name", ""))).casefold() == name.casefold():
                return str(row.get("id", ""))
        try:
            return str((await api.send("POST", path, document={"name": name})).row(written=True)["id"])
        except SiteRejected:
            return ""
        except SiteRefused:
            # Another name may come to the same slug: WordPress says `term_exists`, and has it under that slug.
            slug = re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")
            rows = (await api.get(path, {"slug": slug})).rows()
            return str(rows[0].get("id", "")) if rows else ""

    async def _author(self, name: str) -> tuple[str, ...]:
        try:
            rows = (await (await self._api()).get("/wp/v2/users", {"search": name, "per_page": 20})).rows()
        except SiteRejected:
            return ()
        same = [
            row for row in rows if name.casefold() in (str(row.get(key, "")).casefold() for key in ("name", "slug"))
        ]
        return (str(same[0]["id"]),) if same else ()


def _caption(file: MediaFile) -> str:
    """Return what WordPress shows below an image: its caption, then its credit."""
    return " ".join(filter(None, [escape(file.caption, quote=False), file.credit_html]))


def _path(post_id: str) -> str:
    if not post_id.isdigit():
        raise SiteGone("the post is not on the site any more")
    return f"{_POSTS}/{quote(post_id)}"


def _pages(headers: Mapping[str, str]) -> int:
    total = headers.get("x-wp-totalpages", "")
    return int(total) if total.isdigit() else 1
