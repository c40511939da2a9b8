"""Who may call the endpoint: the web pages that may, and the challenge to a client without a valid credential.

A page on any site can make a browser send requests to this server. Browsers say in `Origin` where the page is from;
programs send none. On a loopback address a page can also pose as this server, once its own name resolves to that IP
address (DNS rebinding); then `Host` still has the page's name.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import Final
from urllib.parse import SplitResult, urlsplit

import orjson
from sanic import Request

from pressroom.config.models import Settings
from pressroom.errors import Rejected
from pressroom.http.cors import MCP
from pressroom.http.responses import EncodedHeaders, encode_headers
from pressroom.interfaces.mcp.protocol import UNAUTHORIZED, RpcError
from pressroom.oauth.records import RESOURCE_METADATA_PATH
from pressroom.validation.echo import quoted


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
            "a credential is required: send Authorization: Bearer with an API key or an access token", self._missing
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


_LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class OriginPolicy:
    """Knows the server's own origins and names, and the origins that the operator allows."""

    def __init__(self, settings: Settings) -> None:
        allowed = {origin.lower().rstrip("/") for origin in settings.mcp.allowed_origins}
        own = urlsplit(settings.public_url.lower())
        self._anyone = "*" in allowed
        self._origins = allowed | {_origin(own)}
        self._hosts: frozenset[str] | None = None
        if _is_loopback(settings.server.host):
            names = {settings.server.host.lower(), *_LOOPBACK_NAMES}
            self._origins |= {f"http://{_bracketed(name)}:{settings.server.port}" for name in names}
            # A proxy may put any name of its own into `Host`, and then it is the proxy that web pages reach.
            if not settings.server.trusted_proxies and settings.server.forwarded_secret is None:
                self._hosts = frozenset({*names, own.hostname or ""})

    def check(self, request: Request) -> EncodedHeaders:
        """Return the CORS headers (Fetch standard) of every answer to this request.

        Raises:
            RpcError: it comes from a page that may not call the endpoint.
        """
        headers = request.headers
        if self._hosts is not None and _host_name(headers.get("host", "")) not in self._hosts:
            raise RpcError(
                UNAUTHORIZED,
                f"Host {quoted(headers.get('host', ''))} is not this server; set base_url to the name it is reached by",
                status=403,
            )
        origin = headers.get("origin", "")
        if not origin:
            return ()
        if self._anyone:
            return encode_headers(MCP.headers())
        if origin.lower() not in self._origins:
            raise RpcError(
                UNAUTHORIZED,
                f"Origin {quoted(origin)} may not call this endpoint; the operator can add it to [mcp] allowed_origins",
                status=403,
            )
        return encode_headers(MCP.headers(origin))

    def preflight(self, request: Request) -> EncodedHeaders:
        """Return the headers of the answer to a CORS preflight. Raises `RpcError` like `check`."""
        return (*self.check(request), *encode_headers({**MCP.preflight_headers("POST"), "Allow": "POST, OPTIONS"}))


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _origin(url: SplitResult) -> str:
    """Return the origin of a URL as browsers write it, without a default port."""
    port = "" if url.port in (None, _DEFAULT_PORTS.get(url.scheme)) else f":{url.port}"
    return f"{url.scheme}://{_bracketed(url.hostname or '')}{port}"


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name else name


@lru_cache(maxsize=64)
def _host_name(host: str) -> str:
    """Return the name in a `Host` header, without the port and in lower case."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].rstrip(".").lower()
