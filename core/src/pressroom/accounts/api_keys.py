"""API keys: `<prefix>_key_<random>_<crc>`."""

from __future__ import annotations

import re
import zlib
from typing import Final

from sqlalchemy import Select, select

from pressroom.accounts.connections import Connections, identity_of
from pressroom.accounts.credential_cache import CredentialCache, cache_key
from pressroom.accounts.records import AccessChoice, Connection
from pressroom.columns import BASE62, hash_of, random_text
from pressroom.config.models import Settings
from pressroom.errors import Rejected
from pressroom.sdk import Credentials, Identity
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import ApiKeyRow, ConnectionRow, UserRow

RANDOM_LENGTH: Final = 32
"""32 base62 characters have 190 bits of entropy."""

CRC_LENGTH: Final = 6
"""62⁶ is the first power of 62 above 2³², so six digits hold any CRC-32."""

HINT_LENGTH: Final = 4

_EVERYTHING: Final = AccessChoice()


def new_key(prefix: str) -> str:
    """Return a new key: `prefix`, 190 random bits in base62, and a checksum of everything before it."""
    body = f"{prefix}_key_{random_text(RANDOM_LENGTH)}"
    return f"{body}_{checksum(body)}"


def checksum(body: str) -> str:
    """Return the CRC-32 of a text (as in zlib, RFC 1952) as six base62 digits, most significant first."""
    number = zlib.crc32(body.encode())
    digits = ""
    for _ in range(CRC_LENGTH):
        number, digit = divmod(number, len(BASE62))
        digits = BASE62[digit] + digits
    return digits


def key_owner(key_hash: bytes) -> Select[ConnectionRow, UserRow]:
    """Return the statement that finds a key's connection and account."""
    return (
        select(ConnectionRow, UserRow)
        .join(ApiKeyRow, ApiKeyRow.connection_id == ConnectionRow.id)
        .join(UserRow, UserRow.id == ConnectionRow.user_id)
        .where(ApiKeyRow.key_hash == key_hash)
    )


class ApiKeys:
    """Create and authenticate API keys. Only their hashes are stored."""

    def __init__(
        self, database: SqlDatabase, settings: Settings, connections: Connections, credentials: CredentialCache
    ) -> None:
        self._database = database
        self._connections = connections
        self._credentials = credentials
        self._prefix = settings.auth.prefix
        self._beginning = f"{self._prefix}_key_"
        self._shape = re.compile(
            rf"({self._beginning}[0-9A-Za-z]{{{RANDOM_LENGTH}}})_([0-9A-Za-z]{{{CRC_LENGTH}}})", re.ASCII
        )

    async def create(self, user_id: str, name: str, choice: AccessChoice = _EVERYTHING) -> tuple[Connection, str]:
        """Create a key and return its connection and the key itself, which cannot be retrieved again.

        Raises:
            InvalidInput: The name is empty or too long, a toolset name is invalid, or the account has reached its
                maximum number of connections.
            NotFound: The account does not exist.
        """
        key = new_key(self._prefix)
        async with self._database.writing() as session:
            connection_id = await self._connections.add(session, user_id, "api_key", name, choice)
            session.add(ApiKeyRow(key_hash=hash_of(key), connection_id=connection_id, hint=key[-HINT_LENGTH:]))
        return await self._connections.get(user_id, connection_id), key

    async def authenticate(self, credentials: Credentials) -> Identity | None:
        """Return the identity that a key belongs to, or `None` if the bearer token is not an API key.

        Raises:
            Rejected: The key is malformed, mistyped, unknown or revoked, or its account is disabled.
            BackendError: The key could not be looked up.
        """
        key = credentials.bearer
        if not key.startswith(self._beginning):
            return None
        remembered_by = cache_key(key)
        identity = self._credentials.get(remembered_by)
        if identity is None:
            match = self._shape.fullmatch(key)
            if match is None:
                raise Rejected("this API key is incomplete; copy it again, from the first character to the last")
            body, crc = match.groups()
            if checksum(body) != crc:
                raise Rejected("this API key is mistyped: its checksum does not match; copy it again")
            identity = await self._credentials.identity(remembered_by, lambda: self._look_up(hash_of(key)))
        self._credentials.note_use(identity.connection, credentials.client_ip)
        return identity

    async def _look_up(self, key_hash: bytes) -> Identity:
        async with self._database.reading() as session:
            row = (await session.execute(key_owner(key_hash))).one_or_none()
        if row is None:
            raise Rejected("unknown API key; create one in the dashboard under Connections")
        return identity_of(*row)
