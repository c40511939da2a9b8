"""Domains of built-in sites: requested by the owner, proven by an HTTP challenge, and used from then on.

The owner's request creates a token that this server returns at `/.well-known/pressroom-domain/<website>` under that
name. The domain is proven once the server's fetcher finds the token there: then the domain points here. Alternatively,
the operator assigns the domain to the site. A proven domain belongs to one site; a request reserves nothing.

If TXT records of the domain list websites (see `domain_names`), only these can have it, and they take it over from a
site that is not listed.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal
from urllib.parse import unquote, urlsplit

import structlog
from pressroom.columns import as_id
from pressroom.sdk import CallError, ChangeCount, FetchFailed, FetchRefused, InvalidInput, NotFound, PluginContext
from sqlalchemy import and_, delete, event, func, literal, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.config import ContentConfig
from pressroom_content.contract import BUILTIN
from pressroom_content.tables import PageRow, PublicationRow, WebsiteRow
from pressroom_content.websites.domain_names import (
    FIELD,
    RecordsUnknown,
    assigned_websites,
    could_be_domain,
    domain_url,
    read_domain,
    record_name,
    record_text,
    server_url,
)

log = structlog.get_logger()

PROOF_PATH: Final = "/.well-known/pressroom-domain"
"""The path of the challenge tokens, by website. Proxies query the path itself before they obtain a certificate."""

LAPSE: Final = timedelta(days=3)
"""How long a site keeps a domain that no longer points here."""

_NEW: Final = timedelta(days=3)
"""How long after the request a domain is checked with every run of the job."""

_SHORT_PAUSE: Final = timedelta(minutes=10)
_LONG_PAUSE: Final = timedelta(days=1)
_AT_ONCE: Final = 100
_SECONDS: Final = 10.0
_MAX_BYTES: Final = 1_000
PROVEN_CHANGES: Final = ChangeCount()
"""Counts how often this process has given a domain to a site or taken one from it."""

_TAKEN_PROBLEM: Final = "is the domain of another website of this server; if it is yours, ask the operator"


@dataclass(frozen=True, slots=True)
class DomainState:
    """The state of a site's domain.

    `waiting`: it does not point here yet. `proven`: it has pointed here since `since`. `lost`: it stopped pointing here
    at `since`. `target` is the host that its DNS record has to point to, `problem` the error of the last check at
    `checked_at`.
    """

    website_id: str
    name: str
    url: str
    target: str
    status: Literal["waiting", "proven", "lost"]
    since: datetime | None
    checked_at: datetime | None
    problem: str
    by_operator: bool

    @property
    def record(self) -> tuple[str, str]:
        """Name and text of the TXT record that assigns the domain to the website."""
        return record_name(self.name), record_text(self.website_id)

    @property
    def how(self) -> str:
        """Instructions for the owner; empty if nothing is left to do."""
        if self.status == "proven":
            return ""
        return (
            f"Create a CNAME record of {self.name} that points to {self.target}. For a domain without a subdomain, "
            f"create an ALIAS record, or A and AAAA records with the IP addresses of {self.target}. To prove that the "
            f"domain belongs to this website, add a TXT record {self.record[0]} with the text {self.record[1]}: then "
            "nobody else on this server can use it. Check the domain after that."
        )


async def claim(session: AsyncSession, plugin: PluginContext[ContentConfig], row: WebsiteRow, typed: object) -> None:
    """Set the domain that the owner of a built-in site requests, which then has to be proven. An empty text removes it.

    Raises `InvalidInput`.
    """
    if row.platform != BUILTIN:
        raise InvalidInput(FIELD, "is a setting of built-in sites; change it on the website itself")
    if not isinstance(typed, str | None):
        raise InvalidInput(FIELD, "must be a text such as blog.example.org, or null for none")
    listed = plugin.config.domains
    assigned = frozenset(name for name, key in listed.items() if key == row.site_key)
    name = (
        read_domain(typed, plugin.base_url, listed=typed.strip().lower() in assigned) if typed and typed.strip() else ""
    )
    if name == row.domain:
        return
    if name:
        holder = await _holder(session, name)
        if holder is not None and (name in assigned or (holder.user_id == row.user_id and holder.disconnected_at)):
            await _use(session, plugin, holder, None)
            holder.domain = ""
        elif holder is not None and holder.user_id == row.user_id:
            raise InvalidInput(FIELD, f"{name} is the domain of your website {holder.name}; remove it there first")
        elif listed.get(name, row.site_key) != row.site_key:
            raise InvalidInput(FIELD, f"{name} {_TAKEN_PROBLEM}")
    await _use(session, plugin, row, None)
    now = datetime.now(UTC)
    row.domain, row.domain_token, row.domain_at = name, secrets.token_hex(16) if name else "", now if name else None
    row.domain_checked_at, row.domain_lost_at, row.domain_problem = None, None, ""
    if name in assigned:
        await _use(session, plugin, row, name)


async def release(session: AsyncSession, plugin: PluginContext[ContentConfig], row: WebsiteRow) -> None:
    """Remove the domain of a site, if it has one."""
    if row.platform == BUILTIN and row.domain:
        await claim(session, plugin, row, "")


class Domains:
    """Checks whether domains point here, and looks up proven ones."""

    def __init__(self, plugin: PluginContext[ContentConfig]) -> None:
        self._plugin = plugin
        self._database = plugin.services.database

    async def state(self, user_id: str, website_id: str) -> DomainState | None:
        """Return the state of a website's domain, or `None` if it has no domain. Raises `NotFound`."""
        async with self._database.reading() as session:
            return self._state(await self._row(session, user_id, website_id))

    async def check(self, user_id: str, website_id: str) -> DomainState | None:
        """Check whether the domain of a website points here, and use it if it does. Raises `NotFound`."""
        async with self._database.reading() as session:
            row = await self._row(session, user_id, website_id)
        if not row.domain:
            return None
        assigned, problem = await self._check_records(row)
        try:
            return await self._note(row, problem, assigned)
        except IntegrityError:  # another site proved it concurrently
            return await self._note(row, _taken(row))

    async def renew(self) -> int:
        """Check new domains that wait to be proven, and all others once a day. Return the number of domains checked."""
        now = datetime.now(UTC)
        checked_at = WebsiteRow.domain_checked_at
        new = and_(
            WebsiteRow.proven_domain.is_(None), WebsiteRow.domain_at > now - _NEW, checked_at < now - _SHORT_PAUSE
        )
        query = (
            select(WebsiteRow.user_id, WebsiteRow.id)
            .where(WebsiteRow.domain != "", or_(checked_at.is_(None), checked_at < now - _LONG_PAUSE, new))
            .order_by(checked_at)
            .limit(_AT_ONCE)
        )
        async with self._database.reading() as session:
            due = [(row.user_id, row.id) for row in await session.execute(query)]
        for user_id, website_id in due:
            try:
                await self.check(user_id, website_id)
            except (NotFound, CallError) as error:
                log.warning("a domain could not be checked", website=website_id, error=error.message)
        return len(due)

    async def proven(self) -> Sequence[str]:
        """Return all proven domains."""
        query = select(WebsiteRow.proven_domain).where(WebsiteRow.proven_domain.is_not(None))
        async with self._database.reading() as session:
            return list(await session.scalars(query))

    async def key_of(self, name: str) -> str | None:
        """Return the key of the site that owns a proven domain, or `None`. The name is untrusted."""
        if not could_be_domain(name):
            return None
        query = select(WebsiteRow.site_key).where(WebsiteRow.proven_domain == name)
        async with self._database.reading() as session:
            key: str | None = await session.scalar(query)
            return key

    async def site_path_of(self, url: str) -> tuple[str, str] | None:
        """Return the key of the built-in site that serves a URL, and the path inside it; `None` for any other URL.

        The path is decoded, and without query and fragment.
        """
        base = f"{self._plugin.base_url}/sites/"
        if url.startswith(base):
            relative = url.removeprefix(base).partition("#")[0].partition("?")[0]
            key, _, path = unquote(relative).partition("/")
            return key, path
        try:
            parts = urlsplit(url)
        except ValueError:
            return None
        name = parts.hostname or ""
        if f"{parts.scheme}://{parts.netloc}" != domain_url(name, self._plugin.base_url):
            return None
        site_key = await self.key_of(name)
        return None if site_key is None else (site_key, unquote(parts.path.removeprefix("/")))

    async def proof(self, name: str, website_id: str) -> str | None:
        """Return the token that proves that a website's requested domain points here; `None` for another domain."""
        if not could_be_domain(name):
            return None
        query = select(WebsiteRow.domain_token).where(WebsiteRow.id == as_id(website_id), WebsiteRow.domain == name)
        async with self._database.reading() as session:
            return await session.scalar(query) or None

    def _state(self, row: WebsiteRow) -> DomainState | None:
        if not row.domain:
            return None
        lost = row.domain_lost_at
        status: Literal["waiting", "proven", "lost"] = "waiting"
        if row.proven_domain:
            status = "proven" if lost is None else "lost"
        return DomainState(
            website_id=row.id,
            name=row.domain,
            url=domain_url(row.domain, self._plugin.base_url),
            target=urlsplit(self._plugin.base_url).hostname or "",
            status=status,
            since=lost or row.domain_at,
            checked_at=row.domain_checked_at,
            problem=row.domain_problem,
            by_operator=self._is_listed(row),
        )

    def _is_listed(self, row: WebsiteRow) -> bool:
        """Check whether the operator assigned the domain to this site."""
        return self._plugin.config.domains.get(row.domain) == row.site_key

    async def _row(self, session: AsyncSession, user_id: str, website_id: str) -> WebsiteRow:
        row = await session.get(WebsiteRow, as_id(website_id))
        if row is None or row.user_id != user_id:
            raise NotFound(f"this account has no website {website_id[:64]!r}; list_websites shows the ones that it has")
        return row

    async def _note(self, checked: WebsiteRow, problem: str, assigned: Collection[str] = ()) -> DomainState | None:
        """Store the result of a check, unless the owner has requested another domain meanwhile.

        `assigned` holds the IDs of the websites that records of the domain list.
        """
        now = datetime.now(UTC)
        async with self._database.writing() as session:
            row = await self._row(session, checked.user_id, checked.id)
            if row.domain_token != checked.domain_token or not row.domain:
                return self._state(row)
            if not problem:
                problem = await self._reassign(session, row, assigned)
            row.domain_checked_at, row.domain_problem = now, problem[:500]
            if not problem:
                row.domain_lost_at = None
                if row.proven_domain is None:
                    row.domain_at = now
                    await _use(session, self._plugin, row, row.domain)
                    await session.flush()
            elif row.proven_domain is not None:
                row.domain_lost_at = row.domain_lost_at or now
                if now - row.domain_lost_at >= LAPSE:
                    log.info("a domain no longer points here", website=row.id, domain=row.domain)
                    await _use(session, self._plugin, row, None)
                    row.domain_at, row.domain_lost_at = now, None
            return self._state(row)

    async def _reassign(self, session: AsyncSession, row: WebsiteRow, assigned: Collection[str]) -> str:
        """Take a domain from its holder if records assign it to this site and not to the holder.

        Pointing here proves nothing against the holder: the domain points here for both. Return why the domain cannot
        be had, or "".
        """
        holder = await _holder(session, row.domain)
        listed = self._plugin.config.domains.get(row.domain, row.site_key)
        if listed != row.site_key:
            return f"{row.domain} {_TAKEN_PROBLEM}"
        if holder is None or holder.id == row.id:
            return ""
        if not self._is_listed(row) and (row.id not in assigned or holder.id in assigned):
            return _taken(row)
        await _use(session, self._plugin, holder, None)
        holder.domain_lost_at, holder.domain_problem = None, _taken(holder)
        await session.flush()
        return ""

    async def _check_records(self, row: WebsiteRow) -> tuple[Collection[str], str]:
        """Return the websites that TXT records assign the domain to, and why it is not proven; "" if it is."""
        if self._is_listed(row):
            return (), ""
        name = record_name(row.domain)
        try:
            assigned = await assigned_websites(row.domain, self._plugin.config.dns_servers)
        except RecordsUnknown as error:
            # A proven domain remains proven during an outage of the DNS servers.
            problem = "" if row.proven_domain else f"the TXT records of {name} are not known: {error}"
            return (), problem or await self._problem(row)
        if assigned and row.id not in assigned:
            return assigned, f"{name} gives the domain to another website; for this one it needs {record_text(row.id)}"
        return assigned, await self._problem(row)

    async def _problem(self, row: WebsiteRow) -> str:
        """Return why a domain is not proven to point here; "" if it is."""
        url = domain_url(row.domain, self._plugin.base_url)
        # Many proxies obtain certificates only for proven domains, so plain HTTP counts as well.
        bases = [url, f"http://{row.domain}"] if url.startswith("https://") else [url]
        problems = [await self._problem_at(f"{base}{PROOF_PATH}/{row.id}", row.domain_token) for base in bases]
        return "" if "" in problems else problems[-1]

    async def _problem_at(self, url: str, token: str) -> str:
        try:
            response = await self._plugin.services.fetcher.exchange(
                url, accept="text/plain", max_bytes=_MAX_BYTES, seconds=_SECONDS, plain_http=True
            )
        except (FetchFailed, FetchRefused) as error:
            return f"{url.partition(PROOF_PATH)[0]} cannot be reached: {error.message}"
        if response.status == 200 and secrets.compare_digest(response.content.strip(), token.encode()):
            return ""
        return (
            f"{url} responds with status {response.status} and not with what this server says there: the domain "
            "leads to another server, or a proxy does not pass its requests on"
        )


