"""Adopting existing posts: binding an article to a post that is already on a website, so that publishing updates it.

Also finds the publication of an account that a URL of a website belongs to.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, cast
from urllib.parse import unquote, urldefrag

from pressroom.columns import new_id
from pressroom.sdk import InvalidInput, PluginContext
from sqlalchemy import Select, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles, ArticleUpdate, note_status
from pressroom_content.builtin_site.store import BuiltinSite
from pressroom_content.contract import BUILTIN, BlockSite, RemotePost, SiteGone, SiteRefused, SiteRejected
from pressroom_content.contract.control import is_below, url_key, web_url
from pressroom_content.contract.site_errors import storable
from pressroom_content.publishing.bodies import MAX_RAW_LENGTH, SiteBody, joined_text, read_body
from pressroom_content.publishing.comparing import baseline_of, compared
from pressroom_content.publishing.known import can_be_stored, displayed_fields
from pressroom_content.publishing.posts import capabilities_of, fields_of, sent_fields
from pressroom_content.publishing.store import MAX_EXTERNAL_ID_LENGTH, STEPS, shortened, work_on
from pressroom_content.records import Article, Website
from pressroom_content.tables import PageRow, PublicationRow, SiteBodyRow, StepRow
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.connectors import connector_of
from pressroom_content.websites.store import Websites

_STATUSES: Final = {"live": "published", "scheduled": "scheduled", "draft": "draft"}
_MAX_TERMS: Final = 100
_MAX_TERM_LENGTH: Final = 100


@dataclass(frozen=True, slots=True)
class AdoptedPost:
    """An article that is bound to a post.

    `block_names` lists the names of its blocks that only the website understands. `update` is `None` if the account
    already had the article. `mergeable` is true if edits on the website can be merged into it.
    """

    article: Article
    publication_id: str
    block_names: tuple[str, ...] = ()
    update: ArticleUpdate | None = None
    mergeable: bool = False


async def adopt(
    plugin: PluginContext, user_id: str, website_id: str, url: str, *, origin: str = ""
) -> AdoptedPost | None:
    """Bind a new article to the post at a URL of a website; return `None` if its API shows no bindable post there.

    A post that is already bound to an article, or that was published from here, is not adopted again: its article is
    returned, on every platform.

    Raises:
        NotFound: the account has no such website.
        InvalidInput: the post is in the trash, its body cannot be stored, or its article is in the trash.
        QuotaExceeded: the account's storage is full.
        SiteUnavailable: the website could not be reached.
    """
    website = await Websites(plugin).get(user_id, website_id)
    _, site = await Websites(plugin).open(user_id, website_id)
    remote = await _located(site, url) if isinstance(site, BlockSite) else None
    # Another post may have taken over the URL of ours. Trust the website if it can be queried.
    row = await (publication_at(plugin, website, url) if remote is None else _of_remote(plugin, website, remote))
    if row is not None:
        return await _known(plugin, website, row, mergeable=isinstance(site, BlockSite))
    if remote is None or not isinstance(site, BlockSite):
        return None
    if remote.state not in _STATUSES:
        raise InvalidInput("url", f"is a post that is {remote.state} on the website; restore it there first")
    if not can_be_stored(remote.raw):
        raise InvalidInput(
            "url",
            f"is a post whose body cannot be kept: it has more than {MAX_RAW_LENGTH:,} characters, or some that "
            "databases cannot store; change it on the website",
        )
    run = plugin.services.workers.run
    body = await run(read_body, remote.raw, site.codec, owner=user_id, what="the post")
    text = await run(_text_of, body, owner=user_id, what="the post")
    draft, baseline = _draft(website, remote, text), await compared(plugin, baseline_of, remote)
    publication_id = new_id("p")

    async def bind(session: AsyncSession, article: Article) -> None:
        if await session.scalar(of_post(website, remote.id)) is not None:
            raise InvalidInput("url", "is a post that another article was bound to just now; list_content shows it")
        await _bind(plugin, session, publication_id, website, article, remote, body, baseline)

    created = await Articles(plugin).create(user_id, draft, origin=origin, also=bind)
    block_names = tuple(segment.name for segment in body.segments if segment.key)
    return AdoptedPost(created.article, publication_id, block_names, created, mergeable=True)


async def _located(site: BlockSite, url: str) -> RemotePost | None:
    try:
        return await site.locate(url)
    except (SiteRefused, SiteRejected, SiteGone):  # the API is disabled, or not available to this account
        return None


async def _of_remote(plugin: PluginContext, website: Website, remote: RemotePost) -> PublicationRow | None:
    async with plugin.services.database.reading() as session:
        return cast("PublicationRow | None", await session.scalar(of_post(website, remote.id)))


async def _known(plugin: PluginContext, website: Website, row: PublicationRow, *, mergeable: bool) -> AdoptedPost:
    article = await Articles(plugin).get(website.user_id, row.article_id)
    if article.status == "trashed":
        raise InvalidInput("url", f"is the post of {article.id}, which is in the trash; restore_content brings it back")
    return AdoptedPost(article, row.id, mergeable=mergeable)


def _text_of(body: SiteBody) -> str:
    return joined_text([segment.text for segment in body.segments if segment.text])


def _draft(website: Website, remote: RemotePost, text: str) -> Draft:
    def line(name: str, max_length: int) -> str:
        return storable(str(remote.fields.get(name) or ""))[:max_length]

    def names(name: str) -> tuple[str, ...]:
        values = remote.fields.get(name) or ()
        return tuple(storable(str(term))[:_MAX_TERM_LENGTH] for term in values)[:_MAX_TERMS]

    title = " ".join(line("title", 500).split())
    return Draft(
        title=title or "Untitled",
        body=text or " ",
        website_id=website.id,
        slug=line("slug", 200),
        excerpt=line("excerpt", 5000),
        meta_title=line("meta_title", 500),
        meta_description=line("meta_description", 2000),
        canonical_url="",
        author=line("author", 200),
        tags=names("tags"),
        categories=names("categories"),
    )


async def _bind(
    plugin: PluginContext,
    session: AsyncSession,
    publication_id: str,
    website: Website,
    article: Article,
    remote: RemotePost,
    body: SiteBody,
    baseline: tuple[dict[str, Any], bytes],
) -> None:
    if not 0 < len(remote.id) <= MAX_EXTERNAL_ID_LENGTH:
        raise SiteRefused(f"the website gives the post an id of {len(remote.id)} characters, which cannot be kept")
    now, status = datetime.now(UTC), _STATUSES[remote.state]
    scheduled = status == "scheduled"
    row = PublicationRow(
        id=publication_id,
        user_id=article.user_id,
        article_id=article.id,
        website_id=website.id,
        marker=f"pr-{secrets.token_hex(12)}",
        status=status,
        mode={"published": "publish", "scheduled": "schedule", "draft": "draft"}[status],
        article_version=article.version,
        publish_at=remote.publish_at if scheduled else None,
        due_at=remote.publish_at if scheduled else None,
        external_id=remote.id,
        url=web_url(remote.url),
        revision=shortened(remote.revision),
        sent_hash=baseline[1],
        verified={},
        warnings=[],
        attempt=1,
        created_at=now,
        updated_at=now,
        published_at=(remote.updated_at or now) if status == "published" else None,
    )
    session.add(row)
    await session.flush()
    details: Mapping[str, dict[str, Any]] = {
        "draft": {"version": article.version},
        "read_back": {"seen": baseline[0]},
        "live": {"native": True, "native_at": remote.publish_at.isoformat()}
        if scheduled and remote.publish_at is not None
        else {},
    }
    for position, name in enumerate(STEPS):
        state = "pending" if scheduled and name in ("live", "verify") else "done"
        detail = details.get(name, {})
        session.add(StepRow(publication_id=row.id, position=position, name=name, state=state, detail=detail))
    connector = connector_of(plugin, website.platform)
    settings = site_settings.read(website.settings)
    sent = sent_fields(fields_of(article, settings, capabilities_of(website, connector), {}), "")
    session.add(
        SiteBodyRow(
            publication_id=row.id,
            bound=f"{website.id}:{remote.id}",
            raw=body.raw,
            segments=body.stored(),
            fields=displayed_fields(remote),
            sent=sent,
            read_at=now,
        )
    )
    # Otherwise the article would compete with its own page.
    page = (PageRow.website_id == website.id, or_(PageRow.external_id == remote.id, PageRow.url == row.url))
    await session.execute(update(PageRow).where(*page).values(article_id=article.id))
    if scheduled and remote.publish_at is not None:
        row.job_id = await work_on(plugin, session, row.id, row.user_id, remote.publish_at)
    if status != "draft":
        await note_status(session, article.user_id, article.id, status, row.published_at)  # type: ignore[arg-type]


_TWINS: Final = (".md", "/llms.txt")
"""The suffixes that turn the URL of a post into those of its text twins."""


def of_website(website: Website) -> Select[Any]:
    """Return the query for the publications on a website that belong to the website's owner."""
    return select(PublicationRow).where(
        PublicationRow.website_id == website.id, PublicationRow.user_id == website.user_id
    )


