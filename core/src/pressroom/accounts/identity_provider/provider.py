"""Sign-in at an OpenID provider (OpenID Connect Core 1.0, authorization code flow with PKCE)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, quote_plus, urlencode, urlsplit

import httpx
import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from pressroom.accounts.identity_provider.provider_client import (
    CachedDocument,
    IdTokenVerifier,
    InvalidIdToken,
    JsonWebKeys,
    ProviderClient,
    ProviderError,
    check_url,
)
from pressroom.columns import new_secret
from pressroom.config.account_models import IdentityProviderSettings
from pressroom.errors import ConfigError, SignInFailed
from pressroom.validation.echo import quoted


@dataclass(frozen=True, slots=True)
class SignInRequest:
    """A sign-in in progress. Keep everything but `url` secret until the browser returns."""

    url: str = field(repr=False)
    redirect_uri: str
    state: str = field(repr=False)
    nonce: str = field(repr=False)
    code_verifier: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class IdentityClaims:
    """A person's claims from the provider. Only the pair of `issuer` and `subject` is permanent."""

    issuer: str
    subject: str
    email: str
    email_verified: bool
    name: str


_PATH: Final = "/.well-known/openid-configuration"


class ProviderMetadata(BaseModel):
    """The provider metadata used here. Names and defaults are those of OpenID Connect Discovery."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    token_endpoint_auth_methods_supported: list[str] = ["client_secret_basic"]
    authorization_response_iss_parameter_supported: bool = False


async def discover(fetcher: ProviderClient, issuer: str) -> ProviderMetadata:
    """Fetch the metadata of an issuer.

    Raises:
        ProviderError: The metadata cannot be fetched, has another issuer (Discovery 1.0, section 4.3: byte for byte),
            or contains a URL that is not safe.
    """
    document = await fetcher.json("GET", issuer.removesuffix("/") + _PATH)
    try:
        metadata = ProviderMetadata.model_validate(document)
    except ValidationError as error:
        fields = ", ".join(sorted({str(problem["loc"][0]) for problem in error.errors()}))
        raise ProviderError(f"has a discovery document without a usable {fields}") from None
    if metadata.issuer != issuer:
        raise ProviderError(
            f"calls itself {quoted(metadata.issuer, 200)}; write that as [accounts.identity_provider] issuer"
        )
    for url in (metadata.authorization_endpoint, metadata.token_endpoint, metadata.jwks_uri):
        check_url(url)
    return metadata


log = structlog.get_logger()

_MAX_PARAMETER_LENGTH: Final = 4096
_SIGN_IN_AGAIN: Final = "please sign in again"


class IdentityProvider:
    """The configured OpenID Connect provider. No request is made before the first sign-in.

    Args:
        settings: `[accounts.identity_provider]`.
        http: The client for requests to the provider. Redirects are not followed, and its cookies are not used.
        clock: Returns the Unix time in seconds, for checking the lifetimes of ID tokens.

    Raises:
        ConfigError: The issuer is missing or not an https URL, or the client ID is missing.
    """

    def __init__(
        self, settings: IdentityProviderSettings, http: httpx.AsyncClient, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._issuer = _checked_issuer(settings)
        self._settings = settings
        self.name = settings.name or urlsplit(self._issuer).hostname or self._issuer
        self._fetcher = ProviderClient(http, settings.timeout)
        self._metadata = CachedDocument(lambda: discover(self._fetcher, self._issuer))
        self._keys = CachedDocument(self._fetch_keys)
        self._id_tokens = IdTokenVerifier(self._issuer, settings.client_id, settings.clock_skew, clock=clock)

    async def authorization_request(self, redirect_uri: str) -> SignInRequest:
        """Return the URL to send the browser to, with the state to keep until it returns.

        Raises:
            SignInFailed: The provider does not respond.
        """
        try:
            metadata = await self._metadata.get()
        except ProviderError:
            raise self._unavailable() from None
        state, nonce, code_verifier = new_secret(), new_secret(), new_secret()
        scopes = dict.fromkeys(("openid", *self._settings.scopes))
        query = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": redirect_uri,
            "scope": " ".join(scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": _s256(code_verifier),
            "code_challenge_method": "S256",
        }
        url = _with_query(metadata.authorization_endpoint, query)
        return SignInRequest(url, redirect_uri, state, nonce, code_verifier)

    async def finish(self, callback_params: Mapping[str, str], request: SignInRequest) -> IdentityClaims:
        """Return the claims of the person who returned from the provider.

        Args:
            callback_params: The query parameters of the callback request.
            request: The state kept from `authorization_request`; use it only once.

        Raises:
            SignInFailed: The person did not sign in, or the response cannot be trusted; the message is for the person.
        """
        if any(len(value) > _MAX_PARAMETER_LENGTH for value in callback_params.values()):
            raise SignInFailed(f"the response from {self.name} cannot be read; {_SIGN_IN_AGAIN}")
        # Check the state before anything else: another site may have forged the response.
        if not _same(callback_params.get("state", ""), request.state):
            raise SignInFailed(f"this sign-in did not start in this browser, or is already over; {_SIGN_IN_AGAIN}")
        try:
            metadata = await self._metadata.get()
            code = self._code(callback_params, metadata)
            tokens = await self._tokens(metadata, code, request)
            claims = await self._id_tokens.verify(
                tokens["id_token"], keys=self._keys_for, nonce=request.nonce, access_token=tokens["access_token"]
            )
            if not {"email", "email_verified"} <= claims.keys() and metadata.userinfo_endpoint is not None:
                claims |= await self._userinfo(metadata.userinfo_endpoint, tokens["access_token"], claims["sub"])
        except ProviderError as error:
            log.warning("the identity provider failed", reason=str(error))
            raise self._unavailable() from None
        except InvalidIdToken as error:
            log.warning("a sign-in was refused", reason=str(error))
            raise SignInFailed(f"the response from {self.name} cannot be trusted; {_SIGN_IN_AGAIN}") from None
        return self._identity(claims)

    def _code(self, params: Mapping[str, str], metadata: ProviderMetadata) -> str:
        """Return the code of an authorization response, after checking its issuer (RFC 9207, section 2.4)."""
        issuer = params.get("iss")
        if issuer != self._issuer and (issuer is not None or metadata.authorization_response_iss_parameter_supported):
            log.warning("a sign-in was refused", reason="the response is from another issuer (iss)")
            raise SignInFailed(f"the response did not come from {self.name}; {_SIGN_IN_AGAIN}")
        if error := params.get("error"):
            log.info("the identity provider refused a sign-in", reason=quoted(error))
            if error == "access_denied":
                raise SignInFailed(f"you did not sign in at {self.name}, or it refused")
            raise SignInFailed(f"{self.name} refused the sign-in ({quoted(error)}); {_SIGN_IN_AGAIN}")
        if not (code := params.get("code")):
            raise SignInFailed(f"the response from {self.name} is incomplete; {_SIGN_IN_AGAIN}")
        return code

    async def _tokens(self, metadata: ProviderMetadata, code: str, request: SignInRequest) -> dict[str, str]:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": request.redirect_uri,
            "code_verifier": request.code_verifier,
        }
        headers = self._authenticate(metadata, form)
        response = await self._fetcher.json(
            "POST", metadata.token_endpoint, form=form, headers=headers, error_statuses=(400, 401)
        )
        if "error" in response:
            log.warning("the identity provider refused a code", reason=quoted(str(response["error"])))
            if response["error"] == "invalid_grant":
                raise SignInFailed(f"this sign-in took too long, or was used already; {_SIGN_IN_AGAIN}")
            raise self._unavailable()
        tokens = {name: response.get(name) for name in ("id_token", "access_token")}
        if not all(isinstance(token, str) and token.isascii() for token in tokens.values()):
            raise ProviderError("gave no ID token for a code; is `openid` among the scopes?")
        return {name: str(token) for name, token in tokens.items()}

    def _authenticate(self, metadata: ProviderMetadata, form: dict[str, str]) -> dict[str, str]:
        """Add client authentication to a token request (RFC 6749, section 2.3.1), and return the headers to send."""
        client_id, secret = self._settings.client_id, self._settings.client_secret
        methods = metadata.token_endpoint_auth_methods_supported
        if secret is not None and ("client_secret_basic" in methods or "client_secret_post" not in methods):
            pair = f"{quote_plus(client_id)}:{quote_plus(secret.get_secret_value())}"
            return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
        form["client_id"] = client_id
        if secret is not None:
            form["client_secret"] = secret.get_secret_value()
        return {}

    async def _userinfo(self, url: str, access_token: str, subject: str) -> dict[str, Any]:
        """Return claims missing from the ID token (OpenID Connect Core 1.0, section 5.3)."""
        check_url(url)
        claims = await self._fetcher.json("GET", url, headers={"Authorization": f"Bearer {access_token}"})
        if claims.get("sub") != subject:
            raise InvalidIdToken("the userinfo endpoint returned somebody else")
        return {name: claims[name] for name in ("email", "email_verified", "name") if name in claims}

    async def _keys_for(self, kid: str) -> JsonWebKeys:
        keys = await self._keys.get()
        is_known = kid and any(key.get("kid") == kid for key in keys)
        return keys if is_known else await self._keys.renewed()

    async def _fetch_keys(self) -> JsonWebKeys:
        document = await self._fetcher.json("GET", (await self._metadata.get()).jwks_uri)
        keys = document.get("keys")
        if not isinstance(keys, list):
            raise ProviderError("publishes no list of keys")
        return [key for key in keys if isinstance(key, dict)]

    def _identity(self, claims: Mapping[str, Any]) -> IdentityClaims:
        email, name, verified = claims.get("email"), claims.get("name"), claims.get("email_verified")
        return IdentityClaims(
            issuer=self._issuer,
            subject=claims["sub"],
            email=email if isinstance(email, str) else "",
            email_verified=verified is True or verified == "true",  # some providers send a string
            name=name if isinstance(name, str) else "",
        )

    def _unavailable(self) -> SignInFailed:
        return SignInFailed(f"signing in with {self.name} is not available right now; try again shortly")


def _checked_issuer(settings: IdentityProviderSettings) -> str:
    key = "accounts.identity_provider"
    if settings.issuer is None:
        raise ConfigError(f"{key}.issuer: is missing")
    try:
        check_url(settings.issuer)
    except ProviderError as error:
        raise ConfigError(
            f"{key}.issuer: {error}", hint="https is required, except for a provider on this machine"
        ) from None
    if not settings.client_id:
        raise ConfigError(f"{key}.client_id: is missing", hint="the provider gives it when this server is registered")
    return settings.issuer


def _with_query(endpoint: str, query: Mapping[str, str]) -> str:
    """Add parameters to an endpoint URL, keeping any that it already has (RFC 6749, section 3.1)."""
    parts = urlsplit(endpoint)
    return parts._replace(query=urlencode([*parse_qsl(parts.query), *query.items()]), fragment="").geturl()


def _s256(code_verifier: str) -> str:
    """Return the code challenge of a code verifier (RFC 7636, section 4.2)."""
    digest = hashlib.sha256(code_verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _same(actual: str, expected: str) -> bool:
    return hmac.compare_digest(actual.encode(errors="surrogatepass"), expected.encode())
