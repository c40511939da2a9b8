"""The rows of built-in sites, and what their URLs answer that show no post.

A rule is a row of the table of redirects. One without a target says that its page was taken down (410 Gone).
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
from pressroom_content.websites.domain_names import current_url, site_url

_MAX_HOPS: Final = 20
"""How many redirects that lead to each other are followed; visitors see one."""

_MAX_SITES: Final = 5_000
"""How many sites robots.txt and the text index name."""

_IN_URLS: Final = "/?#%&=+,;:@!$'()*~"
"""What targets of redirects hold as it is: they are URLs already, or slugs in any script."""


Kind = Literal["post", "page"]


@dataclass(frozen=True, slots=True)
class Detour:
    """What is at a URL of a site that shows no post: it leads to `target`, or is `gone`.

    Where it leads to a post, `slug` is that post's, so that what belongs to a page leads to what belongs to the other.
    """

    gone: bool = False
    target: str = ""
    slug: str = ""
    permanent: bool = True


def is_live(now: datetime) -> ColumnElement[bool]:
    """Return the condition for posts that visitors see: a scheduled one is live at its time, to the second."""
    return or_(
        BuiltinPostRow.state == "live",
        and_(BuiltinPostRow.state == "scheduled", BuiltinPostRow.publish_at <= now),
    )


async def may_lead_to(session: AsyncSession, website_id: str, target: str) -> bool:
    """Return whether a redirect of a site may lead somewhere: to its own paths, and to URLs that its account controls.

    Any other would make this server lend its name to whatever an account wants to send people to.
    """
    if target.startswith("/") and not target.startswith("//"):
        return True
    owner = select(WebsiteRow.user_id).where(WebsiteRow.id == website_id).scalar_subquery()
    place = case((WebsiteRow.platform == "builtin", WebsiteRow.proven_domain), else_=WebsiteRow.control_place)
    proven = or_(WebsiteRow.platform == "builtin", WebsiteRow.control_method != "")
    wanted = select(place).where(WebsiteRow.user_id == owner, WebsiteRow.disconnected_at.is_(None), proven)
    return any(place and is_below(target, f"https://{place}") for place in await session.scalars(wanted))


async def delete_site(session: AsyncSession, website_id: str) -> None:
    """Delete posts, files and redirects of a built-in site. Articles that were online nowhere else become drafts."""
    mine = PublicationRow.website_id == website_id
    elsewhere = select(PublicationRow.article_id).where(
        not_(mine), PublicationRow.status.in_(("published", "scheduled"))
    )
    articles = select(PublicationRow.article_id).where(mine, PublicationRow.status != "unpublished")
    drafts = update(ArticleRow).where(
        ArticleRow.id.in_(articles), ArticleRow.id.not_in(elsewhere), ArticleRow.status != "trashed"
    )
    await session.execute(drafts.values(status="draft").execution_options(synchronize_session=False))
    taken_down = (
        update(PublicationRow)
        .where(mine)
        .values(
            status="unpublished", due_at=None, error="", path="", external_id="", url="", revision="", sent_hash=b""
        )
    )
    await session.execute(taken_down.execution_options(synchronize_session=False))
    for table in (BuiltinPostRow, BuiltinFileRow, BuiltinRedirectRow):
        await session.execute(delete(table).where(table.website_id == website_id))


@dataclass(frozen=True, slots=True)
class PublicSite:
    """A built-in site that shows a post."""

    key: str
    name: str
    settings: Mapping[str, Any]
    url: str
    has_domain: bool


async def public_sites(plugin: PluginContext) -> Sequence[PublicSite]:
    """Return the sites that show a post, those that changed last first."""
    shows = select(BuiltinPostRow.id).where(BuiltinPostRow.website_id == WebsiteRow.id, is_live(datetime.now(UTC)))
    wanted = select(WebsiteRow.site_key, WebsiteRow.name, WebsiteRow.settings, WebsiteRow.proven_domain).where(
        WebsiteRow.platform == "builtin", WebsiteRow.site_key.is_not(None), shows.exists()
    )
    async with plugin.services.database.reading() as session:
        found = await session.execute(wanted.order_by(WebsiteRow.updated_at.desc()).limit(_MAX_SITES))
        return [
            PublicSite(
                row.site_key,
                row.name,
                row.settings or {},
                site_url(row.site_key, row.proven_domain, plugin.base_url),
                row.proven_domain is not None,
            )
            for row in found
        ]


class BuiltinSite:
    """What visitors of one built-in site see."""

    def __init__(self, plugin: PluginContext, website_id: str) -> None:
        self._database = plugin.services.database
        self._website_id = website_id

    async def live(
        self, *, limit: int, offset: int = 0, bodies: bool = False, kind: Kind | None = "post"
    ) -> Sequence[BuiltinPostRow]:
        """Return live posts or pages (`None`: both), newest first; their texts only where `bodies` asks for them."""
        wanted = self._live(datetime.now(UTC)).limit(limit).offset(offset)
        if kind is not None:
            wanted = wanted.where(BuiltinPostRow.kind == kind)
        if not bodies:
            wanted = wanted.options(defer(BuiltinPostRow.html), defer(BuiltinPostRow.markdown))
        async with self._database.reading() as session:
            return list(await session.scalars(wanted))

    async def post(self, slug: str) -> BuiltinPostRow | None:
        """Return the live post of a slug, or `None`."""
        wanted = self._live(datetime.now(UTC)).where(BuiltinPostRow.slug == slug[:200])
        async with self._database.reading() as session:
            found: BuiltinPostRow | None = await session.scalar(wanted)
            return found

    async def post_id(self, slug: str, site_url: str, server_site_url: str = "") -> str:
        """Return the id of the post that visitors of a slug get, else of the one that has it but is not live.

        It is empty where no post has the slug. The URLs are those of `detour`.
        """
        live = await self.post(slug)
        if live is None and (led := await self.detour(slug, site_url, server_site_url)) is not None and led.slug:
            live = await self.post(led.slug)
        if live is not None:
            return live.id
        of_slug = select(BuiltinPostRow.id).where(
            BuiltinPostRow.website_id == self._website_id, BuiltinPostRow.slug == slug[:200]
        )
        async with self._database.reading() as session:
            return str(await session.scalar(of_slug.limit(1)) or "")

    async def changed_at(self) -> datetime:
        """Return when anything that visitors see last changed: a post, a setting, or that a post's time had come."""
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
        wanted = select(BuiltinFileRow).where(
            BuiltinFileRow.website_id == self._website_id, BuiltinFileRow.name == name[:200], BuiltinFileRow.size > 0
        )
        async with self._database.reading() as session:
            found: BuiltinFileRow | None = await session.scalar(wanted.limit(1))
            return found

    async def detour(self, slug: str, site_url: str, server_site_url: str = "") -> Detour | None:
        """Return what is at a slug that no live post has, `None` where nothing ever was.

        However many redirects lead to each other, this is where they end. One that leads to a site of others counts as
        none. `server_site_url` is where a site with a domain of its own is on this server: what leads there leads to
        the domain at once.
        """
        path, seen, found, permanent = f"/{slug}", set[str](), Detour(), True
        async with self._database.reading() as session:
            while path not in seen and len(seen) < _MAX_HOPS:
                seen.add(path)
                rule = await rule_at(session, self._website_id, path)
                known = rule is not None and rule.target == GONE
                if rule is None or not (known or await may_lead_to(session, self._website_id, rule.target)):
                    was_there = await self._was_there(session, path)
                    return Detour(gone=True) if was_there else found if found.target else None
                if rule.target == GONE:
                    return Detour(gone=True)
                permanent = permanent and rule.permanent
                inside = _inside(rule.target, site_url)
                if inside is None and server_site_url:
                    inside = _inside(current_url(rule.target, site_url, server_site_url), site_url)
                url = rule.target if inside is None else _url_inside(inside, site_url)
                found = Detour(target=url, permanent=permanent)
                if inside is None:
                    return found
                path = inside.partition("#")[0].partition("?")[0]
                live = self._live(datetime.now(UTC)).where(BuiltinPostRow.slug == path.removeprefix("/")[:200])
                if await session.scalar(live.with_only_columns(BuiltinPostRow.id)) is not None:
                    return Detour(target=url, slug=path.removeprefix("/"), permanent=permanent)
        return None

    async def _was_there(self, session: AsyncSession, path: str) -> bool:
        """Tell whether the post that has this slug, and is not live, once was."""
        wanted = select(BuiltinPostRow.id).where(
            BuiltinPostRow.website_id == self._website_id,
            BuiltinPostRow.slug == path.removeprefix("/")[:200],
            BuiltinPostRow.published_at <= datetime.now(UTC),
        )
        return await session.scalar(wanted.limit(1)) is not None

    def _live(self, now: datetime) -> Select[Any]:
        mine = select(BuiltinPostRow).where(BuiltinPostRow.website_id == self._website_id, is_live(now))
        return mine.order_by(BuiltinPostRow.published_at.desc(), BuiltinPostRow.id.desc())


