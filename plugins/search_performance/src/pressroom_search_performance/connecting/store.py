"""Stored connections of websites to sources of figures."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, cast

from pressroom.columns import as_id, new_id
from pressroom.sdk import InvalidInput, NotFound, PluginContext
from pressroom_content.contract import ControlNotProven, content_services
from sqlalchemy import CursorResult, Select, delete, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_search_performance.connecting.ownership import claim_name, require_owner
from pressroom_search_performance.host import sources_of
from pressroom_search_performance.sources.credentials import StoredCredential
from pressroom_search_performance.tables import ClaimRow, DayRow, SourceConnectionRow

_MAX_ERROR_LENGTH: Final = 1000


@dataclass(frozen=True, slots=True)
class SourceConnection:
    """A website's connection to a source, without its credential. The fields are those of `SourceConnectionRow`."""

    id: str
    user_id: str
    website_id: str
    source: str
    property: str
    uses_operators: bool
    status: str
    last_error: str
    last_error_at: datetime | None
    fetched_at: datetime | None
    due_at: datetime | None
    created_at: datetime


class SourceConnections:
    """Reads and writes connections. Those of other accounts are invisible."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin
        self._database = plugin.services.database

    async def of(self, user_id: str, website_id: str) -> Mapping[str, SourceConnection]:
        """Return the connections of a website, by source name."""
        statement = select(SourceConnectionRow).where(
            SourceConnectionRow.user_id == user_id, SourceConnectionRow.website_id == as_id(website_id)
        )
        async with self._database.reading() as session:
            return {row.source: _connection(row) for row in await session.scalars(statement)}

    async def every(self, user_id: str) -> Sequence[SourceConnection]:
        """Return all connections of an account."""
        statement = select(SourceConnectionRow).where(SourceConnectionRow.user_id == user_id)
        async with self._database.reading() as session:
            return [_connection(row) for row in await session.scalars(statement)]

    async def credential(self, connection: SourceConnection) -> Mapping[str, str]:
        """Return the credential of a connection; empty if the operator's is used.

        The operator's credential is only for websites that have proven control of their URL. This is checked each time,
        because a connection made earlier proves nothing.

        Raises:
            SiteRejected: no key decrypts the credential.
            ControlNotProven: the operator's credential would be used, but the website has not proven control of its
                URL, or the property is not the website's.
            NotFound: the website is no longer connected.
        """
        statement = select(SourceConnectionRow.credential).where(SourceConnectionRow.id == connection.id)
        async with self._database.reading() as session:
            sealed = await session.scalar(statement)
        if not sealed:
            if connection.source in sources_of(self._plugin):
                await self._check_owner(connection)
            return {}
        vault = content_services(self._plugin).credentials
        return StoredCredential(vault.open(sealed, connection.website_id), _ConnectionKeeper(self._plugin, connection))

    async def _check_owner(self, connection: SourceConnection) -> None:
        try:
            await require_owner(self._plugin, connection.user_id, connection.website_id, connection.property)
        except InvalidInput as error:
            raise ControlNotProven(f"the property {connection.property} {error.problem}") from None

    async def connect(
        self,
        user_id: str,
        website_id: str,
        source: str,
        *,
        site_url: str,
        credential: Mapping[str, str],
        fetched: bool,
    ) -> SourceConnection:
        """Connect a website, or change its connection. Changing the property deletes the stored figures.

        Without a `credential` the operator's is used. `fetched` means that figures are fetched nightly.

        Raises:
            InvalidInput: another account uses this property with the operator's credential.
        """
        rivals = await self._rivals(user_id, source, site_url) if not credential and fetched else frozenset()
        now = datetime.now(UTC)
        vault = content_services(self._plugin).credentials
        sealed = vault.seal(credential, website_id) if credential else ""
        values: dict[str, Any] = {
            "credential": sealed,
            "status": "active",
            "last_error": "",
            "last_error_at": None,
            "due_at": now if fetched else None,
        }
        try:
            async with self._database.writing() as session:
                if not credential and fetched:
                    await _claim(session, user_id, source, site_url, rivals)
                row = await session.scalar(_one(user_id, website_id, source).with_for_update())
                if row is not None and row.property != site_url:
                    await session.delete(row)
                    await session.flush()
                    row = None
                if row is None:
                    row = SourceConnectionRow(id=new_id("s"), user_id=user_id, website_id=website_id, source=source)
                    row.property, row.created_at = site_url, now
                    session.add(row)
                for name, value in values.items():
                    setattr(row, name, value)
                await session.flush()
                return _connection(row)
        except IntegrityError:
            raise InvalidInput("property", "somebody else is connecting this website; reload the page") from None

    async def _rivals(self, user_id: str, source: str, site_url: str) -> frozenset[str]:
        """Return the IDs of other accounts' connections to a property whose websites have proven control of it."""
        async with self._database.reading() as session:
            connections = [
                _connection(row) for row in await session.scalars(_other_connections(user_id, source, site_url))
            ]
        entitled = set()
        for connection in connections:
            try:
                await self._check_owner(connection)
            except (ControlNotProven, NotFound):
                continue
            entitled.add(connection.id)
        return frozenset(entitled)

    async def disconnect(self, user_id: str, website_id: str, source: str) -> None:
        """Delete a connection with all its figures. Idempotent."""
        statement = delete(SourceConnectionRow).where(
            SourceConnectionRow.user_id == user_id,
            SourceConnectionRow.website_id == as_id(website_id),
            SourceConnectionRow.source == source,
        )
        async with self._database.writing() as session:
            await session.execute(statement)

    async def note(self, connection: SourceConnection, error: str) -> None:
        """Record why a live source rejected the credential; an empty `error` clears the status."""
        if error == connection.last_error:
            return
        values = {
            "status": "error" if error else "active",
            "last_error": error.replace("\0", "")[:_MAX_ERROR_LENGTH],
            "last_error_at": datetime.now(UTC) if error else None,
        }
        async with self._database.writing() as session:
            await session.execute(
                update(SourceConnectionRow).where(SourceConnectionRow.id == connection.id).values(**values)
            )

    async def reseal(self) -> int:
        """Re-encrypt credentials with the first key, and return how many there were.

        Credentials that no key decrypts are left alone; their next use raises an error.
        """
        vault, count = content_services(self._plugin).credentials, 0
        query = select(SourceConnectionRow.id, SourceConnectionRow.website_id, SourceConnectionRow.credential)
        async with self._database.reading() as session:
            rows = [tuple(row) for row in await session.execute(query.where(SourceConnectionRow.credential != ""))]
        for id_, website_id, sealed in rows:
            resealed = vault.reseal(sealed, website_id)
            if resealed is None:
                continue
            change = update(SourceConnectionRow).where(
                SourceConnectionRow.id == id_, SourceConnectionRow.credential == sealed
            )
            async with self._database.writing() as session:
                count += cast("CursorResult[Any]", await session.execute(change.values(credential=resealed))).rowcount
        return count

    async def hurry(self, user_id: str, website_id: str, source: str) -> None:
        """Make a connection due immediately."""
        async with self._database.writing() as session:
            row = await session.scalar(_one(user_id, website_id, source))
            if row is not None and row.due_at is not None:
                row.due_at, row.round_at = datetime.now(UTC), None

    async def days(self, connection: SourceConnection) -> int:
        """Return the number of days with stored figures."""
        statement = select(func.count(func.distinct(DayRow.day))).where(DayRow.connection_id == connection.id)
        async with self._database.reading() as session:
            return int(await session.scalar(statement) or 0)


