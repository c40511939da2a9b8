"""Credentials that are stored, and that services replace or end while they are used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


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
