"""One website on the platform. Each method sends one or a few requests; the server decides when to call which.

The API here is imaginary, and `tests/platform_stand_in.py` stands in for it. Replace the requests with your platform's.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Final, Literal

from pressroom.sdk import Fetcher
from pressroom_content.contract import (
    BasicSite,
    Capabilities,
    ConnectionCheck,
    ConnectionReport,
    Post,
    RemoteChanged,
    RemotePost,
    SiteApi,
    SiteInfo,
    SiteRejected,
)

CAPABILITIES: Final = Capabilities(draft=True, update=True, unpublish=True, tags=True)


class PlatformSite(BasicSite):
    """A website on the platform. Operations outside `capabilities` are refused, with the messages in `refusals`."""

    capabilities = CAPABILITIES
    refusals: ClassVar = {"delete": "this platform keeps every post: make it a draft"}

    def __init__(self, info: SiteInfo, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        """Set up the API client. This sends no request."""
        headers = {"Authorization": f"Bearer {credential.get('token', '')}"}
        self._api = SiteApi(fetcher, f"the site {info.url}", f"{info.url}/api", headers)

    async def check(self) -> ConnectionReport:
        """Check whether the credential works."""
        try:
            await self._api.get("/me")
        except SiteRejected as error:
            failed = ConnectionCheck("credential", "error", error.message, "Make a new token.")
            return ConnectionReport((failed,), CAPABILITIES)
        return ConnectionReport((ConnectionCheck("publish", "ok", "posts can be written"),), CAPABILITIES)

    async def find(self, post: Post) -> RemotePost | None:
        """Return the post with this marker: an earlier attempt may have created it, but lost the response."""
        rows = (await self._api.get("/posts", {"marker": post.marker})).rows()
        return _remote_post(rows[0]) if rows else None

    async def create(self, post: Post) -> RemotePost:
        """Create a draft with the marker."""
        document = {**_document(post), "marker": post.marker, "state": "draft"}
        return _remote_post((await self._api.send("POST", "/posts", document=document)).row(written=True))

    async def read(self, post_id: str) -> RemotePost:
        """Return the current state of a post."""
        return _remote_post((await self._api.get(f"/posts/{post_id}")).row(written=False))

    async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
        """Update a post, unless it has been changed since `revision`."""
        if revision and (await self.read(post_id)).revision != revision:
            raise RemoteChanged("the post was edited on the platform since it was published from here")
        response = await self._api.send("PUT", f"/posts/{post_id}", document=_document(post))
        return _remote_post(response.row(written=True))

    async def set_state(
        self,
        post_id: str,
        state: Literal["draft", "scheduled", "live", "trashed", "gone"],
        at: datetime | None = None,
    ) -> RemotePost:
        """Publish a post, or turn it into a draft again."""
        self.require_state(state)
        response = await self._api.send("PUT", f"/posts/{post_id}", document={"state": state})
        return _remote_post(response.row(written=True))


def _document(post: Post) -> dict[str, Any]:
    return {"title": post.title, "slug": post.slug, "html": post.html, "tags": list(post.tags)}


def _remote_post(row: Mapping[str, Any]) -> RemotePost:
    return RemotePost(
        id=str(row["id"]),
        url=str(row.get("url", "")),
        state="live" if row.get("state") == "live" else "draft",
        revision=str(row.get("revision", "")),
        html=str(row.get("html", "")),
        fields={"title": row.get("title", ""), "slug": row.get("slug", ""), "tags": tuple(row.get("tags", ()))},
        marker=str(row.get("marker", "")),
    )
