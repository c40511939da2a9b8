"""A base class for sites: it refuses what a platform cannot do, so you only write what the platform can do.

A `BlockSite` keeps the bodies of posts in blocks, so that unchanged parts stay as they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Final, Literal, Protocol, TypeVar, runtime_checkable

from pressroom.sdk import CallError, Workers

from pressroom_content.contract.images import MediaFile
from pressroom_content.contract.site_errors import SiteRefused, SiteUnavailable
from pressroom_content.contract.sites import (
    Capabilities,
    ConnectionReport,
    Post,
    PostState,
    RemoteMedia,
    RemotePost,
    RemoteRedirect,
    Term,
    TermKind,
)

T = TypeVar("T")

SiteAction = Literal["delete", "import_posts", "redirects", "schedule", "trash", "unpublish", "upload"]
"""An action that a platform may not support: a field of `Capabilities`."""

_REFUSALS: Final[Mapping[SiteAction, str]] = {
    "delete": "this platform cannot delete posts: turn the post into a draft, then delete it on the site",
    "import_posts": "posts cannot be imported from this platform",
    "redirects": "this platform has no redirects",
    "schedule": "this platform has no scheduling: the post is published from here at its time",
    "trash": "this platform has no trash: make the post a draft, or delete it",
    "unpublish": "this platform takes nothing down: delete the post on the site",
    "upload": "this platform takes no files",
}
_STATES: Final[Mapping[PostState, SiteAction]] = {
    "draft": "unpublish",
    "scheduled": "schedule",
    "trashed": "trash",
    "gone": "delete",
}
_VERBS: Final[Mapping[SiteAction, tuple[str, ...]]] = {
    "import_posts": ("posts",),
    "redirects": ("redirects", "add_redirect", "remove_redirect"),
    "upload": ("find_media", "upload"),
}


async def run_in_worker(
    workers: Workers | None, function: Callable[..., T], *arguments: Any, what: str = "the post", seconds: float = 20.0
) -> T:
    """Run a function in a worker process, like `BasicSite.run_in_worker`, for sites that do not derive from it."""
    if workers is None:
        return function(*arguments)
    try:
        return await workers.run(function, *arguments, what=what, seconds=seconds)
    except CallError as error:
        if error.code in ("timeout", "internal_error"):
            raise SiteRefused(error.message) from None
        if error.code == "overloaded":
            raise SiteUnavailable(error.message) from None
        raise


class BasicSite(ABC):
    """Implements `Site` for a platform that has posts and nothing else.

    Write `check`, `find`, `create`, `read`, `update` and `set_state`, and override the methods for anything else that
    the platform can do. If the `capabilities` of a class include `upload`, `import_posts` or `redirects` but the class
    lacks the methods for them, defining it raises `TypeError`.

    `capabilities` are all that the platform can do; `check` returns those of the credential. `refusals` maps
    unsupported actions to messages specific to the platform: `{"redirects": "DEV has no redirects"}`.
    """

    workers: Workers | None = None
    """The server's worker processes; `None` if the site was opened without them, as in a test."""

    capabilities: ClassVar[Capabilities] = Capabilities()
    refusals: ClassVar[Mapping[SiteAction, str]] = {}

    def __init_subclass__(cls) -> None:
        """Raise `TypeError` if the class declares a capability that it does not implement."""
        super().__init_subclass__()
        for action, verbs in _VERBS.items():
            missing = [verb for verb in verbs if getattr(cls, verb) is getattr(BasicSite, verb)]
            if missing and getattr(cls.capabilities, action):
                raise TypeError(f"{cls.__name__} declares the capability {action}; define {', '.join(missing)} too")

    async def run_in_worker(
        self, function: Callable[..., T], *arguments: Any, what: str = "the post", seconds: float = 20.0
    ) -> T:
        """Run a function on a text or a file in a worker process, which can be stopped. See `Workers.run`.

        Raises:
            SiteRefused: the function takes too long, or too much memory.
            SiteUnavailable: too much work is waiting at the moment.
            PressroomError: whatever the function raised.
        """
        return await run_in_worker(self.workers, function, *arguments, what=what, seconds=seconds)

    def refusal(self, action: SiteAction) -> SiteRefused:
        """Return the error for an action that the platform does not support."""
        return SiteRefused(self.refusals.get(action, _REFUSALS[action]))

    def require_state(self, state: PostState) -> None:
        """Refuse a state that posts cannot have, according to `capabilities` and `refusals`. `live` is always possible.

        Raises:
            SiteRefused: the platform cannot do that.
        """
        action = _STATES.get(state)
        if action == "trash" and not self.capabilities.delete:
            action = "delete"
        if action is not None and (action in self.refusals or not getattr(self.capabilities, action)):
            raise self.refusal(action)

    @abstractmethod
    async def check(self) -> ConnectionReport:
        """See `Site.check`."""

    @abstractmethod
    async def find(self, post: Post) -> RemotePost | None:
        """See `Site.find`."""

    @abstractmethod
    async def create(self, post: Post) -> RemotePost:
        """See `Site.create`."""

    @abstractmethod
    async def read(self, post_id: str) -> RemotePost:
        """See `Site.read`."""

    @abstractmethod
    async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
        """See `Site.update`."""

    @abstractmethod
    async def set_state(
        self, post_id: str, state: Literal["draft", "scheduled", "live", "trashed", "gone"], at: datetime | None = None
    ) -> RemotePost:
        """See `Site.set_state`. Begin with `self.require_state(state)`."""

    async def terms(self, kind: TermKind, query: str, limit: int) -> Sequence[Term]:
        """Return nothing: the platform cannot list its terms."""
        del kind, query, limit
        return []

    async def ensure_terms(self, post: Post) -> Mapping[TermKind, tuple[str, ...]]:
        """Return nothing: posts contain the names of their terms."""
        del post
        return {}

    async def find_media(self, marker: str) -> RemoteMedia | None:
        """Return nothing: the platform takes no files."""
        del marker
        return None

    async def upload(self, file: MediaFile, marker: str) -> RemoteMedia:
        """Refuse: the platform takes no files."""
        del marker
        raise SiteRefused(f"{self.refusal('upload').message}: {file.filename} can only be linked")

    def posts(self, since: datetime | None, most: int) -> AsyncIterator[RemotePost]:
        """Refuse: posts cannot be imported."""
        del since, most
        raise self.refusal("import_posts")

    async def redirects(self) -> Sequence[RemoteRedirect]:
        """Refuse: the platform has no redirects."""
        raise self.refusal("redirects")

    async def add_redirect(self, source: str, target: str, *, permanent: bool) -> RemoteRedirect:
        """Refuse: the platform has no redirects."""
        del source, target, permanent
        raise self.refusal("redirects")

    async def remove_redirect(self, redirect_id: str) -> None:
        """Refuse: the platform has no redirects."""
        del redirect_id
        raise self.refusal("redirects")


