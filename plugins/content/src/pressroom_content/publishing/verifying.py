"""How a publication is on its site at this moment: by the platform's API, and looked at as a visitor does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urljoin

from pressroom.sdk import CallError, Fetched, FetchFailed, FetchRefused, PluginContext

from pressroom_content.articles.store import Articles
from pressroom_content.contract import Post, RecallingSite, SiteGone
from pressroom_content.foreign_pages import read_live_page
from pressroom_content.publishing.comparing import edits_in_words, fingerprint, plain
from pressroom_content.publishing.originals import original_of
from pressroom_content.publishing.posts import canonical_url_of, capabilities_of, lacks_author, unknown_author
from pressroom_content.publishing.publications import Publications
from pressroom_content.records import Publication, Website
from pressroom_content.tables import PublicationRow
from pressroom_content.websites.connectors import connector_of
from pressroom_content.websites.store import Websites

_MAX_BYTES: Final = 5_000_000
_SECONDS: Final = 15.0
_READ_SECONDS: Final = 5.0
_NOT_FOUND: Final = 404
_BEING_BUILT: Final = (
    "the page is not there yet: the site is being built; look again in a few minutes with list_publications and "
    "verify, and at the log of the build if it does not appear"
)


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found at a URL: members for `verified`, and what is wrong, a sentence each."""

    facts: Mapping[str, Any]
    warnings: tuple[str, ...] = ()


async def verify(
    plugin: PluginContext, url: str, *, title: str, canonical_url: str = "", built: bool = False
) -> Verification:
    """Check a live page. Nothing is raised: what cannot be checked is a warning.

    `built` tells that the site has to be built first, so that the page may not be there yet.
    """
    if not url:
        return Verification({}, ("the site gave no URL for the post, so its page was not checked",))
    own = f"{plugin.base_url}/sites/"
    try:
        if url.startswith(own):
            page = await _own_page(plugin, url)
        else:
            page = await plugin.services.fetcher.get(
                url, accept="text/html", max_bytes=_MAX_BYTES, seconds=_SECONDS, redirects=5
            )
    except (FetchFailed, FetchRefused) as error:
        return Verification(
            {"url": url, "http_status": None, "checked_at": _now()},
            (f"the page could not be looked at: {error.message}",),
        )
    if built and page.status == _NOT_FOUND:
        facts = {"url": page.url, "http_status": page.status, "checked_at": _now(), "being_built": True}
        return Verification(facts, (_BEING_BUILT,))
    return await _judged(plugin, page, url, title, canonical_url)


async def _own_page(plugin: PluginContext, url: str) -> Fetched:
    """Return a page of a built-in site without the network, through which this server may not reach itself."""
    from pressroom_content.builtin_site.serving import BuiltinPages  # noqa: PLC0415 - templates load with the first

    return await BuiltinPages(plugin).fetched(url)


async def _judged(plugin: PluginContext, page: Fetched, url: str, title: str, canonical_url: str) -> Verification:
    facts: dict[str, Any] = {"url": page.url, "http_status": page.status, "checked_at": _now()}
    if page.status != 200:
        return Verification(facts, (f"the URL of the post answers with the status {page.status}",))
    if page.media_type not in ("text/html", "application/xhtml+xml"):
        return Verification(facts, (f"the URL of the post is not a web page but {page.media_type or 'of no type'}",))
    try:
        said = await plugin.services.workers.run(read_live_page, page.content, what="the page", seconds=_READ_SECONDS)
    except CallError as error:
        return Verification(facts, (f"the page could not be looked at: {error.message}",))
    canonical = urljoin(page.url, said.canonical) if said.canonical else ""
    robots = f"{said.robots},{page.headers.get('x-robots-tag', '')}".lower()
    facts |= {
        "title_found": any(plain(title) in plain(head) for head in said.titles),
        "canonical": canonical,
        "indexable": "noindex" not in robots and "none" not in [part.strip() for part in robots.split(",")],
    }
    return Verification(facts, tuple(_warnings(facts, url, canonical_url)))


def _warnings(facts: Mapping[str, Any], url: str, canonical_url: str) -> list[str]:
    found = []
    if not facts["title_found"]:
        found.append("the page does not show the title of the article; a cache may still hold an older one")
    if not facts["indexable"]:
        found.append("the page tells search engines not to index it (noindex)")
    wanted = canonical_url or url
    if facts["canonical"] and facts["canonical"].rstrip("/") != wanted.rstrip("/"):
        found.append(f"the page's canonical URL is {facts['canonical'][:200]}, not {wanted[:200]}")
    if canonical_url and not facts["canonical"]:
        found.append("the page does not have the canonical URL that was set")
    return found


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class RemoteState:
    """What was found.

    `edits` says in words what somebody changed in the post on the site since, `edited` whether anybody did; `None`
    where nobody knows. With `lost` the post is not there any more, or not in the state that it is to be in.
    """

    verified: Mapping[str, Any]
    drift: tuple[str, ...]
    edited: bool | None
    edits: str = ""
    lost: bool = False


async def author_warnings(plugin: PluginContext, website: Website, post: Post) -> tuple[str, ...]:
    """Return the warnings about a post's author before it is sent. Nothing on the site changes."""
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
    edits, lost = "", False
    try:
        _, site = await Websites(plugin).open(publication.user_id, publication.website_id)
        async with plugin.services.database.reading() as session:
            row = await session.get_one(PublicationRow, publication.id)
        if isinstance(site, RecallingSite):
            site.recall(row.external_id, row.url, row.revision)
        remote = await site.read(publication.external_id)
        edited = fingerprint(remote) != row.sent_hash if row.sent_hash else None
        if edited:
            steps = {step.name: step for step in await Publications(plugin).steps(publication.id)}
            edits = edits_in_words(steps["read_back"].detail.get("seen") if "read_back" in steps else None, remote)
            drift.append(edits)
        if publication.status == "published" and remote.state != "live":
            lost = True
            drift.append(f"the post is {remote.state} on the site and not live; publish_content brings it back")
    except SiteGone:
        lost = True
        drift.append("the post is not on the site any more; publish_content makes it anew")
    except CallError as error:
        drift.append(f"the site could not be asked: {error.message}")
    if publication.status != "published":
        return RemoteState({}, tuple(drift), edited, edits, lost)
    website = await Websites(plugin).get(publication.user_id, publication.website_id)
    article = await Articles(plugin).get(publication.user_id, publication.article_id, publication.article_version)
    original = await original_of(plugin, publication.user_id, publication.canonical_of)
    canonical_url = canonical_url_of(article, publication.options, original[0] if original else "")
    built = capabilities_of(website, connector_of(plugin, website.platform)).built
    found = await verify(plugin, publication.url, title=article.title, canonical_url=canonical_url, built=built)
    if found.facts.get("http_status") is not None:
        await Publications(plugin).note_verified(publication, found.facts, found.warnings)
    return RemoteState(found.facts, (*drift, *found.warnings), edited, edits, lost)
