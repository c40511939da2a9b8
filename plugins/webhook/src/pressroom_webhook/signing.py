"""Signatures of Standard Webhooks 1.0, section "Signature scheme"."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from typing import Final

from pressroom_content.contract import SiteRejected

_PREFIX: Final = "whsec_"
_MIN_KEY_BYTES, _MAX_KEY_BYTES = 24, 64


def key_of(secret: str) -> bytes:
    """Return the key in a secret `whsec_…`, of 24 to 64 bytes. Raises `SiteRejected` if it is invalid."""
    try:
        key = base64.b64decode(secret.strip().removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.strip().startswith(_PREFIX) or not _MIN_KEY_BYTES <= len(key) <= _MAX_KEY_BYTES:
        raise SiteRejected("this is not a signing secret: it is whsec_ and the base64 of 24 to 64 bytes")
    return key


def signed(key: bytes, event_id: str, timestamp: int, body: bytes) -> Mapping[str, str]:
    """Return the headers of an event that is sent at a time, in seconds since 1970. The id holds no full stop."""
    content = b".".join((event_id.encode(), str(timestamp).encode(), body))
    digest = hmac.new(key, content, hashlib.sha256).digest()
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
