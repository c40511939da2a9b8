"""The posts of one account on DEV."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Final, Literal
from urllib.parse import urlsplit

from pressroom.sdk import Fetcher
from pressroom_content.contract import (
    BasicSite,
    Capabilities,
    ConnectionCheck,
    ConnectionReport,
    Post,
    PostState,
    RemoteChanged,
    RemotePost,
    SiteApi,
    SiteGone,
    SiteRefused,
    SiteRejected,
    SiteResponse,
    SiteUnavailable,
    Term,
    TermKind,
)

from pressroom_devto.reading import article, marker_of, post_of

CAPABILITIES: Final = Capabilities(
    draft=True,
    update=True,
    unpublish=True,
    tags=True,
    canonical=True,
    featured_image=True,
    import_posts=True,
    authors=True,
)
_USERNAME: Final = re.compile(r"[A-Za-z0-9_]{1,100}", re.ASCII)
_PAGE: Final = 100
_MAX_PAGES: Final = 100
_LONG: Final = 50_000
"""Characters of a body from which on it is not worked on in the event loop."""

_HEADERS: Final = {"Accept": "application/vnd.forem.api-v1+json"}

Row = Mapping[str, Any]


class DevtoSite(BasicSite):
    """The posts of one account, with its API key."""

    capabilities = CAPABILITIES
    refusals: ClassVar = {
        "delete": "DEV's API deletes nothing: make the post a draft, then delete it on the site",
        "redirects": "DEV has no redirects",
        "schedule": "DEV is not asked to schedule posts: they are published from here at their time",
        "upload": "DEV takes no uploads",
    }

    def __init__(self, api_url: str, key: str, fetcher: Fetcher) -> None:
        name = urlsplit(api_url).netloc
        self._root = f"{urlsplit(api_url).scheme}://{name}"
        self._api = SiteApi(fetcher, "DEV" if name == "dev.to" else name, api_url, {**_HEADERS, "api-key": key})

    async def check(self) -> ConnectionReport:
        """Ask whose key it is."""
        try:
            me = (await self._api.get("/users/me")).body
        except SiteRejected:
            fix = "Make a new key on dev.to under Settings, Extensions."
            return ConnectionReport(
                (ConnectionCheck("credential", "error", "DEV does not accept this API key", fix),), Capabilities()
            )
        if not isinstance(me, dict) or not me.get("username"):
            raise SiteRefused("what answers is not the API of DEV; the operator has set another URL")
        checks = (
            ConnectionCheck("reachable", "ok", "DEV answers"),
            ConnectionCheck("credential", "ok", f"the key is that of {me['username']}"),
            ConnectionCheck("publish", "ok", "the account may publish"),
        )
        username = str(me["username"])
        site_url = f"{self._root}/{username}" if _USERNAME.fullmatch(username) else ""
        return ConnectionReport(checks, CAPABILITIES, name=str(me.get("name") or username), site_url=site_url)

    async def terms(self, kind: TermKind, query: str, limit: int) -> Sequence[Term]:
        """Return tags that are in use; DEV has no other kinds, and no search over them."""
        if kind != "tag":
            raise SiteRefused(f"DEV has tags to list, but no kind {kind}")
        wanted = query.casefold()
        found = [
            Term(str(row.get("id", "")), str(row["name"]), str(row["name"]))
            for row in (await self._api.get("/tags", {"per_page": 1000})).rows()
            if wanted in str(row.get("name", "")).casefold()
        ]
        return found[:limit]

    async def find(self, post: Post) -> RemotePost | None:
        """Look through the account's posts for the marker."""
        row = await self._look(lambda row: marker_of(str(row.get("body_markdown") or "")) == post.marker)
        return None if row is None else await self._post(row)

    async def create(self, post: Post) -> RemotePost:
        """Make the post as a draft."""
        answer = await self._api.send("POST", "/articles", document={"article": {**article(post), "published": False}})
        return await self._post(answer.row(written=True), "draft")

    async def read(self, post_id: str) -> RemotePost:
        """Return a post, from the account's list: drafts cannot be asked for by their id."""
        row = await self._look(lambda row: str(row.get("id")) == post_id)
        if row is None:
            raise SiteGone("the post is not on DEV any more")
        return await self._post(row)

    async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
        """Write the post again; its state stays."""
        there = await self.read(post_id)
        if revision and there.revision != revision:
            raise RemoteChanged("the post was edited on DEV since it was published from here")
        return await self._post((await self._put(post_id, article(post))).row(written=True), there.state)

    async def set_state(
        self, post_id: str, state: Literal["draft", "scheduled", "live", "trashed", "gone"], at: datetime | None = None
    ) -> RemotePost:
        """Publish the post, or make it a draft."""
        del at
        self.require_state(state)
        return await self._post((await self._put(post_id, {"published": state == "live"})).row(written=True), state)

    async def posts(self, since: datetime | None, most: int) -> AsyncIterator[RemotePost]:
        """Yield published posts, newest first; DEV does not say when one was changed, so `since` leaves none out."""
        del since
        left, page = most, 1
        while left > 0:
            rows = (await self._api.get("/articles/me/published", {"page": page, "per_page": _PAGE})).rows(
                with_ids=True
            )
            for row in rows[:left]:
                yield await self._post(row, "live")
            left -= len(rows)
            if len(rows) < _PAGE:
                return
            page += 1

    async def _post(self, row: Row, state: PostState | None = None) -> RemotePost:
        is_long = len(str(row.get("body_markdown") or "")) > _LONG
        return await self.beside(post_of, row, state) if is_long else post_of(row, state)

    async def _put(self, post_id: str, changes: Mapping[str, Any]) -> SiteResponse:
        if not (post_id.isascii() and post_id.isdigit()):
            raise SiteGone("the post is not on DEV any more")
        return await self._api.send("PUT", f"/articles/{post_id}", document={"article": changes})

    async def _look(self, wanted: Callable[[Row], bool]) -> Row | None:
        """Return a post of the account, or `None` once two looks did not find it.

        Pages move while they are read: a post that is deleted meanwhile pulls another one over the edge of a page. To
        miss one would be to make it a second time.
        """
        for _ in range(2):
            for page in range(1, _MAX_PAGES + 1):
                rows = (await self._api.get("/articles/me/all", {"page": page, "per_page": _PAGE})).rows()
                found = next((row for row in rows if wanted(row)), None)
                if found is not None or (page == 1 and len(rows) < _PAGE):
                    return found
                if len(rows) < _PAGE:
                    break
            else:
                raise SiteUnavailable(f"DEV lists more than {_MAX_PAGES * _PAGE} posts: they cannot be looked through")
        return None
