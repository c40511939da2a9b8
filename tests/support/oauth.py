"""A user with a browser, and a client that they connect: the OAuth 2.1 flow over HTTP."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
from pressroom.testing import RunningHost

LOOPBACK = "http://127.0.0.1:4711/callback"
SESSION_COOKIE = "pressroom_session"


def challenge_of(verifier: str) -> str:
    """Return the S256 challenge of a code verifier (RFC 7636, section 4.2)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def parameters_of(location: str) -> dict[str, str]:
    """Return the query parameters of a redirect, each of which must occur exactly once."""
    parameters = parse_qs(urlsplit(location).query, keep_blank_values=True, strict_parsing=True)
    assert all(len(values) == 1 for values in parameters.values()), location
    return {name: values[0] for name, values in parameters.items()}


def csrf_in(page: str) -> str:
    """Return the CSRF token in a page's form."""
    match = re.search(r'name="csrf" value="([^"]+)"', page)
    assert match, page
    return match[1]


@dataclass
class Flow:
    """A client of a server, and the browser of a user who may be signed in.

    `registration` is the server's response to the client's registration.
    """

    url: str
    http: httpx.Client
    browser: httpx.Client
    registration: dict[str, Any] = field(default_factory=dict)
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    def register(self, **metadata: Any) -> dict[str, Any]:
        """Register the client: a public one with a loopback redirect URI, unless `metadata` overrides it."""
        self.registration = self.registered(**metadata).json()
        assert "client_id" in self.registration, self.registration
        return self.registration

    def registered(self, **metadata: Any) -> httpx.Response:
        """Return the response to a registration."""
        default = {
            "client_name": f"Test client {secrets.token_hex(4)}",
            "redirect_uris": [LOOPBACK],
            "token_endpoint_auth_method": "none",
        }
        return self.http.post("/oauth/register", json={**default, **metadata})

    @property
    def client_id(self) -> str:
        return str(self.registration["client_id"])

    def query(self, **changes: str | None) -> str:
        """Return the query of an authorization request; `None` omits a parameter."""
        parameters: dict[str, str | None] = {
            "response_type": "code",
            "client_id": self.registration.get("client_id"),
            "redirect_uri": LOOPBACK,
            "state": "the state",
            "code_challenge": challenge_of(self.verifier),
            "code_challenge_method": "S256",
        }
        return urlencode({name: value for name, value in (parameters | changes).items() if value is not None})

    def authorize(self, query: str | None = None, **changes: str | None) -> httpx.Response:
        """Open the consent page in the user's browser."""
        return self.browser.get(f"/oauth/authorize?{self.query(**changes) if query is None else query}")

    def decide(
        self,
        decision: str = "allow",
        query: str | None = None,
        chosen: Mapping[str, str | list[str]] | None = None,
        **changes: str | None,
    ) -> httpx.Response:
        """Open the consent page, fill in fields from `chosen`, and press a button."""
        query = self.query(**changes) if query is None else query
        page = self.authorize(query)
        assert page.status_code == 200, page.text
        form = {"csrf": csrf_in(page.text), "decision": decision, **(chosen or {})}
        return self.browser.post(f"/oauth/authorize?{query}", data=form)

    def code(self, **changes: str | None) -> str:
        """Have the user allow the client, and return the authorization code."""
        response = self.decide(query=self.query(**changes))
        assert response.status_code == 303, response.text
        return parameters_of(response.headers["location"])["code"]

    def token(self, headers: dict[str, str] | None = None, **parameters: str | None) -> httpx.Response:
        """Send a token request with these parameters; `None` omits a parameter."""
        fields = {"client_id": self.registration.get("client_id"), **parameters}
        form = {name: value for name, value in fields.items() if value is not None}
        return self.http.post("/oauth/token", data=form, headers=headers)

    def exchange(self, code: str, headers: dict[str, str] | None = None, **changes: str | None) -> httpx.Response:
        """Send a token request with an authorization code."""
        default = {"grant_type": "authorization_code", "code": code, "redirect_uri": LOOPBACK}
        return self.token(headers, **{**default, "code_verifier": self.verifier, **changes})

    def refresh(self, token: str, **changes: str | None) -> httpx.Response:
        """Send a token request with a refresh token."""
        return self.token(None, **{"grant_type": "refresh_token", "refresh_token": token, **changes})

    def connect(self) -> dict[str, Any]:
        """Complete the whole flow, and return the token response."""
        response = self.exchange(self.code())
        assert response.status_code == 200, response.text
        tokens: dict[str, Any] = response.json()
        return tokens

    def call(self, access_token: str) -> httpx.Response:
        """List the tools with an access token."""
        return self.http.post(
            "/api/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
            headers={"Authorization": f"Bearer {access_token}", "Accept": "application/json, text/event-stream"},
        )


class Person:
    """An account of a running host, with a signed-in browser."""

    def __init__(self, host: RunningHost) -> None:
        accounts = host.host.accounts
        self.email = f"{secrets.token_hex(6)}@example.com"
        self.id = host.run(accounts.users.add(self.email)).id
        self.session = host.run(accounts.sessions.start(self.id))
        self.browser = httpx.Client(base_url=host.url, timeout=30, cookies={SESSION_COOKIE: self.session})


def basic(client_id: str, secret: str) -> dict[str, str]:
    """Return the header for HTTP Basic client authentication (RFC 6749, section 2.3.1)."""
    encoded = base64.b64encode(f"{client_id}:{secret}".encode()).decode()
    return {"Authorization": f"Basic {encoded}"}
