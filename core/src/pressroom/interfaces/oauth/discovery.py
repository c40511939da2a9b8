"""Discovery documents of the authorization server (RFC 9728, RFC 8414, RFC 7517)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import orjson
from sanic import HTTPResponse, Request

from pressroom.host.host import Host
from pressroom.http.cors import OAUTH
from pressroom.http.responses import Endpoint, Handler
from pressroom.interfaces.oauth.responses import document, for_programs
from pressroom.oauth.records import (
    AUTH_METHODS,
    AUTHORIZE_PATH,
    GRANT_TYPES,
    JWKS_PATH,
    REGISTER_PATH,
    RESOURCE_METADATA_PATH,
    RESOURCE_PATH,
    REVOKE_PATH,
    SCOPE,
    SERVER_METADATA_PATH,
    TOKEN_PATH,
    EndpointUrls,
)

_MAX_AGE: Final = 3600
_KEYS_MAX_AGE: Final = 300


class Discovery:
    """Handles the well-known URLs and `/oauth/jwks.json`.

    Each document is served at its well-known path, and with the resource's path appended. If the public URL has a path,
    documents are also served where RFC 8414 (section 3.1) and RFC 9728 (section 3.1) put them: between the origin and
    that path.
    """

    def __init__(self, host: Host) -> None:
        server, oauth = host.authorization_server, host.settings.oauth
        self._keys = server.keys
        self._admit = host.pipeline.admit
        self._root = server.urls.root
        self._resource = orjson.dumps(resource_metadata(server.urls, host.settings.branding.name))
        self._server = orjson.dumps(
            server_metadata(server.urls, registration=oauth.registration, documents=oauth.client_metadata_documents)
        )

    def endpoints(self) -> Iterator[Endpoint]:
        """Yield the routes to serve."""
        for path in dict.fromkeys(("", RESOURCE_PATH, self._root + RESOURCE_PATH)):
            yield from _readable(RESOURCE_METADATA_PATH + path, self._constant(self._resource))
        for path in dict.fromkeys(("", RESOURCE_PATH, self._root, self._root + RESOURCE_PATH)):
            yield from _readable(SERVER_METADATA_PATH + path, self._constant(self._server))
        yield from _readable(JWKS_PATH, for_programs(self._jwks, self._admit))

    def _constant(self, body: bytes) -> Handler:
        async def handle(_request: Request) -> HTTPResponse:
            return document(body, _MAX_AGE)

        return for_programs(handle, self._admit)

    async def _jwks(self, _request: Request) -> HTTPResponse:
        """`GET /oauth/jwks.json`: return the public keys of access tokens."""
        return document(orjson.dumps({"keys": await self._keys.public()}), _KEYS_MAX_AGE)


def _readable(path: str, handler: Handler) -> Iterator[Endpoint]:
    yield Endpoint(path, ("GET",), handler)
    yield Endpoint(path, ("OPTIONS",), OAUTH.preflight("GET"))


def resource_metadata(urls: EndpointUrls, name: str) -> dict[str, Any]:
    """Return the metadata of the MCP endpoint (RFC 9728, section 2)."""
    return {
        "resource": urls.resource,
        "authorization_servers": [urls.issuer],
        "bearer_methods_supported": ["header"],
        "scopes_supported": [SCOPE],
        "resource_name": name,
    }


def server_metadata(urls: EndpointUrls, *, registration: bool, documents: bool) -> dict[str, Any]:
    """Return the metadata of the authorization server (RFC 8414, section 2)."""
    issuer = urls.issuer
    members = {
        "issuer": issuer,
        "authorization_endpoint": issuer + AUTHORIZE_PATH,
        "token_endpoint": issuer + TOKEN_PATH,
        "registration_endpoint": issuer + REGISTER_PATH,
        "revocation_endpoint": issuer + REVOKE_PATH,
        "jwks_uri": issuer + JWKS_PATH,
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": list(GRANT_TYPES),
        "token_endpoint_auth_methods_supported": list(AUTH_METHODS),
        "revocation_endpoint_auth_methods_supported": list(AUTH_METHODS),
        "code_challenge_methods_supported": ["S256"],
        "scopes_supported": [SCOPE],
        "authorization_response_iss_parameter_supported": True,
        "protected_resources": [urls.resource],
        "client_id_metadata_document_supported": True,
    }
    left_out = {"registration_endpoint": not registration, "client_id_metadata_document_supported": not documents}
    return {name: value for name, value in members.items() if not left_out.get(name)}
