"""Connected websites, and where articles are published, as other plugins read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, Protocol

BUILTIN: Final = "builtin"
"""The platform of the sites that this server shows itself."""

WebsiteStatus = Literal["active", "error", "paused"]
"""Whether a website can be published on. `error`: it has to be connected anew or fixed."""


@dataclass(frozen=True, slots=True)
class Website:
    """A connected website, without its credential.

    `settings` has what its owner set, such as `language` and `timezone`; `capabilities` are those of `Capabilities` by
    name. `control_of` reads the `control_` fields.

    `url` of a built-in site is that of its domain once this is proven. `server_url` is its URL on this server all the
    same, empty on other platforms, and `domain` the domain that its owner asked for, proven or not.
    """

    id: str
    user_id: str
    platform: str
    name: str
    url: str
    status: WebsiteStatus
    settings: Mapping[str, Any]
    capabilities: Mapping[str, bool]
    checks: tuple[Mapping[str, str], ...]
    last_error: str
    last_error_at: datetime | None
    checked_at: datetime | None
    last_published_at: datetime | None
    version: int
    created_at: datetime
    disconnected_at: datetime | None
    control_place: str = ""
    control_method: str = ""
    control_at: datetime | None = None
    server_url: str = ""
    domain: str = ""


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page that was found on a website, whoever wrote it. Any of the texts may be empty."""

    url: str
    title: str
    keyphrase: str


class WebsiteRepository(Protocol):
    """The websites of all accounts. What belongs to another account is not found."""

    async def get(self, user_id: str, website_id: str) -> Website:
        """Return a connected website.

        Raises:
            NotFound: the account has no such website, or disconnected it.
        """

    async def page(
        self, user_id: str, *, status: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> tuple[Sequence[Website], str | None]:
        """Return connected websites, newest first, and the cursor of the next page, `None` behind the last.

        Raises:
            InvalidInput: `cursor` is not one of these.
        """

    async def is_builtin(self, website_id: str) -> bool:
        """Return whether a website is one that this server shows itself, whoever it belongs to."""

    async def builtin_url(self, website_id: str) -> str:
        """Return the URL of a website that this server shows itself, whoever it belongs to; empty for any other."""

    async def site_pages(self, user_id: str, website_id: str, *, limit: int) -> Sequence[SitePage]:
        """Return at most `limit` pages that were found on a website, in the order of their URLs."""

    async def import_note(self, user_id: str, website_id: str) -> str:
        """Return what `import_content` does with a page of a website that is not an article, as a sentence for tools.

        It is empty for built-in sites, whose posts all are articles.

        Raises:
            NotFound: the account has no such website, or disconnected it.
        """


PublicationStatus = Literal[
    "queued", "publishing", "published", "draft", "scheduled", "failed", "unknown", "unpublished"
]
"""The status of an article on a website. `unknown`: the website did not say whether it has the post."""


@dataclass(frozen=True, slots=True)
class ArticlePost:
    """An article on a website.

    `url` is empty until the website named one, and stays when the post is taken down. `article_version` is the version
    that was sent last; `published_at` is `None` where the article was never live there.
    """

    website_id: str
    status: PublicationStatus
    url: str
    article_version: int
    created_at: datetime
    published_at: datetime | None


class PublicationRepository(Protocol):
    """The publications of all accounts."""

    async def of_article(self, user_id: str, content_id: str) -> Sequence[ArticlePost]:
        """Return where an article is or was published, in the order in which that was asked for.

        Nothing is returned where the account has no such article.
        """

    async def at_urls(self, user_id: str, website_id: str, urls: Sequence[str]) -> Mapping[str, str]:
        """Return the ids of the articles that are live at URLs of a website, by those URLs, which may end in a slash.

        URLs of pages that no article of the account is bound to are left out.
        """
