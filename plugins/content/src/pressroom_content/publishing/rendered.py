"""An article's body in the forms in which platforms take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pressroom_content.records import Article
from pressroom_content.rendering.from_html import to_markdown
from pressroom_content.rendering.rules import Sanitiser
from pressroom_content.rendering.sanitising import COMMENTS, render

_HARMLESS: Final = frozenset({COMMENTS})
"""What may stay in markdown: generators have comments such as `<!--more-->`."""


@dataclass(frozen=True, slots=True)
class RenderedBody:
    """A body as sanitised HTML and as markdown, and what sanitising took away, in words.

    Markdown holds nothing that was taken away from the HTML: programs that build sites show raw HTML as it is.
    """

    html: str
    markdown: str
    removed: tuple[str, ...]


def rendered(article: Article, sanitiser: Sanitiser) -> RenderedBody:
    """Return the body of an article. It may take a second: call it in a thread. Raises `InvalidInput`."""
    made = render(article.body, article.body_format, sanitiser)
    if article.body_format == "html":
        markdown = made.html
    elif set(made.removed) - _HARMLESS:
        markdown = to_markdown(made.html)
    else:
        markdown = article.body
    return RenderedBody(made.html, markdown, made.removed)
