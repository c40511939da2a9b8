"""Credentials of sources: key files of service accounts, and stored credentials that change while in use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Protocol

from joserfc.errors import JoseError
from joserfc.jwk import RSAKey
from pressroom.sdk import InvalidInput

_MAX_KEY_LENGTH: Final = 3_500
"""Maximum characters of a private key, enough for 4096 bits. Parsing one of 16,384 bits takes minutes."""


def key_file(text: str) -> tuple[Mapping[str, Any], RSAKey]:
    """Return the parsed key file of a service account, and its key. Raises `InvalidInput`."""
    problem = "must be the whole JSON text of a service account's key file"
    try:
        document = json.loads(text)
        pem = document["private_key"]
        key = RSAKey.import_key(pem) if len(pem) <= _MAX_KEY_LENGTH else None
        email = document["client_email"]
    except (ValueError, KeyError, TypeError, RecursionError, JoseError):
        raise InvalidInput("service_account", problem) from None
    if key is None:
        raise InvalidInput("service_account", "must have a private key of at most 4096 bits; those of Google have 2048")
    if not isinstance(email, str) or not email or not key.is_private:
        raise InvalidInput("service_account", problem)
    return document, key


_MAX_NUMBERS: Final = {"n": 683, "p": 342, "q": 342, "e": 8}
"""Maximum base64url characters of the numbers of a 4096-bit key, whose factors have half as many bits."""


def check_key_file(text: str) -> None:
    """Check a key file that a user sent. Forged factors take seconds to check: call it in a worker process.

    Raises:
        InvalidInput: it is not a key file, or its key is not of a kind that Google issues.
    """
    _, key = key_file(text)
    numbers = key.as_dict(private=True)
    if any(len(str(numbers.get(name, ""))) > max_digits for name, max_digits in _MAX_NUMBERS.items()):
        raise InvalidInput("service_account", "must have a private key of at most 4096 bits, with factors of one size")


class CredentialKeeper(Protocol):
    """Stores the credential of one connection. All methods raise `BackendError` on an outage."""

    async def latest(self) -> Mapping[str, str]:
        """Return the stored credential; empty if the connection is gone or has no credential of its own."""

    async def replace(self, used: Mapping[str, str], renewed: Mapping[str, str]) -> None:
        """Replace the credential that was `used` with a renewed one, unless another is stored meanwhile."""

    async def ended(self, used: Mapping[str, str], message: str) -> None:
        """Record that a service has permanently rejected the credential, unless another is stored meanwhile."""


class StoredCredential(dict[str, str]):
    """The fields of a credential, and the `keeper` that stores changes to them."""

    def __init__(self, fields: Mapping[str, str], keeper: CredentialKeeper) -> None:
        super().__init__(fields)
        self.keeper = keeper
