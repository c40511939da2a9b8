"""Text twins: published articles as text, at URLs of this server that programs read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pressroom_content.contract.articles import Article


@dataclass(frozen=True, slots=True)
class TextTwin:
    """The text of a published article. `listed` tells whether `/llms.txt` names it."""

    markdown: str
    listed: bool


class TextTwinRepository(Protocol):
    """The text twins of published articles."""

    async def of_article(self, article: Article, website_id: str) -> TextTwin | None:
        """Return the twin of an article that is live on a website.

        `None` where it has none there: the website is not proven to control the URL, or the article's slug has changed
        since it was published.
        """
