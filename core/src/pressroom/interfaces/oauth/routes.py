"""The routes of the authorization server."""

from __future__ import annotations

from collections.abc import Mapping

from sanic import HTTPResponse, Request

from pressroom.errors import CallError
from pressroom.host.host import Host
from pressroom.http.browser_sessions import BrowserSessions
from pressroom.http.page_frame import PageFrame
from pressroom.http.responses import Endpoint
from pressroom.interfaces.oauth.authorize import AuthorizationEndpoint
from pressroom.interfaces.oauth.discovery import Discovery
from pressroom.interfaces.oauth.registration import Registration, RegistrationLimit
from pressroom.interfaces.oauth.responses import description, json_response
from pressroom.interfaces.oauth.token import TokenEndpoints


class OAuthEndpoints:
    """Handles `/oauth/…` and the well-known documents."""

    def __init__(self, host: Host, site: PageFrame, browser: BrowserSessions) -> None:
        self._for_programs: list[Endpoint] = []
        self._for_people: list[Endpoint] = []
        settings = host.settings
        if not (settings.oauth.enabled and settings.mcp.enabled):
            return
        limit = RegistrationLimit(host)
        self._for_programs += Discovery(host).endpoints()
        self._for_programs += TokenEndpoints(host).endpoints()
        if settings.oauth.registration:
            self._for_programs += Registration(host, limit).endpoints()
        self._for_people += AuthorizationEndpoint(host, site, browser, limit).endpoints()

    def endpoints(self) -> list[Endpoint]:
        """Return the routes to serve: none if OAuth, or MCP, which needs it, is disabled."""
        return [*self._for_programs, *self._for_people]

    def serves(self, path: str) -> bool:
        """Return whether a path is an endpoint for programs, so that its errors use the OAuth format."""
        return any(endpoint.path == path.removesuffix("/") for endpoint in self._for_programs)

    def refuse(self, _request: Request, error: CallError, status: int, headers: Mapping[str, str]) -> HTTPResponse:
        """Return an error for a request that did not reach an endpoint: a wrong method, a large body, a failure."""
        code = "invalid_request" if status < 500 else "server_error"
        return json_response({"error": code, "error_description": description(error)}, status, headers)
