"""The rows of built-in sites, and the responses for URLs without a post.

A rule is a row of the redirect table. A rule without a target means that its page was taken down (410 Gone).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal
from urllib.parse import quote

from pressroom.columns import new_id
from pressroom.sdk import PluginContext
from sqlalchemy import ColumnElement, Select, and_, case, delete, func, not_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import defer

from pressroom_content.builtin_site.tables import BuiltinFileRow, BuiltinPostRow, BuiltinRedirectRow
from pressroom_content.contract import SiteRefused
from pressroom_content.contract.control import is_below
from pressroom_content.tables import ArticleRow, PublicationRow, WebsiteRow
from pressroom_content.websites.domain_names import site_url

_MAX_HOPS: Final = 20
"""The maximum number of chained redirects that are followed. Visitors see one."""

_MAX_SITES: Final = 5_000
"""The maximum number of sites in robots.txt and the text index."""

_IN_URLS: Final = "/?#%&=+,;:@!$'()*~"
"""Characters of redirect targets that are not quoted: targets are URLs already, or slugs in any script."""


Kind = Literal["post", "page"]


@dataclass(frozen=True, slots=True)
class Detour:
    """The response for a URL of a site without a post: a redirect to `target`, or `gone`.

    If the target is a post, `slug` is its slug, so that a page's related resources can redirect to the other's.
    """

    gone: bool = False
    target: str = ""
    slug: str = ""
    permanent: bool = True


def is_live(now: datetime) -> ColumnElement[bool]:
    """Return the condition for public posts. A scheduled one is live from its time on, to the second."""
    return or_(
        BuiltinPostRow.state == "live",
        and_(BuiltinPostRow.state == "scheduled", BuiltinPostRow.publish_at <= now),
    )


async def may_lead_to(session: AsyncSession, website_id: str, target: str) -> bool:
    """Return whether a redirect of a site may lead to a target: its own paths, and URLs that its account controls.

    Open redirects would lend this server's reputation to any URL.
    """
    if target.startswith("/") and not target.startswith("//"):
        return True
    owner = select(WebsiteRow.user_id).where(WebsiteRow.id == website_id).scalar_subquery()
    location = case((WebsiteRow.platform == "builtin", WebsiteRow.proven_domain), else_=WebsiteRow.control_place)
    proven = or_(WebsiteRow.platform == "builtin", WebsiteRow.control_method != "")
    statement = select(location).where(WebsiteRow.user_id == owner, WebsiteRow.disconnected_at.is_(None), proven)
    return any(location and is_below(target, f"https://{location}") for location in await session.scalars(statement))


async def delete_site(session: AsyncSession, website_id: str) -> None:
    """Delete posts, files and redirects of a built-in site. Articles that are not live elsewhere become drafts."""
    on_site = PublicationRow.website_id == website_id
    elsewhere = select(PublicationRow.article_id).where(
        not_(on_site), PublicationRow.status.in_(("published", "scheduled"))
    )
    articles = select(PublicationRow.article_id).where(on_site, PublicationRow.status != "unpublished")
    drafts = update(ArticleRow).where(
        ArticleRow.id.in_(articles), ArticleRow.id.not_in(elsewhere), ArticleRow.status != "trashed"
    )
    await session.execute(drafts.values(status="draft").execution_options(synchronize_session=False))
    statement = (
        update(PublicationRow)
        .where(on_site)
        .values(
            status="unpublished", due_at=None, error="", path="", external_id="", url="", revision="", sent_hash=b""
        )
    )
    await session.execute(statement.execution_options(synchronize_session=False))
    for table in (BuiltinPostRow, BuiltinFileRow, BuiltinRedirectRow):
        await session.execute(delete(table).where(table.website_id == website_id))


@dataclass(frozen=True, slots=True)
class PublicSite:
    """A built-in site with a live post."""

    key: str
    name: str
    settings: Mapping[str, Any]
    url: str
    has_domain: bool


async def public_sites(plugin: PluginContext) -> Sequence[PublicSite]:
    """Return the sites with a live post, most recently changed first."""
    live_posts = select(BuiltinPostRow.id).where(BuiltinPostRow.website_id == WebsiteRow.id, is_live(datetime.now(UTC)))
    statement = select(WebsiteRow.site_key, WebsiteRow.name, WebsiteRow.settings, WebsiteRow.proven_domain).where(
        WebsiteRow.platform == "builtin", WebsiteRow.site_key.is_not(None), live_posts.exists()
    )
    async with plugin.services.database.reading() as session:
        rows = await session.execute(statement.order_by(WebsiteRow.updated_at.desc()).limit(_MAX_SITES))
        return [
            PublicSite(
                row.site_key,
                row.name,
                row.settings or {},
                site_url(row.site_key, row.proven_domain, plugin.base_url),
                row.proven_domain is not None,
            )
            for row in rows
        ]


class BuiltinSite:
    """The public content of one built-in site."""

    def __init__(self, plugin: PluginContext, website_id: str) -> None:
        self._database = plugin.services.database
        self._website_id = website_id

    async def live(
        self, *, limit: int, offset: int = 0, bodies: bool = False, kind: Kind | None = "post"
    ) -> Sequence[BuiltinPostRow]:
        """Return live posts or pages (`None`: both), newest first, with their texts only if `bodies` is set."""
        statement = self._live(datetime.now(UTC)).limit(limit).offset(offset)
        if kind is not None:
            statement = statement.where(BuiltinPostRow.kind == kind)
        if not bodies:
            statement = statement.options(defer(BuiltinPostRow.html), defer(BuiltinPostRow.markdown))
        async with self._database.reading() as session:
            return list(await session.scalars(statement))

    async def post(self, slug: str) -> BuiltinPostRow | None:
        """Return the live post of a slug, or `None`."""
        statement = self._live(datetime.now(UTC)).where(BuiltinPostRow.slug == slug)
        async with self._database.reading() as session:
            row: BuiltinPostRow | None = await session.scalar(statement)
            return row

    async def post_id(self, slug: str, site_url: str) -> str:
        """Return the ID of the post that visitors of a slug get, or else of the post that has the slug but is not live.

        It is empty if no post has the slug.
        """
        live = await self.post(slug)
        if live is None and (detour := await self.detour(slug, site_url)) is not None and detour.slug:
            live = await self.post(detour.slug)
        if live is not None:
            return live.id
        of_slug = select(BuiltinPostRow.id).where(
            BuiltinPostRow.website_id == self._website_id, BuiltinPostRow.slug == slug
        )
        async with self._database.reading() as session:
            return str(await session.scalar(of_slug.limit(1)) or "")

    async def changed_at(self) -> datetime:
        """Return the time of the last visible change: of a post, a setting, or a scheduled post going live."""
        due = select(func.max(BuiltinPostRow.published_at)).where(
            BuiltinPostRow.website_id == self._website_id,
            BuiltinPostRow.state == "scheduled",
            BuiltinPostRow.published_at <= datetime.now(UTC),
        )
        async with self._database.reading() as session:
            changed = await session.scalar(select(WebsiteRow.updated_at).where(WebsiteRow.id == self._website_id))
            appeared = await session.scalar(due)
        return max(at for at in (changed, appeared, datetime.fromtimestamp(0, UTC)) if at is not None)

    async def file(self, name: str) -> BuiltinFileRow | None:
        """Return a file by its name, or `None`."""
        statement = select(BuiltinFileRow).where(
            BuiltinFileRow.website_id == self._website_id, BuiltinFileRow.name == name, BuiltinFileRow.size > 0
        )
        async with self._database.reading() as session:
            row: BuiltinFileRow | None = await session.scalar(statement.limit(1))
            return row

    async def detour(self, slug: str, site_url: str) -> Detour | None:
        """Return the response for a slug without a live post; `None` if there never was one.

        Chained redirects are resolved to their final target. A redirect that may not lead to its target is ignored.
        """
        path, visited, detour, permanent = f"/{slug}", set[str](), Detour(), True
        async with self._database.reading() as session:
            while path not in visited and len(visited) < _MAX_HOPS:
                visited.add(path)
                rule = await rule_at(session, self._website_id, path)
                is_gone = rule is not None and rule.target == GONE
                if rule is None or not (is_gone or await may_lead_to(session, self._website_id, rule.target)):
                    was_there = await self._was_there(session, path)
                    return Detour(gone=True) if was_there else detour if detour.target else None
                if rule.target == GONE:
                    return Detour(gone=True)
                permanent = permanent and rule.permanent
                local_url = _inside(rule.target, site_url)
                url = rule.target if local_url is None else _local_url(local_url, site_url)
                detour = Detour(target=url, permanent=permanent)
                if local_url is None:
                    return detour
                path = local_url.partition("#")[0].partition("?")[0]
                live = self._live(datetime.now(UTC)).where(BuiltinPostRow.slug == path.removeprefix("/"))
                if await session.scalar(live.with_only_columns(BuiltinPostRow.id)) is not None:
                    return Detour(target=url, slug=path.removeprefix("/"), permanent=permanent)
        return None

    async def _was_there(self, session: AsyncSession, path: str) -> bool:
        """Check whether the post with this slug, which is not live, was public before."""
        statement = select(BuiltinPostRow.id).where(
            BuiltinPostRow.website_id == self._website_id,
            BuiltinPostRow.slug == path.removeprefix("/"),
            BuiltinPostRow.published_at <= datetime.now(UTC),
        )
        return await session.scalar(statement.limit(1)) is not None

    def _live(self, now: datetime) -> Select[Any]:
        posts = select(BuiltinPostRow).where(BuiltinPostRow.website_id == self._website_id, is_live(now))
        return posts.order_by(BuiltinPostRow.published_at.desc(), BuiltinPostRow.id.desc())


def _inside(target: str, site_url: str) -> str | None:
    """Return the path and query of a target on the site; `None` for one elsewhere."""
    if target.startswith("/"):
        return target
    path = target.removeprefix(site_url)
    return path if path != target and path.startswith("/") else None


def _local_url(path: str, site_url: str) -> str:
    return site_url if path == "/" else f"{site_url}{quote(path, safe=_IN_URLS)}"


MAX_REDIRECTS: Final = 10_000
MAX_REMOVED: Final = 10_000
"""The maximum number of removed pages that a site remembers. Older ones respond with 404."""

GONE: Final = ""
"""The target of a page that was taken down."""


async def rule_at(session: AsyncSession, website_id: str, source: str) -> BuiltinRedirectRow | None:
    """Return the rule of a path such as `/old`, or `None`."""
    rule: BuiltinRedirectRow | None = await session.scalar(
        select(BuiltinRedirectRow).where(
            BuiltinRedirectRow.website_id == website_id, BuiltinRedirectRow.source == source
        )
    )
    return rule


async def redirect(
    session: AsyncSession, website_id: str, source: str, target: str, *, permanent: bool
) -> BuiltinRedirectRow:
    """Redirect a path to a target, replacing any rule. Raises `SiteRefused` if the site has too many redirects."""
    row = await rule_at(session, website_id, source)
    if row is None or row.target == GONE:
        await _make_room(session, website_id)
    return await _put(session, website_id, source, row, target=target, permanent=permanent)


async def mark_gone(session: AsyncSession, website_id: str, slug: str) -> None:
    """Record that a post at a slug was removed. Beyond the limit, the oldest records are deleted."""
    source = f"/{slug}"
    row = await rule_at(session, website_id, source)
    if row is None:
        of_site = select(BuiltinRedirectRow.id).where(
            BuiltinRedirectRow.website_id == website_id, BuiltinRedirectRow.target == GONE
        )
        oldest = of_site.order_by(BuiltinRedirectRow.created_at.desc()).offset(MAX_REMOVED - 1)
        surplus = list(await session.scalars(oldest.limit(100)))
        if surplus:
            await session.execute(delete(BuiltinRedirectRow).where(BuiltinRedirectRow.id.in_(surplus)))
    await _put(session, website_id, source, row, target=GONE, permanent=True)


async def forget(session: AsyncSession, website_id: str, slug: str) -> None:
    """Remove the rule of a slug, because a post has it."""
    await session.execute(
        delete(BuiltinRedirectRow).where(
            BuiltinRedirectRow.website_id == website_id, BuiltinRedirectRow.source == f"/{slug}"
        )
    )


async def move(session: AsyncSession, website_id: str, old: str, new: str) -> None:
    """Redirect the old slug of a post to its new one, and update redirects to the old one.

    Raises `SiteRefused` if the site has too many redirects.
    """
    await forget(session, website_id, new)  # an earlier redirect away from the new slug would hide the post
    await session.execute(
        update(BuiltinRedirectRow)
        .where(BuiltinRedirectRow.website_id == website_id, BuiltinRedirectRow.target == f"/{old}")
        .values(target=f"/{new}")
    )
    await redirect(session, website_id, f"/{old}", f"/{new}", permanent=True)


async def _put(
    session: AsyncSession, website_id: str, source: str, row: BuiltinRedirectRow | None, *, target: str, permanent: bool
) -> BuiltinRedirectRow:
    if row is None:
        row = BuiltinRedirectRow(id=new_id("r"), website_id=website_id, source=source)
        session.add(row)
    row.target, row.permanent, row.created_at = target, permanent, datetime.now(UTC)
    return row


async def _make_room(session: AsyncSession, website_id: str) -> None:
    statement = select(func.count()).where(
        BuiltinRedirectRow.website_id == website_id, BuiltinRedirectRow.target != GONE
    )
    if int(await session.scalar(statement) or 0) >= MAX_REDIRECTS:
        raise SiteRefused(f"the site has {MAX_REDIRECTS:,} redirects, the maximum; remove some first")
