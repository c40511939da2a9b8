"""`POST /oauth/register`: dynamic client registration (RFC 7591)."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any, Final

import structlog
from sanic import HTTPResponse, Request

from pressroom.config.values import parse_rate
from pressroom.errors import BackendError, InvalidClientMetadata, InvalidInput, InvalidJson, RateLimited
from pressroom.host.host import Host
from pressroom.http.cors import OAUTH
from pressroom.http.responses import Endpoint
from pressroom.interfaces.oauth.responses import for_programs, json_response, refusal
from pressroom.oauth.clients import RegisteredClient
from pressroom.oauth.metadata import check_metadata
from pressroom.oauth.records import REGISTER_PATH, SCOPE, ClientMetadata
from pressroom.validation.echo import counted
from pressroom.validation.json import parse_object

log = structlog.get_logger()

MAX_BYTES: Final = 65_536
_DEPTH: Final = 16


class RegistrationLimit:
    """Rate limit on storing new clients, for each IP address, and for each account that names a metadata document."""

    def __init__(self, host: Host) -> None:
        self._limiter = host.services.limiter
        self._rate = parse_rate(host.settings.oauth.registration_rate)
        self._refuse_on_outage = host.settings.limits.on_outage == "refuse"

    async def take(self, client_ip: str) -> None:
        """Count one registration. Raises `RateLimited`, or `BackendError` if `[limits] on_outage` is `refuse`."""
        await self._take(client_ip, "from one IP address")

    async def take_document(self, user_id: str) -> None:
        """Count a metadata document that is fetched for an account. Raises the same errors as `take`."""
        await self._take(f"account {user_id}", "by one account")

    async def _take(self, source: str, sources: str) -> None:
        try:
            status = await self._limiter.take(self._rate, _key(source), 1)
        except BackendError as error:
            log.warning("registrations cannot be counted", error=error.message)
            if self._refuse_on_outage:
                raise
            return
        if not status.allowed:
            seconds = max(1, math.ceil(status.reset_at - time.time()))
            raise RateLimited(
                f"the limit of {self._rate} registrations {sources} is used up; "
                f"try again in {counted(seconds, 'second')}",
                retry_after=seconds,
            )

    async def give_back(self, client_ip: str) -> None:
        """Return one registration to the quota, if no new client was created."""
        try:
            await self._limiter.give_back(self._rate, _key(client_ip), 1)
        except BackendError as error:
            log.warning("registrations cannot be counted", error=error.message)


def _key(source: str) -> str:
    return f"oauth registration\n{source}"


class Registration:
    """Handles the registration endpoint. Only registrations that create a client count towards the limit."""

    def __init__(self, host: Host, limit: RegistrationLimit) -> None:
        self._clients = host.authorization_server.clients
        self._admit = host.pipeline.admit
        self._limit = limit

    def endpoints(self) -> Iterator[Endpoint]:
        """Yield the routes to serve."""
        yield Endpoint(REGISTER_PATH, ("POST",), for_programs(self.register, self._admit))
        yield Endpoint(REGISTER_PATH, ("OPTIONS",), OAUTH.preflight("POST"))

    async def register(self, request: Request) -> HTTPResponse:
        """Register a client, or return the existing public client with the same metadata."""
        if len(request.body) > MAX_BYTES:
            return refusal(InvalidClientMetadata(f"the body may have at most {MAX_BYTES} bytes"), 413)
        metadata = check_metadata(_body(request))
        client_ip = request.ctx.client_ip
        await self._limit.take(client_ip)
        try:
            registered = await self._clients.register(metadata, client_ip)
        except BackendError:
            await self._limit.give_back(client_ip)
            raise
        if not registered.is_new:
            await self._limit.give_back(client_ip)
        return json_response(_members(registered), 201)


def _body(request: Request) -> dict[str, Any]:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise InvalidClientMetadata("the body must be JSON: send Content-Type: application/json")
    try:
        return parse_object(request.body, max_depth=_DEPTH)
    except (InvalidJson, InvalidInput) as error:
        raise InvalidClientMetadata(error.message) from None


def _members(registered: RegisteredClient) -> dict[str, Any]:
    """Return the members of the response (RFC 7591, section 3.2.1)."""
    client = registered.client
    metadata: ClientMetadata = client.metadata
    members: dict[str, Any] = {
        "client_id": client.id,
        "client_id_issued_at": int(client.created_at.timestamp()),
        "client_name": metadata.name,
        "redirect_uris": list(metadata.redirect_uris),
        "token_endpoint_auth_method": metadata.auth_method,
        "grant_types": list(metadata.grant_types),
        "response_types": ["code"],
        "scope": SCOPE,
        "client_uri": metadata.client_uri,
        "logo_uri": metadata.logo_uri,
    }
    if registered.secret:
        members |= {"client_secret": registered.secret, "client_secret_expires_at": 0}
    return {name: value for name, value in members.items() if value != ""}
