"""Storage of the websites of accounts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final, cast
from zoneinfo import ZoneInfo

from pressroom.columns import as_id, new_id
from pressroom.sdk import InvalidInput, NotFound, PluginContext
from slugify import slugify
from sqlalchemy import CursorResult, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.builtin_site.store import delete_site
from pressroom_content.config import ContentConfig
from pressroom_content.contract import (
    BUILTIN,
    ConnectionReport,
    Site,
    SiteError,
    SiteInfo,
    SiteRefused,
    SiteRejected,
    SiteUnavailable,
    cursor_of,
)
from pressroom_content.contract.control import is_on_this_server
from pressroom_content.records import Website, WebsiteStatus
from pressroom_content.tables import PublicationRow, WebsiteRow
from pressroom_content.vault import Vault
from pressroom_content.websites import domains
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.bounded_site import bounded_site, open_site
from pressroom_content.websites.connectors import connectors
from pressroom_content.websites.domain_names import server_url, site_url
from pressroom_content.websites.findings import note_error, settings_from_site, store_finding
from pressroom_content.websites.pagination import before

RESERVED_KEYS: Final = frozenset({"static", "files", "api", "admin", "new"})
_MAX_KEY_LENGTH: Final = 60

Step = Callable[[AsyncSession], Awaitable[None]]
"""A change that is part of a transaction."""


class Websites:
    """The websites of accounts, and access to them. Those of another account are treated as nonexistent."""

    def __init__(self, plugin: PluginContext[ContentConfig]) -> None:
        self._plugin = plugin
        self._database = plugin.services.database

    async def get(self, user_id: str, website_id: str) -> Website:
        """Return a connected website. Raises `NotFound`."""
        async with self._database.reading() as session:
            return self._website(await self._row(session, user_id, website_id))

    async def page(
        self, user_id: str, *, status: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> tuple[Sequence[Website], str | None]:
        """Return connected websites, newest first, and the cursor of the next page. Raises `InvalidInput`."""
        async with self._database.reading() as session:
            return await self.page_within(session, user_id, status=status, limit=limit, cursor=cursor)

    async def page_within(
        self,
        session: AsyncSession,
        user_id: str,
        *,
        status: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> tuple[Sequence[Website], str | None]:
        """Do the same as `page` within an open session."""
        query = select(WebsiteRow).where(WebsiteRow.user_id == user_id, WebsiteRow.disconnected_at.is_(None))
        if status is not None:
            query = query.where(WebsiteRow.status == status)
        if cursor is not None:
            query = query.where(before(WebsiteRow.created_at, WebsiteRow.id, cursor))
        query = query.order_by(WebsiteRow.created_at.desc(), WebsiteRow.id.desc()).limit(limit + 1)
        websites = [self._website(row) for row in await session.scalars(query)]
        more = len(websites) > limit
        websites = websites[:limit]
        return websites, cursor_of(websites[-1].created_at, websites[-1].id) if more else None

    async def names(self, user_id: str) -> Mapping[str, str]:
        """Return the names of all websites that the account ever had, by ID."""
        async with self._database.reading() as session:
            return await read_names(session, user_id)

    async def zones(self, user_id: str) -> Mapping[str, ZoneInfo]:
        """Return the time zones of all websites that the account ever had, by ID."""
        async with self._database.reading() as session:
            return await read_zones(session, user_id)

    async def count(self, user_id: str) -> int:
        """Return the number of connected websites."""
        async with self._database.reading() as session:
            return await self._count(session, user_id)

    async def by_key(self, site_key: str) -> Website | None:
        """Return the built-in site with this key in its URL, of any account, or `None`."""
        query = select(WebsiteRow).where(WebsiteRow.site_key == site_key[:_MAX_KEY_LENGTH])
        async with self._database.reading() as session:
            row = await session.scalar(query)
        return None if row is None else self._website(row)

    async def open(self, user_id: str, website_id: str) -> tuple[SiteInfo, Site]:
        """Return the `SiteInfo` of a website and the site to call.

        Raises:
            NotFound: the account has no such website.
            SiteUnavailable: no plugin of this server supports its platform.
            SiteRejected: its credential cannot be decrypted.
            SiteRefused: its URL is one of this server's own.
        """
        async with self._database.reading() as session:
            website, sealed = await self.sealed(session, user_id, website_id)
        return self.unsealed(website, sealed)

    async def sealed(self, session: AsyncSession, user_id: str, website_id: str) -> tuple[Website, str]:
        """Return a connected website and its encrypted credential, for `unsealed`. Raises `NotFound`."""
        row = await self._row(session, user_id, website_id)
        return self._website(row), row.credential

    def unsealed(self, website: Website, sealed: str) -> tuple[SiteInfo, Site]:
        """Decrypt the credential and open the website. Raises the same exceptions as `open`, except `NotFound`."""
        credential = Vault.of(self._plugin).open(sealed, website.id) if sealed else {}
        return self.site(website, credential)

    def site(self, website: Website, credential: Mapping[str, str]) -> tuple[SiteInfo, Site]:
        """Open a website with a credential.

        Raises `SiteUnavailable` and `SiteRefused`.
        """
        connector = connectors(self._plugin).get(website.platform)
        if connector is None:
            raise SiteUnavailable(
                f"the connector for {website.platform} is no longer on this server; ask the operator to install it"
            )
        if website.platform != BUILTIN and is_on_this_server(website.url, self._plugin.base_url):
            raise SiteRefused(
                f"{website.url} is a URL of this server itself, which only built-in sites have; connect the website "
                "again with a URL of its own"
            )
        info = SiteInfo(website.id, website.user_id, website.name, website.url, website.settings)
        site = open_site(self._plugin, connector, info, credential)
        return info, bounded_site(self._plugin, connector, site)

    async def add(
        self,
        user_id: str,
        platform: str,
        *,
        name: str,
        url: str,
        credential: Mapping[str, str],
        finding: ConnectionReport | None = None,
        website_id: str = "",
        together: Step | None = None,
    ) -> Website:
        """Store a website. Raises `InvalidInput` if the account has reached its limit.

        `together` is called within the same transaction.
        """
        now, id_ = datetime.now(UTC), website_id or new_id("w")
        row = WebsiteRow(
            id=id_,
            user_id=user_id,
            platform=platform,
            name=(name or (finding.name if finding else "") or url)[:200],
            url=url,
            status="active",
            credential=Vault.of(self._plugin).seal(credential, id_) if credential else "",
            settings=settings_from_site(finding),
            created_at=now,
            updated_at=now,
        )
        if finding is None and platform in (available := connectors(self._plugin)):
            row.capabilities = asdict(available[platform].capabilities)
        if platform == BUILTIN and (zone := await self._most_common_zone(user_id)):
            row.settings = {"timezone": zone}
        store_finding(row, finding, now, self._plugin.base_url)
        for number in range(1, 1000):
            if platform == BUILTIN:
                row.site_key = _key(row.name, number)
            try:
                async with self._database.writing() as session:
                    if together is not None:
                        await together(session)
                    if await self._count(session, user_id) >= self._plugin.config.max_websites:
                        raise InvalidInput(
                            "",
                            f"an account has at most {self._plugin.config.max_websites} websites; disconnect one first",
                        )
                    session.add(row)
                    await session.flush()
                    return self._website(row)
            except IntegrityError:  # the site key is already taken
                if platform != BUILTIN:
                    raise
                row = _copy(row)
        raise InvalidInput("name", "too many sites have this name; choose another")

    async def reconnect(
        self,
        user_id: str,
        website_id: str,
        *,
        credential: Mapping[str, str],
        url: str,
        finding: ConnectionReport,
        together: Step,
    ) -> Website:
        """Replace the credential of a website. Raises `NotFound`. `together` is called within the same transaction."""
        now = datetime.now(UTC)
        async with self._database.writing() as session:
            await together(session)
            row = await self._row(session, user_id, website_id)
            row.credential = Vault.of(self._plugin).seal(credential, row.id) if credential else ""
            row.url = url or row.url
            row.version += 1
            store_finding(row, finding, now, self._plugin.base_url)
            return self._website(row)

    async def update_settings(
        self, user_id: str, website_id: str, changes: Mapping[str, Any], expected_version: int | None = None
    ) -> Website:
        """Change settings, and the name and the domain if `changes` has them. Without changes, the version stays.

        Raises:
            NotFound: the account has no such website.
            InvalidInput: a setting is wrong, or the website has another version.
        """
        changes = dict(changes)
        name = changes.pop("name", None)
        async with self._database.writing() as session:
            row = await self._row(session, user_id, website_id)
            if expected_version is not None and row.version != expected_version:
                raise InvalidInput(
                    "expected_version",
                    f"the website is now at version {row.version}; read it with get_website, then repeat",
                )
            if not changes and name is None:
                return self._website(row)
            if name is not None:
                if not isinstance(name, str) or not 1 <= len(name.strip()) <= 200:
                    raise InvalidInput("settings.name", "must be a text of 1 to 200 characters")
                row.name = name.strip()
            if "domain" in changes:
                await domains.claim(session, self._plugin, row, changes.pop("domain"))
            settings = site_settings.changed(row.platform, row.settings, changes)
            row.settings, row.version, row.updated_at = settings, row.version + 1, datetime.now(UTC)
            return self._website(row)

    async def pause(self, user_id: str, website_id: str, *, paused: bool) -> Website:
        """Pause or resume publishing on a website. Raises `NotFound`."""
        async with self._database.writing() as session:
            row = await self._row(session, user_id, website_id)
            row.status = "paused" if paused else "active"
            row.version += 1
            return self._website(row)

    async def disconnect(self, user_id: str, website_id: str, *, delete_posts: bool = False) -> int:
        """Delete the credential, and return the number of publications that remain on the site. Safe to repeat.

        `delete_posts` deletes the posts of a built-in site, even of one that was disconnected before.

        Raises:
            NotFound: the account has no such website.
            InvalidInput: `delete_posts` is set for a site that is not a built-in one.
        """
        now = datetime.now(UTC)
        async with self._database.writing() as session:
            row = await self._row(session, user_id, website_id, connected=False)
            if delete_posts and row.platform != BUILTIN:
                raise InvalidInput(
                    "delete_posts", "is for built-in sites; take posts of other platforms down with unpublish_content"
                )
            row.credential = ""
            row.disconnected_at = row.disconnected_at or now
            online = select(func.count()).where(
                PublicationRow.website_id == row.id, PublicationRow.status.in_(("published", "draft", "scheduled"))
            )
            # Nothing more is sent to the site.
            waiting = update(PublicationRow).where(PublicationRow.website_id == row.id)
            await session.execute(waiting.values(due_at=None).execution_options(synchronize_session=False))
            if delete_posts:
                await domains.release(session, self._plugin, row)
                await delete_site(session, row.id)
            return int(await session.scalar(online) or 0)

    async def note_finding(self, user_id: str, website_id: str, finding: ConnectionReport) -> Website:
        """Store the finding of a live check. Raises `NotFound`."""
        async with self._database.writing() as session:
            row = await self._row(session, user_id, website_id)
            store_finding(row, finding, datetime.now(UTC), self._plugin.base_url)
            return self._website(row)

    async def note_error(self, website_id: str, error: SiteError) -> None:
        """Call the function `note_error` in a separate transaction."""
        async with self._database.writing() as session:
            await note_error(session, website_id, error)

    async def reseal(self) -> int:
        """Re-encrypt credentials that were not encrypted with the first key, and return how many there were."""
        vault, done = Vault.of(self._plugin), 0
        async with self._database.reading() as session:
            rows = await session.execute(
                select(WebsiteRow.id, WebsiteRow.credential).where(WebsiteRow.credential != "")
            )
            stale = [(id_, sealed) for id_, sealed in rows if not vault.is_current(sealed)]
        for id_, sealed in stale:
            try:
                fresh = vault.seal(vault.open(sealed, id_), id_)
            except SiteRejected as error:
                await self.note_error(id_, error)
                continue
            statement = update(WebsiteRow).where(WebsiteRow.id == id_, WebsiteRow.credential == sealed)
            async with self._database.writing() as session:
                done += cast("CursorResult[Any]", await session.execute(statement.values(credential=fresh))).rowcount
        return done

    async def _most_common_zone(self, user_id: str) -> str:
        """Return the most common time zone of an account's websites; empty if none is set."""
        query = select(WebsiteRow.settings).where(WebsiteRow.user_id == user_id, WebsiteRow.disconnected_at.is_(None))
        async with self._database.reading() as session:
            stored_settings = await session.scalars(query.order_by(WebsiteRow.created_at.desc()))
            zones = Counter(settings["timezone"] for settings in stored_settings if "timezone" in settings)
        return zones.most_common(1)[0][0] if zones else ""

    async def _row(self, session: AsyncSession, user_id: str, website_id: str, *, connected: bool = True) -> WebsiteRow:
        row = await session.get(WebsiteRow, as_id(website_id))
        if row is None or row.user_id != user_id or (connected and row.disconnected_at is not None):
            raise NotFound(f"this account has no website {website_id[:64]!r}; list_websites shows the ones that it has")
        return row

    async def _count(self, session: AsyncSession, user_id: str) -> int:
        query = select(func.count()).where(WebsiteRow.user_id == user_id, WebsiteRow.disconnected_at.is_(None))
        return int(await session.scalar(query) or 0)

    def _website(self, row: WebsiteRow) -> Website:
        url, on_server = row.url, ""
        if row.platform == BUILTIN:
            on_server = server_url(row.site_key, self._plugin.base_url)
            url = site_url(row.site_key, row.proven_domain, self._plugin.base_url)
        return Website(
            id=row.id,
            user_id=row.user_id,
            platform=row.platform,
            name=row.name,
            url=url,
            status=cast("WebsiteStatus", row.status),
            settings=dict(row.settings),
            capabilities=dict(row.capabilities or {}),
            checks=tuple(row.checks or ()),
            last_error=row.last_error or "",
            last_error_at=row.last_error_at,
            checked_at=row.checked_at,
            last_published_at=row.last_published_at,
            version=row.version or 1,
            created_at=row.created_at,
            disconnected_at=row.disconnected_at,
            control_place=row.control_place or "",
            control_method=row.control_method or "",
            control_at=row.control_at,
            server_url=on_server,
            domain=row.domain or "",
        )


async def read_names(session: AsyncSession, user_id: str) -> Mapping[str, str]:
    """Return the names of all websites that an account ever had, by ID."""
    rows = await session.execute(select(WebsiteRow.id, WebsiteRow.name).where(WebsiteRow.user_id == user_id))
    return {row.id: row.name for row in rows}


async def read_zones(session: AsyncSession, user_id: str) -> Mapping[str, ZoneInfo]:
    """Return the time zones of all websites that an account ever had, by ID."""
    rows = await session.execute(select(WebsiteRow.id, WebsiteRow.settings).where(WebsiteRow.user_id == user_id))
    return {row.id: site_settings.zone_of(row.settings) for row in rows}


def _key(name: str, number: int) -> str:
    key = slugify(name, max_length=_MAX_KEY_LENGTH - 4, word_boundary=True) or "site"
    key = f"{key}-site" if key in RESERVED_KEYS else key
    return key if number == 1 else f"{key}-{number}"


def _copy(row: WebsiteRow) -> WebsiteRow:
    """Return a copy of a row for another attempt to add it."""
    return WebsiteRow(**{column.key: getattr(row, column.key) for column in WebsiteRow.__table__.columns})
