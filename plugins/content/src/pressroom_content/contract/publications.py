"""Where articles are published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

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
