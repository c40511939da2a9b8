"""How a website on a platform such as WordPress is spoken to.

A `Site` is one website with its credential: small verbs, each one request or a few, none of which retries by itself.
Publishing puts them together, step by step, and remembers what was done.

Whatever goes wrong at the other side is raised as one of the `SiteError` classes. What a site says of itself is bounded
here, so that no connector has to: it is stored, and shown to people and models.
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
"""Kinds of what posts are sorted by on platforms."""

PostState = Literal["draft", "scheduled", "live", "trashed", "gone"]
"""What a post is on its platform."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What can be done on a site. A connector's are what its platform can; a site's, what its credential may.

    `read_back` tells that the site shows posts as it keeps them. Where it does not, nothing is compared with what was
    sent, edits made there are not noticed, and the site keeps `RecallingSite`.

    `authors` tells that posts are by accounts of the platform: `ensure_terms` returns the id of the one that
    `Post.author` names, and where it returns none, people are told. `featured_caption` tells that
    `Post.featured_caption` is shown. `built` tells that pages of the site appear some time after a post was taken, once
    the site was built. `audience` tells that `create` lets only those read a post whom `Post.audience` names.
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


@dataclass(frozen=True, slots=True)
class SiteAddress:
    """Which website it is. `url` has no slash at its end. `settings` are those of `update_website_settings`."""

    id: str
    user_id: str
    name: str
    url: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ConnectionCheck:
    """One point of a live check. `id` is stable, such as `reachable`; `fix` says what its owner can do about it."""

    id: str
    status: Literal["ok", "warning", "error"]
    message: str
    fix: str = ""

    def __post_init__(self) -> None:
        """Bound what the site says, which is in the message."""
        cut(self, MAX_LINE_LENGTH, "message", "fix")


@dataclass(frozen=True, slots=True)
class ConnectionReport:
    """What a live check found: its points, and what the credential may do.

    `site_url` is proof that the site controls a URL: the one that the platform's own API names as the site's, set only
    where the API accepted a credential that administers the site.
    """

    checks: tuple[ConnectionCheck, ...]
    capabilities: Capabilities
    name: str = ""
    language: str = ""
    timezone: str = ""
    site_url: str = ""

    def __post_init__(self) -> None:
        """Bound what the site says."""
        cut(self, MAX_LINE_LENGTH, "name", "language", "timezone")

    @property
    def ok(self) -> bool:
        """Whether publishing is possible."""
        return all(check.status != "error" for check in self.checks)


@dataclass(frozen=True, slots=True)
class Term:
    """A category, tag, author, blog or collection of a site; `count` is how many posts it has, if that is known."""

    id: str
    name: str
    slug: str = ""
    count: int | None = None

    def __post_init__(self) -> None:
        """Bound what the site says; a count that is not a number is not known."""
        cut(self, MAX_LINE_LENGTH, "id", "name", "slug")
        if isinstance(self.count, bool) or not isinstance(self.count, int) or abs(self.count) > _MAX_COUNT:
            object.__setattr__(self, "count", None)


@dataclass(frozen=True, slots=True)
class Post:
    """An article as a platform gets it.

    `html` is sanitised; `markdown` is the same text for platforms that take markdown. `marker` names the publication:
    it is the same for every attempt, and a connector hides it in the post (meta, front matter, an HTML comment or the
    slug) so that `Site.find` finds it again. `tags` and `categories` are names, `term_ids` what `ensure_terms`
    returned for them. `featured` is what `upload` returned.

    `raw` is the body in the platform's own form, for a `BlockSite`; `html` and `markdown` then say what readers are to
    see of it. `kept` are names of fields that an update leaves as they are on the site. `marker` is empty for a post
    that was there before: nothing is hidden in it.

    `audience` is set for `create` alone, where the post takes the place of one that not everybody could read: what
    `RemotePost.audience` said of that one. Only sites with the capability of this name get it.
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
    """A file on the site, or on the host that it is hotlinked from."""

    id: str
    url: str

    def __post_init__(self) -> None:
        """Bound what the site says."""
        cut(self, MAX_URL_LENGTH, "id", "url")


@dataclass(frozen=True, slots=True)
class RemotePost:
    """A post as the site shows it. `revision` changes with every edit, whoever made it.

    `html` is the body as it is kept there, for the comparison with what was sent; `fields` are further members by the
    names of `Post` (`title`, `slug`, `excerpt`, `tags`, `categories`, `meta_title`, `meta_description`,
    `canonical_url`, `author`, `featured_alt`, `featured_caption`), as far as the platform gives them back. `featured`
    tells whether it has a featured image; a field of that name says which, as its URL or id, so that somebody who puts
    another in its place is noticed. `raw` is the whole body in the platform's own form, on a `BlockSite`, and `kind`
    whether it is a post or a page. `audience` is empty for a post that everybody may read once it is live, else says in
    the platform's words who may.

    Of a field 10,000 characters are kept, of one with several values 500 of them; a time without a zone is in UTC.
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
        """Bound what the site says of the post."""
        object.__setattr__(self, "fields", bounded_fields(self.fields))
        cut(self, MAX_FIELD_LENGTH, "audience")
        object.__setattr__(self, "publish_at", bounded_time(self.publish_at))
        object.__setattr__(self, "updated_at", bounded_time(self.updated_at))


