"""Access to a site in a git repository."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import ClassVar, Final, Literal
from urllib.parse import unquote, urlsplit

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
    SiteGone,
    SiteInfo,
    SiteRefused,
    SiteRejected,
)

from pressroom_git.bodies import MarkdownCodec
from pressroom_git.layout import SiteLayout, check_post
from pressroom_git.post_files import bounded, changed_file, file_in_state, new_file, posts_of, title_of
from pressroom_git.repository import File, Repository, changed

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
    import_posts=True,
    built=True,
    trash=False,
)
MAX_POSTS: Final = 20_000
"""Maximum number of files to read in one site."""

_BATCH_BYTES: Final = 1_000_000
"""Size in bytes at which a batch of files is parsed."""

_LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)
_EXTENSIONS: Final = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/avif": "avif",
}


class GitSite(BasicSite):
    """One site. Also implements `BlockSite`. A post's ID is its path, its revision is its blob.

    `shared` is set for the operator's repositories, to which all accounts publish: no executable content is written.
    """

    capabilities = CAPABILITIES
    refusals: ClassVar = {
        "redirects": "redirects are set up where the site is hosted, not in its repository",
        "schedule": "a repository has no scheduling: the post is published from here at its time",
        "trash": "a repository has no trash: make the post a draft, or delete it; its history stays",
    }

    def __init__(
        self,
        info: SiteInfo,
        repository: Repository,
        layout: SiteLayout,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        *,
        shared: bool = False,
    ) -> None:
        self._info = info
        self._repository = repository
        self._layout = layout
        self._now = now
        self._shared = shared

    @property
    def codec(self) -> MarkdownCodec:
        """The codec for the generator's files."""
        return MarkdownCodec(self._layout.generator)

    async def check(self) -> ConnectionReport:
        """Check that the repository and the branch exist and are writable."""
        try:
            name = await self._repository.check()
        except SiteRejected as error:
            fix = error.hint or "Make a token for this repository with the permission Contents: read and write."
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
        """Return the image whose file name is the marker; `None` without one."""
        for path in await self._repository.paths(self._layout.images):
            if path.rpartition("/")[2].partition(".")[0] == marker:
                return RemoteMedia(path, self._layout.image_url(self._info.url, path))
        return None

    async def upload(self, file: MediaFile, marker: str) -> RemoteMedia:
        """Commit an image."""
        extension = _EXTENSIONS.get(file.media_type)
        if extension is None:
            raise SiteRefused(f"files of the type {file.media_type} are not images that a site can show")
        path = f"{self._layout.images}/{marker}.{extension}"
        with suppress(RemoteChanged):  # the marker is unique, so the image is already there
            await self._repository.write(path, bounded(file.content), f"Add image {marker}.{extension}", "")
        return RemoteMedia(path, self._layout.image_url(self._info.url, path))

    async def remove_media(self, media: RemoteMedia) -> None:
        """Commit the deletion of an image."""
        if not media.id.startswith(f"{self._layout.images}/"):
            return
        with suppress(SiteGone):
            file = await self._repository.read(media.id)
            await self._repository.delete(media.id, f"Remove image {media.id.rpartition('/')[2]}", file.sha)

    async def find(self, post: Post) -> RemotePost | None:
        """Find the marker in files with the post's name. Posts that were not created here have no marker."""
        if not post.marker:
            return None
        for path in self._layout.candidates(await self._repository.paths(self._layout.content), post):
            remote_post = await self._post(path, await self._repository.read(path))
            if remote_post.marker == post.marker:
                return remote_post
        return None

    async def create(self, post: Post) -> RemotePost:
        """Commit the post as a draft."""
        now = self._now()
        path = self._layout.path(post, now)
        content = await self.run_in_worker(new_file, self._layout, self._shared, post, path, now)
        try:
            sha = await self._repository.write(path, content, f"Add {post.title}", "")
        except RemoteChanged:
            existing = await self._post(path, await self._repository.read(path))
            if existing.marker == post.marker:
                return existing
            raise SiteRefused(
                f"{path} is another post",
                hint="Change the slug with update_content, or in options.slug if you gave it there, then call "
                "publish_content again.",
            ) from None
        return await self._post(path, File(content, sha))

    async def read(self, post_id: str) -> RemotePost:
        """Return a post."""
        return await self._post(post_id, await self._file(post_id))

    async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
        """Commit an update. State, date and members that users added to the front matter are kept."""
        existing = await self._file(post_id)
        if revision and existing.sha != revision:
            raise changed(post_id)
        content = await self.run_in_worker(changed_file, self._layout, self._shared, post, post_id, existing)
        return await self._write(post_id, existing, content, f"Update {post.title}")

    async def set_state(
        self, post_id: str, state: Literal["draft", "scheduled", "live", "trashed", "gone"], at: datetime | None = None
    ) -> RemotePost:
        """Commit a change of the post's state, or its deletion."""
        del at
        self.require_state(state)
        existing = await self._file(post_id)
        if state == "gone":
            title = await self.run_in_worker(title_of, post_id, existing)
            await self._repository.delete(post_id, f"Delete {title}", existing.sha)
            return RemotePost(post_id, "", "gone", "")
        content, title = await self.run_in_worker(
            file_in_state, self._layout, post_id, existing, state == "live", self._now()
        )
        return await self._write(post_id, existing, content, f"{'Publish' if state == 'live' else 'Unpublish'} {title}")

    async def posts(self, since: datetime | None, limit: int) -> AsyncIterator[RemotePost]:
        """Yield the live posts, newest first by the dates in their files.

        `since` is ignored, since files have no modification time.
        """
        del since
        paths = [path for path in await self._repository.paths(self._layout.content) if self._layout.lists(path)]
        paths.sort(key=lambda path: path.rpartition("/")[2], reverse=True)  # Jekyll's file names begin with the date
        live_posts: list[RemotePost] = []
        async for posts in self._read_all(paths[:MAX_POSTS]):
            live_posts += [post for post in posts if post.state == "live"]
        live_posts.sort(key=lambda post: post.updated_at or _LONG_AGO, reverse=True)
        for post in live_posts[:limit]:
            yield post

    async def locate(self, url: str) -> RemotePost | None:
        """Find the post at a URL: first by file name, then by the URLs of all other files."""
        paths = [path for path in await self._repository.paths(self._layout.content) if self._layout.lists(path)]
        likely = self._layout.likely(url, paths)
        others = sorted(set(paths[:MAX_POSTS]) - set(likely))
        for group in (likely, others):
            async for posts in self._read_all(group):
                if post := next((candidate for candidate in posts if _same_page(candidate.url, url)), None):
                    return post
        return None

    async def _read_all(self, paths: Sequence[str]) -> AsyncIterator[Sequence[RemotePost]]:
        """Yield the posts of files in batches."""
        files: list[tuple[str, File]] = []
        size = 0
        async for path, file in self._repository.read_all(paths):
            files.append((path, file))
            size += len(file.content)
            if size >= _BATCH_BYTES:
                yield await self._posts(files)
                files, size = [], 0
        if files:
            yield await self._posts(files)

    async def _posts(self, files: Sequence[tuple[str, File]]) -> Sequence[RemotePost]:
        description = "the files of the repository"
        return await self.run_in_worker(posts_of, self._layout, self._info.url, files, what=description, seconds=60)

    async def _post(self, path: str, file: File) -> RemotePost:
        return (await self.run_in_worker(posts_of, self._layout, self._info.url, [(path, file)], what=path))[0]

    async def _file(self, post_id: str) -> File:
        if not self._layout.is_post(post_id):
            raise SiteGone("the post is no longer in the repository")
        return await self._repository.read(post_id)

    async def _write(self, path: str, existing: File, content: bytes, message: str) -> RemotePost:
        if content == existing.content:
            return await self._post(path, existing)
        if self._shared:
            check_post(path)
        sha = await self._repository.write(path, bounded(content), message, existing.sha)
        return await self._post(path, File(content, sha))


def _same_page(url: str, other: str) -> bool:
    """Return whether two URLs have the same path, ignoring the host and a trailing slash or `/index.html`."""
    paths = [unquote(urlsplit(page_url).path).rstrip("/").removesuffix("/index.html") for page_url in (url, other)]
    return paths[0] == paths[1]
