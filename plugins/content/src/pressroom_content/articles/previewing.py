"""What readers, and the platforms that show an article to them, would get of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pressroom.sdk import PluginContext

from pressroom_content.articles.store import Articles
from pressroom_content.contract import Post
from pressroom_content.publishing.publications import Publications
from pressroom_content.rendering.sanitising import render

_LEFT_OUT = frozenset({"marker", "html", "markdown", "featured", "term_ids"})


@dataclass(frozen=True, slots=True)
class ArticlePreview:
    """Sanitised HTML, what is sent besides, what sanitising took away, and fields that the platform cannot hold."""

    title: str
    html: str
    payload: Mapping[str, Any]
    removed: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


async def preview(
    plugin: PluginContext, user_id: str, content_id: str, website_id: str | None = None
) -> ArticlePreview:
    """Return an article as a website would get it; without a website, as the built-in pages show it.

    Raises:
        InvalidInput: the body cannot be rendered.
        NotFound: the account has no such article or website.
        SiteUnavailable: an image of the library cannot be read at the moment.
    """
    article = await Articles(plugin).get(user_id, content_id)
    if website_id is None:
        run = plugin.services.workers.run
        made = await run(render, article.body, article.body_format, owner=user_id, what="the article")
        return ArticlePreview(article.title, made.html, {}, made.removed)
    manuscript, article, website = await Publications(plugin).preview(user_id, content_id, website_id, {})
    post = manuscript.post
    return ArticlePreview(
        title=article.title,
        html=post.html,
        payload={"platform": website.platform, **_payload(post)},
        removed=manuscript.removed,
        unsupported=manuscript.unsupported,
        warnings=manuscript.warnings,
    )


def _payload(post: Post) -> dict[str, Any]:
    return {name: value for name, value in asdict(post).items() if name not in _LEFT_OUT and value not in ("", (), {})}
