"""The authorization server's own URLs, all built from the operator's `base_url`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import SplitResult, urlsplit

from pressroom.errors import InvalidTarget

RESOURCE_PATH: Final = "/api/mcp"
AUTHORIZE_PATH: Final = "/oauth/authorize"
TOKEN_PATH: Final = "/oauth/token"  # noqa: S105 - a URL
REGISTER_PATH: Final = "/oauth/register"
REVOKE_PATH: Final = "/oauth/revoke"
JWKS_PATH: Final = "/oauth/jwks.json"
RESOURCE_METADATA_PATH: Final = "/.well-known/oauth-protected-resource"
SERVER_METADATA_PATH: Final = "/.well-known/oauth-authorization-server"

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class EndpointUrls:
    """What clients compare byte by byte: the issuer, the resource, and the endpoints.

    `root` is the path of the public URL, mostly empty. No URL ends with a slash.
    """

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        origin = f"{parts.scheme}://{parts.netloc}"
        self.issuer = base_url
        self.resource = base_url + RESOURCE_PATH
        self.root = parts.path.rstrip("/")
        self._accepted = {_comparable(url) for url in (self.resource, base_url, origin)}

    def audience(self, resources: Iterable[str]) -> str:
        """Return the resource that access tokens are for, whatever of its forms the client named, or none.

        The forms are the MCP endpoint with or without a slash at its end, the server's public URL, and its origin.

        Raises:
            InvalidTarget: one of them is another resource (RFC 8707, section 2).
        """
        for resource in resources:
            if _comparable(resource) not in self._accepted:
                raise InvalidTarget(f"the only resource here is {self.resource}")
        return self.resource


def _comparable(url: str) -> tuple[str, str, int | None, str] | None:
    """Return what makes two URLs the same (RFC 3986, section 6.2): case of scheme and host, the default port."""
    try:
        parts = urlsplit(url)
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return None
    if _has_more_than_a_path(url, parts):
        return None
    return parts.scheme, parts.hostname or "", port, parts.path.rstrip("/")


def _has_more_than_a_path(url: str, parts: SplitResult) -> bool:
    return not parts.hostname or not url.isascii() or not url.isprintable() or any(mark in url for mark in "?#@")
