"""How a publication stands on its site at this moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pressroom.sdk import CallError, PluginContext

from pressroom_content.contract import RecallingSite, SiteGone
from pressroom_content.publishing.comparing import fingerprint
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.verifying import verify
from pressroom_content.records import Publication
from pressroom_content.tables import PublicationRow
from pressroom_content.websites.store import Websites


@dataclass(frozen=True, slots=True)
class Seen:
    """What was found. `edited` tells whether somebody changed the post on the site since; `None` where nobody knows."""

    verified: Mapping[str, Any]
    drift: tuple[str, ...]
    edited: bool | None


async def look(plugin: PluginContext, publication: Publication) -> Seen:
    """Read the post on its site, and its page as a visitor does. What cannot be looked at is part of the answer."""
    if not publication.external_id:
        return Seen({}, (), None)
    drift: list[str] = []
    edited: bool | None = None
    try:
        _, site = await Websites(plugin).open(publication.user_id, publication.website_id)
        async with plugin.services.database.reading() as session:
            row = await session.get_one(PublicationRow, publication.id)
        if isinstance(site, RecallingSite):
            site.recall(row.external_id, row.url, row.revision)
        remote = await site.read(publication.external_id)
        edited = fingerprint(remote) != row.sent_hash if row.sent_hash else None
        if edited:
            drift.append("the post was edited on the site since it was last written from here")
        if publication.status == "published" and remote.state != "live":
            drift.append(f"the post is {remote.state} on the site and not live")
    except SiteGone:
        drift.append("the post is not on the site any more; publish_content makes it anew")
    except CallError as error:
        drift.append(f"the site could not be asked: {error.message}")
    if publication.status != "published":
        return Seen({}, tuple(drift), edited)
    made, _, _ = await Publications(plugin).preview(
        publication.user_id, publication.article_id, publication.website_id, publication.options
    )
    found = await verify(plugin, publication.url, title=made.post.title, canonical_url=made.post.canonical_url)
    return Seen(found.facts, (*drift, *found.warnings), edited)
