"""Connections: the API keys and OAuth clients that act for an account."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

import structlog
from sqlalchemy import Select, bindparam, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom.accounts.choices import choice_columns, choice_of
from pressroom.accounts.credential_cache import CredentialCache
from pressroom.accounts.periodic import PeriodicTask
from pressroom.accounts.records import AccessChoice, Connection, ConnectionKind
from pressroom.columns import as_id, new_id
from pressroom.config.models import Settings
from pressroom.errors import InvalidInput, NotFound, Rejected
from pressroom.sdk import Identity
from pressroom.sdk.declaration import Access
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import ApiKeyRow, ClientRow, ConnectionRow, TokenFamilyRow, UserRow
from pressroom.validation.echo import is_line

MAX_NAME_LENGTH: Final = 100
MAX_DISABLED_TOOLS: Final = 1000
FLUSH_SECONDS: Final = 3.0

log = structlog.get_logger()

_TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_EVERYTHING: Final = AccessChoice()
_ClientFacts = tuple[str, Sequence[str], datetime | None]


class Connections:
    """An account's API keys and approved OAuth clients.

    Methods that take a `user_id` and a connection ID raise `NotFound` for a connection of another account. The time and
    IP address of each connection's last use are collected in the credential cache, and written every few seconds and on
    close.
    """

    def __init__(self, database: SqlDatabase, settings: Settings, credentials: CredentialCache) -> None:
        self._database = database
        self._max_connections = settings.accounts.connections
        self._credentials = credentials
        self._writer = PeriodicTask("writing when connections were used", FLUSH_SECONDS, self.flush)

    async def open(self) -> None:
        """Start writing last uses in the background."""
        self._writer.start()

    async def close(self) -> None:
        """Stop the background writer after writing the remaining uses."""
        await self._writer.stop()

    async def add(
        self,
        session: AsyncSession,
        user_id: str,
        kind: ConnectionKind,
        name: str,
        choice: AccessChoice = _EVERYTHING,
    ) -> str:
        """Add a connection within the caller's writing transaction and return its ID.

        Raises:
            NotFound: The account does not exist.
            InvalidInput: The name is empty or too long, a toolset name is invalid, or the account has reached its
                maximum number of connections.
        """
        name, access_columns = _checked_name(name), choice_columns(choice)
        # Lock the account, so that concurrent additions cannot exceed the limit together.
        if await session.scalar(select(UserRow.id).where(UserRow.id == user_id).with_for_update()) is None:
            raise NotFound("there is no such account")
        live = select(ConnectionRow.id).where(ConnectionRow.user_id == user_id, ConnectionRow.revoked_at.is_(None))
        if (
            await session.scalar(select(func.count()).select_from(live.limit(self._max_connections).subquery()))
            == self._max_connections
        ):
            raise InvalidInput(
                "", f"this account has {self._max_connections} connections, the maximum; revoke one that is not used"
            )
        row = ConnectionRow(
            id=new_id("c"),
            user_id=user_id,
            kind=kind,
            name=name,
            disabled_tools=[],
            created_at=datetime.now(UTC),
            **access_columns,
        )
        session.add(row)
        await session.flush()
        return row.id

    async def list(
        self,
        user_id: str,
        *,
        kind: ConnectionKind | None = None,
        revoked: bool = False,
        limit: int = 100,
        offset: int = 0,
    ) -> Sequence[Connection]:
        """Return an account's connections, newest first, starting at `offset`.

        `kind` restricts the list to one kind. Revoked connections are left out unless `revoked` is true.
        """
        statement = all_connections(user_id) if revoked else live_connections(user_id)
        if kind is not None:
            statement = statement.where(ConnectionRow.kind == kind)
        async with self._database.reading() as session:
            rows = (await session.execute(statement.limit(limit).offset(offset))).all()
            return await self._records(session, rows)

    async def page(self, user_id: str, page: int, size: int) -> tuple[int, int, Sequence[Connection]]:
        """Return the number of an account's connections, the number of the page shown, and its connections.

        If `page` is beyond the last page, the last page is returned. Pages count from 1 and hold `size` connections,
        newest first. Revoked connections are left out.
        """
        async with self._database.reading() as session:
            total = await self.count_within(session, user_id)
            page = min(page, max(1, -(-total // size)))
            statement = live_connections(user_id).limit(size).offset((page - 1) * size)
            return total, page, await self._records(session, (await session.execute(statement)).all())

    async def has_key(self, user_id: str, name: str) -> bool:
        """Return whether an account has an unrevoked API key with that name."""
        statement = live_connections(user_id).where(ConnectionRow.kind == "api_key", ConnectionRow.name == name)
        if not is_line(name):
            return False
        async with self._database.reading() as session:
            return (await session.execute(statement.limit(1))).first() is not None

    async def count_within(self, session: AsyncSession, user_id: str) -> int:
        """Count an account's unrevoked connections, using an open session."""
        return await session.scalar(connection_count(user_id)) or 0

    async def get(self, user_id: str, connection_id: str) -> Connection:
        """Return a connection, revoked or not."""
        async with self._database.reading() as session:
            return await self._connection(session, user_id, connection_id)

    async def rename(self, user_id: str, connection_id: str, name: str) -> Connection:
        """Rename a connection (1 to 100 characters)."""
        return await self._change(user_id, connection_id, name=_checked_name(name))

    async def set_disabled_tools(self, user_id: str, connection_id: str, names: Iterable[str]) -> Connection:
        """Disable these tools and enable all others. Raises `InvalidInput` for an invalid MCP tool name."""
        return await self._change(user_id, connection_id, disabled_tools=_checked_tools(names))

    async def set_access(
        self,
        user_id: str,
        connection_id: str,
        access: Access,
        toolsets: Iterable[str] | None,
        *,
        disabled_tools: Iterable[str] | None = None,
    ) -> Connection:
        """Set a connection's access level and the toolsets that it lists; `None` selects the server's default.

        If `disabled_tools` is given, the same transaction disables these tools and enables all others.

        Raises:
            InvalidInput: An access level, toolset name or tool name is invalid.
        """
        choice = AccessChoice(access, None if toolsets is None else frozenset(toolsets))
        values = choice_columns(choice)
        if disabled_tools is not None:
            values["disabled_tools"] = _checked_tools(disabled_tools)
        connection = await self._change(user_id, connection_id, **values)
        log.info("the access of a connection was set", connection=connection_id, **choice_columns(choice))
        return connection

    async def revoke(self, user_id: str, connection_id: str) -> None:
        """Revoke a connection: at once in this process, elsewhere within the credential cache lifetime. Idempotent."""
        now = datetime.now(UTC)
        try:
            async with self._database.writing() as session:
                await self._connection(session, user_id, connection_id)
                await session.execute(
                    update(ConnectionRow)
                    .where(ConnectionRow.id == connection_id, ConnectionRow.revoked_at.is_(None))
                    .values(revoked_at=now)
                )
                await session.execute(
                    update(TokenFamilyRow)
                    .where(TokenFamilyRow.connection_id == connection_id, TokenFamilyRow.revoked_at.is_(None))
                    .values(revoked_at=now)
                )
        finally:
            self._credentials.forget_connection(connection_id)

    async def revoke_all(self, user_id: str) -> int:
        """Revoke all connections of an account, as `revoke` does, and return their number."""
        now = datetime.now(UTC)
        live = select(ConnectionRow.id).where(ConnectionRow.user_id == user_id, ConnectionRow.revoked_at.is_(None))
        ids: Sequence[str] = ()
        try:
            async with self._database.writing() as session:
                # Lock the account, so that a connection added concurrently has to wait.
                await session.execute(select(UserRow.id).where(UserRow.id == user_id).with_for_update())
                ids = (await session.scalars(live)).all()
                await session.execute(
                    update(TokenFamilyRow)
                    .where(TokenFamilyRow.connection_id.in_(live), TokenFamilyRow.revoked_at.is_(None))
                    .values(revoked_at=now)
                )
                await session.execute(
                    update(ConnectionRow)
                    .where(ConnectionRow.user_id == user_id, ConnectionRow.revoked_at.is_(None))
                    .values(revoked_at=now)
                )
        finally:
            for connection_id in ids:
                self._credentials.forget_connection(connection_id)
        return len(ids)

    async def owner(self, connection_id: str) -> str:
        """Return the ID of the account that owns a connection. Raises `NotFound`."""
        statement = select(ConnectionRow.user_id).where(ConnectionRow.id == as_id(connection_id))
        async with self._database.reading() as session:
            user_id = await session.scalar(statement)
        if user_id is None:
            raise _unknown()
        return user_id

    async def identity(self, connection_id: str) -> Identity:
        """Return the identity of a connection. Raises `Rejected` if it was revoked or its account is disabled."""
        statement = select(ConnectionRow, UserRow).join(UserRow).where(ConnectionRow.id == as_id(connection_id))
        async with self._database.reading() as session:
            row = (await session.execute(statement)).one_or_none()
        if row is None:
            raise Rejected("the connection of this credential was removed; connect again")
        return identity_of(*row)

    async def flush(self) -> None:
        """Write the collected last uses. If that fails, they are kept for the next time. Raises `BackendError`."""
        uses, self._credentials.uses = self._credentials.uses, {}
        if not uses:
            return
        table: Any = ConnectionRow.__table__
        statement = (
            update(table)
            .where(
                table.c.id == bindparam("connection"),
                or_(table.c.last_used_at.is_(None), table.c.last_used_at < bindparam("at")),
            )
            .values(last_used_at=bindparam("at"), last_used_address=bindparam("address"))
        )
        # Sorted, so that two processes that update the same rows cannot deadlock.
        values = [
            {"connection": connection_id, "at": datetime.fromtimestamp(at, UTC), "address": ip[:64]}
            for connection_id, (at, ip) in sorted(uses.items())
        ]
        try:
            async with self._database.writing() as session:
                await (await session.connection()).execute(statement, values)
        except BaseException:
            self._credentials.uses = uses | self._credentials.uses
            raise

    async def _change(self, user_id: str, connection_id: str, **values: Any) -> Connection:
        try:
            async with self._database.writing() as session:
                if (await self._connection(session, user_id, connection_id)).revoked_at is not None:
                    raise NotFound("this connection was revoked and can no longer be changed")
                await session.execute(update(ConnectionRow).where(ConnectionRow.id == connection_id).values(**values))
                return await self._connection(session, user_id, connection_id)
        finally:
            self._credentials.forget_connection(connection_id)

    async def _connection(self, session: AsyncSession, user_id: str, connection_id: str) -> Connection:
        statement = _with_hint().where(ConnectionRow.id == as_id(connection_id), ConnectionRow.user_id == user_id)
        rows = (await session.execute(statement.execution_options(populate_existing=True))).all()
        if not rows:
            raise _unknown()
        return (await self._records(session, rows))[0]

    async def _records(self, session: AsyncSession, rows: Sequence[Any]) -> Sequence[Connection]:
        clients = await _clients(session, [row.id for row, _ in rows if row.kind == "oauth"])
        return [self._record(row, hint or "", clients.get(row.id)) for row, hint in rows]

    def _record(self, row: ConnectionRow, hint: str, client: _ClientFacts | None) -> Connection:
        used_at, ip = row.last_used_at, row.last_used_address
        pending = self._credentials.uses.get(row.id)
        if pending is not None and (used_at is None or used_at.timestamp() < pending[0]):
            used_at, ip = datetime.fromtimestamp(pending[0], UTC), pending[1]
        client_id, redirect_uris, signed_out_at = client or ("", (), None)
        choice = choice_of(row)
        return Connection(
            id=row.id,
            user_id=row.user_id,
            kind="oauth" if row.kind == "oauth" else "api_key",
            name=row.name,
            disabled_tools=frozenset(row.disabled_tools),
            created_at=row.created_at,
            last_used_at=used_at,
            last_used_address=ip,
            revoked_at=row.revoked_at,
            hint=hint,
            client_id=client_id,
            redirect_hosts=tuple(dict.fromkeys(_host(uri) for uri in redirect_uris)),
            access=choice.access,
            toolsets=choice.toolsets,
            signed_out_at=signed_out_at,
        )


