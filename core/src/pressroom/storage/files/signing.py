"""Signed URLs: anyone who holds one may fetch that file until it expires, and nothing else."""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode
from enum import Enum
from functools import lru_cache
from typing import Final

MIN_SECRET_BYTES: Final = 16


class UrlStatus(Enum):
    """The result of checking a signed URL."""

    VALID = "valid"
    ALTERED = "altered"
    """Path, expiry or signature is not what was signed; answer 403."""
    EXPIRED = "expired"
    """Signed by this server, but its time is over; answer 410."""


class UrlSigner:
    """Signs paths together with their expiry: HMAC-SHA256 (RFC 2104), in base64url without padding (RFC 4648).

    `secret` has at least 16 bytes. Servers that share it accept each other's URLs.
    """

    __slots__ = ("_key", "_signed")

    def __init__(self, secret: bytes) -> None:
        if len(secret) < MIN_SECRET_BYTES:
            raise ValueError(f"the secret must have at least {MIN_SECRET_BYTES} bytes (got {len(secret)})")
        # A key of its own, so that nothing else that is made from the same secret passes as a signed URL.
        self._key = hmac.digest(secret, b"pressroom signed file address", "sha256")
        # A result that many ask for at once is signed once a second.
        self._signed = lru_cache(maxsize=4096)(self._signature)

    def sign(self, path: str, expires: int) -> str:
        """Return the query that makes `path` valid until `expires`, a Unix time in whole seconds."""
        text = str(expires)
        return f"expires={text}&signature={self._signed(path, text).decode()}"

    def verify(self, path: str, expires: str, signature: str, now: float) -> UrlStatus:
        """Check what a client sent; a parameter that is missing counts as empty.

        The signature comes first: an altered expiry is `ALTERED`, whatever it says. Whether the file exists plays
        no part.

        Args:
            path: the path as `url_path` builds it, percent-decoded.
            expires: the query parameter `expires` as it was sent.
            signature: the query parameter `signature` as it was sent.
            now: Unix time in seconds.
        """
        if not hmac.compare_digest(self._signature(path, expires), signature.encode(errors="replace")):
            return UrlStatus.ALTERED
        # The text is the one that was signed, so it is a number.
        return UrlStatus.VALID if now < int(expires) else UrlStatus.EXPIRED

    def _signature(self, path: str, expires: str) -> bytes:
        # A line break is in no path that is signed, so no two pairs give the same message.
        message = f"{path}\n{expires}".encode(errors="replace")
        return urlsafe_b64encode(hmac.digest(self._key, message, "sha256")).rstrip(b"=")
