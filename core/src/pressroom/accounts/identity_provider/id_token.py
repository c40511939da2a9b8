"""Whether an ID token is genuine, and meant for this sign-in (OpenID Connect Core 1.0, section 3.1.3.7)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import orjson
from joserfc import jws
from joserfc.errors import JoseError, SecurityWarning
from joserfc.jwk import JWKRegistry, Key
from joserfc.jwt import JWTClaimsRegistry

ALGORITHMS: Final[Mapping[str, tuple[str, str, str]]] = {
    "RS256": ("RSA", "", "sha256"),
    "PS256": ("RSA", "", "sha256"),
    "ES256": ("EC", "P-256", "sha256"),
    "EdDSA": ("OKP", "Ed25519", "sha512"),
    "Ed25519": ("OKP", "Ed25519", "sha512"),
}
"""Signatures that are accepted: the type and curve of their keys, and the hash that `at_hash` is made with."""

_SAME_KEYS: Final[Mapping[str, tuple[str, ...]]] = {"EdDSA": ("Ed25519",), "Ed25519": ("EdDSA",)}

MAX_TOKEN_LENGTH: Final = 65_536

_MIN_RSA_BITS: Final = 2048
_MAX_SUBJECT_LENGTH: Final = 255
_PUBLIC_MEMBERS: Final = frozenset({"kty", "kid", "n", "e", "crv", "x", "y"})

JsonWebKeys = Sequence[Mapping[str, Any]]


class InvalidIdToken(Exception):
    """An ID token that must not be believed. The text is for the operator's log, and quotes nothing of it."""


class UnknownKey(InvalidIdToken):
    """None of the provider's keys has signed it; it may have newer ones."""


class IdTokenVerifier:
    """Verifies the ID tokens of one provider for one client.

    Args:
        issuer: the provider's issuer.
        client_id: this server's client id there.
        clock_skew: how many seconds the provider's clock may differ.
        clock: the Unix time in seconds.
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
            token: the token, as the token endpoint gave it.
            keys: returns the provider's keys, for the id of the key that has signed.
            nonce: the nonce of the authorization request.
            access_token: the access token that came with it.

        Raises:
            InvalidIdToken: it is not genuine, not for this client, not of this sign-in, or not of this time.
            ProviderError: the provider's keys cannot be had.
        """
        try:
            compact = jws.extract_compact(token[: MAX_TOKEN_LENGTH + 1].encode("ascii"), None, self._signatures)
            header = compact.headers()
        except (JoseError, ValueError, RecursionError) as error:
            raise InvalidIdToken(f"the ID token cannot be read ({type(error).__name__})") from None
        algorithm, kid = header.get("alg"), header.get("kid", "")
        if not isinstance(algorithm, str) or algorithm not in ALGORITHMS or not isinstance(kid, str):
            raise InvalidIdToken("the ID token is signed in a way that is not accepted")
        key = _signing_key(await keys(kid), kid, algorithm)
        claims = self._checked(compact, key)
        self._check_sign_in(claims, algorithm, nonce, access_token)
        return claims

    def _checked(self, compact: jws.CompactSignature, key: Key) -> dict[str, Any]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SecurityWarning)  # EdDSA is deprecated as a name, not as a signature
                genuine = jws.validate_compact(compact, key, list(ALGORITHMS), self._signatures)
            claims = orjson.loads(compact.payload) if genuine else None
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
        if claims.get("at_hash") is not None and not _same(claims["at_hash"], _left_half(algorithm, access_token)):
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
        # Only what belongs to a public key: a provider that publishes more shall not make this fail.
        members = {name: value for name, value in suitable[0].items() if name in _PUBLIC_MEMBERS}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SecurityWarning)
            found = JWKRegistry.import_key(members)
            raw: Any = found.get_op_key("verify")
    except (JoseError, ValueError, TypeError) as error:
        raise InvalidIdToken(f"the provider's key cannot be used ({type(error).__name__})") from None
    if kty == "RSA" and raw.key_size < _MIN_RSA_BITS:
        raise InvalidIdToken(f"the provider's key is shorter than {_MIN_RSA_BITS} bits")
    return found


def _left_half(algorithm: str, access_token: str) -> str:
    """Return the `at_hash` of an access token (section 3.1.3.6)."""
    digest = hashlib.new(ALGORITHMS[algorithm][2], access_token.encode()).digest()
    return base64.urlsafe_b64encode(digest[: len(digest) // 2]).rstrip(b"=").decode()


def _same(given: Any, expected: str) -> bool:
    return isinstance(given, str) and hmac.compare_digest(
        given.encode(errors="surrogatepass"), expected.encode(errors="surrogatepass")
    )
