"""The routes of the authorization server."""

from __future__ import annotations

from collections.abc import Mapping

from sanic import HTTPResponse, Request

from pressroom.errors import CallError
from pressroom.host import Host
from pressroom.http import Endpoint
from pressroom.oauth_api.answers import answer, description
from pressroom.oauth_api.authorize import Authorize
from pressroom.oauth_api.discovery import Discovery
from pressroom.oauth_api.registration import Registration, RegistrationLimit
from pressroom.oauth_api.token import TokenEndpoints
from pressroom.web.browser import Browser
from pressroom.web.site import Site


class OAuthEndpoints:
    """Answers `/oauth/…` and the well-known documents."""

    def __init__(self, host: Host, site: Site, browser: Browser) -> None:
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
        self._for_people += Authorize(host, site, browser, limit).endpoints()

    def endpoints(self) -> list[Endpoint]:
        """Return the routes to serve; none where the operator switched off OAuth, or MCP, which it is for."""
        return [*self._for_programs, *self._for_people]

    def serves(self, path: str) -> bool:
        """Tell whether programs call an address, so that errors there have the shape of OAuth."""
        return any(endpoint.path == path.removesuffix("/") for endpoint in self._for_programs)

    def refuse(self, _request: Request, error: CallError, status: int, headers: Mapping[str, str]) -> HTTPResponse:
        """Answer a request that never came to an endpoint: another method, a body that is too large, a failure."""
        code = "invalid_request" if status < 500 else "server_error"
        return answer({"error": code, "error_description": description(error)}, status, headers)
