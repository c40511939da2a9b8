"""The featured image of an article."""

from __future__ import annotations

from pressroom.sdk import Call, InvalidInput
from pressroom_content.contract import Article

from pressroom_images.config import articles_of, plugin_of
from pressroom_images.library.store import Library


async def set_featured(call: Call, content_id: str, media_id: str, alt_text: str = "") -> Article:
    """Make an image of the library an article's featured image; return the article's newest version.

    An image that it has already makes no version.

    Raises:
        NotFound: the account has no such article or image.
        InvalidInput: the article is in the trash, or somebody changes it at the same time.
    """
    articles, user_id = articles_of(call), call.caller.subject
    media = await Library(plugin_of(call)).get(user_id, media_id)
    article = await articles.get(user_id, content_id)
    if article.status == "trashed":
        raise InvalidInput("content_id", "is in the trash; bring it back with restore_content first")
    changes = {"featured_media_id": media.id, "featured_alt": alt_text or media.alt_text}
    written = article
    if (article.featured_media_id, article.featured_alt) != tuple(changes.values()):
        written = await articles.change(article, changes, origin=call.caller.connection_name)
    await Library(plugin_of(call)).use(media.id, article.id, "featured")
    return written
