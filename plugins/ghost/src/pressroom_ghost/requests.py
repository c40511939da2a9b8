"""Helpers for requests to Ghost: Admin API tokens (JWT, RFC 7519) and multipart forms (RFC 7578)."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from typing import Final

from joserfc import jwt
from joserfc.jwk import OctKey
from pressroom_content.contract import MediaFile, SiteRejected

EXTENSIONS: Final = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/avif": "avif",
}
"""File extensions of the image types that Ghost accepts."""


def multipart(fields: Mapping[str, str], filename: str, file: MediaFile) -> tuple[bytes, str]:
    """Return the body of a form and its content type. Names and values must be plain ASCII without quotes."""
    boundary = f"pressroom-{secrets.token_hex(16)}"
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{filename}"\r\n'
        f"Content-Type: {file.media_type}\r\n\r\n"
    )
    body = b"".join([*parts, head.encode(), file.content, f"\r\n--{boundary}--\r\n".encode()])
    return body, f"multipart/form-data; boundary={boundary}"


_SECONDS = 240
"""Lifetime of a token, shorter than Ghost's limit to tolerate clock skew."""


def token(key: str, *, now: float | None = None) -> str:
    """Create a token from a key `id:secret` with a hexadecimal secret. Raises `SiteRejected` for an invalid key."""
    identifier, _, secret = key.strip().partition(":")
    try:
        shared = OctKey.import_key(bytes.fromhex(secret))
    except ValueError:
        raise SiteRejected("this is not an Admin API key of Ghost: expected two parts separated by a colon") from None
    at = int(time.time() if now is None else now)
    header = {"alg": "HS256", "kid": identifier, "typ": "JWT"}
    return jwt.encode(header, {"iat": at, "exp": at + _SECONDS, "aud": "/admin/"}, shared)
