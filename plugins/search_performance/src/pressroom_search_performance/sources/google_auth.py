"""Authentication for Google APIs: access tokens from service accounts, refresh tokens and user sign-ins.

Signing in is the authorization code flow for web servers (RFC 6749, section 4.1) with PKCE (RFC 7636), as Google
documents it.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlencode, urlsplit
from weakref import WeakValueDictionary

import structlog
from joserfc import jwt
from pressroom.sdk import (
    BackendError,
    CallError,
    Fetcher,
    FetchFailed,
    FetchRefused,
    FetchUnknown,
    InvalidInput,
    Rejected,
)
from pressroom_content.contract import with_query

from pressroom_search_performance.config import SearchPerformanceConfig
from pressroom_search_performance.sources.credentials import StoredCredential, key_file
from pressroom_search_performance.sources.requesting import SourceRefused, ask, number, text

SCOPE: Final = "https://www.googleapis.com/auth/webmasters"
"""A read-only scope would suffice for everything except submitting sitemaps."""

SIGNED_IN: Final = "signed_in_client"
"""Field that marks a credential from a sign-in: the ID of the server's OAuth client at that time."""

_LIFETIME: Final = 3600
_EARLY: Final = 300
_MAX_CACHED: Final = 512
_JWT_BEARER: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_REVOCATION_SECONDS: Final = 10.0
_MAX_RESPONSE_BYTES: Final = 65_536
_MAX_TOKEN_LENGTH: Final = 4096
_CLIENT_ERRORS: Final = frozenset(
    {"invalid_client", "unauthorized_client", "deleted_client", "disabled_client", "redirect_uri_mismatch"}
)
_ENDED: Final = (
    "Google no longer accepts this sign-in. Its access was removed in the Google account, it was not used for "
    "six months, an administrator ended it, or the server's app is still being tested at Google, where a sign-in ends "
    "after seven days. Sign in with Google again"
)

log = structlog.get_logger()


class GrantRefused(SourceRefused):
    """Google rejects a code, a refresh token or an assertion: `invalid_grant`."""


