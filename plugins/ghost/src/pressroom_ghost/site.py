"""Access to a Ghost site over its Admin API."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final, Literal
from urllib.parse import urlsplit

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
    SiteApi,
    SiteError,
    SiteInfo,
    SiteRefused,
    SiteRejected,
    SiteResponse,
    Term,
    TermKind,
    UnknownOutcome,
)

from pressroom_ghost.lexical import LexicalCodec
from pressroom_ghost.posts import (
    RESOURCES,
    Kind,
    body_of,
    changed_at,
    changes_of,
    comment,
    count_of,
    document,
    filters_for_url,
    ghost_time,
    is_at,
    is_body_unchanged,
    is_settled,
    moment,
    path_of,
    post_of,
    quoted,
    updated_at,
    visibility_of,
)
from pressroom_ghost.requests import EXTENSIONS, multipart, token

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
    audience=True,
    trash=False,
)
_QUERY: Final = {"formats": "html,lexical,mobiledoc", "include": "tags,authors,tiers"}
_PAGE: Final = 20
"""Posts per request. Kept small since responses are limited to 16 MiB and a post can have several megabytes."""

_SECONDS_REMEMBERED: Final = 10.0
_CONFLICT: Final = "HTTP 409"


@dataclass(frozen=True, slots=True)
class _LastResponse:
    """Ghost's last response for a post.

    `settled` is whether the second of its last change is over, so that the next change gets another time. `dated` is
    the publication date, which a draft that was once scheduled has too.
    """

    post: RemotePost
    dated: datetime | None
    at: float
    settled: bool


class GhostSite(BasicSite):
    """One Ghost site with an Admin API key."""

    capabilities = CAPABILITIES
    refusals: ClassVar = {
        "redirects": "Ghost lets only its staff change redirects: under Settings, Labs",
        "trash": "Ghost has no trash: make the post a draft, or delete it",
    }

    def __init__(self, info: SiteInfo, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        self._info = info
        self._key = credential.get("admin_api_key", "")
        self._fetcher = fetcher
        self._responses: dict[str, _LastResponse] = {}

    @property
    def codec(self) -> LexicalCodec:
        """The codec for Ghost's bodies."""
        return LexicalCodec()

    async def check(self) -> ConnectionReport:
        """Check the API, its version and the key."""
        response = await self._api(signed=False).get("/site/")
        site = response.body.get("site") if isinstance(response.body, dict) else None
        if not isinstance(site, dict):
            raise SiteRefused(f"{self._info.url} does not show the Admin API of Ghost; check the URL")
        checks = [ConnectionCheck("reachable", "ok", f"Ghost {site.get('version', '')} responds")]
        if self._info.url.startswith("https://"):
            checks.append(ConnectionCheck("encrypted", "ok", "the connection is encrypted"))
        else:
            fix = "Use the site's https URL if it has one."
            checks.append(ConnectionCheck("encrypted", "warning", "the connection is not encrypted", fix))
        name = str(site.get("title") or "")
        try:
            await self._api().get("/posts/", {"limit": 1, "fields": "id"})
        except SiteRejected:
            fix = "Copy the Admin API key again, from Settings, Integrations; the Content API key does not work."
            problem = ConnectionCheck("credential", "error", "Ghost does not accept this Admin API key", fix)
            return ConnectionReport((*checks, problem), Capabilities(), name=name)
        checks.append(ConnectionCheck("credential", "ok", "the key is accepted"))
        checks.append(ConnectionCheck("publish", "ok", "the integration may publish and upload images"))
        checks.append(ConnectionCheck("seo_meta", "ok", "meta title and description are writable"))
        settings, site_url = await self._settings(), await self._administered_url(site)
        return ConnectionReport(
            tuple(checks),
            CAPABILITIES,
            name=name,
            language=settings.get("locale") or str(site.get("locale") or ""),
            timezone=settings.get("timezone", ""),
            site_url=site_url,
        )

    async def _settings(self) -> Mapping[str, str]:
        """Return the site's string settings; empty if the key may not read them."""
        try:
            response = await self._api().get("/settings/")
        except SiteError:
            return {}
        rows = response.body.get("settings") if isinstance(response.body, dict) else None
        return {
            str(row["key"]): row["value"]
            for row in (rows if isinstance(rows, list) else ())
            if isinstance(row, dict) and "key" in row and isinstance(row.get("value"), str)
        }

    async def _administered_url(self, site: Mapping[str, Any]) -> str:
        """Return the site's own URL if the key belongs to an administrator or an integration, else an empty string.

        Authors and editors have tokens of the same form, but may not read the site's action log.
        """
        try:
            response = await self._api().get("/actions/", {"limit": 1})
        except SiteError:
            return ""
        listed = isinstance(response.body, dict) and isinstance(response.body.get("actions"), list)
        return str(site.get("url") or "")[:2048].rstrip("/") if listed else ""

    async def terms(self, kind: TermKind, query: str, limit: int) -> Sequence[Term]:
        """List tags or authors. Raises `SiteRefused` for other kinds."""
        if kind not in ("tag", "author"):
            raise SiteRefused(f"Ghost can list tags and authors, but nothing of the kind {kind}")
        name = "tags" if kind == "tag" else "users"
        filters = f"name:~'{quoted(query)}'" if query else ""
        response = await self._api().get(
            f"/{name}/", {"limit": min(limit, 100), "filter": filters, "include": "count.posts"}
        )
        return [
            Term(str(row.get("id", "")), str(row.get("name", "")), str(row.get("slug", "")), count_of(row))
            for row in response.rows(name)
        ][:limit]

    async def ensure_terms(self, post: Post) -> Mapping[TermKind, tuple[str, ...]]:
        """Look up the author's ID. Ghost creates missing tags itself."""
        if not post.author:
            return {}
        try:
            authors = await self.terms("author", "", 100)
        except SiteRejected:
            return {}
        same = [
            author.id
            for author in authors
            if post.author.casefold() in (author.name.casefold(), author.slug.casefold())
        ]
        return {"author": (same[0],)} if same else {}

    async def find_media(self, marker: str) -> RemoteMedia | None:
        """Find an upload by probing Ghost's folders of this month and, in its first two days, of the last month.

        The API cannot list uploads.
        """
        today = datetime.now(UTC)
        months = {moment.strftime("%Y/%m") for moment in (today, today - timedelta(days=2))}
        for month in sorted(months, reverse=True):
            for extension in EXTENSIONS.values():
                url = f"{self._info.url}/content/images/{month}/{marker}.{extension}"
                try:
                    response = await self._fetcher.request("HEAD", url, max_bytes=1, seconds=10)
                except (FetchFailed, FetchRefused):
                    continue
                # Ignore other pages with status 200, such as that of a firewall.
                if response.status == 200 and response.media_type.startswith("image/"):
                    return RemoteMedia(url, url)
        return None

    async def upload(self, file: MediaFile, marker: str) -> RemoteMedia:
        """Upload an image. Posts refer to it by its URL."""
        extension = EXTENSIONS.get(file.media_type)
        if extension is None:
            raise SiteRefused(f"Ghost does not accept images of type {file.media_type}")
        content, kind = multipart({"purpose": "image", "ref": marker}, f"{marker}.{extension}", file)
        response = await self._api().send("POST", "/images/upload/", content=content, headers={"Content-Type": kind})
        images = response.body.get("images") if isinstance(response.body, dict) else None
        url = images[0].get("url") if isinstance(images, list) and images and isinstance(images[0], dict) else None
        if not isinstance(url, str) or not url:
            raise UnknownOutcome("Ghost did not return the URL of the image")
        return RemoteMedia(url, url)

    async def find(self, post: Post) -> RemotePost | None:
        """Find the post with the marker; `None` if there is no such post."""
        if not post.marker:
            return None
        filters = f"codeinjection_foot:~'{comment(post.marker)}'"
        rows = await self._browse("post", {"filter": filters, "limit": 5})
        matches = [candidate for candidate in map(post_of, rows) if candidate.marker == post.marker]
        return matches[0] if matches else None

    async def locate(self, url: str) -> RemotePost | None:
        """Find the post or page at a URL: its public page, its preview, or its editor page."""
        for kind, filters in filters_for_url(url, self._info.url):
            for row in await self._browse(kind, {"filter": filters, "limit": 1}):
                post = post_of(row, kind)
                if not filters.startswith("slug:") or is_at(post.url, url, self._info.url):
                    return post
        return None

    async def create(self, post: Post) -> RemotePost:
        """Create the post as a draft."""
        changes = {
            **document(replace(post, kept=frozenset())),
            "lexical": await self.run_in_worker(body_of, post),
            "status": "draft",
            **visibility_of(post.audience),
        }
        response = await self._api().send("POST", "/posts/", query=_QUERY, document={"posts": [changes]})
        return self._one(response, "post", written=True).post

    async def read(self, post_id: str) -> RemotePost:
        """Return a post."""
        return (await self._look(post_id)).post

    async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
        """Update the post, keeping its state. An unchanged body is not sent.

        Ghost detects conflicts by the modification time, with a resolution of seconds. A response from the same second
        as the last change is therefore fetched again.
        """
        last = self._remembered(post_id)
        if last is None or not last.settled or last.post.revision != revision:
            last = await self._look(post_id)
        current = last.post
        if revision and current.revision != revision:
            raise _changed()
        changes = {**changes_of(post, current), "updated_at": updated_at(current.revision)}
        if not is_body_unchanged(post) and (not post.raw or post.raw != current.raw):
            body = await self.run_in_worker(body_of, post)
            changes |= {"lexical": body} if body != current.raw else {}
        return await self._put(post_id, changes)

    async def set_state(
        self, post_id: str, state: Literal["draft", "scheduled", "live", "trashed", "gone"], at: datetime | None = None
    ) -> RemotePost:
        """Change the state of the post."""
        self.require_state(state)
        last = self._remembered(post_id)
        if last is not None:
            try:
                return await self._set_state(last, state, at)
            except RemoteChanged:
                pass  # the post was changed meanwhile; read it again
        return await self._set_state(await self._look(post_id), state, at)

    async def _set_state(self, last: _LastResponse, state: str, at: datetime | None) -> RemotePost:
        current = last.post
        if state == "gone":
            await self._api().send("DELETE", path_of(current.id)[0])
            self._responses.pop(current.id, None)
            return replace(current, state="gone")
        changes: dict[str, Any] = {"updated_at": updated_at(current.revision)}
        changes["status"] = {"live": "published", "draft": "draft", "scheduled": "scheduled"}[state]
        if state == "scheduled":
            if at is None:
                raise SiteRefused("scheduling a post requires a time")
            if current.state == "live":
                raise SiteRefused("Ghost cannot schedule a post that is live: make it a draft first")
            changes["published_at"] = ghost_time(at)
        elif state == "live" and current.state != "live" and last.dated is not None and last.dated > datetime.now(UTC):
            # A draft keeps the time it was scheduled for, and Ghost would show that future date.
            changes["published_at"] = ghost_time(datetime.now(UTC))
        return await self._put(current.id, changes)

    async def posts(self, since: datetime | None, limit: int) -> AsyncIterator[RemotePost]:
        """Yield up to `limit` published posts and pages, most recently updated first."""
        streams = [self._published(kind, since, limit) for kind in RESOURCES]
        heads = [await anext(stream, None) for stream in streams]
        for _ in range(limit):
            waiting = [at for at, head in enumerate(heads) if head is not None]
            if not waiting:
                return
            newest = max(waiting, key=lambda at: changed_at(heads[at]))
            yield heads[newest]  # type: ignore[misc]
            heads[newest] = await anext(streams[newest], None)

    async def _published(self, kind: Kind, since: datetime | None, limit: int) -> AsyncIterator[RemotePost]:
        filters = "status:published"
        if since is not None:
            filters += f"+updated_at:>'{since.astimezone(UTC).strftime('%Y-%m-%d %H:%M:%S')}'"
        query = {"filter": filters, "order": "updated_at desc"}
        for page in range(1, -(-limit // _PAGE) + 1):
            window = {**query, "limit": _PAGE, "page": page}
            try:
                rows = listed = await self._browse(kind, window)
            except SiteRefused:
                # The posts may be too large together. Listing their IDs fails if Ghost refused it for another reason.
                listed = await self._browse(kind, {**window, "fields": "id"}, {})
                rows = await self._one_by_one(kind, [str(row["id"]) for row in listed])
            for row in rows:
                yield post_of(row, kind)
            if len(listed) < _PAGE:
                return

    async def _one_by_one(self, kind: Kind, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return posts, without those that are too large by themselves."""
        rows: list[dict[str, Any]] = []
        for post_id in ids:
            with suppress(SiteRefused):
                rows += await self._browse(kind, {"filter": f"id:'{quoted(post_id)}'", "limit": 1})
        return rows

    def _api(self, *, signed: bool = True) -> SiteApi:
        headers = {"Accept-Version": "v5.0"}
        if signed:
            headers["Authorization"] = f"Ghost {token(self._key)}"
        name = f"Ghost at {urlsplit(self._info.url).netloc}"
        return SiteApi(self._fetcher, name, f"{self._info.url}/ghost/api/admin", headers)

    async def _browse(
        self, kind: Kind, query: Mapping[str, Any], more: Mapping[str, Any] = _QUERY
    ) -> list[dict[str, Any]]:
        name = RESOURCES[kind]
        return (await self._api().get(f"/{name}/", {**query, **more})).rows(name, with_ids=True)

    async def _look(self, post_id: str) -> _LastResponse:
        path, kind = path_of(post_id)
        return self._one(await self._api().get(path, _QUERY), kind, written=False)

    async def _put(self, post_id: str, changes: dict[str, Any]) -> RemotePost:
        path, kind = path_of(post_id)
        self._responses.pop(post_id, None)
        try:
            response = await self._api().send("PUT", path, query=_QUERY, document={RESOURCES[kind]: [changes]})
        except SiteRefused as error:
            if _CONFLICT in error.message:
                raise _changed() from None
            raise
        return self._one(response, kind, written=True).post

    def _one(self, response: SiteResponse, kind: Kind, *, written: bool) -> _LastResponse:
        row = response.row(RESOURCES[kind], written=written)
        post, dated = post_of(row, kind), moment(row.get("published_at"))
        settled = is_settled(post, response.headers.get("date", ""))
        last = self._responses[post.id] = _LastResponse(post, dated, time.monotonic(), settled)
        return last

    def _remembered(self, post_id: str) -> _LastResponse | None:
        """Take the last response for a post from the cache, if it is recent. Saves a request before each change."""
        last = self._responses.pop(post_id, None)
        return last if last is not None and time.monotonic() - last.at <= _SECONDS_REMEMBERED else None


def _changed() -> RemoteChanged:
    return RemoteChanged("the post was edited in Ghost since it was published from here")