def _taken(row: WebsiteRow) -> str:
    record = f"with a TXT record {record_name(row.domain)} with the text {record_text(row.id)}, and check it again"
    return f"{row.domain} is the domain of another website of this server; if it is yours, show it {record}"


async def _holder(session: AsyncSession, name: str) -> WebsiteRow | None:
    row: WebsiteRow | None = await session.scalar(select(WebsiteRow).where(WebsiteRow.proven_domain == name))
    return row


async def _use(session: AsyncSession, plugin: PluginContext[ContentConfig], row: WebsiteRow, name: str | None) -> None:
    """Move a site to a domain, or back to its URL on the server, together with its stored URLs."""
    if row.proven_domain == name:
        return
    default_url = server_url(row.site_key, plugin.base_url)
    old = domain_url(row.proven_domain, plugin.base_url) if row.proven_domain else default_url
    new = domain_url(name, plugin.base_url) if name else default_url
    row.proven_domain, row.updated_at = name, datetime.now(UTC)
    await session.flush()
    event.listen(session.sync_session, "after_commit", lambda _: PROVEN_CHANGES.note(), once=True)
    await session.execute(
        delete(PageRow)
        .where(PageRow.website_id == row.id, _below(PageRow.url, new))
        .execution_options(synchronize_session=False)
    )
    for table in (PublicationRow, PageRow):
        url: Any = table.url
        suffix = func.substr(url, len(old) + 1)
        moved = update(table).where(table.website_id == row.id, _below(url, old)).values(url=literal(new) + suffix)
        await session.execute(moved.execution_options(synchronize_session=False))


def _below(url: Any, site_url: str) -> Any:
    prefix = f"{site_url}/"
    return func.substr(url, 1, len(prefix)) == prefix