def identity_of(connection: ConnectionRow, user: UserRow) -> Identity:
    """Return the identity of a connection. Raises `Rejected` if it was revoked or its account is disabled."""
    if connection.revoked_at is not None:
        raise Rejected(
            f"the connection {connection.name!r} was revoked on {connection.revoked_at:%Y-%m-%d}; "
            "create another in the dashboard under Connections"
        )
    if user.disabled:
        raise Rejected("the account of this credential is disabled; ask the operator of this server")
    choice = choice_of(connection)
    return Identity(
        subject=user.id,
        plan=user.plan,
        connection=connection.id,
        disabled_tools=frozenset(connection.disabled_tools),
        connection_name=connection.name,
        access=choice.access,
        toolsets=choice.toolsets,
    )


def all_connections(user_id: str) -> Select[ConnectionRow, str]:
    """Return the statement that lists an account's connections with their key hints, newest first."""
    newest_first = ConnectionRow.created_at.desc(), ConnectionRow.id.desc()
    return _with_hint().where(ConnectionRow.user_id == user_id).order_by(*newest_first)


def live_connections(user_id: str) -> Select[ConnectionRow, str]:
    """Return the statement that lists an account's unrevoked connections, newest first."""
    return all_connections(user_id).where(ConnectionRow.revoked_at.is_(None))


