"""Copies of articles."""

from __future__ import annotations

from dataclasses import replace

from pressroom.sdk import PluginContext

from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles
from pressroom_content.records import Article


async def copy(
    plugin: PluginContext,
    user_id: str,
    content_id: str,
    *,
    website_id: str | None = None,
    language: str | None = None,
    origin: str = "",
) -> Article:
    """Make a new draft that says the same, for the same website and in the same language unless others are given.

    Raises:
        InvalidInput: the language is not valid, or the account has as many articles as it may.
        NotFound: the account has no such article or website.
    """
    articles = Articles(plugin)
    original = await articles.get(user_id, content_id)
    draft = replace(
        Draft.of(original),
        website_id=website_id if website_id is not None else original.website_id,
        language=language if language is not None else original.language,
        canonical_url="",
    )
    return (await articles.create(user_id, draft, origin=origin)).article
