"""Access tokens: `<prefix>_oat_` followed by a JWT as in RFC 9068, and their signing keys."""

from __future__ import annotations

import asyncio
import hmac
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import orjson
import structlog
from joserfc import jwe, jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OctKey
from sqlalchemy import and_, delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom.columns import new_id
from pressroom.oauth.records import Clock, EndpointUrls, Grant, utc_now
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import SigningKeyRow

log = structlog.get_logger()

ALGORITHM: Final = "ES256"
_CURVE: Final = "P-256"
_ENCRYPTION: Final = {"alg": "dir", "enc": "A256GCM"}
_LOCK: Final = 0x6F617574
"""Key of the PostgreSQL advisory lock that serialises creating signing keys across processes."""

_RELOAD_SECONDS: Final = 30.0
_UNKNOWN_SECONDS: Final = 1.0
_MARGIN: Final = timedelta(days=1)


def encryption_key(secret: bytes) -> OctKey:
    """Derive the key that encrypts private keys from the server's secret: HKDF with SHA-256 (RFC 5869)."""
    extracted = hmac.digest(bytes(32), secret, "sha256")
    return OctKey.import_key(hmac.digest(extracted, b"pressroom oauth signing keys\x01", "sha256"))


class SigningKeys:
    """The current signing key, and earlier keys whose tokens may still be in use.

    A key signs for `lifetime` seconds, and stays published until the last token that it signed has expired.

    Args:
        database: Stores the keys as JWE (RFC 7516), encrypted with a key derived from `secret`.
        secret: The server's secret key. Keys that were encrypted with another secret are skipped.
        lifetime: Number of seconds after which a key is replaced.
        token_lifetime: Lifetime of a token in seconds.
        clock: Returns the current time.
    """

    def __init__(
        self, database: SqlDatabase, secret: bytes, lifetime: float, token_lifetime: int, *, clock: Clock = utc_now
    ) -> None:
        self._database = database
        self._encryption_key = encryption_key(secret)
        self._lifetime = timedelta(seconds=lifetime)
        self._retention = timedelta(seconds=token_lifetime) + _MARGIN
        self._clock = clock
        self._keys: dict[str, ECKey] = {}
        self._signing: tuple[ECKey, datetime] | None = None
        self._loaded_at = -_RELOAD_SECONDS
        self._reloading = asyncio.Lock()
        self._reported: set[str] = set()

    async def current(self) -> ECKey:
        """Return the current signing key, replacing it first if it is due. Raises `BackendError`."""
        if self._signing is None or self._clock() - self._signing[1] >= self._lifetime:
            async with self._reloading:
                return await self._replace()
        return self._signing[0]

    async def find(self, kid: str) -> ECKey | None:
        """Return a key by its ID, or `None`; reload if it is new from another server. Raises `BackendError`."""
        if kid not in self._keys:
            await self._reload(_UNKNOWN_SECONDS)
        return self._keys.get(kid)

    async def public(self) -> list[dict[str, Any]]:
        """Return the public keys as JWKs (RFC 7517), the current one first. Raises `BackendError`."""
        await self._reload(_RELOAD_SECONDS)
        current = await self.current()
        previous = (key for kid, key in self._keys.items() if kid != current.kid)
        return [{**key.as_dict(private=False), "use": "sig", "alg": ALGORITHM} for key in (current, *previous)]

    async def prune(self) -> None:
        """Delete keys whose last token has expired, including keys that this server cannot decrypt.

        A key that it can decrypt is retired before it expires. Its age alone says nothing, since it may have been
        created while `lifetime` was longer.
        """
        now = self._clock()
        await self._reload(0)
        abandoned = and_(
            SigningKeyRow.retired_at.is_(None),
            SigningKeyRow.created_at < now - self._lifetime - self._retention,
            SigningKeyRow.kid.not_in(list(self._keys)),
        )
        expired = or_(SigningKeyRow.retired_at < now - self._retention, abandoned)
        async with self._database.writing() as session:
            await session.execute(delete(SigningKeyRow).where(expired))
        await self._reload(0)

    async def _reload(self, seconds: float) -> None:
        async with self._reloading:
            if time.monotonic() - self._loaded_at < seconds:
                return
            async with self._database.reading() as session:
                self._take(await _rows(session))

    async def _replace(self) -> ECKey:
        """Adopt the newest key that another server created, or create one, and return it."""
        now = self._clock()
        async with self._database.writing() as session:
            if self._database.dialect == "postgresql":
                await session.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            rows = await _rows(session)
            self._take(rows)
            if self._signing is not None and now - self._signing[1] < self._lifetime:
                return self._signing[0]
            key = ECKey.generate_key(_CURVE, private=True, auto_kid=True)
            row = self._row_of(key, now)
            await session.execute(
                update(SigningKeyRow)
                .where(SigningKeyRow.kid.in_(list(self._keys)), SigningKeyRow.retired_at.is_(None))
                .values(retired_at=now)
            )
            session.add(row)
        log.info("made a signing key", kid=key.kid)
        self._take([*rows, row])
        return key

    def _row_of(self, key: ECKey, now: datetime) -> SigningKeyRow:
        private = jwe.encrypt_compact(
            _ENCRYPTION,
            orjson.dumps(key.as_dict(private=True)),
            self._encryption_key,
            algorithms=list(_ENCRYPTION.values()),
        )
        return SigningKeyRow(kid=key.kid or "", private_key=private, created_at=now, retired_at=None)

    def _take(self, rows: list[SigningKeyRow]) -> None:
        keys = {row.kid: key for row in rows if (key := self._decrypted(row)) is not None}
        self._keys = keys
        usable = [row for row in rows if row.kid in keys and row.retired_at is None]
        newest = max(usable, key=lambda row: (row.created_at, row.kid), default=None)
        self._signing = None if newest is None else (keys[newest.kid], newest.created_at)
        self._loaded_at = time.monotonic()

    def _decrypted(self, row: SigningKeyRow) -> ECKey | None:
        cached = self._keys.get(row.kid)
        if cached is not None:
            return cached
        try:
            opened = jwe.decrypt_compact(
                row.private_key, self._encryption_key, algorithms=list(_ENCRYPTION.values())
            ).plaintext
            return ECKey.import_key(orjson.loads(opened or b""))
        except (JoseError, ValueError):
            if row.kid not in self._reported:
                self._reported.add(row.kid)
                log.warning(
                    "a signing key cannot be read: secret_key is another than when it was made; access tokens that it "
                    "signed are refused, and clients get new ones with their refresh tokens",
                    kid=row.kid,
                )
            return None


