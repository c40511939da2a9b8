"""Decode `data:` URLs."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final
from urllib.parse import unquote_to_bytes

_DATA: Final = re.compile(r"data:([^;,]*)((?:;[^;,]*)*),", re.IGNORECASE)


def data_of(url: str) -> bytes | None:
    """Return the content of a `data:` URL (RFC 2397), or `None` if it is invalid."""
    match = _DATA.match(url)
    if match is None:
        return None
    payload = url[match.end() :]
    if ";base64" not in match[2].lower():
        return unquote_to_bytes(payload)
    try:
        compact = re.sub(rb"\s+", b"", unquote_to_bytes(payload))
        return base64.b64decode(compact + b"=" * (-len(compact) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