@dataclass(frozen=True, slots=True)
class RemoteRedirect:
    """A redirect on a site. `source` is a path that begins with a slash; `target` a path or a URL."""

    id: str
    source: str
    target: str
    permanent: bool = True

    def __post_init__(self) -> None:
        """Bound what the site says."""
        cut(self, MAX_URL_LENGTH, "source", "target")


class Site(Protocol):
    """One website. Every method may raise `SiteUnavailable`, `SiteRejected` and `SiteRefused`.

    Those that change something may raise `UnknownOutcome` besides. What the platform cannot do raises `SiteRefused`.
    `BasicSite` implements what a platform cannot do; derive from it.
    """

    async def check(self) -> ConnectionReport:
        """Look whether the site can be reached, accepts the credential, and what it allows. Changes nothing.

        What is wrong is a point of the finding; only a site that cannot be looked at raises.
        """

    async def terms(self, kind: TermKind, query: str, limit: int) -> Sequence[Term]:
        """Return at most so many terms of a kind, those that match `query` where it is not empty."""

    async def ensure_terms(self, post: Post) -> Mapping[TermKind, tuple[str, ...]]:
        """Return the ids of the post's tags and categories, having made those that are missing. Safe to repeat.

        The author's id is among them where posts are by accounts of the platform and one has that name. Ids are kept
        for later updates, until a site refuses a post, or shows it without some of these names.
        """

    async def find_media(self, marker: str) -> RemoteMedia | None:
        """Return the file that was uploaded under a marker, to settle an unknown outcome."""

    async def upload(self, file: MediaFile, marker: str) -> RemoteMedia:
        """Upload a file."""

    async def find(self, post: Post) -> RemotePost | None:
        """Return the post that carries `post.marker`, in whatever state it is; `None` if absent."""

    async def create(self, post: Post) -> RemotePost:
        """Make the post as a draft, or live where the platform has no drafts."""

    async def read(self, post_id: str) -> RemotePost:
        """Return a post. Raises `SiteGone` where it no longer exists."""

    async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
        """Write the post again; its state stays. An empty `revision` writes over whatever is there.

        Raises:
            RemoteChanged: it is no longer of that revision.
            SiteGone: it no longer exists.
        """

    async def set_state(
        self, post_id: str, state: Literal["draft", "scheduled", "live", "trashed", "gone"], at: datetime | None = None
    ) -> RemotePost:
        """Move the post to a state; `at` is when a scheduled one goes live. Raises `SiteGone`.

        Return the post as `read` would, in the state that it has then: it is not read again.
        """

    def posts(self, since: datetime | None, most: int) -> AsyncIterator[RemotePost]:
        """Yield the live posts, newest first, at most this many, changed after `since` where it is given."""

    async def redirects(self) -> Sequence[RemoteRedirect]:
        """Return the redirects that the site has."""

    async def add_redirect(self, source: str, target: str, *, permanent: bool) -> RemoteRedirect:
        """Add a redirect."""

    async def remove_redirect(self, redirect_id: str) -> None:
        """Remove a redirect. Raises `SiteGone`."""


@runtime_checkable
class RecallingSite(Protocol):
    """A site that cannot be asked for its posts: it only ever answers to what is sent. It keeps `Site` besides.

    `Site.read` returns what the last answer said, `Site.find` finds nothing. Whatever has to be known later, such as
    the post's state, is in the `revision` of every `RemotePost` that is returned: at most 200 characters.
    """

    def recall(self, post_id: str, url: str, revision: str) -> None:
        """Take what was known last of a post, before any other method is called.

        All three are empty for a post that was never made; `revision` stays when a post is gone.
        """


@runtime_checkable
class MediaSite(Protocol):
    """A site that removes files that were uploaded to it. It keeps `Site` besides."""

    async def remove_media(self, media: RemoteMedia) -> None:
        """Remove what `Site.upload` returned: no post that was written here shows it any more. Safe to repeat."""


@runtime_checkable
class WorkingSite(Protocol):
    """A site that works on texts in worker processes, such as every `BasicSite`; `workers` is set before it is used."""

    workers: Workers | None
