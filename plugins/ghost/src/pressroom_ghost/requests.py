"""Parts of requests to Ghost: the token of an Admin API key (JWT, RFC 7519), and forms with a file (RFC 7578)."""

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
"""The types of images that Ghost takes, and how their files are named."""


def multipart(fields: Mapping[str, str], filename: str, file: MediaFile) -> tuple[bytes, str]:
    """Return the body of a form and its content type. Names and values are our own: plain ASCII without quotes."""
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
"""Less than Ghost allows, so that a clock that differs a little does no harm."""


def token(key: str, *, now: float | None = None) -> str:
    """Return a token for a key `id:secret`, the secret in hexadecimal. Raises `SiteRejected` where it is not a key."""
    identifier, _, secret = key.strip().partition(":")
    try:
        shared = OctKey.import_key(bytes.fromhex(secret))
    except ValueError:
        raise SiteRejected("this is not an Admin API key of Ghost: expected two parts separated by a colon") from None
    at = int(time.time() if now is None else now)
    header = {"alg": "HS256", "kid": identifier, "typ": "JWT"}
    return jwt.encode(header, {"iat": at, "exp": at + _SECONDS, "aud": "/admin/"}, shared)
