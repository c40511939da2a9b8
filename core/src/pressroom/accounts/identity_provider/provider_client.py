"""Requests to the identity provider, limited in size and time, and verification of its ID tokens."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import time
import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from ipaddress import ip_address
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlsplit

import httpx
import orjson
import structlog
from joserfc import jws
from joserfc.errors import JoseError, SecurityWarning
from joserfc.jwk import JWKRegistry, Key
from joserfc.jwt import JWTClaimsRegistry

from pressroom.validation.echo import quoted

MAX_BYTES: Final = 262_144

_HEADERS: Final = {"Accept": "application/json", "Accept-Encoding": "identity"}


class ProviderError(Exception):
    """The provider did not respond, or its response violates the standards. The message is for the operator's log."""


class ProviderClient:
    """Sends requests to one provider.

    Args:
        http: The client. Redirects are never followed, whatever its settings.
        seconds: Timeout for a whole request, from connecting to the last byte.
    """

    def __init__(self, http: httpx.AsyncClient, seconds: float) -> None:
        self._http = http
        self._seconds = seconds

    async def json(
        self,
        method: str,
        url: str,
        *,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        error_statuses: tuple[int, ...] = (),
    ) -> dict[str, Any]:
        """Return the JSON object in the response to a request.

        Args:
            method: `GET` or `POST`.
            url: An https URL, or one on loopback.
            form: Form fields of the body.
            headers: Additional headers.
            error_statuses: Statuses other than 200 whose body is returned instead of raising.

        Raises:
            ProviderError: There was no such response; the message contains nothing that was sent.
        """
        check_url(url)
        try:
            async with asyncio.timeout(self._seconds):
                status, body = await self._exchange(method, url, form, headers)
        except TimeoutError:
            raise ProviderError(f"no response within {self._seconds:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ProviderError(f"cannot be reached ({type(error).__name__})") from None
        if status != 200 and status not in error_statuses:
            raise ProviderError(f"returned status {status}")
        return json_object(body)

    async def _exchange(
        self, method: str, url: str, form: Mapping[str, str] | None, headers: Mapping[str, str] | None
    ) -> tuple[int, bytes]:
        request = self._http.build_request(method, url, data=form, headers={**_HEADERS, **(headers or {})})
        response = await self._http.send(request, stream=True, follow_redirects=False)
        try:
            if response.headers.get("Content-Encoding", "identity") != "identity":
                raise ProviderError("compressed a response that was requested uncompressed")
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > MAX_BYTES:
                    raise ProviderError(f"returned more than {MAX_BYTES} bytes")
            return response.status_code, bytes(body)
        finally:
            await response.aclose()


def json_object(body: bytes) -> dict[str, Any]:
    """Parse a body as a JSON object. Raises `ProviderError`."""
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise ProviderError("returned something that is not JSON") from None
    if not isinstance(parsed, dict):
        raise ProviderError("returned JSON that is not an object")
    return parsed


def check_url(url: str) -> None:
    """Check that a URL is safe to send secrets to: https, or http on loopback. Raises `ProviderError`."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        raise ProviderError(f"{quoted(url)} is not a URL") from None
    if not host or parts.scheme not in ("https", "http") or (parts.scheme == "http" and not _is_loopback(host)):
        raise ProviderError(f"{quoted(url, 200)} is not an https URL")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


T = TypeVar("T")

log = structlog.get_logger()

FRESH_SECONDS: Final = 3600
RETRY_SECONDS: Final = 5
"""How long a failure is cached, so that an unavailable provider does not delay every visitor."""
AGE_TO_RENEW: Final = 10
"""Minimum age in seconds before a document is refetched because it seems outdated."""


class CachedDocument(Generic[T]):
    """A cached document, refetched when stale; concurrent callers share one request.

    A stale document is still returned while refetching it fails.

    Args:
        fetch: Fetches the document; raises `ProviderError`.
        clock: A monotonic clock in seconds.
    """

    def __init__(self, fetch: Callable[[], Awaitable[T]], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._fetch = fetch
        self._clock = clock
        self._lock = asyncio.Lock()
        self._document: T | None = None
        self._fetched_at = 0.0
        self._failure = ""
        self._failed_at = 0.0

    async def get(self) -> T:
        """Return the document, at most an hour old unless refetching fails. Raises `ProviderError`."""
        return await self._younger_than(FRESH_SECONDS)

    async def renewed(self) -> T:
        """Return the document as of the last few seconds, for callers that found it outdated.

        Raises `ProviderError`.
        """
        return await self._younger_than(AGE_TO_RENEW)

    async def _younger_than(self, seconds: float) -> T:
        if self._document is not None and self._clock() - self._fetched_at < seconds:
            return self._document
        async with self._lock:
            if self._document is not None and self._clock() - self._fetched_at < seconds:
                return self._document
            await self._try()
            if self._document is None:
                raise ProviderError(self._failure)
            return self._document

    async def _try(self) -> None:
        if self._failure and self._clock() - self._failed_at < RETRY_SECONDS:
            return
        try:
            self._document = await self._fetch()
        except ProviderError as error:
            self._failure, self._failed_at = str(error), self._clock()
            log.warning("the identity provider failed", reason=self._failure)
        else:
            self._failure, self._fetched_at = "", self._clock()


ALGORITHMS: Final[Mapping[str, tuple[str, str, str]]] = {
    "RS256": ("RSA", "", "sha256"),
    "PS256": ("RSA", "", "sha256"),
    "ES256": ("EC", "P-256", "sha256"),
    "EdDSA": ("OKP", "Ed25519", "sha512"),
    "Ed25519": ("OKP", "Ed25519", "sha512"),
}
"""Accepted signature algorithms: key type, curve, and the hash used for `at_hash`."""

_SAME_KEYS: Final[Mapping[str, tuple[str, ...]]] = {"EdDSA": ("Ed25519",), "Ed25519": ("EdDSA",)}

MAX_TOKEN_LENGTH: Final = 65_536

_MIN_RSA_BITS: Final = 2048
_MAX_SUBJECT_LENGTH: Final = 255
_PUBLIC_MEMBERS: Final = frozenset({"kty", "kid", "n", "e", "crv", "x", "y"})

JsonWebKeys = Sequence[Mapping[str, Any]]


class InvalidIdToken(Exception):
    """The ID token is not valid. The message is for the operator's log and quotes nothing from the token."""


class UnknownKey(InvalidIdToken):
    """The token was signed with none of the known keys; the provider may have published new ones."""


class IdTokenVerifier:
    """Verifies the ID tokens of one provider for one client.

    Args:
        issuer: The provider's issuer.
        client_id: This server's client ID at the provider.
        clock_skew: Tolerated difference to the provider's clock, in seconds.
        clock: Returns the Unix time in seconds.
    """

    def __init__(
        self, issuer: str, client_id: str, clock_skew: float, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._client_id = client_id
        self._claims = JWTClaimsRegistry(
            now=lambda: int(clock()),
            leeway=int(clock_skew),
            iss={"essential": True, "value": issuer},
            sub={"essential": True},
            aud={"essential": True, "value": client_id},
            exp={"essential": True},
            iat={"essential": True},
        )
        self._signatures = jws.JWSRegistry(algorithms=list(ALGORITHMS), strict_check_header=False)
        self._signatures.max_header_length = self._signatures.max_signature_length = 4096
        self._signatures.max_payload_length = MAX_TOKEN_LENGTH

    async def verify(
        self, token: str, *, keys: Callable[[str], Awaitable[JsonWebKeys]], nonce: str, access_token: str
    ) -> dict[str, Any]:
        """Return the claims of an ID token.

        Args:
            token: The token from the token endpoint.
            keys: Returns the provider's keys, given the ID of the signing key.
            nonce: The nonce of the authorization request.
            access_token: The access token issued with the ID token.

        Raises:
            InvalidIdToken: The token is forged, expired, or was issued for another client or sign-in.
            ProviderError: The provider's keys cannot be fetched.
        """
        try:
            signature = jws.extract_compact(token[: MAX_TOKEN_LENGTH + 1].encode("ascii"), None, self._signatures)
            header = signature.headers()
        except (JoseError, ValueError, RecursionError) as error:
            raise InvalidIdToken(f"the ID token cannot be read ({type(error).__name__})") from None
        algorithm, kid = header.get("alg"), header.get("kid", "")
        if not isinstance(algorithm, str) or algorithm not in ALGORITHMS or not isinstance(kid, str):
            raise InvalidIdToken("the ID token is signed in a way that is not accepted")
        key = _signing_key(await keys(kid), kid, algorithm)
        claims = self._checked(signature, key)
        self._check_sign_in(claims, algorithm, nonce, access_token)
        return claims

    def _checked(self, signature: jws.CompactSignature, key: Key) -> dict[str, Any]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SecurityWarning)  # only the name EdDSA is deprecated, not the signature
                is_valid = jws.validate_compact(signature, key, list(ALGORITHMS), self._signatures)
            claims = orjson.loads(signature.payload) if is_valid else None
            if not isinstance(claims, dict):
                raise InvalidIdToken("the signature of the ID token is wrong")
            self._claims.validate(claims)
        except (JoseError, ValueError, TypeError, OverflowError) as error:
            claim = getattr(error, "claim", "")
            raise InvalidIdToken(f"the ID token is refused: {type(error).__name__} {claim}".rstrip()) from None
        return claims

    def _check_sign_in(self, claims: Mapping[str, Any], algorithm: str, nonce: str, access_token: str) -> None:
        audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        authorized = claims.get("azp")
        if (authorized is not None or len(audiences) > 1) and authorized != self._client_id:
            raise InvalidIdToken("the ID token was issued to another client")
        if not _same(claims.get("nonce"), nonce):
            raise InvalidIdToken("the ID token belongs to another sign-in")
        if claims.get("at_hash") is not None and not _same(claims["at_hash"], _left_half_hash(algorithm, access_token)):
            raise InvalidIdToken("the ID token belongs to another access token")
        if not 0 < len(claims["sub"]) <= _MAX_SUBJECT_LENGTH or not claims["sub"].isprintable():
            raise InvalidIdToken("the ID token has a subject that is empty, too long or not printable")


def _signing_key(keys: JsonWebKeys, kid: str, algorithm: str) -> Key:
    kty, crv, _ = ALGORITHMS[algorithm]
    suitable = [
        key
        for key in keys
        if key.get("kty") == kty
        and (not crv or key.get("crv") == crv)
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) in (algorithm, *_SAME_KEYS.get(algorithm, ()))
        and (not kid or key.get("kid") == kid)
    ]
    if len(suitable) != 1:
        raise UnknownKey("the ID token is signed with a key that the provider does not publish")
    try:
        # Keep only public members, so that a provider that publishes more does not break the import.
        members = {name: value for name, value in suitable[0].items() if name in _PUBLIC_MEMBERS}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SecurityWarning)
            signing_key = JWKRegistry.import_key(members)
            raw: Any = signing_key.get_op_key("verify")
    except (JoseError, ValueError, TypeError) as error:
        raise InvalidIdToken(f"the provider's key cannot be used ({type(error).__name__})") from None
    if kty == "RSA" and raw.key_size < _MIN_RSA_BITS:
        raise InvalidIdToken(f"the provider's key is shorter than {_MIN_RSA_BITS} bits")
    return signing_key


def _left_half_hash(algorithm: str, access_token: str) -> str:
    """Return the `at_hash` of an access token (OpenID Connect Core 1.0, section 3.1.3.6)."""
    digest = hashlib.new(ALGORITHMS[algorithm][2], access_token.encode()).digest()
    return base64.urlsafe_b64encode(digest[: len(digest) // 2]).rstrip(b"=").decode()


def _same(actual: Any, expected: str) -> bool:
    return isinstance(actual, str) and hmac.compare_digest(
        actual.encode(errors="surrogatepass"), expected.encode(errors="surrogatepass")
    )
