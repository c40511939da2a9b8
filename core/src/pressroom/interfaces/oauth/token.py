"""`POST /oauth/token` and `POST /oauth/revoke` (RFC 6749, RFC 7009)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote_plus

from sanic import HTTPResponse, Request

from pressroom.errors import InvalidClient, InvalidRequest, UnsupportedGrantType
from pressroom.host.host import Host
from pressroom.http.cors import OAUTH
from pressroom.http.responses import Endpoint
from pressroom.interfaces.oauth.responses import empty, for_programs, json_response
from pressroom.oauth.records import (
    AUTHORIZATION_CODE,
    GRANT_TYPES,
    REFRESH_TOKEN,
    REVOKE_PATH,
    TOKEN_PATH,
    Client,
    CodeExchange,
    TokenSet,
)
from pressroom.oauth.requests import Parameters
from pressroom.validation.echo import quoted

MAX_BYTES: Final = 65_536
_FORM: Final = "application/x-www-form-urlencoded"
_BASIC: Final = "basic"


class TokenEndpoints:
    """Handles token and revocation requests. Clients authenticate with Basic, in the form, or not at all."""

    def __init__(self, host: Host) -> None:
        self._server = host.authorization_server
        self._admit = host.pipeline.admit

    def endpoints(self) -> Iterator[Endpoint]:
        """Yield the routes to serve."""
        for path, handler in ((TOKEN_PATH, self.token), (REVOKE_PATH, self.revoke)):
            yield Endpoint(path, ("POST",), for_programs(handler, self._admit))
            yield Endpoint(path, ("OPTIONS",), OAUTH.preflight("POST"))

    async def token(self, request: Request) -> HTTPResponse:
        """Issue tokens for a code or a refresh token."""
        parameters = _form(request)
        grant_type = parameters.required("grant_type")
        if grant_type not in GRANT_TYPES:
            raise UnsupportedGrantType(
                f"grant_type: must be {AUTHORIZATION_CODE} or {REFRESH_TOKEN} (got {quoted(grant_type)})"
            )
        client = await self._client(request, parameters)
        if grant_type == AUTHORIZATION_CODE:
            return json_response(_members(await self._exchange(client, parameters)))
        tokens = await self._server.refresh(
            client, parameters.required("refresh_token"), parameters.one("scope"), parameters.all("resource")
        )
        return json_response(_members(tokens))

    async def revoke(self, request: Request) -> HTTPResponse:
        """Revoke a token with its whole family. An unknown token is not an error (RFC 7009, section 2.2)."""
        parameters = _form(request)
        token = parameters.required("token")
        await self._server.revoke(await self._client(request, parameters), token)
        return empty()

    async def _exchange(self, client: Client, parameters: Parameters) -> TokenSet:
        exchange = CodeExchange(
            code=parameters.required("code"),
            redirect_uri=parameters.one("redirect_uri"),
            code_verifier=parameters.required("code_verifier"),
        )
        return await self._server.exchange_code(client, exchange, parameters.all("resource"))

    async def _client(self, request: Request, parameters: Parameters) -> Client:
        return await self._server.clients.authenticate(*_client_credentials(request, parameters))


def _form(request: Request) -> Parameters:
    """Parse the parameters of the body; those in the URL are ignored (RFC 6749, section 3.2).

    Raises:
        InvalidRequest: The body is not a form, is too large, is not UTF-8, or repeats a parameter.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != _FORM:
        raise InvalidRequest(f"the body must be a form: send Content-Type: {_FORM}")
    if len(request.body) > MAX_BYTES:
        raise InvalidRequest(f"the body may have at most {MAX_BYTES} bytes")
    try:
        parameters = Parameters.parse(request.body.decode())
    except UnicodeDecodeError:
        raise InvalidRequest("the body is not UTF-8") from None
    parameters.check_repeated()
    return parameters


def _client_credentials(request: Request, parameters: Parameters) -> tuple[str, str]:
    """Return a client's ID and secret, which can be empty (RFC 6749, section 2.3.1).

    Raises:
        InvalidClient: The ID is missing, or the `Authorization` header is malformed.
        InvalidRequest: The client uses more than one method (section 2.3).
    """
    headers = request.headers.getall("authorization", [])
    in_form = parameters.one("client_id"), parameters.one("client_secret")
    if not headers:
        if not in_form[0]:
            raise InvalidClient("client_id: is missing")
        return in_form
    if len(headers) > 1 or in_form[1]:
        raise InvalidRequest("the client must use one way to prove who it is: either Basic or client_secret")
    client_id, secret = _basic(headers[0])
    if in_form[0] not in ("", client_id):
        raise InvalidRequest("client_id: is not the one in the Authorization header")
    return client_id, secret


def _basic(header: str) -> tuple[str, str]:
    """Parse an `Authorization: Basic` header, both parts of which are form-encoded (RFC 6749, section 2.3.1)."""
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != _BASIC:
        raise InvalidClient("a client proves who it is with Basic, or with client_id and client_secret in the form")
    try:
        text = base64.b64decode(encoded.strip(), validate=True).decode()
        client_id, colon, secret = text.partition(":")
        decoded = unquote_plus(client_id, errors="strict"), unquote_plus(secret, errors="strict")
    except (binascii.Error, ValueError):
        raise InvalidClient("the Authorization header is not valid Basic") from None
    if not colon or not decoded[0]:
        raise InvalidClient("the Authorization header must contain the client's id, a colon and its secret")
    return decoded


def _members(tokens: TokenSet) -> dict[str, str | int]:
    """Return the members of the response (RFC 6749, section 5.1)."""
    members: dict[str, str | int] = {
        "access_token": tokens.access_token,
        "token_type": "Bearer",
        "expires_in": tokens.expires_in,
        "scope": tokens.scope,
    }
    return {**members, "refresh_token": tokens.refresh_token} if tokens.refresh_token else members
