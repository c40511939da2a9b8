"""How the server talks to a website on a platform such as WordPress.

A `Site` is one website with its credential. Its methods are small: each one sends one request or a few, and none
retries. Publishing combines them step by step, and records what was done.

Failures of the site are raised as `SiteError` subclasses. The data that a site returns is limited in size here, so that
connectors do not have to do it: it is stored, and shown to users and models.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, Protocol, runtime_checkable

from pressroom.sdk import Workers

from pressroom_content.contract.images import MediaFile
from pressroom_content.contract.site_errors import (
    MAX_FIELD_LENGTH,
    MAX_LINE_LENGTH,
    MAX_URL_LENGTH,
    bounded_fields,
    bounded_time,
    cut,
)

_MAX_COUNT: Final = 2**53

TermKind = Literal["category", "tag", "author", "blog", "collection"]
"""The kinds of terms that platforms organise posts by."""

PostState = Literal["draft", "scheduled", "live", "trashed", "gone"]
"""The state of a post on its platform."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Supported operations: for a connector, those of its platform; for a site, those that its credential allows.

    `draft` means that posts can exist without being live. `schedule` means that the platform itself publishes a post at
    its time. `update` means that a post can be changed. `unpublish` means that a live post can become a draft again.
    `delete` means that posts can be removed. `upload` means that the platform accepts files. `import_posts` means that
    posts which were not written here can be read. `redirects` means that old URLs can redirect to new ones. `tags`,
    `categories`, `canonical`, `featured_image` and `seo_meta` mean that posts have such fields.

    `read_back` means that the site can return its posts. If it cannot, posts are not compared with what was sent, edits
    on the site are not detected, and the site implements `RecallingSite`.

    `authors` means that the authors of posts are accounts of the platform: `ensure_terms` returns the id of the account
    with the name in `Post.author`; if it does not, users are told. `featured_caption` means that
    `Post.featured_caption` is shown. `built` means that pages appear some time after a post was accepted, when the site
    has been built. `audience` means that `create` restricts the readers of a post to `Post.audience`.

    `trash` qualifies `delete`: a post can also be moved to a trash, from which the owner of the site can restore it.
    Set it to `False` if posts can only be deleted permanently.
    """

    draft: bool = False
    schedule: bool = False
    update: bool = False
    unpublish: bool = False
    delete: bool = False
    tags: bool = False
    categories: bool = False
    canonical: bool = False
    featured_image: bool = False
    upload: bool = False
    seo_meta: bool = False
    redirects: bool = False
    import_posts: bool = False
    read_back: bool = True
    authors: bool = False
    featured_caption: bool = False
    built: bool = False
    audience: bool = False
    trash: bool = True


@dataclass(frozen=True, slots=True)
class SiteInfo:
    """Identifies a website. `url` has no slash at its end. `settings` are those of `update_website_settings`."""

    id: str
    user_id: str
    name: str
    url: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ConnectionCheck:
    """One item of a live check. `id` is stable, such as `reachable`; `fix` tells the owner of the site what to do."""

    id: str
    status: Literal["ok", "warning", "error"]
    message: str
    fix: str = ""

    def __post_init__(self) -> None:
        """Cut the texts, which can quote the site, to their maximum length."""
        cut(self, MAX_LINE_LENGTH, "message", "fix")


@dataclass(frozen=True, slots=True)
class ConnectionReport:
    """The result of a live check: its items, and what the credential allows.

    `site_url` proves that the site controls a URL: it is the URL of the site according to the platform's own API, and
    is set only if the API accepted the credential of an administrator.
    """

    checks: tuple[ConnectionCheck, ...]
    capabilities: Capabilities
    name: str = ""
    language: str = ""
    timezone: str = ""
    site_url: str = ""

    def __post_init__(self) -> None:
        """Cut the texts from the site to their maximum length."""
        cut(self, MAX_LINE_LENGTH, "name", "language", "timezone")

    @property
    def ok(self) -> bool:
        """Whether publishing is possible."""
        return all(check.status != "error" for check in self.checks)


@dataclass(frozen=True, slots=True)
class Term:
    """A category, tag, author, blog or collection of a site; `count` is its number of posts, if known."""

    id: str
    name: str
    slug: str = ""
    count: int | None = None

    def __post_init__(self) -> None:
        """Cut the texts to their maximum length, and set an invalid `count` to `None`."""
        cut(self, MAX_LINE_LENGTH, "id", "name", "slug")
        if isinstance(self.count, bool) or not isinstance(self.count, int) or abs(self.count) > _MAX_COUNT:
            object.__setattr__(self, "count", None)


@dataclass(frozen=True, slots=True)
class Post:
    """An article as it is sent to a platform.

    `html` is sanitised; `markdown` is the same text for platforms that take Markdown. `marker` identifies the
    publication: it is the same for every attempt, and a connector hides it in the post (metadata, front matter, an HTML
    comment or the slug) so that `Site.find` can find the post again. `tags` and `categories` are names, and `term_ids`
    are what `ensure_terms` returned for them. `featured` is what `upload` returned.

    `raw` is the body in the platform's own format, for a `BlockSite`; `html` and `markdown` then contain what readers
    should see. `kept` lists the fields that an update leaves unchanged on the site. `marker` is empty for a post that
    existed before: do not hide anything in it.

    `audience` is only set for `create`, when the post replaces one that not everybody could read: it is the
    `RemotePost.audience` of that post. Only sites with the capability of the same name get it.
    """

    marker: str
    title: str
    slug: str
    html: str
    markdown: str
    excerpt: str = ""
    meta_title: str = ""
    meta_description: str = ""
    keyphrase: str = ""
    canonical_url: str = ""
    language: str = ""
    author: str = ""
    tags: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    term_ids: Mapping[TermKind, tuple[str, ...]] = field(default_factory=dict)
    featured: RemoteMedia | None = None
    featured_alt: str = ""
    featured_caption: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    raw: str = ""
    kept: frozenset[str] = frozenset()
    audience: str = ""


@dataclass(frozen=True, slots=True)
class RemoteMedia:
    """A file on the site, or on the host from which it is hotlinked."""

    id: str
    url: str

    def __post_init__(self) -> None:
        """Cut the texts from the site to their maximum length."""
        cut(self, MAX_URL_LENGTH, "id", "url")


@dataclass(frozen=True, slots=True)
class RemotePost:
    """A post as the site returns it. `revision` changes with every edit, no matter who made it.

    `html` is the body as it is stored on the site, for comparison with what was sent. `fields` has other fields under
    their names in `Post` (`title`, `slug`, `excerpt`, `tags`, `categories`, `meta_title`, `meta_description`,
    `canonical_url`, `author`, `featured_alt`, `featured_caption`), as far as the platform returns them. `featured`
    means that the post has a featured image; a field of that name identifies the image by its URL or id, so that the
    server notices if somebody replaces it. `raw` is the whole body in the platform's own format, on a `BlockSite`.
    `kind` is `post` or `page`. `audience` is empty for a post that everybody may read once it is live; otherwise, it
    states who may read it, in the platform's terms.

    Fields are cut after 10,000 characters, and lists after 500 values; a time without a zone is in UTC.
    """

    id: str
    url: str
    state: PostState
    revision: str
    html: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    featured: bool = False
    publish_at: datetime | None = None
    marker: str = ""
    updated_at: datetime | None = None
    raw: str = ""
    kind: Literal["post", "page"] = "post"
    audience: str = ""

    def __post_init__(self) -> None:
        """Cut `fields` and `audience` to their maximum size, and clamp the times."""
        object.__setattr__(self, "fields", bounded_fields(self.fields))
        cut(self, MAX_FIELD_LENGTH, "audience")
        object.__setattr__(self, "publish_at", bounded_time(self.publish_at))
        object.__setattr__(self, "updated_at", bounded_time(self.updated_at))


@dataclass(frozen=True, slots=True)
class RemoteRedirect:
    """A redirect on a site. `source` is a path that begins with a slash; `target` is a path or a URL."""

    id: str
    source: str
    target: str
    permanent: bool = True

    def __post_init__(self) -> None:
        """Cut the texts from the site to their maximum length."""
        cut(self, MAX_URL_LENGTH, "source", "target")


class Site(Protocol):
    """One website. Every method can raise `SiteUnavailable`, `SiteRejected` and `SiteRefused`.

    Methods that change something can also raise `UnknownOutcome`. If the platform does not support an operation, its
    method raises `SiteRefused`. `BasicSite` does that for you; derive from it.
    """

    async def check(self) -> ConnectionReport:
        """Check whether the site can be reached and accepts the credential, and what it allows. Changes nothing.

        Report problems as items of the report; only raise if the site cannot be checked at all.
        """

    async def terms(self, kind: TermKind, query: str, limit: int) -> Sequence[Term]:
        """Return at most `limit` terms of a kind; if `query` is not empty, only those that match it."""

    async def ensure_terms(self, post: Post) -> Mapping[TermKind, tuple[str, ...]]:
        """Return the ids of the post's tags and categories, and create missing ones. Safe to repeat.

        If authors are accounts of the platform and one has the author's name, its id is included. The ids are kept for
        later updates until a site refuses a post, or returns it without some of these names.
        """

    async def find_media(self, marker: str) -> RemoteMedia | None:
        """Return the file that was uploaded with a marker, to resolve an unknown outcome."""

    async def upload(self, file: MediaFile, marker: str) -> RemoteMedia:
        """Upload a file."""

    async def find(self, post: Post) -> RemotePost | None:
        """Return the post that has `post.marker`, whatever its state, or `None` if there is no such post."""

    async def create(self, post: Post) -> RemotePost:
        """Create the post as a draft, or live if the platform does not have drafts."""

    async def read(self, post_id: str) -> RemotePost:
        """Return a post. Raises `SiteGone` if it no longer exists."""

    async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
        """Update the post without changing its state. With an empty `revision`, overwrite whatever is there.

        Raises:
            RemoteChanged: the post no longer has that revision.
            SiteGone: the post no longer exists.
        """

    async def set_state(
        self, post_id: str, state: Literal["draft", "scheduled", "live", "trashed", "gone"], at: datetime | None = None
    ) -> RemotePost:
        """Change the state of the post; `at` is when a scheduled post goes live. Raises `SiteGone`.

        Return the post as `read` would, in its new state, since the server does not read it again.
        """

    def posts(self, since: datetime | None, most: int) -> AsyncIterator[RemotePost]:
        """Yield at most `most` live posts, newest first; with `since`, only those that changed after that time."""

    async def redirects(self) -> Sequence[RemoteRedirect]:
        """Return the redirects that the site has."""

    async def add_redirect(self, source: str, target: str, *, permanent: bool) -> RemoteRedirect:
        """Add a redirect."""

    async def remove_redirect(self, redirect_id: str) -> None:
        """Remove a redirect. Raises `SiteGone`."""


@runtime_checkable
class RecallingSite(Protocol):
    """A site whose API accepts posts but cannot return them. It also implements `Site`.

    `Site.read` returns the state from the last response, and `Site.find` finds nothing. Store whatever you need later,
    such as the post's state, in the `revision` of every `RemotePost` that you return: at most 200 characters.
    """

    def recall(self, post_id: str, url: str, revision: str) -> None:
        """Receive the last known data of a post. Called before any other method.

        All three are empty for a post that was never created; `revision` is kept when a post is gone.
        """


@runtime_checkable
class MediaSite(Protocol):
    """A site that can remove files that were uploaded to it. It also implements `Site`."""

    async def remove_media(self, media: RemoteMedia) -> None:
        """Remove a file that `Site.upload` returned and that no post from this server uses. Safe to repeat."""


@runtime_checkable
class WorkingSite(Protocol):
    """A site that processes texts in worker processes, like every `BasicSite`. `workers` is set before use."""

    workers: Workers | None
