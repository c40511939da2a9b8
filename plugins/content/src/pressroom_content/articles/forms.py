"""The body of an article in the forms in which it can be read."""

from __future__ import annotations

from typing import Literal

from pressroom.sdk import PluginContext

from pressroom_content.records import Article
from pressroom_content.rendering.from_html import to_markdown
from pressroom_content.rendering.sanitising import render
from pressroom_content.rendering.text import text_of

Form = Literal["markdown", "html", "text"]


def body_as(article: Article, form: Form) -> str:
    """Return a body in a form: as it is stored where that is the form, else converted and sanitised.

    It takes about a second for a megabyte: use `read_as` in a server. Raises `InvalidInput`.
    """
    if form == article.body_format:
        return article.body
    if form == "markdown":
        return to_markdown(article.body)
    html = render(article.body, article.body_format).html
    return html if form == "html" else text_of(html)


async def read_as(plugin: PluginContext, article: Article, form: Form) -> str:
    """Return a body in a form, converted in a worker process where it is stored in another. Raises `CallError`."""
    if form == article.body_format:
        return article.body
    return await plugin.services.workers.run(body_as, article, form, owner=article.user_id, what="the article")
