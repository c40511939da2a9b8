"""One site in a git repository."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, ClassVar, Final, Literal

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
    SiteGone,
    SiteRefused,
    SiteRejected,
)

from pressroom_git.folders import check_post
from pressroom_git.front_matter import (
    MARKER,
    body_of,
    body_read,
    date_of,
    fields_of,
    front_of,
    has_image,
    is_live,
    joined,
    split,
    text,
    with_state,
)
from pressroom_git.layout import SiteLayout
from pressroom_git.repository import MAX_FILE_BYTES, File, Repository, changed

CAPABILITIES: Final = Capabilities(
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
    built=True,
)
_EXTENSIONS: Final = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/avif": "avif",
}


class GitSite(BasicSite):
    """One site. A post's id is its path, its revision the blob there.

    `shared` is for the operator's repositories, in which all accounts publish: nothing is written there that runs.
    """

    capabilities = CAPABILITIES
    refusals: ClassVar = {
        "import_posts": "posts cannot be imported from a repository",
        "redirects": "redirects are made by what serves the site, not in its repository",
        "schedule": "a repository schedules nothing: the post is published from here at its time",
        "trash": "a repository has no trash: make the post a draft, or delete it; its history stays",
    }

    def __init__(
        self,
        address: SiteAddress,
        repository: Repository,
        layout: SiteLayout,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        *,
        shared: bool = False,
    ) -> None:
        self._address = address
        self._repository = repository
        self._layout = layout
        self._now = now
        self._shared = shared

    async def check(self) -> ConnectionReport:
        """Look whether the repository and the branch are there, and may be written to."""
        try:
            name = await self._repository.check()
        except SiteRejected as error:
            fix = "Make a token for this repository with the permission Contents: read and write."
            return ConnectionReport((ConnectionCheck("credential", "error", error.message, fix),), CAPABILITIES)
        posts = [path for path in await self._repository.paths(self._layout.content) if self._layout.is_post(path)]
        checks = [ConnectionCheck("reachable", "ok", f"the repository {name} can be read")]
        if posts:
            checks.append(ConnectionCheck("publish", "ok", f"{len(posts)} posts are in {self._layout.content}"))
        else:
            fix = "Check the folder, unless the site has no posts yet."
            checks.append(ConnectionCheck("publish", "warning", f"there are no posts in {self._layout.content}", fix))
        return ConnectionReport(tuple(checks), CAPABILITIES)

    async def find_media(self, marker: str) -> RemoteMedia | None:
        """Return the file whose name is the marker."""
        for path in await self._repository.paths(self._layout.images):
            if path.rpartition("/")[2].partition(".")[0] == marker:
                return RemoteMedia(path, self._layout.image_url(self._address.url, path))
        return None

    async def upload(self, file: MediaFile, marker: str) -> RemoteMedia:
        """Commit an image."""
        extension = _EXTENSIONS.get(file.media_type)
        if extension is None:
            raise SiteRefused(f"files of the type {file.media_type} are no images that a site can show")
        path = f"{self._layout.images}/{marker}.{extension}"
        with suppress(RemoteChanged):  # the marker is of this image alone: it is there already
            await self._repository.write(path, _bounded(file.content), f"Add image {marker}.{extension}", "")
        return RemoteMedia(path, self._layout.image_url(self._address.url, path))

    async def find(self, post: Post) -> RemotePost | None:
        """Look for the marker in the files that have the post's name."""
        for path in self._layout.candidates(await self._repository.paths(self._layout.content), post):
            found = self._post(path, await self._repository.read(path))
            if found.marker == post.marker:
                return found
        return None

    async def create(self, post: Post) -> RemotePost:
        """Commit the post as a draft."""
        now = self._now()
        path = self._layout.path(post, now)
        front = with_state(front_of(post, self._layout.generator), self._layout.generator, live=False, now=now)
        content = _bounded(joined(front, body_of(post, self._layout.generator), self._layout.form))
        try:
            sha = await self._repository.write(path, content, f"Add {post.title}", "")
        except RemoteChanged:
            there = self._post(path, await self._repository.read(path))
            if there.marker == post.marker:
                return there
            raise SiteRefused(
                f"{path} is another post", hint="Change the slug with update_content, then call publish_content again."
            ) from None
        return self._post(path, File(content, sha))

    async def read(self, post_id: str) -> RemotePost:
        """Return a post."""
        return self._post(post_id, await self._file(post_id))

    async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
        """Commit the post again; its state, its date and what people added to its front matter stay."""
        there = await self._file(post_id)
        if revision and there.sha != revision:
            raise changed(post_id)
        front, _, form = split(there.content)
        merged = {**front, **front_of(post, self._layout.generator)}
        return await self._write(
            post_id, there, joined(merged, body_of(post, self._layout.generator), form), f"Update {post.title}"
        )

    async def set_state(
        self, post_id: str, state: Literal["draft", "scheduled", "live", "trashed", "gone"], at: datetime | None = None
    ) -> RemotePost:
        """Commit the post in a state, or its removal."""
        del at
        self.require_state(state)
        there = await self._file(post_id)
        front, body, form = split(there.content)
        title = text(front.get("title")) or post_id
        if state == "gone":
            await self._repository.delete(post_id, f"Delete {title}", there.sha)
            return RemotePost(post_id, "", "gone", "")
        made = with_state(front, self._layout.generator, live=state == "live", now=self._now())
        message = f"{'Publish' if state == 'live' else 'Unpublish'} {title}"
        return await self._write(post_id, there, joined(made, body, form), message)

    async def _file(self, post_id: str) -> File:
        if not self._layout.is_post(post_id):
            raise SiteGone("the post is not in the repository any more")
        return await self._repository.read(post_id)

    async def _write(self, path: str, there: File, content: bytes, message: str) -> RemotePost:
        if content == there.content:
            return self._post(path, there)
        if self._shared:
            check_post(path)
        sha = await self._repository.write(path, _bounded(content), message, there.sha)
        return self._post(path, File(content, sha))

    def _post(self, path: str, file: File) -> RemotePost:
        front, body, _ = split(file.content)
        generator = self._layout.generator
        fields: dict[str, Any] = fields_of(front, generator)
        return RemotePost(
            id=path,
            url=self._layout.url(self._address.url, front, path),
            state="live" if is_live(front, generator) else "draft",
            revision=file.sha,
            html=body_read(body, generator),
            fields=fields,
            featured=has_image(front),
            marker=text(front.get(MARKER)),
            updated_at=date_of(front, generator),
        )


def _bounded(content: bytes) -> bytes:
    if len(content) > MAX_FILE_BYTES:
        raise SiteRefused(f"the file would have {len(content)} bytes, and may have {MAX_FILE_BYTES}")
    return content
