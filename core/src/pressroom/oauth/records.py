"""Records shared by the parts of the authorization server, and its endpoint URLs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal
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
    """URLs that clients compare byte by byte: the issuer, the resource and the endpoints.

    `root` is the path of the public URL, which is usually empty. No URL ends with a slash.
    """

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        origin = f"{parts.scheme}://{parts.netloc}"
        self.issuer = base_url
        self.resource = base_url + RESOURCE_PATH
        self.root = parts.path.rstrip("/")
        self._accepted = {_comparable(url) for url in (self.resource, base_url, origin)} - {None}

    def audience(self, resources: Iterable[str]) -> str:
        """Return the resource that access tokens are issued for, whichever accepted form the client sent, if any.

        Accepted forms are the MCP endpoint with or without a trailing slash, the server's public URL, and its origin. A
        query, such as one that selects toolsets, is ignored.

        Raises:
            InvalidTarget: A value is another resource (RFC 8707, section 2).
        """
        for resource in resources:
            if _comparable(resource.partition("?")[0]) not in self._accepted:
                raise InvalidTarget(f"the only resource here is {self.resource}")
        return self.resource


def _comparable(url: str) -> tuple[str, str, int | None, str] | None:
    """Return the parts of a URL that are compared, normalised (RFC 3986, section 6.2).

    Case of scheme and host, the default port and a trailing slash do not matter. Return `None` if the URL is malformed
    or has a query, a fragment or user information.
    """
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


Clock = Callable[[], datetime]

AuthMethod = Literal["none", "client_secret_basic", "client_secret_post"]

SCOPE: Final = "mcp"
"""The only scope."""

AUTHORIZATION_CODE: Final = "authorization_code"
REFRESH_TOKEN: Final = "refresh_token"  # noqa: S105 - the name of a grant type
GRANT_TYPES: Final = (AUTHORIZATION_CODE, REFRESH_TOKEN)
AUTH_METHODS: Final[tuple[AuthMethod, ...]] = ("none", "client_secret_basic", "client_secret_post")


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class ClientMetadata:
    """A client's validated metadata (RFC 7591, section 2). It is self-declared and unproven; links are https."""

    redirect_uris: tuple[str, ...]
    auth_method: AuthMethod = "none"
    grant_types: tuple[str, ...] = GRANT_TYPES
    name: str = ""
    client_uri: str = ""
    logo_uri: str = ""

    def as_stored(self) -> dict[str, object]:
        """Return the members that have no column of their own."""
        return {"grant_types": list(self.grant_types), "client_uri": self.client_uri, "logo_uri": self.logo_uri}


@dataclass(frozen=True, slots=True)
class Client:
    """A known client. `secret_hash` is `None` for a public client.

    `from_document` states whether `id` is the URL of its metadata document.
    """

    id: str
    metadata: ClientMetadata
    secret_hash: bytes | None
    created_at: datetime
    from_document: bool = False

    @property
    def redirect_uris(self) -> tuple[str, ...]:
        """The registered redirect URIs."""
        return self.metadata.redirect_uris


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """A valid authorization request (RFC 6749, section 4.1.1, with PKCE and a resource).

    The response goes to `redirect_uri`; `redirect_uri_sent` states whether the request contained it.
    """

    client: Client
    redirect_uri: str
    redirect_uri_sent: bool
    state: str
    scope: str
    resource: str
    code_challenge: str


@dataclass(frozen=True, slots=True)
class CodeExchange:
    """A token request with an authorization code (RFC 6749, section 4.1.3). An absent `redirect_uri` is empty."""

    code: str
    redirect_uri: str
    code_verifier: str


@dataclass(frozen=True, slots=True)
class Grant:
    """An active token family, with the connection, user and client that it belongs to."""

    family_id: str
    connection_id: str
    user_id: str
    client_id: str
    scope: str
    resource: str


@dataclass(frozen=True, slots=True)
class TokenSet:
    """The response to a token request. `refresh_token` is empty for a client that does not use refresh tokens."""

    access_token: str
    refresh_token: str
    expires_in: int
    scope: str
