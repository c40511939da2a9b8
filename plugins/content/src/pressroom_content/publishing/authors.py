"""Whether a site has the author that a post names, found out before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from pressroom.sdk import CallError, InvalidInput, PluginContext

from pressroom_content.contract import (
    Capabilities,
    Post,
    Site,
    SiteConnector,
    SiteRefused,
    SiteRejected,
    Term,
    TermKind,
)
from pressroom_content.publishing.posts import capabilities_of, lacks_author, unknown_author
from pressroom_content.records import Website
from pressroom_content.websites.connectors import connector_of
from pressroom_content.websites.store import Websites

_MAX_LISTED: Final = 100
_MAX_NAMED: Final = 20


async def find_author(
    site: Site, connector: SiteConnector, able: Capabilities, post: Post
) -> tuple[Mapping[TermKind, tuple[str, ...]], list[str]]:
    """Return the id of a post's author as `ensure_terms` does, and warnings. Nothing on the site changes.

    Where the site does not list its authors, one that it does not have is a warning.

    Raises:
        InvalidInput: the site has no such author; the message names those that it has.
        SiteError: the site could not be asked.
    """
    if not post.author or "author" in post.kept:
        return {}, []
    ids = await site.ensure_terms(replace(post, tags=(), categories=()))
    if not lacks_author(post, able, ids):
        return ids, []
    known: Sequence[Term] = ()
    if "author" in connector.term_kinds:
        try:
            known = await site.terms("author", "", _MAX_LISTED)
        except (SiteRefused, SiteRejected):
            known = ()
    if not known:
        return ids, [unknown_author(post.author)]
    names = ", ".join(_shown(one) for one in known[:_MAX_NAMED])
    more = f" and {len(known) - _MAX_NAMED} more, which list_site_taxonomies shows" if len(known) > _MAX_NAMED else ""
    raise InvalidInput(
        "author",
        f"the site has no author {post.author[:100]!r}; it has {names}{more}. Name one of them in the option author of "
        "publish_content or in the article, or leave the author out: then the post is by the account that publishes",
    )


async def author_warnings(plugin: PluginContext, website: Website, post: Post) -> tuple[str, ...]:
    """Return the warnings about a post's author before it is sent. Nothing on the site changes.

    Raises:
        InvalidInput: the site has no such author.
    """
    connector = connector_of(plugin, website.platform)
    able = capabilities_of(website, connector)
    if not lacks_author(post, able, {}):
        return ()
    try:
        _, site = await Websites(plugin).open(website.user_id, website.id)
        _, warnings = await find_author(site, connector, able, post)
    except InvalidInput:
        raise
    except CallError as error:
        return (f"the site could not be asked whether it has the author {post.author!r}: {error.message}",)
    return tuple(warnings)


def _shown(one: Term) -> str:
    return f"{one.name} ({one.slug})" if one.slug and one.slug != one.name else one.name
