"""Texts that a browser keeps for the server, and can neither read nor change."""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Mapping

import orjson
from joserfc import jwe
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

_HEADER = {"alg": "dir", "enc": "A256GCM"}


class CookieCipher:
    """Encrypts small sets of texts for a while: compact JWE (RFC 7516) with AES-256-GCM.

    Args:
        secret: the server's secret key, from which one for this purpose is derived.
        purpose: what the texts are for; what was sealed for one purpose opens for no other.
        clock: the Unix time in seconds.
    """

    def __init__(self, secret: bytes, purpose: str, *, clock: Callable[[], float] = time.time) -> None:
        self._key = OctKey.import_key(hmac.digest(secret, f"pressroom seal: {purpose}".encode(), "sha256"))
        self._clock = clock

    def seal(self, texts: Mapping[str, str], *, seconds: float) -> str:
        """Return the texts as a cookie may hold them; they open for that many seconds."""
        content = orjson.dumps({"texts": dict(texts), "until": self._clock() + seconds})
        return jwe.encrypt_compact(dict(_HEADER), content, self._key)

    def open(self, sealed: str) -> Mapping[str, str] | None:
        """Return the texts, or `None` where they were not sealed here for this, or too long ago."""
        try:
            content = orjson.loads(jwe.decrypt_compact(sealed, self._key).plaintext or b"")
        except (JoseError, ValueError):
            return None
        if self._clock() > content["until"]:
            return None
        texts: Mapping[str, str] = content["texts"]
        return texts
