"""Credentials of sources: key files of service accounts, and what is stored and replaced while it is used."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Protocol

from joserfc.errors import JoseError
from joserfc.jwk import RSAKey
from pressroom.sdk import InvalidInput

_MAX_KEY_LENGTH: Final = 3_500
"""Characters of a private key, one of 4096 bits. Reading one of 16,384 bits takes minutes."""


def key_file(text: str) -> tuple[Mapping[str, Any], RSAKey]:
    """Return the content of a service account's key file, and its key. Raises `InvalidInput`."""
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
"""Base64url characters of the numbers of a key of 4096 bits, whose factors have half of them."""


def check_key_file(text: str) -> None:
    """Check what somebody sent as a key file. Made-up factors take seconds: call it in a worker process.

    Raises:
        InvalidInput: it is not a key file, or its key is not of a kind that Google makes.
    """
    _, key = key_file(text)
    numbers = key.as_dict(private=True)
    if any(len(str(numbers.get(name, ""))) > most for name, most in _MAX_NUMBERS.items()):
        raise InvalidInput("service_account", "must have a private key of at most 4096 bits, with factors of one size")


class CredentialKeeper(Protocol):
    """Where the credential of one connection is stored. All methods raise `BackendError` on an outage."""

    async def latest(self) -> Mapping[str, str]:
        """Return the credential as it is stored now; empty where the connection is gone or has none of its own."""

    async def replace(self, used: Mapping[str, str], renewed: Mapping[str, str]) -> None:
        """Store what a service gave out instead of the credential that was `used`, unless another is stored now."""

    async def ended(self, used: Mapping[str, str], message: str) -> None:
        """Take note that a service will never accept the credential again, unless another is stored now."""


class StoredCredential(dict[str, str]):
    """The fields of a credential, and the `keeper` that stores it."""

    def __init__(self, fields: Mapping[str, str], keeper: CredentialKeeper) -> None:
        super().__init__(fields)
        self.keeper = keeper
