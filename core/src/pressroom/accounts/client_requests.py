"""Idempotent tool calls: their `client_request_id`, argument fingerprints and stored responses.

A call claims its `client_request_id` before it runs. The claim is a lease: its holder renews it while the call runs,
and it expires on its own if the process is killed. With a database server, all times come from the database, so host
clocks need not agree.

Arguments may contain secrets, and responses may contain private text. Arguments are stored only as digests, keyed with
a key derived from the server's secret. Responses are stored encrypted, as compact JWE (RFC 7516) with AES-256-GCM.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Final, Literal, cast

import orjson
from joserfc import jwe
from joserfc.errors import JoseError
from joserfc.jwk import OctKey
from sqlalchemy import ColumnElement, CursorResult, Select, and_, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom.columns import as_id, random_text
from pressroom.config.models import Settings
from pressroom.errors import NotFound
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import ClientRequestRow
from pressroom.storage.files.signing import signing_secret

LEASE_SECONDS: Final = 15.0
"""Lifetime of a claim that is not renewed. After that, the process that held it counts as dead."""

MAX_RESULT_BYTES: Final = 262_144
"""Maximum size of a stored response. Larger responses are not stored."""

_PURPOSE: Final = b"pressroom client requests"
_HEADER: Final = {"alg": "dir", "enc": "A256GCM"}
_DIGEST_BYTES: Final = 12
_KEY_CHECK: Final = ""
"""A name no parameter can have. Its digest shows whether two fingerprints were made with the same key."""

MAX_STORED: Final = 10_000
"""Maximum number of calls stored per account; beyond that, the oldest are deleted."""

_PRUNE_BATCH: Final = 500


class _Registry(jwe.JWERegistry):
    """Accept encrypted responses up to the maximum stored size."""

    max_ciphertext_length = MAX_RESULT_BYTES * 2


_REGISTRY: Final = _Registry()


@dataclass(frozen=True, slots=True)
class RequestKey:
    """Identifies a repeatable call: the account, the tool and the ID chosen by the client."""

    user_id: str
    tool: str
    request_id: str


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """A recorded call. `result` is `None` until the call has succeeded, or if it was not stored or cannot be decrypted.

    The state `cut_off` means that the call never finished and no process is running it.
    """

    state: Literal["running", "cut_off", "completed"]
    made_at: datetime
    fingerprint: str
    result: bytes | None


class ClientRequests:
    """Stored calls with a `client_request_id`, for all accounts. All methods raise `BackendError` on an outage."""

    def __init__(self, settings: Settings, database: SqlDatabase) -> None:
        self._settings = settings
        self._database = database
        self._retention = timedelta(seconds=settings.mcp.repeat_retention)

    def fingerprint(self, arguments: Mapping[str, str]) -> str:
        """Return the fingerprint of a call's arguments, given by name as canonical text."""
        digests = {name: self._digest(name, text) for name, text in arguments.items()}
        digests[_KEY_CHECK] = self._digest(_KEY_CHECK, "")
        return orjson.dumps(digests, option=orjson.OPT_SORT_KEYS).decode()

    async def find(self, key: RequestKey) -> ClientRequest | None:
        """Return the account's earlier call with this ID, or `None`."""
        async with self._database.reading() as session:
            row = await session.scalar(select(ClientRequestRow).where(*_is(key)))
            if row is None:
                return None
            if row.until is None:
                return ClientRequest("completed", row.created_at, row.fingerprint, self._decrypted(key, row.answer))
            state: Literal["running", "cut_off"] = "running" if row.until > await _now(session) else "cut_off"
            return ClientRequest(state, row.created_at, row.fingerprint, None)

    async def claim(self, key: RequestKey, fingerprint: str, *, resume: bool) -> str:
        """Claim an ID for a call that is about to start; return the claim's token, or `""` if the ID is already in use.

        With `resume`, an interrupted call with the same arguments is taken over. Raises `NotFound` if the account does
        not exist.
        """
        token = random_text(22)
        insert: Any = postgresql.insert if self._database.dialect == "postgresql" else sqlite.insert
        try:
            async with self._database.writing() as session:
                now = await _now(session)
                until = now + timedelta(seconds=LEASE_SECONDS)
                claiming = insert(ClientRequestRow).values(
                    user_id=as_id(key.user_id),
                    tool=key.tool,
                    request_id=key.request_id,
                    fingerprint=fingerprint,
                    token=token,
                    until=until,
                    created_at=now,
                )
                if resume:
                    claiming = claiming.on_conflict_do_update(
                        index_elements=list(ClientRequestRow.__table__.primary_key),
                        set_={"token": token, "until": until},
                        where=and_(ClientRequestRow.until <= now, ClientRequestRow.fingerprint == fingerprint),
                    )
                else:
                    claiming = claiming.on_conflict_do_nothing()
                return await session.scalar(claiming.returning(ClientRequestRow.token)) or ""
        except IntegrityError:
            raise NotFound("there is no such account") from None

    async def renew(self, key: RequestKey, token: str) -> bool:
        """Extend a claim by another `LEASE_SECONDS`; return whether it was still held."""
        async with self._database.writing() as session:
            until = await _now(session) + timedelta(seconds=LEASE_SECONDS)
            return await _changes_one(session, update(ClientRequestRow).where(*_holds(key, token)).values(until=until))

    async def complete(self, key: RequestKey, token: str, result: bytes | None) -> None:
        """Record that the call succeeded. Results that are `None` or above `MAX_RESULT_BYTES` are not stored."""
        sealed = None if result is None or len(result) > MAX_RESULT_BYTES else self._sealed(key, result)
        async with self._database.writing() as session:
            change = update(ClientRequestRow).where(*_holds(key, token)).values(until=None, answer=sealed)
            await _changes_one(session, change)

    async def release(self, key: RequestKey, token: str) -> None:
        """Delete the claim of a failed call, so that the client can retry it."""
        async with self._database.writing() as session:
            await _changes_one(session, delete(ClientRequestRow).where(*_holds(key, token)))

    async def cut_off(self, key: RequestKey, token: str) -> None:
        """Record that the call ended in an unknown state."""
        async with self._database.writing() as session:
            until = await _now(session)
            await _changes_one(session, update(ClientRequestRow).where(*_holds(key, token)).values(until=until))

    async def prune(self) -> int:
        """Delete calls past the retention period or beyond an account's limit; return their number."""
        async with self._database.reading() as session:
            oldest = await _now(session) - self._retention
            by_account = select(ClientRequestRow.user_id).group_by(ClientRequestRow.user_id)
            over_limit = list(await session.scalars(by_account.having(func.count() > MAX_STORED)))
            newest = {
                account: await session.scalar(_created(account).offset(MAX_STORED).limit(1)) for account in over_limit
            }
        removed = await self._remove(ClientRequestRow.created_at < oldest)
        for user_id, last in newest.items():
            removed += await self._remove(ClientRequestRow.user_id == user_id, ClientRequestRow.created_at <= last)
        return removed

    async def _remove(self, *conditions: ColumnElement[bool]) -> int:
        removed = 0
        while True:
            async with self._database.writing() as session:
                tokens = list(
                    await session.scalars(select(ClientRequestRow.token).where(*conditions).limit(_PRUNE_BATCH))
                )
                await session.execute(delete(ClientRequestRow).where(*conditions, ClientRequestRow.token.in_(tokens)))
            removed += len(tokens)
            if len(tokens) < _PRUNE_BATCH:
                return removed

    @cached_property
    def _secret(self) -> bytes:
        return hmac.digest(signing_secret(self._settings), _PURPOSE, "sha256")

    @cached_property
    def _key(self) -> OctKey:
        return OctKey.import_key(hmac.digest(self._secret, b"answers", "sha256"))

    def _digest(self, name: str, text: str) -> str:
        content = f"{name}\0{text}".encode(errors="surrogatepass")
        return hashlib.blake2b(content, key=self._secret, digest_size=_DIGEST_BYTES).hexdigest()

    def _sealed(self, key: RequestKey, response: bytes) -> str:
        return jwe.encrypt_compact(dict(_HEADER), _owner(key) + b"\0" + response, self._key)

    def _decrypted(self, key: RequestKey, sealed: str | None) -> bytes | None:
        if sealed is None:
            return None
        try:
            content = jwe.decrypt_compact(sealed, self._key, registry=_REGISTRY).plaintext or b""
        except (JoseError, ValueError):
            return None
        owner, _, response = content.partition(b"\0")
        return response if owner == _owner(key) else None


