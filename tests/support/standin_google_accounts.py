"""A stand-in for Google sign-in: its documented endpoints for authorization, tokens and revocation.

Each code is valid once; PKCE, the client and the redirect URI are checked; users can withhold permissions; and revoking
one token ends all access that a user has granted.
"""

from __future__ import annotations

import base64
import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from itertools import count
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

CLIENT_ID = "1234-web.apps.googleusercontent.com"
CLIENT_SECRET = "GOCSPX-a secret of the operator"
SCOPE = "https://www.googleapis.com/auth/webmasters"
AUTHORIZE, TOKEN, REVOKE = "/o/oauth2/v2/auth", "/token", "/revoke"

Response = tuple[int, bytes, Mapping[str, str]]


class AuthorizationRefused(Exception):
    """An error of the token or the revocation endpoint (RFC 6749, section 5.2)."""

    def __init__(self, status: int, error: str, description: str) -> None:
        super().__init__(description)
        self.status = status
        self.error = error


@dataclass(frozen=True)
class Consent:
    """The access that a user granted to a client."""

    who: str
    client_id: str
    scope: str
    redirect_uri: str = ""
    challenge: str = ""
    lasting: bool = True


@dataclass
class GoogleAccounts:
    """The users, and the access they granted. `who` signs in; with `leaves_out`, no permission is ticked."""

    who: str = "ada@gmail.example"
    leaves_out: bool = False
    forgets_refresh_token: bool = False
    rotates: bool = False
    client_secret: str = CLIENT_SECRET
    redirect_uris: set[str] = field(default_factory=set)
    authorizations: list[dict[str, str]] = field(default_factory=list)
    exchanges: int = 0
    codes: dict[str, Consent] = field(default_factory=dict)
    refresh_tokens: dict[str, Consent] = field(default_factory=dict)
    revocations: list[str] = field(default_factory=list)
    numbers: Any = field(default_factory=lambda: count(1))
    lock: Any = field(default_factory=threading.Lock)

    def consent(self, authorization_url: str, error: str = "") -> str:
        """Return the URL of the redirect back after the user has consented, or with an error."""
        parameters = dict(parse_qsl(urlsplit(authorization_url).query, strict_parsing=True))
        problem = self._problem(parameters)
        if problem:
            raise AssertionError(f"Google shows its own page: {problem}")
        self.authorizations.append(parameters)
        returned = {"state": parameters["state"]}
        if error:
            return f"{parameters['redirect_uri']}?{urlencode({**returned, 'error': error})}"
        scope = "" if self.leaves_out else parameters["scope"]
        offline = parameters.get("access_type") == "offline" and not self.forgets_refresh_token
        code = f"4/0A{next(self.numbers)}"
        self.codes[code] = Consent(
            self.who,
            parameters["client_id"],
            scope,
            parameters["redirect_uri"],
            parameters.get("code_challenge", ""),
            offline,
        )
        return f"{parameters['redirect_uri']}?{urlencode({**returned, 'code': code, 'scope': scope})}"

    def respond(self, method: str, target: str, body: bytes) -> Response:
        """Serve the authorization endpoint: the consent page, and the redirect after the user's decision."""
        parameters = dict(parse_qsl(urlsplit(target).query))
        problem = self._problem(parameters)
        html = {"Content-Type": "text/html; charset=utf-8"}
        if problem:
            return 400, f"<h1>Access blocked</h1><p>Error 400: {problem}</p>".encode(), html
        if method == "POST":
            denied = dict(parse_qsl(body.decode())).get("decision") == "deny"
            return 302, b"", {"Location": self.consent(target, "access_denied" if denied else "")}
        buttons = "".join(
            f'<button name="decision" value="{value}">{title}</button>'
            for value, title in (("deny", "Cancel"), ("allow", "Continue"))
        )
        page = f'<h1>Pressroom wants access</h1><form method="post" action="{escape(target)}">{buttons}</form>'
        return 200, f"<!doctype html><title>Google</title>{page}".encode(), html

    def exchange(self, form: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
        """Return the user of a code or refresh token, and the token response's members besides the access token."""
        with self.lock:
            if form["grant_type"] == "refresh_token":
                return self._refreshed(form)
            self.exchanges += 1
            self._check_client(form)
            consent = self.codes.pop(form.get("code", ""), None)
            if consent is None:
                raise AuthorizationRefused(400, "invalid_grant", "Malformed auth code.")
            if form.get("redirect_uri") != consent.redirect_uri:
                raise AuthorizationRefused(400, "redirect_uri_mismatch", "Bad Request")
            if _s256(form.get("code_verifier", "")) != consent.challenge:
                raise AuthorizationRefused(400, "invalid_grant", "Invalid code verifier.")
            tokens: dict[str, Any] = {"scope": consent.scope}
            if consent.lasting:
                tokens["refresh_token"] = self._issue(consent)
            return consent.who, tokens

    def revoke(self, form: Mapping[str, str]) -> dict[str, Any]:
        """Revoke all access of the token's owner. Raises `AuthorizationRefused`."""
        with self.lock:
            token = form.get("token", "")
            self.revocations.append(token)
            consent = self.refresh_tokens.get(token)
            if consent is None:
                raise AuthorizationRefused(400, "invalid_token", "Token expired or revoked")
            self.end(consent.who)
            return {}

    def end(self, who: str) -> None:
        """Remove all access that a user granted, as in their Google account."""
        self.refresh_tokens = {token: consent for token, consent in self.refresh_tokens.items() if consent.who != who}

    def _refreshed(self, form: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
        self._check_client(form)
        token = form.get("refresh_token", "")
        consent = self.refresh_tokens.get(token)
        if consent is None:
            raise AuthorizationRefused(400, "invalid_grant", "Token has been expired or revoked.")
        tokens: dict[str, Any] = {"scope": consent.scope}
        if self.rotates:
            del self.refresh_tokens[token]
            tokens["refresh_token"] = self._issue(consent)
        return consent.who, tokens

    def _issue(self, consent: Consent) -> str:
        token = f"1//0{next(self.numbers)}-secret"
        self.refresh_tokens[token] = consent
        return token

    def _check_client(self, form: Mapping[str, str]) -> None:
        if form.get("client_id") != CLIENT_ID:
            raise AuthorizationRefused(401, "invalid_client", "The OAuth client was not found.")
        if form.get("client_secret") != self.client_secret:
            raise AuthorizationRefused(401, "invalid_client", "Unauthorized")

    def _problem(self, parameters: Mapping[str, str]) -> str:
        if parameters.get("client_id") != CLIENT_ID:
            return "invalid_client"
        if parameters.get("redirect_uri") not in self.redirect_uris:
            return "redirect_uri_mismatch"
        is_complete = parameters.get("response_type") == "code" and parameters.get("scope") and parameters.get("state")
        return "" if is_complete and parameters.get("code_challenge_method") == "S256" else "invalid_request"


def _s256(code_verifier: str) -> str:
    digest = hashlib.sha256(code_verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
