"""The DEV platform: the posts of one account, accessed through Forem's API."""

from __future__ import annotations

import hashlib
import json
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
    CredentialField,
    Post,
    PostState,
    RemoteChanged,
    RemotePost,
    Site,
    SiteApi,
    SiteConnector,
    SiteGone,
    SiteInfo,
    SiteRefused,
    SiteRejected,
    SiteResponse,
    SiteUnavailable,
    Term,
    TermKind,
    field_text,
    spelled_out,
)

from pressroom_devto.config import DevtoConfig
from pressroom_devto.rate_limit import PacedFetcher, Paces

MAX_TAGS: Final = 4
_MAX_TAG_LENGTH: Final = 30
_MARKER = re.compile(r"<!-- pressroom:([A-Za-z0-9_-]+) -->\n*")

CAPABILITIES: Final = Capabilities(
    draft=True,
    update=True,
    unpublish=True,
    tags=True,
    canonical=True,
    featured_image=True,
    import_posts=True,
    authors=True,
    trash=False,
)
_USERNAME: Final = re.compile(r"[A-Za-z0-9_]{1,100}", re.ASCII)
_PAGE: Final = 100
_MAX_PAGES: Final = 100
_LONG: Final = 50_000
"""Bodies that are longer than this, in characters, are processed in a worker."""

_HEADERS: Final = {"Accept": "application/vnd.forem.api-v1+json"}
Row = Mapping[str, Any]


def article(post: Post) -> dict[str, Any]:
    """Return the API's representation of a post, without its state."""
    return {
        "title": post.title,
        "body_markdown": with_marker(post.markdown, post.marker),
        "description": post.excerpt or None,
        "canonical_url": post.canonical_url or None,
        "main_image": post.featured.url if post.featured else None,
        "tags": tags_of(post.tags),
    }


def with_marker(markdown: str, marker: str) -> str:
    """Return a body with the marker in front of it, as a comment.

    The API returns bodies as they were written, and comments do not appear on the page. At the beginning, the marker
    cannot end up in an unclosed code block, and it keeps a body that begins with `---` from being parsed as front
    matter, which would override title, tags and state. It contains nothing that Liquid interprets. The canonical URL is
    unsuitable as a marker: search engines rely on it, and DEV accepts each one only once.
    """
    return f"<!-- pressroom:{marker} -->\n\n{markdown}"


def marker_of(markdown: str) -> str:
    """Return the marker in a body; empty if absent."""
    match = _MARKER.search(markdown)
    return match[1] if match else ""


def tags_of(names: Sequence[str]) -> list[str]:
    """Return the first four tags, reduced to the letters and digits that DEV allows: `cpp` for C++, `csharp` for C#."""
    plain = ("".join(filter(str.isalnum, spelled_out(name).lower()))[:_MAX_TAG_LENGTH] for name in names)
    return list(dict.fromkeys(filter(None, plain)))[:MAX_TAGS]


def post_of(row: Mapping[str, Any], state: PostState | None = None) -> RemotePost:
    """Convert a row to a post. `state` is used if the row has none, as in responses to writes."""
    markdown = str(row.get("body_markdown") or "")
    if isinstance(row.get("published"), bool):
        state = "live" if row["published"] else "draft"
    fields = {
        "title": field_text(row.get("title")),
        "excerpt": field_text(row.get("description")),
        "canonical_url": field_text(row.get("canonical_url")),
        "tags": _tags(row),
    }
    parts = [fields, markdown, bool(row.get("cover_image")), state]
    return RemotePost(
        id=str(row.get("id") or ""),
        url=str(row.get("url") or ""),
        state=state or "draft",
        revision=hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:40],
        html=_MARKER.sub("", markdown, count=1),
        fields=fields,
        featured=bool(row.get("cover_image")),
        marker=marker_of(markdown),
        updated_at=_moment(row.get("published_at")),
    )


