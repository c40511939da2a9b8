"""An article's body in the forms in which platforms take it."""

from __future__ import annotations

from dataclasses import dataclass

from pressroom_content.records import Article
from pressroom_content.rendering.rules import Sanitiser
from pressroom_content.rendering.sanitising import render


@dataclass(frozen=True, slots=True)
class Text:
    """A body as sanitised HTML and as markdown, and what sanitising took away, in words."""

    html: str
    markdown: str
    removed: tuple[str, ...]


def rendered(article: Article, sanitiser: Sanitiser) -> Text:
    """Return the body of an article. It may take a second: call it in a thread. Raises `InvalidInput`."""
    made = render(article.body, article.body_format, sanitiser)
    markdown = article.body if article.body_format == "markdown" else made.html
    return Text(made.html, markdown, made.removed)