def _inside(target: str, site_url: str) -> str | None:
    """Return the path of a target, with what follows it, where that is a URL of the site; `None` elsewhere."""
    if target.startswith("/"):
        return target
    rest = target.removeprefix(site_url)
    return rest if rest != target and rest.startswith("/") else None


def _url_inside(path: str, site_url: str) -> str:
    return site_url if path == "/" else f"{site_url}{quote(path, safe=_IN_URLS)}"


MAX_REDIRECTS: Final = 10_000
MAX_GONE: Final = 10_000
"""How many pages that were taken down a site remembers; those before answer 404."""

GONE: Final = ""
"""The target of a page that was taken down."""


async def rule_at(session: AsyncSession, website_id: str, source: str) -> BuiltinRedirectRow | None:
    """Return the rule of a path such as `/old`, or `None`."""
    found: BuiltinRedirectRow | None = await session.scalar(
        select(BuiltinRedirectRow).where(
            BuiltinRedirectRow.website_id == website_id, BuiltinRedirectRow.source == source[:500]
        )
    )
    return found


async def redirect(
    session: AsyncSession, website_id: str, source: str, target: str, *, permanent: bool
) -> BuiltinRedirectRow:
    """Make a path lead to a target, whatever its rule was. Raises `SiteRefused` where the site has too many."""
    row = await rule_at(session, website_id, source)
    if row is None or row.target == GONE:
        await _make_room(session, website_id)
    return await _put(session, website_id, source, row, target=target, permanent=permanent)


