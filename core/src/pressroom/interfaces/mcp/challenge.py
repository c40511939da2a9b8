"""What a client hears that has no valid credential (interface contract, sections 2.3 and 5.3)."""

from __future__ import annotations

import orjson

from pressroom.config.models import Settings
from pressroom.errors import Rejected
from pressroom.http.responses import EncodedHeaders
from pressroom.oauth.endpoint_urls import RESOURCE_METADATA_PATH


class Unauthorized(Exception):
    """The request has no credential, or one that is not valid. `headers` say whether authorizing could help."""

    def __init__(self, description: str, headers: EncodedHeaders) -> None:
        super().__init__(description)
        self.body = orjson.dumps({"error": "unauthorized", "error_description": description})
        self.headers = headers


class Challenge:
    """Writes the `WWW-Authenticate` header (RFC 6750, section 3, and RFC 9728, section 5.1)."""

    def __init__(self, settings: Settings) -> None:
        metadata = f'resource_metadata="{settings.public_url}{RESOURCE_METADATA_PATH}", scope="mcp"'
        self._missing = _header(f"Bearer {metadata}" if settings.oauth.enabled else "Bearer")
        invalid = 'error="invalid_token"'
        self._invalid = _header(f"Bearer {metadata}, {invalid}" if settings.oauth.enabled else f"Bearer {invalid}")

    def missing(self) -> Unauthorized:
        """Return the refusal of a request without a credential."""
        return Unauthorized(
            "a credential is needed: send Authorization: Bearer with an API key or an access token", self._missing
        )

    def unknown(self) -> Unauthorized:
        """Return the refusal of a credential that nobody recognises."""
        return Unauthorized("the credential is neither an API key nor an access token of this server", self._invalid)

    def rejected(self, error: Rejected) -> Unauthorized:
        """Return the refusal of a credential that was recognised; without a challenge where authorizing would not help.

        An API key that was rejected stays rejected.
        """
        return Unauthorized(error.message, self._invalid if error.reauthorize else ())


def _header(value: str) -> EncodedHeaders:
    return ((b"WWW-Authenticate", value.encode("ascii")),)