async def _rows(session: AsyncSession) -> list[SigningKeyRow]:
    return list(await session.scalars(select(SigningKeyRow)))


LIFETIME: Final = 3600
"""Lifetime of an access token, in seconds."""

LEEWAY: Final = 5
"""Tolerated clock difference between two servers, in seconds."""

_TYPE: Final = "at+jwt"
_TYPES: Final = (_TYPE, f"application/{_TYPE}")
_MAX_TOKEN_LENGTH: Final = 4096


class TokenInvalid(Exception):
    """An access token is not valid. The message states why, for client developers."""


@dataclass(frozen=True, slots=True)
class AccessToken:
    """A valid access token. `expires_at` is a Unix time."""

    family_id: str
    client_id: str
    expires_at: float


class AccessTokens:
    """Issues and verifies access tokens. Whether their grant was revoked is checked elsewhere."""

    def __init__(self, prefix: str, urls: EndpointUrls, keys: SigningKeys, *, clock: Clock = utc_now) -> None:
        self._beginning = f"{prefix}_oat_"
        self._urls = urls
        self._keys = keys
        self._clock = clock

    def is_one(self, bearer: str) -> bool:
        """Return whether a bearer token has the prefix of access tokens."""
        return bearer.startswith(self._beginning)

    async def issue(self, grant: Grant) -> str:
        """Issue a token for a grant (RFC 9068, section 2). Raises `BackendError`."""
        key = await self._keys.current()
        now = int(self._clock().timestamp())
        header = {"alg": ALGORITHM, "typ": _TYPE, "kid": key.kid}
        claims = {
            "iss": self._urls.issuer,
            "aud": grant.resource,
            "sub": grant.user_id,
            "client_id": grant.client_id,
            "scope": grant.scope,
            "jti": new_id("t"),
            "iat": now,
            "exp": now + LIFETIME,
            "connection": grant.connection_id,
            "family": grant.family_id,
        }
        return self._beginning + jwt.encode(header, claims, key, algorithms=[ALGORITHM])

    async def verify(self, bearer: str, *, expired_too: bool = False) -> AccessToken:
        """Verify a token and return its claims (RFC 9068, section 4; RFC 8725).

        With `expired_too`, expired tokens are accepted as well.

        Raises:
            TokenInvalid: The token was not issued here, is for another resource, or has expired.
            BackendError: The keys could not be read.
        """
        text = bearer.removeprefix(self._beginning)
        header = _header(text)
        key = await self._keys.find(header["kid"])
        if key is None:
            raise TokenInvalid("the access token was signed with a key that is no longer known")
        try:
            claims = jwt.decode(text, key, algorithms=[ALGORITHM]).claims
        except (JoseError, ValueError):
            raise TokenInvalid("the access token's signature is wrong") from None
        self._check(claims, expired_too=expired_too)
        return AccessToken(str(claims.get("family", "")), str(claims.get("client_id", "")), claims["exp"])

    def _check(self, claims: dict[str, Any], *, expired_too: bool) -> None:
        now = self._clock().timestamp()
        expires, begins = claims.get("exp"), claims.get("nbf", now)
        if claims.get("iss") != self._urls.issuer:
            raise TokenInvalid("the access token was issued by another server")
        if claims.get("aud") not in (self._urls.resource, [self._urls.resource]):
            raise TokenInvalid(f"the access token is not for {self._urls.resource}")
        if not isinstance(expires, int) or not isinstance(begins, int | float) or begins > now + LEEWAY:
            raise TokenInvalid("the access token is not valid yet, or has no expiry")
        if not expired_too and now >= expires + LEEWAY:
            raise TokenInvalid("the access token has expired; get a new one with the refresh token")


def _header(text: str) -> dict[str, Any]:
    """Return a token's header after checking its type and algorithm (RFC 9068, section 4). Raises `TokenInvalid`."""
    if len(text) > _MAX_TOKEN_LENGTH or not text.isascii():
        raise TokenInvalid("the access token is malformed")
    try:
        header = jws.extract_compact(text.encode()).headers()
    except (JoseError, ValueError):
        raise TokenInvalid("the access token is malformed") from None
    kid, kind = header.get("kid"), header.get("typ")
    if header.get("alg") != ALGORITHM or not isinstance(kid, str) or not isinstance(kind, str):
        raise TokenInvalid("the access token is malformed")
    if kind.lower() not in _TYPES:
        raise TokenInvalid("the token is not an access token")
    return header