def _tags(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the tags. `tag_list` is a list in lists of posts, but a string in responses to writes."""
    tags = row.get("tag_list")
    names = field_text(tags).split(",") if isinstance(tags, str) else tags if isinstance(tags, list) else []
    return tuple(str(name).strip() for name in names if str(name).strip())


def _moment(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(str(value))
    except ValueError:
        return None


class DevtoSite(BasicSite):
    """The posts of one account, accessed with its API key."""

    capabilities = CAPABILITIES
    refusals: ClassVar = {
        "delete": "DEV's API cannot delete posts: turn the post into a draft, then delete it on the site",
        "redirects": "DEV has no redirects",
        "schedule": "posts are not scheduled on DEV: they are published from here at their time",
        "upload": "DEV does not accept uploads",
    }

    def __init__(self, api_url: str, key: str, fetcher: Fetcher) -> None:
        name = urlsplit(api_url).netloc
        self._root = f"{urlsplit(api_url).scheme}://{name}"
        self._api = SiteApi(fetcher, "DEV" if name == "dev.to" else name, api_url, {**_HEADERS, "api-key": key})

    async def check(self) -> ConnectionReport:
        """Look up the account that the key belongs to."""
        try:
            me = (await self._api.get("/users/me")).body
        except SiteRejected:
            fix = "Create a new key on dev.to under Settings, Extensions."
            return ConnectionReport(
                (ConnectionCheck("credential", "error", "DEV does not accept this API key", fix),), Capabilities()
            )
        if not isinstance(me, dict) or not me.get("username"):
            raise SiteRefused("the response is not from the API of DEV; ask the operator to check api_url")
        checks = (
            ConnectionCheck("reachable", "ok", "DEV responds"),
            ConnectionCheck("credential", "ok", f"the key is that of {me['username']}"),
            ConnectionCheck("publish", "ok", "the account may publish"),
        )
        username = str(me["username"])
        site_url = f"{self._root}/{username}" if _USERNAME.fullmatch(username) else ""
        return ConnectionReport(checks, CAPABILITIES, name=str(me.get("name") or username), site_url=site_url)

    async def terms(self, kind: TermKind, query: str, limit: int) -> Sequence[Term]:
        """Return tags in use, filtered here because the API has no search. DEV has no other kinds of terms."""
        if kind != "tag":
            raise SiteRefused(f"DEV can list tags, but nothing of the kind {kind}")
        text = query.casefold()
        terms = [
            Term(str(row.get("id", "")), str(row["name"]), str(row["name"]))
            for row in (await self._api.get("/tags", {"per_page": 1000})).rows()
            if text in str(row.get("name", "")).casefold()
        ]
        return terms[:limit]

    async def find(self, post: Post) -> RemotePost | None:
        """Search the account's posts for the marker."""
        row = await self._look(lambda row: marker_of(str(row.get("body_markdown") or "")) == post.marker)
        return None if row is None else await self._post(row)

    async def create(self, post: Post) -> RemotePost:
        """Create the post as a draft."""
        response = await self._api.send(
            "POST", "/articles", document={"article": {**article(post), "published": False}}
        )
        return await self._post(response.row(written=True), "draft")

    async def read(self, post_id: str) -> RemotePost:
        """Return a post from the account's list, because drafts cannot be fetched by ID."""
        row = await self._look(lambda row: str(row.get("id")) == post_id)
        if row is None:
            raise SiteGone("the post is no longer on DEV")
        return await self._post(row)

    async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
        """Update the post; its state is unchanged."""
        current = await self.read(post_id)
        if revision and current.revision != revision:
            raise RemoteChanged("the post was edited on DEV since it was published from here")
        return await self._post((await self._put(post_id, article(post))).row(written=True), current.state)

    async def set_state(
        self, post_id: str, state: Literal["draft", "scheduled", "live", "trashed", "gone"], at: datetime | None = None
    ) -> RemotePost:
        """Publish the post, or make it a draft."""
        del at
        self.require_state(state)
        return await self._post((await self._put(post_id, {"published": state == "live"})).row(written=True), state)

    async def posts(self, since: datetime | None, limit: int) -> AsyncIterator[RemotePost]:
        """Yield published posts, newest first. DEV does not report modification times, so `since` has no effect."""
        del since
        remaining, page = limit, 1
        while remaining > 0:
            rows = (await self._api.get("/articles/me/published", {"page": page, "per_page": _PAGE})).rows(
                with_ids=True
            )
            for row in rows[:remaining]:
                yield await self._post(row, "live")
            remaining -= len(rows)
            if len(rows) < _PAGE:
                return
            page += 1

    async def _post(self, row: Row, state: PostState | None = None) -> RemotePost:
        is_long = len(str(row.get("body_markdown") or "")) > _LONG
        return await self.run_in_worker(post_of, row, state) if is_long else post_of(row, state)

    async def _put(self, post_id: str, changes: Mapping[str, Any]) -> SiteResponse:
        if not (post_id.isascii() and post_id.isdigit()):
            raise SiteGone("the post is no longer on DEV")
        return await self._api.send("PUT", f"/articles/{post_id}", document={"article": changes})

    async def _look(self, is_match: Callable[[Row], bool]) -> Row | None:
        """Return a matching post of the account, or `None` if two passes over its posts did not find one.

        Pages shift while they are read: deleting a post moves another one across a page boundary. A missed post would
        be created a second time.
        """
        for _ in range(2):
            for page in range(1, _MAX_PAGES + 1):
                rows = (await self._api.get("/articles/me/all", {"page": page, "per_page": _PAGE})).rows()
                match = next((row for row in rows if is_match(row)), None)
                if match is not None or (page == 1 and len(rows) < _PAGE):
                    return match
                if len(rows) < _PAGE:
                    break
            else:
                raise SiteUnavailable(f"DEV lists more than {_MAX_PAGES * _PAGE} posts, which are too many to search")
        return None


def connector(config: DevtoConfig) -> SiteConnector:
    """Return the connector for the API URL in the configuration."""
    paces = Paces(config.write_interval)

    def open_site(info: SiteInfo, credential: Mapping[str, str], fetcher: Fetcher) -> Site:
        del info
        key = credential.get("api_key", "")
        return DevtoSite(config.api_url, key, PacedFetcher(fetcher, paces.of(key)))

    return SiteConnector(
        platform="devto",
        title="DEV",
        summary="Posts of an account on DEV (dev.to), through Forem's API.",
        open=open_site,
        capabilities=CAPABILITIES,
        fields=(
            CredentialField(
                "api_key",
                "API key",
                "From dev.to, Settings, Extensions, DEV Community API Keys.",
                pattern=r"[A-Za-z0-9_-]{10,100}",
            ),
        ),
        needs_url=False,
        term_kinds=("tag",),
        markdown=True,
        proves_control=True,
    )