def connection_count(user_id: str) -> Select[int]:
    """Return the statement that counts an account's unrevoked connections."""
    return select(func.count()).where(ConnectionRow.user_id == user_id, ConnectionRow.revoked_at.is_(None))


def _with_hint() -> Select[ConnectionRow, str]:
    return select(ConnectionRow, ApiKeyRow.hint).outerjoin(ApiKeyRow, ApiKeyRow.connection_id == ConnectionRow.id)


async def _clients(session: AsyncSession, connection_ids: Sequence[str]) -> dict[str, _ClientFacts]:
    if not connection_ids:
        return {}
    statement = (
        select(TokenFamilyRow.connection_id, ClientRow.id, ClientRow.redirect_uris, TokenFamilyRow.revoked_at)
        .join(ClientRow, ClientRow.id == TokenFamilyRow.client_id)
        .where(TokenFamilyRow.connection_id.in_(connection_ids))
        .order_by(TokenFamilyRow.revoked_at.is_(None), TokenFamilyRow.created_at)  # the last one counts
    )
    return {connection: (client, uris, ended) for connection, client, uris, ended in await session.execute(statement)}


def _host(uri: str) -> str:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri[:100]
    return parts.hostname or f"{parts.scheme}:"


def _checked_name(name: str) -> str:
    name = name.strip()
    if not name:
        raise InvalidInput("name", "must not be empty; say which program uses the connection")
    if len(name) > MAX_NAME_LENGTH:
        raise InvalidInput("name", f"must have at most {MAX_NAME_LENGTH} characters (got {len(name)})")
    if not is_line(name):
        raise InvalidInput("name", "must be one line of printable characters")
    return name


def _checked_tools(names: Iterable[str]) -> list[str]:
    disabled = sorted(set(names))
    if len(disabled) > MAX_DISABLED_TOOLS:
        raise InvalidInput("tools", f"at most {MAX_DISABLED_TOOLS} can be switched off (got {len(disabled)})")
    for name in disabled:
        if not _TOOL_NAME.fullmatch(name):
            raise InvalidInput("tools", f"{name[:64]!r} cannot be a tool's name: names are 1 to 64 of A-Za-z0-9_-")
    return disabled


def _unknown() -> NotFound:
    return NotFound("there is no such connection")