class ClientRefused(SourceRefused):
    """Google rejects the OAuth client."""


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """The server's OAuth client at Google, and its endpoints."""

    client_id: str
    client_secret: str = field(repr=False)
    authorization_url: str
    revocation_url: str

    @classmethod
    def of(cls, config: SearchPerformanceConfig) -> OAuthClient | None:
        """Return the client that the operator configured, if any."""
        if not config.google_client_id or config.google_client_secret is None:
            return None
        secret = config.google_client_secret.get_secret_value()
        return cls(config.google_client_id, secret, config.google_authorization_url, config.google_revocation_url)

    def authorization_url_for(self, redirect_uri: str, state: str, code_verifier: str) -> str:
        """Return the URL of the page on which the user grants access."""
        digest = hashlib.sha256(code_verifier.encode()).digest()
        query = {
            "client_id": self.client_id,
            "redirect_uri": redirect_uri,
            "response_type": "code",
            "scope": SCOPE,
            "access_type": "offline",
            # Google only issues a refresh token if it asks for consent.
            "prompt": "consent",
            "state": state,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        return with_query(self.authorization_url, query)


def redirect_problem(redirect_uri: str) -> str:
    """Return why Google would not accept a redirect URI; empty if it would.

    Google accepts https with a public host name, and plain http for the browser's own machine.
    """
    parts = urlsplit(redirect_uri)
    host = parts.hostname or ""
    try:
        numeric, loopback = True, ip_address(host).is_loopback
    except ValueError:
        numeric, loopback = False, host == "localhost"
    if loopback or (parts.scheme == "https" and not numeric and "." in host):
        return ""
    if parts.scheme != "https":
        return "Google sends people back to https only, but for localhost"
    return "Google sends people back to public host names only, not to IP addresses or names of a local network"


@dataclass(frozen=True, slots=True)
class SignInGrant:
    """The result of redeeming a code. `credential` is empty if Google issued no refresh token.

    `complete` is whether the user granted the Search Console permission: each one can be left out.
    """

    credential: Mapping[str, str] = field(repr=False)
    complete: bool


class GoogleAuth:
    """Obtains access tokens and caches them while they are valid.

    Args:
        token_url: the token endpoint. The one in a key file is ignored, because key files are untrusted.
        account: the operator's key file (JSON), or an empty string; it is used for credentials without any field.
        client: the operator's OAuth client, for signing in.
    """

    def __init__(self, token_url: str, account: str, client: OAuthClient | None = None) -> None:
        self._token_url = token_url
        self._account = account
        self.client = client
        self._tokens_by_name: OrderedDict[str, tuple[float, str]] = OrderedDict()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def header(self, credential: Mapping[str, str], fetcher: Fetcher) -> Mapping[str, str]:
        """Return the `Authorization` header for a credential. Concurrent calls share one request to Google.

        Raises `Rejected` if the credential is missing or Google does not accept it, and `BackendError`.
        """
        if not self.remembers(credential):
            async with self._locks.setdefault(_name_of(credential), asyncio.Lock()):
                if not self.remembers(credential):
                    await self._renew(credential, fetcher)
        return {"Authorization": f"Bearer {self._tokens_by_name[_name_of(credential)][1]}"}

    def remembers(self, credential: Mapping[str, str]) -> bool:
        """Return whether the next header will use a cached token."""
        return time.monotonic() < self._tokens_by_name.get(_name_of(credential), (0.0, ""))[0]

    def forget(self, credential: Mapping[str, str]) -> None:
        """Drop the cached token of a credential, because it was rejected."""
        self._tokens_by_name.pop(_name_of(credential), None)

    async def redeem(self, code: str, code_verifier: str, redirect_uri: str, fetcher: Fetcher) -> SignInGrant:
        """Redeem the code from Google's callback.

        Raises:
            GrantRefused: the code was used already, or is too old.
            ClientRefused: Google does not accept the server's client, or not with this redirect URI.
            Rejected: Google returns 401 or 403 with another error.
            BackendError: Google is unavailable, or its response is malformed.
        """
        if self.client is None:
            raise ClientRefused("this server no longer offers signing in with Google")
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "code_verifier": code_verifier,
            "redirect_uri": redirect_uri,
            "client_id": self.client.client_id,
            "client_secret": self.client.client_secret,
        }
        response = await self._ask(form, fetcher)
        token, lifetime = _access_token(response)
        refresh_token = _refresh_token(response)
        credential = {SIGNED_IN: self.client.client_id, "refresh_token": refresh_token} if refresh_token else {}
        if credential:
            self._remember(credential, token, lifetime)
        # A missing scope means that the requested one was granted (RFC 6749, section 5.1).
        scopes = response.get("scope", SCOPE)
        return SignInGrant(credential, isinstance(scopes, str) and SCOPE in scopes.split())

    async def revoke(self, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        """Revoke the sign-in that a credential is from. Failures are logged, not raised.

        Google revokes all access that the user has granted to this server, whichever of its tokens is sent.
        """
        self.forget(credential)
        if self.client is None:
            return
        form = urlencode({"token": credential["refresh_token"]}).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        try:
            response = await fetcher.request(
                "POST",
                self.client.revocation_url,
                headers=headers,
                content=form,
                max_bytes=_MAX_RESPONSE_BYTES,
                seconds=_REVOCATION_SECONDS,
            )
            # 400: it was revoked already
            problem = "" if response.status in (200, 400) else f"HTTP {response.status}"
        except (FetchFailed, FetchRefused, FetchUnknown, CallError) as error:
            problem = error.message
        if problem:
            log.warning("a sign-in with Google could not be revoked", reason=problem)

    async def _renew(self, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        used, response = await self._tokens(credential, fetcher)
        token, lifetime = _access_token(response)
        rotated = _refresh_token(response)
        if used.get("refresh_token") and rotated not in ("", used["refresh_token"]):
            renewed = {**used, "refresh_token": rotated}
            if isinstance(credential, StoredCredential):
                await credential.keeper.replace(used, renewed)
            self._remember(renewed, token, lifetime)
        self._remember(credential, token, lifetime)

    async def _tokens(
        self, credential: Mapping[str, str], fetcher: Fetcher
    ) -> tuple[Mapping[str, str], Mapping[str, Any]]:
        """Return the credential that was accepted, and the response of the token endpoint."""
        used, latest = credential, dict[str, str]()
        while True:
            try:
                return used, await self._ask(await self._form(used), fetcher)
            except ClientRefused as error:
                if SIGNED_IN not in used:
                    raise Rejected(error.message) from None
                raise _misconfigured(error) from None
            except GrantRefused as error:
                if not isinstance(credential, StoredCredential) or "refresh_token" not in used:
                    raise Rejected(error.message) from None
                # Another process may have stored a newer refresh token.
                latest = {} if latest else dict(await credential.keeper.latest())
                if latest.get("refresh_token", used["refresh_token"]) == used["refresh_token"]:
                    raise await _ended(credential, used, error) from None
                used = latest

    async def _form(self, credential: Mapping[str, str]) -> Mapping[str, str]:
        if credential.get("refresh_token"):
            client_id, client_secret = self._client_of(credential)
            return {
                "grant_type": "refresh_token",
                "client_id": client_id,
                "client_secret": client_secret,
                "refresh_token": credential["refresh_token"],
            }
        account = credential.get("service_account") or self._account
        if not account:
            raise Rejected("there is no credential for Google: enter a service account's key or a refresh token")
        try:
            return {"grant_type": _JWT_BEARER, "assertion": await asyncio.to_thread(self._assertion, account)}
        except InvalidInput as error:
            raise Rejected(error.problem) from None

    def _client_of(self, credential: Mapping[str, str]) -> tuple[str, str]:
        if SIGNED_IN not in credential:
            return credential.get("client_id", ""), credential.get("client_secret", "")
        if self.client is None:
            raise Rejected("this server no longer offers signing in with Google: connect another way")
        if self.client.client_id != credential[SIGNED_IN]:
            raise Rejected("this server has another OAuth client at Google since you signed in: sign in again")
        return self.client.client_id, self.client.client_secret

    async def _ask(self, form: Mapping[str, str], fetcher: Fetcher) -> Mapping[str, Any]:
        content = urlencode(form).encode()
        response = await ask(fetcher, "Google", "POST", self._token_url, form=content, failure=_failure)
        return response if isinstance(response, dict) else {}

    def _remember(self, credential: Mapping[str, str], token: str, lifetime: float) -> None:
        name = _name_of(credential)
        self._tokens_by_name[name] = time.monotonic() + lifetime - _EARLY, token
        self._tokens_by_name.move_to_end(name)
        while len(self._tokens_by_name) > _MAX_CACHED:
            self._tokens_by_name.popitem(last=False)

    def _assertion(self, account: str) -> str:
        """Return the signed assertion. Call it in a thread: it takes milliseconds, as the key was checked before."""
        document, key = key_file(account)
        now = int(time.time())
        claims = {
            "iss": document["client_email"],
            "scope": SCOPE,
            "aud": self._token_url,
            "iat": now,
            "exp": now + _LIFETIME,
        }
        header = {"alg": "RS256", "typ": "JWT"}
        if isinstance(document.get("private_key_id"), str):
            header["kid"] = document["private_key_id"]
        return jwt.encode(header, claims, key, algorithms=["RS256"])


async def _ended(credential: StoredCredential, used: Mapping[str, str], error: GrantRefused) -> Rejected:
    """Record that a refresh token has ended, and return the error to raise."""
    message = _ENDED if SIGNED_IN in used else error.message
    with suppress(BackendError):  # the error for the caller matters more
        await credential.keeper.ended(used, message)
    return Rejected(message)


def _misconfigured(error: ClientRefused) -> BackendError:
    log.warning("Google refuses the OAuth client in google_client_id and google_client_secret", reason=error.message)
    return BackendError("Google refuses this server's OAuth client; its operator has to correct it")


def _failure(status: int, document: Any) -> BackendError | None:
    """Return the error in a token endpoint's response (RFC 6749, section 5.2), or `None`."""
    code = document.get("error") if isinstance(document, dict) else None
    if status // 100 == 2 or not isinstance(code, str):
        return None
    message = " ".join(text(document.get("error_description"), 300).split()) or code[:100]
    if code == "invalid_grant":
        return GrantRefused(f"Google does not accept the credential, or it may not read this site: {message}")
    if code in _CLIENT_ERRORS:
        return ClientRefused(f"Google does not accept the credential, or it may not read this site: {message}")
    return None


def _access_token(response: Mapping[str, Any]) -> tuple[str, float]:
    """Return the access token of a response and its lifetime in seconds. Raises `BackendError`."""
    token = response.get("access_token")
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise BackendError("Google gave no access token")
    return token, number(response.get("expires_in")) or _LIFETIME


def _refresh_token(response: Mapping[str, Any]) -> str:
    token = response.get("refresh_token")
    fits = isinstance(token, str) and token.isascii() and token.isprintable() and len(token) <= _MAX_TOKEN_LENGTH
    return str(token) if fits else ""


def _name_of(credential: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps(sorted(credential.items())).encode()).hexdigest()