@dataclass(frozen=True, slots=True)
class BodyBlock:
    """A piece of a body, such as a paragraph, a table, a gallery or a shortcode.

    `source` is the piece as the platform stores it, byte for byte, with the white space that follows it. `name` is what
    users call it, such as `gallery`. `html` is what readers see, or `markdown` on platforms that store Markdown. Both
    are `None` for a block that only its platform understands: it stays in its place, and cannot be edited.
    """

    source: str
    name: str
    html: str | None = None
    markdown: str | None = None


class BodyCodec(Protocol):
    """Splits the bodies of a platform into blocks and joins them again.

    Its methods are pure and never raise, although bodies come from somebody's site, can be malformed, and can have up
    to 5 MB. The codec is pickled, since it runs in worker processes.
    """

    def split(self, raw: str) -> Sequence[BodyBlock]:
        """Return the blocks of a body. A malformed part becomes a block without `html` and `markdown`."""

    def join(self, sources: Sequence[str], original: str = "") -> str:
        """Return a body that consists of these blocks, with their sources unchanged.

        `original` is the body that most of them come from. `join([one.source for one in split(raw)], raw)` is `raw`.
        """

    def encode(self, html: str, markdown: str) -> Sequence[str]:
        """Return the sources for one piece of text that was written on this server, such as a paragraph or a list.

        `html` is sanitised; `markdown` has the same content. Code in it must not run on the platform.
        """


@runtime_checkable
class BlockSite(Protocol):
    """A site whose bodies consist of blocks, and whose existing posts can be taken over. It also implements `Site`.

    It fills `RemotePost.raw`, sends `Post.raw` as the body, and leaves the fields in `Post.kept` out of updates.
    `Site.posts` also yields pages, if the platform has any.
    """

    @property
    def codec(self) -> BodyCodec:
        """The codec for the site's bodies."""

    async def locate(self, url: str) -> RemotePost | None:
        """Return the post or page at a URL of the site, or `None` if its API does not return one."""