def _created(user_id: str) -> Select[datetime]:
    created = select(ClientRequestRow.created_at).where(ClientRequestRow.user_id == user_id)
    return created.order_by(ClientRequestRow.created_at.desc())


def differing(first: str, second: str) -> list[str] | None:
    """Return the sorted names of arguments that differ between two fingerprints.

    Return `None` if the fingerprints were made with different keys and cannot be compared.
    """
    one, other = orjson.loads(first), orjson.loads(second)
    if one.get(_KEY_CHECK) != other.get(_KEY_CHECK):
        return None
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


def _owner(key: RequestKey) -> bytes:
    return orjson.dumps([key.user_id, key.tool, key.request_id])


def _is(key: RequestKey) -> tuple[Any, ...]:
    return (
        ClientRequestRow.user_id == as_id(key.user_id),
        ClientRequestRow.tool == key.tool,
        ClientRequestRow.request_id == key.request_id,
    )


def _holds(key: RequestKey, token: str) -> tuple[Any, ...]:
    return (*_is(key), ClientRequestRow.token == token, ClientRequestRow.until.is_not(None))


async def _changes_one(session: AsyncSession, change: Any) -> bool:
    result = await session.execute(change.execution_options(synchronize_session=False))
    return cast("CursorResult[Any]", result).rowcount == 1


async def _now(session: AsyncSession) -> datetime:
    if session.get_bind().dialect.name == "sqlite":
        return datetime.now(UTC)
    return cast("datetime", await session.scalar(select(func.clock_timestamp()))).astimezone(UTC)
