"""One Ghost site, with the token of an Admin API key (JWT, RFC 7519) and forms with a file (RFC 7578)."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final, Literal
from urllib.parse import urlsplit

from joserfc import jwt
from joserfc.jwk import OctKey
from pressroom.sdk import Fetcher, FetchFailed, FetchRefused
from pressroom_content.contract import (
    BasicSite,
    Capabilities,
    ConnectionCheck,
    ConnectionReport,
    MediaFile,
    Post,
    RemoteChanged,
    RemoteMedia,
    RemotePost,
    SiteAddress,
    SiteApi,
    SiteError,
    SiteGone,
    SiteRefused,
    SiteRejected,
    SiteResponse,
    Term,
    TermKind,
    UnknownOutcome,
)

from pressroom_ghost.reading import comment, document, post_of, updated_at

_SECONDS = 240
"""Less than Ghost allows, so that a clock that differs a little does no harm."""


def token(key: str, *, now: float | None = None) -> str:
    """Return a token for a key `id:secret`, the secret in hexadecimal. Raises `SiteRejected` where it is not a key."""
    identifier, _, secret = key.strip().partition(":")
    try:
        shared = OctKey.import_key(bytes.fromhex(secret))
    except ValueError:
        raise SiteRejected(
            "this is not an Admin API key of Ghost: it has two parts with a colon between them"
        ) from None
    at = int(time.time() if now is None else now)
    header = {"alg": "HS256", "kid": identifier, "typ": "JWT"}
    return jwt.encode(header, {"iat": at, "exp": at + _SECONDS, "aud": "/admin/"}, shared)


def multipart(fields: Mapping[str, str], filename: str, file: MediaFile) -> tuple[bytes, str]:
    """Return the body of a form and its content type. Names and values are our own: plain ASCII without quotes."""
    boundary = f"pressroom-{secrets.token_hex(16)}"
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{filename}"\r\n'
        f"Content-Type: {file.media_type}\r\n\r\n"
    )
    body = b"".join([*parts, head.encode(), file.content, f"\r\n--{boundary}--\r\n".encode()])
    return body, f"multipart/form-data; boundary={boundary}"


CAPABILITIES: Final = Capabilities(
    draft=True,
    schedule=True,
    update=True,
    unpublish=True,
    delete=True,
    tags=True,
    canonical=True,
    featured_image=True,
    upload=True,
    seo_meta=True,
    import_posts=True,
    authors=True,
    featured_caption=True,
)
_QUERY: Final = {"formats": "html", "include": "tags,authors"}
_SOURCE: Final = {**_QUERY, "source": "html"}
"""Without `source` Ghost takes the post, and drops its body."""

_PAGE: Final = 50
_CONFLICT: Final = "HTTP 409"
_ID = re.compile(r"[0-9a-f]{24}")
_EXTENSIONS: Final = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/avif": "avif",
}


class GhostSite(BasicSite):
    """One Ghost site with an Admin API key."""

    capabilities = CAPABILITIES
    refusals: ClassVar = {
        "redirects": "Ghost lets only its staff change redirects: under Settings, Labs",
        "trash": "Ghost has no trash: make the post a draft, or delete it",
    }

    def __init__(self, address: SiteAddress, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        self._address = address
        self._key = credential.get("admin_api_key", "")
        self._fetcher = fetcher

    async def check(self) -> ConnectionReport:
        """Look at the API, its version and the key."""
        answer = await self._api(signed=False).get("/site/")
        about = answer.body.get("site") if isinstance(answer.body, dict) else None
        if not isinstance(about, dict):
            raise SiteRefused(f"{self._address.url} does not show the Admin API of Ghost; check the URL")
        checks = [ConnectionCheck("reachable", "ok", f"Ghost {about.get('version', '')} answers")]
        if self._address.url.startswith("https://"):
            checks.append(ConnectionCheck("encrypted", "ok", "the connection is encrypted"))
        else:
            fix = "Use the site's https URL if it has one."
            checks.append(ConnectionCheck("encrypted", "warning", "the site is asked without encryption", fix))
        name = str(about.get("title") or "")
        try:
            await self._api().get("/posts/", {"limit": 1, "fields": "id"})
        except SiteRejected:
            fix = "Copy the Admin API key again, from Settings, Integrations; the Content API key will not do."
            problem = ConnectionCheck("credential", "error", "Ghost does not accept this Admin API key", fix)
            return ConnectionReport((*checks, problem), Capabilities(), name=name)
        checks.append(ConnectionCheck("credential", "ok", "the key is accepted"))
        checks.append(ConnectionCheck("publish", "ok", "the integration may publish and upload images"))
        checks.append(ConnectionCheck("seo_meta", "ok", "meta title and description are writable"))
        settings, site_url = await self._settings(), await self._administered(about)
        return ConnectionReport(
            tuple(checks),
            CAPABILITIES,
            name=name,
            language=settings.get("locale") or str(about.get("locale") or ""),
            timezone=settings.get("timezone", ""),
            site_url=site_url,
        )

    async def _settings(self) -> Mapping[str, str]:
        """Return the site's settings that are texts; none where the key may not read them."""
        try:
            answer = await self._api().get("/settings/")
        except SiteError:
            return {}
        rows = answer.body.get("settings") if isinstance(answer.body, dict) else None
        return {
            str(row["key"]): row["value"]
            for row in (rows if isinstance(rows, list) else ())
            if isinstance(row, dict) and "key" in row and isinstance(row.get("value"), str)
        }

    async def _administered(self, about: Mapping[str, Any]) -> str:
        """Return the URL that the site names as its own, where the key is an administrator's or an integration's.

        Authors and editors of somebody's site have tokens of the same form. They may not read what was done there.
        """
        try:
            answer = await self._api().get("/actions/", {"limit": 1})
        except SiteError:
            return ""
        listed = isinstance(answer.body, dict) and isinstance(answer.body.get("actions"), list)
        return str(about.get("url") or "")[:2048].rstrip("/") if listed else ""

    async def terms(self, kind: TermKind, query: str, limit: int) -> Sequence[Term]:
        """Return tags or authors; Ghost has no other kinds."""
        if kind not in ("tag", "author"):
            raise SiteRefused(f"Ghost has tags and authors to list, but no kind {kind}")
        name = "tags" if kind == "tag" else "users"
        filters = f"name:~'{_quoted(query)}'" if query else ""
        answer = await self._api().get(
            f"/{name}/", {"limit": min(limit, 100), "filter": filters, "include": "count.posts"}
        )
        return [
            Term(str(row.get("id", "")), str(row.get("name", "")), str(row.get("slug", "")), _count(row))
            for row in answer.rows(name)
        ][:limit]

    async def ensure_terms(self, post: Post) -> Mapping[TermKind, tuple[str, ...]]:
        """Return the author's id; Ghost makes tags by itself, once for each name."""
        if not post.author:
            return {}
        try:
            authors = await self.terms("author", "", 100)
        except SiteRejected:
            return {}
        same = [one.id for one in authors if post.author.casefold() in (one.name.casefold(), one.slug.casefold())]
        return {"author": (same[0],)} if same else {}

    async def find_media(self, marker: str) -> RemoteMedia | None:
        """Look where Ghost puts uploads of this month and the last; it has no list of them."""
        today = datetime.now(UTC)
        months = {moment.strftime("%Y/%m") for moment in (today, today - timedelta(days=2))}
        for month in sorted(months, reverse=True):
            for extension in _EXTENSIONS.values():
                url = f"{self._address.url}/content/images/{month}/{marker}.{extension}"
                try:
                    answer = await self._fetcher.request("HEAD", url, max_bytes=1, seconds=10)
                except (FetchFailed, FetchRefused):
                    continue
                if answer.status == 200:
                    return RemoteMedia(url, url)
        return None

    async def upload(self, file: MediaFile, marker: str) -> RemoteMedia:
        """Upload an image; its URL is what posts refer to."""
        extension = _EXTENSIONS.get(file.media_type)
        if extension is None:
            raise SiteRefused(f"Ghost takes no images of type {file.media_type}")
        content, kind = multipart({"purpose": "image", "ref": marker}, f"{marker}.{extension}", file)
        answer = await self._api().send("POST", "/images/upload/", content=content, headers={"Content-Type": kind})
        images = answer.body.get("images") if isinstance(answer.body, dict) else None
        url = images[0].get("url") if isinstance(images, list) and images and isinstance(images[0], dict) else None
        if not isinstance(url, str) or not url:
            raise UnknownOutcome("Ghost did not say where it put the image")
        return RemoteMedia(url, url)

    async def find(self, post: Post) -> RemotePost | None:
        """Ask for the post that holds the marker."""
        filters = f"codeinjection_foot:~'{comment(post.marker)}'"
        rows = await self._browse({"filter": filters, "limit": 5, **_QUERY})
        found = [one for one in map(post_of, rows) if one.marker == post.marker]
        return found[0] if found else None

    async def create(self, post: Post) -> RemotePost:
        """Make the post as a draft."""
        body = {"posts": [{**document(post), "status": "draft"}]}
        return _one(await self._api().send("POST", "/posts/", query=_SOURCE, document=body), written=True)

    async def read(self, post_id: str) -> RemotePost:
        """Return a post."""
        return _one(await self._api().get(_path(post_id), _QUERY), written=False)

    async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
        """Write the post again; its state stays."""
        there = await self.read(post_id)
        if revision and there.revision != revision:
            raise _changed()
        return await self._put(post_id, {**document(post), "updated_at": updated_at(there.revision)}, _SOURCE)

    async def set_state(
        self, post_id: str, state: Literal["draft", "scheduled", "live", "trashed", "gone"], at: datetime | None = None
    ) -> RemotePost:
        """Move the post to a state."""
        there = await self.read(post_id)
        self.require_state(state)
        if state == "gone":
            await self._api().send("DELETE", _path(post_id))
            return replace(there, state="gone")
        changes: dict[str, Any] = {"updated_at": updated_at(there.revision)}
        changes["status"] = {"live": "published", "draft": "draft", "scheduled": "scheduled"}[state]
        if state == "scheduled":
            if at is None:
                raise SiteRefused("a time is needed to schedule a post")
            changes["published_at"] = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        elif state == "live" and there.state == "scheduled":
            changes["published_at"] = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        if state == "scheduled" and there.state == "live":
            raise SiteRefused("Ghost cannot schedule a post that is live: make it a draft first")
        return await self._put(post_id, changes, _QUERY)

    async def posts(self, since: datetime | None, most: int) -> AsyncIterator[RemotePost]:
        """Yield published posts, newest first."""
        filters = "status:published"
        if since is not None:
            filters += f"+updated_at:>'{since.astimezone(UTC).strftime('%Y-%m-%d %H:%M:%S')}'"
        left, page = most, 1
        while left > 0:
            query = {"filter": filters, "order": "updated_at desc", "limit": _PAGE, "page": page, **_QUERY}
            rows = await self._browse(query)
            for row in rows[:left]:
                yield post_of(row)
            left -= len(rows)
            if len(rows) < _PAGE:
                return
            page += 1

    def _api(self, *, signed: bool = True) -> SiteApi:
        headers = {"Accept-Version": "v5.0"}
        if signed:
            headers["Authorization"] = f"Ghost {token(self._key)}"
        name = f"Ghost at {urlsplit(self._address.url).netloc}"
        return SiteApi(self._fetcher, name, f"{self._address.url}/ghost/api/admin", headers)

    async def _browse(self, query: Mapping[str, Any]) -> list[dict[str, Any]]:
        return (await self._api().get("/posts/", query)).rows("posts")

    async def _put(self, post_id: str, changes: dict[str, Any], query: Mapping[str, str]) -> RemotePost:
        try:
            answer = await self._api().send("PUT", _path(post_id), query=query, document={"posts": [changes]})
        except SiteRefused as error:
            if _CONFLICT in error.message:
                raise _changed() from None
            raise
        return _one(answer, written=True)


def _one(answer: SiteResponse, *, written: bool) -> RemotePost:
    return post_of(answer.row("posts", written=written))


def _path(post_id: str) -> str:
    if not _ID.fullmatch(post_id):
        raise SiteGone("the post is not on the site any more")
    return f"/posts/{post_id}/"


def _changed() -> RemoteChanged:
    return RemoteChanged("the post was edited in Ghost since it was published from here")


def _quoted(text: str) -> str:
    """Return a text as it may be in a string of Ghost's filter language."""
    return text.replace("\\", "").replace("'", "\\'")


def _count(row: Mapping[str, Any]) -> int | None:
    count = row.get("count")
    return count.get("posts") if isinstance(count, dict) else None
