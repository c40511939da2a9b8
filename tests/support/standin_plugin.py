"""A third-party plugin: the connector of the stand-in platform, and a library with a few images."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pressroom.sdk import (
    Fetched,
    Fetcher,
    FetchFailed,
    FetchRefused,
    FetchUnknown,
    NotFound,
    Plugin,
    PluginContext,
    hookimpl,
)
from pressroom_content.contract import (
    BodyBlock,
    Capabilities,
    ConnectionCheck,
    ConnectionReport,
    CredentialField,
    MediaFile,
    MediaLibrary,
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
    SiteRejected,
    SiteUnavailable,
    Term,
    TermKind,
    UnknownOutcome,
)

from support.installing import install

PLUGIN = Plugin(id="standin", title="Stand-in", summary="A platform for tests.", requires=("content",))

PHOTO = "m_" + "Photo0" * 3 + "Kept"
HOTLINK = "m_" + "Hot000" * 3 + "Link"
CAPTIONED = "m_" + "Capt00" * 3 + "Line"
DRAWING = "m_" + "Drawn0" * 3 + "Real"
CAPTION = "Bread & butter, *warm* <from> the oven"
PLATFORM = "directus"
BLOCKS = "blocks"

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAACgAAAAeCAIAAADRv8uKAAAAK0lEQVR42u3NMQ0AAAgDsElDIpKQhgw4mvRvqudExGKxWCwWi8VisVj8N142"
    "IFNqkH4RMAAAAABJRU5ErkJggg=="
)
"""A decodable image in a single colour."""

_FIELDS = ("excerpt", "meta_title", "meta_description", "canonical_url")


def distribution(folder: Path) -> Path:
    """Create the metadata of the plugin, and return the folder that belongs on the path."""
    install(folder, "pressroom-standin", {}, {"standin": "support.standin_plugin"})
    return folder


class StandInSite:
    """A site on the stand-in platform."""

    def __init__(self, info: SiteInfo, token: str, fetcher: Fetcher, seconds: float) -> None:
        self._url = info.url
        self._token = token
        self._fetcher = fetcher
        self._seconds = seconds

    async def check(self) -> ConnectionReport:
        me = await self._ask("GET", "me")
        checks = (
            ConnectionCheck("reachable", "ok", "The site answers"),
            ConnectionCheck("publish", "ok", "It may publish"),
        )
        return ConnectionReport(checks, CAPABILITIES, name=me["name"], language=me["language"], timezone=me["timezone"])

    async def terms(self, kind: TermKind, query: str, limit: int) -> Sequence[Term]:
        if kind == "blog":
            raise SiteRefused(f"the stand-in has tags to list, but no kind {kind}")
        terms = await self._ask("GET", f"terms/{kind}")
        return [Term(term["id"], term["name"]) for term in terms if query.lower() in term["name"].lower()][:limit]

    async def ensure_terms(self, post: Post) -> Mapping[TermKind, tuple[str, ...]]:
        ids: dict[TermKind, tuple[str, ...]] = {}
        requested: dict[TermKind, tuple[str, ...]] = {"tag": post.tags, "category": post.categories}
        for kind, names in requested.items():
            known = {term.name: term.id for term in await self.terms(kind, "", 1000)}
            for name in names:
                if name not in known:
                    known[name] = (await self._ask("POST", f"terms/{kind}", {"name": name}))["id"]
            ids[kind] = tuple(known[name] for name in names)
        authors = [term.id for term in await self.terms("author", "", 1000) if term.name == post.author]
        return {**ids, "author": tuple(authors)}

    async def find_media(self, marker: str) -> RemoteMedia | None:
        matches = await self._ask("GET", f"media?marker={marker}")
        return RemoteMedia(matches[0]["id"], matches[0]["url"]) if matches else None

    async def upload(self, file: MediaFile, marker: str) -> RemoteMedia:
        media = await self._ask("POST", "media", file.content, {"X-Marker": marker, "X-Alt": file.alt})
        return RemoteMedia(media["id"], media["url"])

    async def remove_media(self, media: RemoteMedia) -> None:
        await self._ask("POST", f"media/{media.id}/gone")

    async def find(self, post: Post) -> RemotePost | None:
        posts = await self._ask("GET", f"posts?marker={post.marker}")
        return self._post(posts[0]) if posts else None

    async def create(self, post: Post) -> RemotePost:
        return self._post(await self._ask("POST", "posts", _sent(post)))

    async def read(self, post_id: str) -> RemotePost:
        return self._post(await self._ask("GET", f"posts/{post_id}"))

    async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
        return self._post(await self._ask("PUT", f"posts/{post_id}", _sent(post), {"If-Match": revision}))

    async def set_state(
        self, post_id: str, state: Literal["draft", "scheduled", "live", "trashed", "gone"], at: datetime | None = None
    ) -> RemotePost:
        sent = {"state": state, "at": at.isoformat() if at else None}
        return self._post(await self._ask("POST", f"posts/{post_id}/state", sent))

    async def posts(self, since: datetime | None, most: int) -> AsyncIterator[RemotePost]:
        del since
        for post in (await self._ask("GET", "posts"))[:most]:
            yield self._post(post)

    async def redirects(self) -> Sequence[RemoteRedirect]:
        raise SiteRefused("it has no redirects")

    async def add_redirect(self, source: str, target: str, *, permanent: bool) -> RemoteRedirect:
        raise SiteRefused(f"it has no redirects ({source}, {target}, {permanent})")

    async def remove_redirect(self, redirect_id: str) -> None:
        raise SiteRefused(f"it has no redirects ({redirect_id})")

    async def _ask(self, method: str, path: str, sent: Any = b"", headers: Mapping[str, str] | None = None) -> Any:
        content = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
        try:
            response = await self._fetcher.request(
                method,
                f"{self._url}/api/{path}",
                headers={"Authorization": f"Bearer {self._token}", **(headers or {})},
                content=content,
                max_bytes=5_000_000,
                seconds=self._seconds,
                redirects=1 if method == "GET" else 0,
            )
        except FetchUnknown as error:
            raise UnknownOutcome(error.message) from error
        except (FetchFailed, FetchRefused) as error:
            raise SiteUnavailable(error.message) from error
        return _read(response, changes=method != "GET")

    def _post(self, stored: Mapping[str, Any]) -> RemotePost:
        return RemotePost(
            id=stored["id"],
            url=f"{self._url}/{stored['slug']}{stored.get('suffix', '')}",
            state=stored["state"],
            revision=f"{stored['revision']}{stored.get('suffix', '')}",
            html=stored["html"],
            fields={
                name: stored[name]
                for name in ("title", "slug", "tags", "categories", *_FIELDS)
                if stored.get(name) is not None
            },
            featured=bool(stored["featured"]),
            publish_at=datetime.fromisoformat(stored["at"]) if stored.get("at") else None,
            marker=stored["marker"],
            audience=stored.get("audience", ""),
        )


class BlockCodec:
    """Bodies of the stand-in: HTML paragraphs separated by empty lines, and widgets such as `[gallery 1]`."""

    def split(self, raw: str) -> Sequence[BodyBlock]:
        blocks = []
        for match in re.finditer(r"(?!\n\n).+?(?:\n\n++|\Z)|\n++", raw, re.DOTALL):
            text = match[0].strip("\n")
            widget = re.match(r"\[(\w+)", text)
            if widget:
                blocks.append(BodyBlock(match[0], widget[1]))
            else:
                blocks.append(BodyBlock(match[0], "paragraph", html=text))
        return blocks

    def join(self, sources: Sequence[str], original: str = "") -> str:
        if [block.source for block in self.split(original)] == list(sources):
            return original
        return "".join(source if source.endswith("\n\n") else f"{source.rstrip()}\n\n" for source in sources)

    def encode(self, html: str, markdown: str) -> Sequence[str]:
        del markdown
        return ("<!-- made here -->" + html.replace("\n\n", "\n").replace("[", "&#91;") + "\n\n",)


class StandInBlockSite(StandInSite):
    """A site on the stand-in platform that stores bodies as blocks, and allows taking over posts."""

    codec = BlockCodec()

    async def locate(self, url: str) -> RemotePost | None:
        path = url.removeprefix(self._url).strip("/")
        posts = [post for post in await self._ask("GET", "posts") if post["slug"] == path]
        return self._post(posts[0]) if posts else None

    async def create(self, post: Post) -> RemotePost:
        return self._post(await self._ask("POST", "posts", self._document(post)))

    async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
        sent = {name: value for name, value in self._document(post).items() if name not in post.kept}
        return self._post(await self._ask("PUT", f"posts/{post_id}", sent, {"If-Match": revision}))

    def _document(self, post: Post) -> dict[str, Any]:
        document = _sent(post) | {"html": post.raw or post.html}
        return document if post.marker else {name: value for name, value in document.items() if name != "marker"}

    def _post(self, stored: Mapping[str, Any]) -> RemotePost:
        post = super()._post(stored)
        return replace(post, raw=stored["html"], fields={**post.fields, "featured": stored["featured"] or ""})


def _read(response: Fetched, *, changes: bool) -> Any:
    match response.status:
        case 401 | 403:
            raise SiteRejected("the stand-in no longer accepts the token", hint="Connect the site again.")
        case 404:
            raise SiteGone("it is no longer on the stand-in")
        case 412:
            raise RemoteChanged("the post was edited on the stand-in")
        case 409 | 422:
            raise SiteRefused("the stand-in refused it")
        case 429 | 503:
            delay = response.headers.get("retry-after")
            raise SiteUnavailable("the stand-in is overloaded", retry_after=int(delay) if delay else None)
    if response.status >= 300 or response.media_type != "application/json":
        raise (UnknownOutcome if changes else SiteUnavailable)(f"the stand-in answers {response.status} and no JSON")
    return json.loads(response.content)


def _sent(post: Post) -> dict[str, Any]:
    names = ("marker", "title", "slug", "html", "tags", "categories", *_FIELDS)
    values = {name: getattr(post, name) for name in names}
    return values | {"featured": post.featured.url if post.featured else None, "term_ids": dict(post.term_ids)}


CAPABILITIES = Capabilities(
    draft=True,
    update=True,
    unpublish=True,
    delete=True,
    tags=True,
    categories=True,
    canonical=True,
    featured_image=True,
    upload=True,
    seo_meta=True,
    import_posts=True,
    authors=True,
)


def _open(info: SiteInfo, credential: Mapping[str, str], fetcher: Fetcher) -> Site:
    return StandInSite(info, credential["token"], fetcher, float(credential.get("seconds", "5")))


def _open_blocks(info: SiteInfo, credential: Mapping[str, str], fetcher: Fetcher) -> Site:
    return StandInBlockSite(info, credential["token"], fetcher, float(credential.get("seconds", "5")))


def _approved(query: Mapping[str, str]) -> Mapping[str, str]:
    if "token" not in query:
        raise SiteRejected("the approval was denied")
    return {"token": query["token"]}


async def _approval(url: str, return_to: str, fetcher: Fetcher) -> str | None:
    del fetcher
    return None if "no-approval" in url else f"{url}/approve?return_to={return_to}"


@hookimpl
def pressroom_site_connectors(plugin: PluginContext) -> Iterable[SiteConnector]:
    """Register the platform."""
    del plugin
    fields = (
        CredentialField("token", "Token", "In the platform's settings.", pattern=r"[a-z-]+", page="settings#token"),
        CredentialField("seconds", "Patience", secret=False, required=False, pattern=r"[0-9.]+"),
    )
    return [
        SiteConnector(
            PLATFORM,
            "Stand-in",
            "A platform for tests.",
            _open,
            CAPABILITIES,
            fields,
            approval=_approval,
            approved=_approved,
            term_kinds=("tag", "author"),
        ),
        SiteConnector(
            BLOCKS,
            "Stand-in with blocks",
            "A platform for tests.",
            _open_blocks,
            replace(CAPABILITIES, trash=False),
            fields,
        ),
    ]


async def _image(_plugin: PluginContext, user_id: str, media_id: str) -> MediaFile:
    credit = 'Photo: <a href="https://example.org/ada">Ada</a>, <script>alert(1)</script>CC BY 4.0'
    if media_id == PHOTO:
        return MediaFile(
            PHOTO, "photo.png", "image/png", f"https://library.example/{PHOTO}.png", f"Photo of {user_id}",
            "download", 4, 3, b"\x89PNG the bytes of a photo", credit, "Photo: Ada, CC BY 4.0",
        )  # fmt: skip
    if media_id == CAPTIONED:
        return MediaFile(
            CAPTIONED, "bread.png", "image/png", f"https://library.example/{CAPTIONED}.png", "Bread",
            "download", 4, 3, b"\x89PNG the bytes of bread", credit, "Photo: Ada, CC BY 4.0", CAPTION,
        )  # fmt: skip
    if media_id == DRAWING:
        return MediaFile(
            DRAWING, "drawing.png", "image/png", f"https://library.example/{DRAWING}.png", "A drawing",
            "download", 40, 30, PNG,
        )  # fmt: skip
    if media_id == HOTLINK:
        return MediaFile(HOTLINK, "hot.jpg", "image/jpeg", "https://stock.example/hot.jpg", "Hot", "hotlink")
    raise NotFound("the library has no such image")


@hookimpl
def pressroom_media_libraries(plugin: PluginContext) -> Iterable[MediaLibrary]:
    """Register the library."""
    del plugin
    return [MediaLibrary("standin", _image)]
