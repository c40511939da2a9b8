"""Validation of access tokens (RFC 9068, RFC 8725)."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey
from pressroom.errors import Rejected
from support.oauth_world import World

PREFIX = "prk_oat_"


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def decoded(part: str) -> dict[str, Any]:
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=="))
    return claims


OTHER_CLAIMS: list[tuple[dict[str, Any], str]] = [
    ({"aud": "https://other.example/api/mcp"}, "not for"),
    ({"aud": None}, "not for"),
    ({"aud": ["https://other.example", "http://127.0.0.1:8000/api/mcp"]}, "not for"),
    ({"iss": "https://other.example"}, "another server"),
    ({"iss": None}, "another server"),
    ({"exp": None}, "no expiry"),
    ({"exp": "tomorrow"}, "no expiry"),
    ({"exp": 1}, "expired"),
    ({"nbf": 4_000_000_000}, "not valid yet"),
    ({"family": None}, "revoked"),
    ({"family": "f_nobody"}, "revoked"),
    ({"family": 7}, "revoked"),
]

GARBAGE = [
    "", ".", "..", "...", "a.b.c", "ä.ö.ü", "\x00", "\ud800", "e30.e30.", "W10.W10.W10", "x" * 5000,
    f"{encoded({'alg': 'ES256', 'typ': 'at+jwt'})}.e30.AAAA",
    f"{encoded({'alg': 'ES256', 'typ': 'at+jwt', 'kid': 7})}.e30.AAAA",
    f"{encoded({'alg': 'ES256', 'typ': None, 'kid': 'x'})}.e30.AAAA",
    f"{encoded({'alg': 'ES256', 'typ': 'at+jwt', 'kid': 'x', 'crit': ['b64'], 'b64': False})}.e30.AAAA",
]  # fmt: skip


async def refused(world: World, token: str) -> str:
    with pytest.raises(Rejected) as error:
        await world.identity(token)
    assert error.value.reauthorize
    return error.value.message


@pytest.fixture
async def token(world: World) -> str:
    """Return a valid access token."""
    return (await world.connect(await world.user(), await world.client())).access_token


async def signed(world: World, token: str, header: dict[str, Any] | None = None, **claims: Any) -> str:
    """Return a correctly signed token with some claims changed; `None` removes a claim."""
    head, payload, _ = token.removeprefix(PREFIX).split(".")
    new_claims = {name: value for name, value in (decoded(payload) | claims).items() if value is not None}
    key = await world.server.keys.current()
    return PREFIX + jwt.encode({**decoded(head), **(header or {})}, new_claims, key, algorithms=["ES256"])


async def test_a_token_has_the_right_type_issuer_and_audience(world: World, token: str) -> None:
    head, payload, _ = token.removeprefix(PREFIX).split(".")
    header, claims = decoded(head), decoded(payload)
    assert (header["typ"], header["alg"]) == ("at+jwt", "ES256")
    assert claims.keys() == {
        "iss", "aud", "sub", "client_id", "scope", "jti", "iat", "exp", "connection", "family",
    }  # fmt: skip
    assert claims["iss"] == world.server.urls.issuer
    assert claims["aud"] == f"{claims['iss']}/api/mcp"


@pytest.mark.parametrize("header", [{"typ": "JWT"}, {"typ": "jwt"}, {"typ": "dpop+jwt"}])
async def test_a_token_of_another_type_is_refused(world: World, token: str, header: dict[str, str]) -> None:
    assert "not an access token" in await refused(world, await signed(world, token, header))


async def test_the_long_form_of_the_token_type_is_accepted(world: World, token: str) -> None:
    assert await world.identity(await signed(world, token, {"typ": "application/at+jwt"})) is not None


async def test_a_token_with_invalid_claims_is_refused(world: World, token: str) -> None:
    for claims, reason in OTHER_CLAIMS:
        assert reason in await refused(world, await signed(world, token, **claims))


async def test_a_token_without_a_signature_is_refused(world: World, token: str) -> None:
    head, payload, _ = token.removeprefix(PREFIX).split(".")
    for algorithm in ("none", "None", "NONE"):
        unsigned = encoded({**decoded(head), "alg": algorithm})
        assert await refused(world, f"{PREFIX}{unsigned}.{payload}.")


async def test_a_token_signed_with_the_public_key_as_a_secret_is_refused(world: World, token: str) -> None:
    head, payload, _ = token.removeprefix(PREFIX).split(".")
    public = (await world.server.keys.current()).as_pem(private=False)
    forged = jwt.encode(
        {**decoded(head), "alg": "HS256"}, decoded(payload), OctKey.import_key(b"k" * 32), algorithms=["HS256"]
    )
    assert public
    assert await refused(world, PREFIX + forged)


async def test_a_token_signed_with_another_key_is_refused(world: World, token: str) -> None:
    head, payload, _ = token.removeprefix(PREFIX).split(".")
    forged = jwt.encode(decoded(head), decoded(payload), ECKey.generate_key("P-256"), algorithms=["ES256"])
    assert "signature" in await refused(world, PREFIX + forged)
    unknown = jwt.encode(
        {**decoded(head), "kid": "unknown"}, decoded(payload), ECKey.generate_key("P-256"), algorithms=["ES256"]
    )
    assert "no longer known" in await refused(world, PREFIX + unknown)


async def test_an_altered_token_is_refused(world: World, token: str) -> None:
    head, payload, signature = token.removeprefix(PREFIX).split(".")
    altered = encoded({**decoded(payload), "sub": "u_somebody_else"})
    assert await refused(world, f"{PREFIX}{head}.{altered}.{signature}")


async def test_garbage_is_refused(world: World) -> None:
    for text in GARBAGE:
        assert await refused(world, PREFIX + text)
