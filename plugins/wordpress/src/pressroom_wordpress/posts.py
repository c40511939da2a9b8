"""Reading and writing posts and pages of one WordPress site, and finding the one at a URL."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any, Final, Literal
from urllib.parse import parse_qs, quote, unquote, urlsplit

from pressroom.sdk import FetchFailed, FetchRefused, Workers
from pressroom_content.contract import (
    Post,
    RemoteChanged,
    RemotePost,
    SiteGone,
    SiteRefused,
    SiteRejected,
    TermKind,
    run_in_worker,
)

from pressroom_wordpress import parsing
from pressroom_wordpress.client import WordPressClient
from pressroom_wordpress.codec import WordPressCodec
from pressroom_wordpress.parsing import (
    EMBED,
    LONG,
    PAGE,
    embedded_term_names,
    is_long,
    marker_of,
    post_of,
    tail_of,
    with_marker,
)
from pressroom_wordpress.terms import pages_of, term_names

_ENDINGS: Final = frozenset({"feed", "amp", "embed", "trackback"})
_COMMENT_PAGE = re.compile(r"comment-page-\d*", re.ASCII)
_MAX_URL_LENGTH: Final = 2048
_ID = re.compile(r"\d{1,18}", re.ASCII)
_IN_LINK = re.compile(r"<([^<>]++)>\s*+;\s*+rel=\"?(shortlink|alternate)\"?")
_ROUTE = re.compile(r"/wp/v2/(posts|pages)/(\d{1,18})(?!\d)")

POSTS: Final = "/wp/v2/posts"
PAGES: Final = "/wp/v2/pages"
_STATUSES: Final = "publish,future,draft,pending,private,trash"
_WHOLE: Final[Mapping[str, str]] = {"context": "edit", "_embed": EMBED}
_PAGE: Final = 50
_SECONDS: Final = 20.0
_MAX_PAGE_BYTES: Final = 4_194_304
_MAX_DIGITS: Final = 18
_FRESH_SECONDS: Final = 2.0
"""How long a post that was read counts as current, in seconds, so that an update need not read it again."""


@dataclass(frozen=True, slots=True)
class PostUrl:
    """The parts of a post's URL: its numeric ID, or its path and the slug at the end."""

    number: str = ""
    path: str = ""
    slug: str = ""


def read_url(url: str) -> PostUrl:
    """Parse a URL of a post. URLs of previews, of the editor and short links contain its numeric ID.

    A number at the end stays, since it may be a slug. `WordPressPosts.locate` finds the post of such a page by the
    page's headers.
    """
    try:
        parts = urlsplit(url)
        query = parse_qs(parts.query, max_num_fields=50)
    except ValueError:
        return PostUrl()
    for name in ("p", "page_id", "preview_id", *(("post",) if "/wp-admin/" in parts.path else ())):
        number = query.get(name, [""])[0]
        if _ID.fullmatch(number):
            return PostUrl(number=number)
    segments = [unquote(segment) for segment in parts.path.split("/") if segment]
    while len(segments) > 1 and (segments[-1] in _ENDINGS or _COMMENT_PAGE.fullmatch(segments[-1])):
        segments.pop()
    return PostUrl(path="/".join(segments), slug=segments[-1] if segments else "")


def is_at(row: Mapping[str, Any], path: str) -> bool:
    """Check whether a post's own link has this path."""
    url = str(row.get("link") or "")
    if len(url) > _MAX_URL_LENGTH:
        return False
    try:
        link = urlsplit(url)
    except ValueError:
        return False
    return not link.query and "/".join(unquote(segment) for segment in link.path.split("/") if segment) == path


def routes_in_links(header: str) -> Iterator[tuple[str, str]]:
    """Yield the routes (`posts` or `pages`) and numeric IDs in the `Link` header of a WordPress page.

    A short link has only the ID: then the route is empty.
    """
    for url, relation in _IN_LINK.findall(header[:10_000]):
        route = _ROUTE.search(unquote(url))
        if route:
            yield route[1], route[2]
        elif relation == "shortlink" and (number := read_url(url).number):
            yield "", number


def is_of(url: str, *sites: str) -> bool:
    """Check whether a URL belongs to one of these sites, ignoring scheme and `www.`."""
    try:
        host, hosts = _host(url), {_host(site) for site in sites if site}
    except ValueError:
        return False
    return bool(host) and host in hosts


def _host(url: str) -> str:
    return urlsplit(url).netloc.lower().rpartition("@")[2].removeprefix("www.")


