"""How a publication stands on its site at this moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pressroom.sdk import CallError, PluginContext

from pressroom_content.contract import Post, RecallingSite, SiteGone
from pressroom_content.publishing.comparing import fingerprint
from pressroom_content.publishing.posts import capabilities_of, lacks_author, unknown_author
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.verifying import verify
from pressroom_content.records import Publication, Website
from pressroom_content.tables import PublicationRow
from pressroom_content.websites.connectors import connector_of
from pressroom_content.websites.store import Websites


@dataclass(frozen=True, slots=True)
class RemoteState:
    """What was found. `edited` tells whether somebody changed the post on the site since; `None` where nobody knows."""

    verified: Mapping[str, Any]
    drift: tuple[str, ...]
    edited: bool | None


async def author_warnings(plugin: PluginContext, website: Website, post: Post) -> tuple[str, ...]:
    """Return what is to be said of a post's author before it is sent. Nothing on the site changes."""
    able = capabilities_of(website, connector_of(plugin, website.platform))
    if not lacks_author(post, able, {}):
        return ()
    try:
        _, site = await Websites(plugin).open(website.user_id, website.id)
        found = await site.ensure_terms(replace(post, tags=(), categories=()))
    except CallError as error:
        return (f"the site could not be asked whether it has the author {post.author!r}: {error.message}",)
    return (unknown_author(post.author),) if lacks_author(post, able, found) else ()


async def look(plugin: PluginContext, publication: Publication) -> RemoteState:
    """Read the post on its site, and its page as a visitor does. What cannot be looked at is part of the answer."""
    if not publication.external_id:
        return RemoteState({}, (), None)
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
        return RemoteState({}, tuple(drift), edited)
    made, _, website = await Publications(plugin).preview(
        publication.user_id, publication.article_id, publication.website_id, publication.options
    )
    able = capabilities_of(website, connector_of(plugin, website.platform))
    post = made.post
    found = await verify(plugin, publication.url, title=post.title, canonical_url=post.canonical_url, built=able.built)
    if found.facts.get("http_status") is not None:
        await Publications(plugin).note_verified(publication, found.facts, found.warnings)
    return RemoteState(found.facts, (*drift, *found.warnings), edited)
