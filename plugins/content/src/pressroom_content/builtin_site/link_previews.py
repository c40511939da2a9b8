"""The images that link previews show of a site's pages."""

from __future__ import annotations

import hashlib
from urllib.parse import quote, urlsplit

from pressroom.sdk import HttpResponse, PluginContext

from pressroom_content.builtin_site import cards
from pressroom_content.builtin_site.frame import BlogImage
from pressroom_content.records import Website
from pressroom_content.tables import BuiltinPostRow
from pressroom_content.websites import settings as site_settings


class LinkPreviews:
    """Finds and draws images for link previews."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin

    async def of_post(self, website: Website, row: BuiltinPostRow, cover: BlogImage | None) -> BlogImage | None:
        """Return the image of a post: its cover, or a card that is drawn for it."""
        if cover is not None:
            parts = urlsplit(website.url)
            url = f"{parts.scheme}://{parts.netloc}{cover.url}" if cover.url.startswith("/") else cover.url
            return BlogImage(url, cover.alt, width=cover.width, height=cover.height)
        if not await cards.available(self._plugin):
            return None
        card = await self.card(website, row)
        url = f"{website.url}/cards/{quote(row.slug)}.png?v={row.revision}"
        return _preview(card, url)

    async def of_site(self, website: Website) -> BlogImage | None:
        """Return the image of the list of posts."""
        if not await cards.available(self._plugin):
            return None
        card = await self.card(website)
        version = hashlib.sha256(repr(sorted(card.props.items())).encode("utf-8", "replace")).hexdigest()[:8]
        return _preview(card, f"{website.url}/card.png?v={version}")

    async def drawn(self, card: cards.Card) -> HttpResponse:
        """Return a card as an image. Raises `NotFound`."""
        content, media_type = await cards.draw(self._plugin, card)
        headers = {"Cache-Control": "public, max-age=86400", "X-Content-Type-Options": "nosniff"}
        return HttpResponse(content, media_type=media_type, headers=headers)

    async def card(self, website: Website, row: BuiltinPostRow | None = None) -> cards.Card:
        """Return what the card of a post says, or that of the site itself."""
        if row is None:
            subtitle = site_settings.read(website.settings).description
            return await cards.compose(title=website.name, subtitle=subtitle, site_name="", author="", eyebrow="")
        categories = row.fields.get("categories", [])
        return await cards.compose(
            title=row.title,
            subtitle=row.fields.get("excerpt", ""),
            site_name=website.name,
            author=row.fields.get("author", ""),
            eyebrow=categories[0] if categories else "",
        )


def _preview(card: cards.Card, url: str) -> BlogImage | None:
    return BlogImage(url, card.props["title"], width=cards.WIDTH, height=cards.HEIGHT) if card.props else None