class WordPressPosts:
    """Reads and writes posts, and also pages, whose IDs begin with `page-`."""

    def __init__(self, client: WordPressClient) -> None:
        self.workers: Workers | None = None
        self._client = client
        self._read: tuple[float, Mapping[str, Any], RemotePost] | None = None

    async def find(self, marker: str) -> RemotePost | None:
        """Return the post with a marker, in any state."""
        query = {**_WHOLE, "search": marker, "status": _STATUSES, "per_page": 20}
        for row in (await self._client.get(POSTS, query)).rows(with_ids=True):
            if marker_of(row) == marker:
                return await self._post(row)
        return None

    async def create(self, post: Post) -> RemotePost:
        """Create a post as a draft."""
        document = await self._document(post, parsing.EVERY_KEY, tail="")
        response = await self._client.send("POST", POSTS, query=_WHOLE, document={**document, "status": "draft"})
        return await self._post(response.row(written=True))

    async def read(self, post_id: str) -> RemotePost:
        """Return a post or a page. Raises `SiteGone`."""
        row = await self._row(post_id)
        post = await self._post(row)
        self._read = (monotonic(), row, post)
        return post

    async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
        """Update a post. Raises `RemoteChanged` if its revision has changed."""
        tail, keys = "", parsing.EVERY_KEY
        if revision:
            row, current = await self._fresh(post_id)
            if current.revision != revision:
                raise RemoteChanged("the post was edited in WordPress since it was published from here")
            tail, keys = tail_of(row), parsing.listed(row)
        self._read = None
        document = await self._document(post, keys, tail=tail)
        response = await self._client.send("POST", _path(post_id), query=_WHOLE, document=document)
        return await self._post(response.row(written=True))

    async def set_state(
        self, post_id: str, state: Literal["draft", "scheduled", "live", "trashed", "gone"], at: datetime | None = None
    ) -> RemotePost:
        """Move a post to a state. Raises `SiteGone`."""
        if state in ("trashed", "gone"):
            return await self._remove(post_id, for_good=state == "gone")
        document: dict[str, Any] = {"status": {"live": "publish", "draft": "draft", "scheduled": "future"}[state]}
        if state == "scheduled":
            if at is None:
                raise SiteRefused("scheduling a post requires a time")
            document["date_gmt"] = _moment(at)
        self._read = None
        row = (await self._client.send("POST", _path(post_id), query=_WHOLE, document=document)).row(written=True)
        if state == "live" and row.get("status") == "future":
            # A draft keeps the date for which it was scheduled, and WordPress would wait for it.
            document["date_gmt"] = _moment(datetime.now(UTC) + timedelta(seconds=self._client.skew))
            row = (await self._client.send("POST", _path(post_id), query=_WHOLE, document=document)).row(written=True)
        return await self._post(row)

    async def listed(self, since: datetime | None, limit: int) -> AsyncIterator[RemotePost]:
        """Yield published posts and pages, most recently changed first."""
        streams = [self._listed(route, since, limit) for route in (POSTS, PAGES)]
        heads = [await anext(stream, None) for stream in streams]
        for _ in range(limit):
            waiting = [
                (head.updated_at or datetime.min.replace(tzinfo=UTC), -at) for at, head in enumerate(heads) if head
            ]
            if not waiting:
                return
            at = -max(waiting)[1]
            head = heads[at]
            heads[at] = await anext(streams[at], None)
            if head is not None:
                yield head

    async def locate(self, url: str, *sites: str) -> RemotePost | None:
        """Return the post or page at a URL, which must belong to one of these sites."""
        if not is_of(url, *sites):
            return None
        post_url = read_url(url)
        if post_url.number:
            return await self._numbered(post_url.number)
        for route in (POSTS, PAGES) if post_url.slug else ():
            for row in await self._edited(route, {"slug": post_url.slug, "status": _STATUSES, "per_page": 100}):
                if is_at(row, post_url.path):
                    return await self._post(row)
        return await self._post_of_page(url)

    async def _post_of_page(self, url: str) -> RemotePost | None:
        """Return the post of a page, using the API links in its response headers."""
        try:
            page = await self._client.fetcher.request(
                "GET", url, max_bytes=_MAX_PAGE_BYTES, seconds=_SECONDS, redirects=3
            )
        except (FetchFailed, FetchRefused):
            return None
        for route, number in routes_in_links(page.headers.get("link", "")):
            post = await self._numbered(number, route)
            if post is not None:
                return post
        return None

    async def _numbered(self, number: str, route: str = "") -> RemotePost | None:
        for prefix in [""] if route == "posts" else [PAGE] if route == "pages" else ["", PAGE]:
            try:
                return await self._post((await self._client.get(_path(f"{prefix}{number}"), _WHOLE)).row(written=False))
            except (SiteGone, SiteRejected):
                continue
        return None

    async def _row(self, post_id: str) -> dict[str, Any]:
        try:
            return (await self._client.get(_path(post_id), _WHOLE)).row(written=False)
        except SiteGone:
            old, new = ("page", "post") if post_id.startswith(PAGE) else ("post", "page")
            if await self._numbered(post_id.removeprefix(PAGE), f"{new}s") is None:
                raise
        raise SiteRefused(
            f"the {old} was turned into a {new} in WordPress; turn it into a {old} again, or import the {new} with "
            "import_content"
        )

    async def _fresh(self, post_id: str) -> tuple[Mapping[str, Any], RemotePost]:
        """Return a post, from the last read if that was a moment ago."""
        if self._read is not None and self._read[2].id == post_id and monotonic() - self._read[0] < _FRESH_SECONDS:
            return self._read[1:]
        row = await self._row(post_id)
        return row, await self._post(row)

    async def _edited(self, route: str, query: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return posts in the edit context, or the public ones if this user cannot edit them."""
        try:
            return (await self._client.get(route, {**query, **_WHOLE})).rows(with_ids=True)
        except SiteRejected:
            public_query = {**query, "_embed": EMBED, "status": "publish"}
            return (await self._client.get(route, public_query)).rows(with_ids=True)

    async def _listed(self, route: str, since: datetime | None, limit: int) -> AsyncIterator[RemotePost]:
        query: dict[str, Any] = {"orderby": "modified", "order": "desc", "status": "publish"}
        if since is not None:
            query["modified_after"] = _moment(since)
        size, sent = min(_PAGE, limit), 0
        for form in (_WHOLE, {"_embed": EMBED}):  # not every user may edit pages
            try:
                async for rows in pages_of(self._client, route, {**query, **form}, size):
                    for row in rows:
                        yield await self._post(row)
                        sent += 1
                    if sent >= limit:
                        return
            except SiteRejected:
                if sent or form is not _WHOLE:
                    raise
            else:
                return

    async def _post(self, row: Mapping[str, Any]) -> RemotePost:
        """Return a post with the names of its tags and categories instead of their IDs."""
        post = await run_in_worker(self.workers, post_of, row) if is_long(row) else post_of(row)
        embedded_names = embedded_term_names(row)
        fields = dict(post.fields)
        kinds: tuple[tuple[TermKind, str], ...] = (("tag", "tags"), ("category", "categories"))
        for kind, field in kinds:
            ids = [str(term_id) for term_id in fields.get(field, ())]
            # WordPress embeds only ten names.
            names = embedded_names if embedded_names.keys() >= set(ids) else await term_names(self._client, kind, ids)
            fields[field] = tuple(names[term_id] for term_id in ids if term_id in names)
        return replace(post, fields=fields)

    async def _document(self, post: Post, keys: Mapping[str, tuple[str, ...]], *, tail: str) -> dict[str, Any]:
        """Return the request body for a post. `tail` is the comment of a post that was marked by someone else."""
        body = post.raw
        if not body:
            body = await run_in_worker(self.workers, _encoded, post) if len(post.html) > LONG else _encoded(post)
        document: dict[str, Any] = {"content": with_marker(body, post.marker) if post.marker else body + tail}
        for field in ("title", "slug", "excerpt"):
            if field not in post.kept:
                document[field] = getattr(post, field)
        if "featured" not in post.kept:
            document["featured_media"] = next(iter(_numbers([post.featured.id])), 0) if post.featured else 0
        if "tags" not in post.kept:
            document["tags"] = _numbers(post.term_ids.get("tag", ()))
        categories = _numbers(post.term_ids.get("category", ()))
        if categories and "categories" not in post.kept:  # an empty list would remove the site's default category
            document["categories"] = categories
        author = _numbers(post.term_ids.get("author", ()))
        if author and "author" not in post.kept:
            document["author"] = author[0]
        meta = parsing.to_meta(post, keys)
        return {**document, "meta": meta} if meta else document

    async def _remove(self, post_id: str, *, for_good: bool) -> RemotePost:
        post = await self.read(post_id)
        self._read = None
        if post.state == "trashed" and not for_good:
            return post
        response = await self._client.send("DELETE", _path(post_id), query={"force": "true"} if for_good else _WHOLE)
        if for_good:
            return replace(post, state="gone", publish_at=None)
        return await self._post(response.row(written=True))


def _numbers(ids: Sequence[str]) -> list[int]:
    """Return the IDs that are numbers, as WordPress assigns them. Others are ignored."""
    return [int(id_) for id_ in ids if id_.isascii() and id_.isdecimal() and len(id_) <= _MAX_DIGITS]


def _encoded(post: Post) -> str:
    codec = WordPressCodec()
    return codec.join(codec.encode(post.html, post.markdown))


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _path(post_id: str) -> str:
    number = post_id.removeprefix(PAGE)
    if not number.isascii() or not number.isdigit():
        raise SiteGone("the post is no longer on the site")
    return f"{PAGES if number != post_id else POSTS}/{quote(number)}"
