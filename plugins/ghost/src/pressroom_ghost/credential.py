"""The token of an Admin API key of Ghost (JWT, RFC 7519)."""

from __future__ import annotations

import time

from joserfc import jwt
from joserfc.jwk import OctKey
from pressroom_content.contract import SiteRejected

_SECONDS = 240
"""Less than Ghost allows, so that a clock that differs a little does no harm."""


def token(key: str, *, now: float | None = None) -> str:
    """Return a token for a key `id:secret`, the secret in hexadecimal. Raises `SiteRejected` where it is not a key."""
    identifier, _, secret = key.strip().partition(":")
    try:
        shared = OctKey.import_key(bytes.fromhex(secret))
    except ValueError:
        raise SiteRejected(
            "this is not an Admin API key of Ghost: it has two parts with a colon between them"
        ) from None
    at = int(time.time() if now is None else now)
    header = {"alg": "HS256", "kid": identifier, "typ": "JWT"}
    return jwt.encode(header, {"iat": at, "exp": at + _SECONDS, "aud": "/admin/"}, shared)
