"""Which publication of an account a URL of a website belongs to."""

from __future__ import annotations

from typing import Any, Final, cast
from urllib.parse import unquote, urldefrag

from pressroom.sdk import PluginContext
from sqlalchemy import Select, select

from pressroom_content.builtin_site.store import BuiltinSite
from pressroom_content.contract import BUILTIN
from pressroom_content.contract.control import is_below, place_of
from pressroom_content.records import Website
from pressroom_content.tables import PublicationRow

_TWINS: Final = (".md", "/llms.txt")
"""What follows the URL of a post in those of its text twins."""


def of_website(website: Website) -> Select[Any]:
    """Return the query for the publications of a website's owner on it."""
    return select(PublicationRow).where(
        PublicationRow.website_id == website.id, PublicationRow.user_id == website.user_id
    )


def of_post(website: Website, external_id: str) -> Select[Any]:
    """Return the query for the publication of a post, which the website knows by that id."""
    return of_website(website).where(PublicationRow.external_id == external_id)


async def publication_at(plugin: PluginContext, website: Website, url: str) -> PublicationRow | None:
    """Return the publication of the post at a URL of a website; `None` where none was published there from here.

    On built-in sites that is the post that visitors see there, or are led to, or the one that was there before it was
    taken down. On others it is the one with this URL: a post that was taken down may have left it to another.
    """
    if website.platform == BUILTIN:
        post_id = await _builtin_post(plugin, website, url)
        wanted = of_post(website, post_id) if post_id else None
    else:
        wanted = of_website(website).where(
            PublicationRow.url.in_(_spellings(url)), PublicationRow.status != "unpublished"
        )
    if wanted is None:
        return None
    async with plugin.services.database.reading() as session:
        newest = wanted.order_by(PublicationRow.updated_at.desc()).limit(1)
        return cast("PublicationRow | None", await session.scalar(newest))


async def _builtin_post(plugin: PluginContext, website: Website, url: str) -> str:
    """Return the id of the post at a URL of a built-in site, on its domain or this server; empty if absent."""
    home = next((one for one in (website.url, website.server_url) if one and is_below(url, one)), None)
    if home is None:
        return ""
    path = place_of(url).removeprefix(place_of(home)).removeprefix("/")
    for ending in _TWINS:
        path = path.removesuffix(ending)
    return await BuiltinSite(plugin, website.id).post_id(unquote(path), website.url, website.server_url)


def _spellings(url: str) -> list[str]:
    """Return the ways in which a website may have written a URL: with a slash at its end, and without."""
    plain = urldefrag(url).url.rstrip("/")
    return [plain, f"{plain}/"]
