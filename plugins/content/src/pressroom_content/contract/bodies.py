"""The bodies of posts as their platform keeps them, in blocks, so that what nobody changed stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from pressroom_content.contract.sites import RemotePost


@dataclass(frozen=True, slots=True)
class BodyBlock:
    """A piece of a body, such as a paragraph, a table, a gallery or a shortcode.

    `source` is the piece as the platform keeps it, byte for byte, with the white space that follows it. `name` is what
    people call it, such as `gallery`. What readers see of it is `html`, or `markdown` on platforms that keep markdown.
    Both are `None` for a block that only its platform understands: it is kept at its place, and cannot be edited.
    """

    source: str
    name: str
    html: str | None = None
    markdown: str | None = None


class BodyCodec(Protocol):
    """Takes bodies of a platform apart and puts them together.

    Its methods are pure and raise nothing: bodies come from somebody's site, may be broken, and have up to 5 MB. It is
    pickled, since it runs in worker processes.
    """

    def split(self, raw: str) -> Sequence[BodyBlock]:
        """Return the blocks of a body. What is not well formed is a block without `html` and `markdown`."""

    def join(self, sources: Sequence[str], original: str = "") -> str:
        """Return a body of these blocks, each with its source as it is.

        `original` is the body that most of them are from. `join([one.source for one in split(raw)], raw)` is `raw`.
        """

    def encode(self, html: str, markdown: str) -> Sequence[str]:
        """Return the sources of one piece of text that was written here, such as a paragraph or a list.

        `html` is sanitised; `markdown` says the same. Code in it must not run on the platform.
        """


@runtime_checkable
class BlockSite(Protocol):
    """A site whose bodies are written in blocks, and whose posts can be taken over. It keeps `Site` besides.

    It fills `RemotePost.raw`, sends `Post.raw` as the body, and leaves out of updates the fields that `Post.kept`
    names. `Site.posts` yields pages besides posts, where the platform has any.
    """

    @property
    def codec(self) -> BodyCodec:
        """What takes the site's bodies apart."""

    async def locate(self, url: str) -> RemotePost | None:
        """Return the post or page at a URL of the site, `None` where its API knows none."""