def of_post(website: Website, external_id: str) -> Select[Any]:
    """Return the query for the publication of a post, given the post's ID on the website."""
    return of_website(website).where(PublicationRow.external_id == external_id)


async def publication_at(plugin: PluginContext, website: Website, url: str) -> PublicationRow | None:
    """Return the publication of the post at a URL of a website; `None` if nothing was published there from here.

    On built-in sites, the URL matches the post that it shows or redirects to, or the post that was there before it was
    taken down. On other platforms it matches the publication's stored URL, without unpublished ones: another post may
    have taken over their URL.
    """
    if website.platform == BUILTIN:
        post_id = await _builtin_post(plugin, website, url)
        query = of_post(website, post_id) if post_id else None
    else:
        query = of_website(website).where(
            PublicationRow.url.in_(_spellings(url)), PublicationRow.status != "unpublished"
        )
    if query is None:
        return None
    async with plugin.services.database.reading() as session:
        newest = query.order_by(PublicationRow.updated_at.desc()).limit(1)
        return cast("PublicationRow | None", await session.scalar(newest))


async def _builtin_post(plugin: PluginContext, website: Website, url: str) -> str:
    """Return the ID of the post at a URL of a built-in site, on its domain or this server; empty if absent."""
    home = next((base for base in (website.url, website.server_url) if base and is_below(url, base)), None)
    if home is None:
        return ""
    path = url_key(url).removeprefix(url_key(home)).removeprefix("/")
    for ending in _TWINS:
        path = path.removesuffix(ending)
    return await BuiltinSite(plugin, website.id).post_id(unquote(path), website.url)


def _spellings(url: str) -> list[str]:
    """Return the URL without its fragment, with and without a trailing slash: websites use either spelling."""
    plain = urldefrag(url).url.rstrip("/")
    return [plain, f"{plain}/"]
