"""Secrets of websites, encrypted under the keys that the operator configured for the content plugin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class CredentialVault(Protocol):
    """Encrypts what people type to give access, so that it can be kept in a table of your own.

    A credential is sealed for one website: it cannot be opened for another one.
    """

    def seal(self, credential: Mapping[str, str], website_id: str) -> str:
        """Return the credential of a website as a text that may be stored.

        Raises:
            BackendError: the key of this server can be neither read nor made.
        """

    def open(self, sealed: str, website_id: str) -> Mapping[str, str]:
        """Return the credential of a website.

        Raises:
            SiteRejected: none of the keys opens it, or it is another website's.
            BackendError: the key of this server can be neither read nor made.
        """

    def reseal(self, sealed: str, website_id: str) -> str | None:
        """Return the credential encrypted with the newest key.

        `None` where it already is, and where no key opens it any more. Call it for everything that you keep, such as
        once a day: the operator can then remove an old key.

        Raises:
            SiteRejected: it is another website's.
            BackendError: the key of this server can be neither read nor made.
        """