class _ConnectionKeeper:
    """Implements `CredentialKeeper` for the credential of one connection."""

    def __init__(self, plugin: PluginContext, connection: SourceConnection) -> None:
        self._database = plugin.services.database
        self._vault = content_services(plugin).credentials
        self._connection = connection

    async def latest(self) -> Mapping[str, str]:
        async with self._database.reading() as session:
            row = await session.get(SourceConnectionRow, self._connection.id)
        return self._open(row)

    async def replace(self, used: Mapping[str, str], renewed: Mapping[str, str]) -> None:
        async with self._database.writing() as session:
            row = await session.get(SourceConnectionRow, self._connection.id, with_for_update=True)
            if row is not None and self._open(row) == dict(used):
                row.credential = self._vault.seal(renewed, row.website_id)

    async def ended(self, used: Mapping[str, str], message: str) -> None:
        async with self._database.writing() as session:
            row = await session.get(SourceConnectionRow, self._connection.id, with_for_update=True)
            if row is not None and self._open(row) == dict(used):
                row.status, row.last_error = "error", message[:_MAX_ERROR_LENGTH]
                row.last_error_at = datetime.now(UTC)

    def _open(self, row: SourceConnectionRow | None) -> Mapping[str, str]:
        return self._vault.open(row.credential, row.website_id) if row is not None and row.credential else {}


def _one(user_id: str, website_id: str, source: str) -> Select[SourceConnectionRow]:
    return select(SourceConnectionRow).where(
        SourceConnectionRow.user_id == user_id,
        SourceConnectionRow.website_id == as_id(website_id),
        SourceConnectionRow.source == source,
    )


def _other_connections(user_id: str, source: str, site_url: str) -> Select[SourceConnectionRow]:
    """Select other accounts' connections to a property that use the operator's credential."""
    spellings = [site_url, claim_name(site_url)]
    return select(SourceConnectionRow).where(
        SourceConnectionRow.user_id != user_id,
        SourceConnectionRow.source == source,
        SourceConnectionRow.property.in_(spellings),
        SourceConnectionRow.credential == "",
    )


async def _claim(session: AsyncSession, user_id: str, source: str, site_url: str, entitled: frozenset[str]) -> None:
    """Claim a property for an account. Raises `InvalidInput` if an `entitled` connection of another account uses it."""
    id_ = hashlib.sha256(f"{source}\0{claim_name(site_url)}".encode()).hexdigest()
    claim = await session.get(ClaimRow, id_, with_for_update=True)
    other_ids = {row.id for row in await session.scalars(_other_connections(user_id, source, site_url))}
    if other_ids & entitled:
        raise InvalidInput(
            "property",
            "another account uses this property already; enter a credential of your own, or ask the operator",
        )
    if claim is None:
        session.add(ClaimRow(id=id_, user_id=user_id))
        await session.flush()
        return
    claim.user_id = user_id


def _connection(row: SourceConnectionRow) -> SourceConnection:
    return SourceConnection(
        id=row.id,
        user_id=row.user_id,
        website_id=row.website_id,
        source=row.source,
        property=row.property,
        uses_operators=not row.credential,
        status=row.status or "active",
        last_error=row.last_error or "",
        last_error_at=row.last_error_at,
        fetched_at=row.fetched_at,
        due_at=row.due_at,
        created_at=row.created_at,
    )
