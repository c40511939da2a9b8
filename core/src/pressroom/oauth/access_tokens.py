"""Access tokens: `<prefix>_oat_` and a JWT in the profile of RFC 9068."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from joserfc import jws, jwt
from joserfc.errors import JoseError

from pressroom.columns import new_id
from pressroom.oauth.endpoint_urls import EndpointUrls
from pressroom.oauth.keys import ALGORITHM, SigningKeys
from pressroom.oauth.records import Clock, Grant, utc_now

LIFETIME: Final = 3600
"""How many seconds an access token is valid."""

LEEWAY: Final = 5
"""How many seconds the clocks of two servers may differ."""

_TYPE: Final = "at+jwt"
_TYPES: Final = (_TYPE, f"application/{_TYPE}")
_MAX_TOKEN_LENGTH: Final = 4096


class TokenInvalid(Exception):
    """An access token is not valid. The text says why, for the client's developers."""


@dataclass(frozen=True, slots=True)
class AccessToken:
    """A valid access token. `expires_at` is a Unix time."""

    family_id: str
    client_id: str
    expires_at: float


class AccessTokens:
    """Issues and verifies access tokens; whether their grant is still in force is another question."""

    def __init__(self, prefix: str, addresses: EndpointUrls, keys: SigningKeys, *, clock: Clock = utc_now) -> None:
        self._beginning = f"{prefix}_oat_"
        self._addresses = addresses
        self._keys = keys
        self._clock = clock

    def is_one(self, bearer: str) -> bool:
        """Tell whether a credential begins like an access token."""
        return bearer.startswith(self._beginning)

    async def issue(self, grant: Grant) -> str:
        """Return a new token (RFC 9068, section 2). Raises `BackendError`."""
        key = await self._keys.current()
        now = int(self._clock().timestamp())
        header = {"alg": ALGORITHM, "typ": _TYPE, "kid": key.kid}
        claims = {
            "iss": self._addresses.issuer,
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
        """Return what a token says (RFC 9068, section 4; RFC 8725), with `expired_too` whenever it expired.

        Raises:
            TokenInvalid: it was not issued here, is not for this resource, or has expired.
            BackendError: the keys could not be read.
        """
        text = bearer.removeprefix(self._beginning)
        header = _header(text)
        key = await self._keys.find(header["kid"])
        if key is None:
            raise TokenInvalid("the access token was signed with a key that is not known any more")
        try:
            claims = jwt.decode(text, key, algorithms=[ALGORITHM]).claims
        except (JoseError, ValueError):
            raise TokenInvalid("the access token's signature is wrong") from None
        self._check(claims, expired_too=expired_too)
        return AccessToken(str(claims.get("family", "")), str(claims.get("client_id", "")), claims["exp"])

    def _check(self, claims: dict[str, Any], *, expired_too: bool) -> None:
        now = self._clock().timestamp()
        expires, begins = claims.get("exp"), claims.get("nbf", now)
        if claims.get("iss") != self._addresses.issuer:
            raise TokenInvalid("the access token is another server's")
        if claims.get("aud") not in (self._addresses.resource, [self._addresses.resource]):
            raise TokenInvalid(f"the access token is not for {self._addresses.resource}")
        if not isinstance(expires, int) or not isinstance(begins, int | float) or begins > now + LEEWAY:
            raise TokenInvalid("the access token is not valid yet, or has no expiry")
        if not expired_too and now >= expires + LEEWAY:
            raise TokenInvalid("the access token has expired; get a new one with the refresh token")


def _header(text: str) -> dict[str, Any]:
    """Return the header of a token, whose type and algorithm are ours (RFC 9068, section 4)."""
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
