"""Access tokens for Google's APIs: from a service account (RFC 7523) or from a refresh token (RFC 6749, section 6)."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey
from pressroom.sdk import BackendError, Fetcher, InvalidInput, Rejected

from pressroom_search_performance.sources.requesting import ask, number

SCOPE: Final = "https://www.googleapis.com/auth/webmasters"
_LIFETIME: Final = 3600
_EARLY: Final = 300
_MAX_CACHED: Final = 512
_JWT_BEARER: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"


class GoogleAuth:
    """Gets access tokens and remembers them while they are valid.

    Args:
        token_url: the token endpoint. What a key file says of it is not followed, since key files are untrusted.
        account: the operator's key file (JSON), or nothing; it is used for credentials without any field.
    """

    def __init__(self, token_url: str, account: str) -> None:
        self._token_url = token_url
        self._account = account
        self._known: OrderedDict[str, tuple[float, str]] = OrderedDict()

    async def header(self, credential: Mapping[str, str], fetcher: Fetcher) -> Mapping[str, str]:
        """Return the header `Authorization` for a credential.

        Raises `Rejected` if absent or Google does not accept it, and `BackendError`.
        """
        name = _name_of(credential)
        until, token = self._known.get(name, (0.0, ""))
        if time.monotonic() >= until:
            token, lifetime = await self._new(credential, fetcher)
            self._known[name] = time.monotonic() + lifetime - _EARLY, token
            self._known.move_to_end(name)
            while len(self._known) > _MAX_CACHED:
                self._known.popitem(last=False)
        return {"Authorization": f"Bearer {token}"}

    def remembers(self, credential: Mapping[str, str]) -> bool:
        """Tell whether the next header holds a token that was used before."""
        return time.monotonic() < self._known.get(_name_of(credential), (0.0, ""))[0]

    def forget(self, credential: Mapping[str, str]) -> None:
        """Forget the token of a credential: it is not accepted any more."""
        self._known.pop(_name_of(credential), None)

    async def _new(self, credential: Mapping[str, str], fetcher: Fetcher) -> tuple[str, float]:
        form = urlencode(await self._grant(credential)).encode()
        answer = await ask(fetcher, "Google", "POST", self._token_url, form=form)
        token = answer.get("access_token") if isinstance(answer, dict) else None
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise BackendError("Google gave no access token")
        return token, number(answer.get("expires_in")) or _LIFETIME

    async def _grant(self, credential: Mapping[str, str]) -> Mapping[str, str]:
        if credential.get("refresh_token"):
            return {
                "grant_type": "refresh_token",
                "client_id": credential.get("client_id", ""),
                "client_secret": credential.get("client_secret", ""),
                "refresh_token": credential["refresh_token"],
            }
        account = credential.get("service_account") or self._account
        if not account:
            raise Rejected("there is no credential for Google: enter a service account's key or a refresh token")
        try:
            return {"grant_type": _JWT_BEARER, "assertion": await asyncio.to_thread(self._assertion, account)}
        except InvalidInput as error:
            raise Rejected(error.problem) from None

    def _assertion(self, account: str) -> str:
        """Return the signed assertion. Signing takes milliseconds: call it in a thread."""
        document, key = key_file(account)
        now = int(time.time())
        claims = {
            "iss": document["client_email"],
            "scope": SCOPE,
            "aud": self._token_url,
            "iat": now,
            "exp": now + _LIFETIME,
        }
        header = {"alg": "RS256", "typ": "JWT"}
        if isinstance(document.get("private_key_id"), str):
            header["kid"] = document["private_key_id"]
        return jwt.encode(header, claims, key, algorithms=["RS256"])


def key_file(text: str) -> tuple[Mapping[str, Any], RSAKey]:
    """Return the content of a service account's key file, and its key. Raises `InvalidInput`."""
    problem = "must be the whole JSON text of a service account's key file"
    try:
        document = json.loads(text)
        key = RSAKey.import_key(document["private_key"])
        email = document["client_email"]
    except (ValueError, KeyError, TypeError, RecursionError, JoseError):
        raise InvalidInput("service_account", problem) from None
    if not isinstance(email, str) or not email or not key.is_private:
        raise InvalidInput("service_account", problem)
    return document, key


def _name_of(credential: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps(sorted(credential.items())).encode()).hexdigest()
