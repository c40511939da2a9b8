"""Validation of ID tokens."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from joserfc import jws
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey
from pressroom.accounts.identity_provider.provider_client import (
    IdTokenVerifier,
    InvalidIdToken,
    JsonWebKeys,
    UnknownKey,
)

ISSUER = "https://id.example"
NOW = 1_800_000_000
RSA = RSAKey.generate_key(2048, {"kid": "rsa"})
OTHER_RSA = RSAKey.generate_key(2048, {"kid": "other"})
EC = ECKey.generate_key("P-256", {"kid": "ec"})
OKP = OKPKey.generate_key("Ed25519", {"kid": "okp"})
PUBLISHED: list[dict[str, Any]] = [dict(key.as_dict(private=False)) for key in (RSA, EC, OKP)]
CLAIMS: dict[str, Any] = {"iss": ISSUER, "sub": "7", "aud": "me", "exp": NOW + 300, "iat": NOW, "nonce": "the nonce"}

VERIFIER = IdTokenVerifier(ISSUER, "me", 60, clock=lambda: NOW)


def signed(claims: Mapping[str, Any], key: Any = RSA, **header: Any) -> str:
    header = {"alg": "RS256", "kid": "rsa", **header}
    registry = jws.JWSRegistry(algorithms=[header["alg"]], strict_check_header=False)
    return jws.serialize_compact(header, json.dumps(claims), key, registry=registry)


async def verified(
    token: str, keys: JsonWebKeys = PUBLISHED, nonce: str = "the nonce", access_token: str = "at"
) -> dict[str, Any]:
    async def published(_kid: str) -> JsonWebKeys:
        return keys

    return await VERIFIER.verify(token, keys=published, nonce=nonce, access_token=access_token)


async def test_a_genuine_token_is_accepted() -> None:
    assert await verified(signed(CLAIMS)) == CLAIMS
    assert await verified(signed(CLAIMS, EC, alg="ES256", kid="ec")) == CLAIMS
    assert await verified(signed(CLAIMS, typ="JWT", x="unknown parameters of the header mean nothing")) == CLAIMS


AT_HASH = base64.urlsafe_b64encode(hashlib.sha256(b"at").digest()[:16]).rstrip(b"=").decode()


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": ["me"]},
        {"aud": ["me", "others"], "azp": "me"},
        {"azp": "me"},
        {"at_hash": AT_HASH},
        {"exp": NOW - 59},
        {"iat": NOW + 60, "nbf": NOW + 60},
        {"sub": "x" * 255},
    ],
)
async def test_what_the_standard_allows_is_accepted(claims: dict[str, Any]) -> None:
    assert await verified(signed(CLAIMS | claims)) == CLAIMS | claims


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://id.example/"},
        {"iss": "https://evil.example"},
        {"iss": [ISSUER]},
        {"aud": "others"},
        {"aud": []},
        {"aud": ["me", "others"]},
        {"aud": ["me", "others"], "azp": "others"},
        {"aud": ["me", 7]},
        {"azp": "others"},
        {"azp": ["me"]},
        {"exp": NOW - 60},
        {"exp": str(NOW + 300)},
        {"exp": True},
        {"exp": 10**400},
        {"iat": NOW + 61},
        {"iat": None},
        {"nbf": NOW + 61},
        {"nonce": "another nonce"},
        {"nonce": ["the nonce"]},
        {"nonce": None},
        {"nonce": "\udfff"},
        {"sub": ""},
        {"sub": "x" * 256},
        {"sub": 7},
        {"sub": "a\0b"},
        {"at_hash": "x"},
        {"at_hash": [AT_HASH]},
    ],
    ids=str,
)
async def test_an_invalid_claim_is_refused(claims: dict[str, Any]) -> None:
    with pytest.raises(InvalidIdToken):
        await verified(signed(CLAIMS | claims))


@pytest.mark.parametrize("missing", ["iss", "sub", "aud", "exp", "iat", "nonce"])
async def test_a_claim_that_is_missing_is_refused(missing: str) -> None:
    with pytest.raises(InvalidIdToken):
        await verified(signed({name: value for name, value in CLAIMS.items() if name != missing}))


async def test_a_token_without_a_signature_is_refused() -> None:
    header, payload, _ = signed(CLAIMS).split(".")
    for alg in ("none", "None", "NONE", ""):
        bare = base64.urlsafe_b64encode(json.dumps({"alg": alg}).encode()).rstrip(b"=").decode()
        with pytest.raises(InvalidIdToken):
            await verified(f"{bare}.{payload}.")
    with pytest.raises(InvalidIdToken):
        await verified(f"{header}.{payload}.")


async def test_the_public_key_is_not_accepted_as_a_shared_secret() -> None:
    header = base64.urlsafe_b64encode(b'{"alg":"HS256","kid":"rsa"}').rstrip(b"=")
    content = header + b"." + signed(CLAIMS).encode().split(b".")[1]
    for secret in (RSA.as_pem(private=False), json.dumps(PUBLISHED[0]).encode(), b""):
        signature = base64.urlsafe_b64encode(hmac.digest(secret, content, "sha256")).rstrip(b"=")
        with pytest.raises(InvalidIdToken):
            await verified(f"{content.decode()}.{signature.decode()}")


async def test_a_published_symmetric_key_is_not_accepted() -> None:
    secret = OctKey.generate_key(256, {"kid": "oct"})
    with pytest.raises(InvalidIdToken):
        await verified(signed(CLAIMS, secret, alg="HS256", kid="oct"), [*PUBLISHED, dict(secret.as_dict(private=True))])


async def test_a_key_in_the_header_is_not_sent_to_the_provider() -> None:
    jwk = dict(OTHER_RSA.as_dict(private=False))
    with pytest.raises(InvalidIdToken):
        await verified(signed(CLAIMS, OTHER_RSA, jwk=jwk, jku="https://evil.example/keys"))
    with pytest.raises(UnknownKey):
        await verified(signed(CLAIMS, OTHER_RSA, jwk=jwk, kid="other"))


@pytest.mark.parametrize(
    "change", [{"use": "enc"}, {"alg": "PS256"}, {"kty": "oct"}, {"n": "AQAB"}, {"n": 7}, {"kid": "x"}], ids=str
)
async def test_a_key_for_another_purpose_is_not_used(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidIdToken):
        await verified(signed(CLAIMS), [PUBLISHED[0] | change])


async def test_a_key_without_an_id_is_used_if_it_is_the_only_one_of_its_type() -> None:
    nameless = {name: value for name, value in PUBLISHED[0].items() if name != "kid"}
    token = jws.serialize_compact({"alg": "RS256"}, json.dumps(CLAIMS), RSA, ["RS256"])
    assert await verified(token, [nameless, *PUBLISHED[1:]]) == CLAIMS
    with pytest.raises(UnknownKey):
        await verified(token, [nameless, dict(OTHER_RSA.as_dict(private=False))])


async def test_a_short_key_is_refused() -> None:
    with pytest.warns(UserWarning, match="2048"):  # noqa: PT031 - both warn
        short = RSAKey.generate_key(1024, {"kid": "rsa"})
        token = signed(CLAIMS, short)
    with pytest.raises(InvalidIdToken, match="shorter"):
        await verified(token, [dict(short.as_dict(private=False))])


@pytest.mark.parametrize(
    "token",
    ["", ".", "..", "a.b.c", "a.b.c.d.e", "ä.b.c", "x" * 1_000_000, "W1tbW1tb.W1tb.x"],
    ids=lambda text: text[:9],
)
async def test_an_invalid_token_is_refused(token: str) -> None:
    with pytest.raises(InvalidIdToken):
        await verified(token)


@pytest.mark.parametrize("payload", [b"[]", b"7", b"", b"{", b"[" * 60_000, b"\xff", b'{"exp": NaN}'])
async def test_a_payload_that_is_not_an_object_is_refused(payload: bytes) -> None:
    registry = jws.JWSRegistry(algorithms=["RS256"])
    registry.max_payload_length = 100_000
    token = jws.serialize_compact({"alg": "RS256", "kid": "rsa"}, payload, RSA, registry=registry)
    with pytest.raises(InvalidIdToken):
        await verified(token)


@given(st.text(st.characters(codec="ascii"), max_size=200))
async def test_no_text_is_believed_or_breaks_it(text: str) -> None:
    with pytest.raises(InvalidIdToken):
        await verified(text)


@given(st.integers(0, 10_000), st.integers(1, 255))
async def test_no_changed_byte_goes_unnoticed(position: int, change: int) -> None:
    head, _, signature = signed(CLAIMS, EC, alg="ES256", kid="ec").rpartition(".")
    body = bytearray(head.encode())
    index = position % len(body)
    body[index] ^= change
    changed = body.decode("latin-1")
    with pytest.raises(InvalidIdToken):
        await verified(f"{changed}.{signature}")


async def test_the_system_clock_is_the_default() -> None:
    async def published(_kid: str) -> JsonWebKeys:
        return PUBLISHED

    claims = CLAIMS | {"exp": int(time.time()) + 100, "iat": int(time.time())}
    verifier = IdTokenVerifier(ISSUER, "me", 0)
    assert await verifier.verify(signed(claims), keys=published, nonce="the nonce", access_token="at") == claims