async def mark_gone(session: AsyncSession, website_id: str, slug: str) -> None:
    """Remember that there was a post at a slug. Where the site remembers too many, it forgets the oldest."""
    source = f"/{slug}"
    row = await rule_at(session, website_id, source)
    if row is None:
        of_site = select(BuiltinRedirectRow.id).where(
            BuiltinRedirectRow.website_id == website_id, BuiltinRedirectRow.target == GONE
        )
        oldest = of_site.order_by(BuiltinRedirectRow.created_at.desc()).offset(MAX_GONE - 1)
        surplus = list(await session.scalars(oldest.limit(100)))
        if surplus:
            await session.execute(delete(BuiltinRedirectRow).where(BuiltinRedirectRow.id.in_(surplus)))
    await _put(session, website_id, source, row, target=GONE, permanent=True)


async def forget(session: AsyncSession, website_id: str, slug: str) -> None:
    """Remove the rule of a slug: there is a post."""
    await session.execute(
        delete(BuiltinRedirectRow).where(
            BuiltinRedirectRow.website_id == website_id, BuiltinRedirectRow.source == f"/{slug}"
        )
    )


async def move(session: AsyncSession, website_id: str, old: str, new: str) -> None:
    """Make the old slug of a post lead to its new one, and whatever led to the old one lead there at once.

    Raises `SiteRefused` where the site has too many redirects.
    """
    await forget(session, website_id, new)  # it may have been an old slug once, and must not lead away from itself
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
    counted = select(func.count()).where(BuiltinRedirectRow.website_id == website_id, BuiltinRedirectRow.target != GONE)
    if int(await session.scalar(counted) or 0) >= MAX_REDIRECTS:
        raise SiteRefused(f"the site has {MAX_REDIRECTS:,} redirects, the maximum; remove some first")
