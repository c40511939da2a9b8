"""A provider that is broken, slow or hostile."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator

import pytest
from pressroom.accounts.identity_provider import IdentityClaims, IdentityProvider
from pressroom.errors import ConfigError, SignInFailed
from structlog.testing import capture_logs
from support.oidc_provider import REDIRECT_URI, SECRET

from .conftest import Client
from .stand_in import Reply, StandIn, dripping, endless, respond, standing_in

DISCOVERY = "/.well-known/openid-configuration"


@pytest.fixture
async def stand_in() -> AsyncIterator[StandIn]:
    async with standing_in() as running:
        yield running


async def signed_in(identity_provider: IdentityProvider, stand_in: StandIn, **changes: str) -> IdentityClaims:
    request = await identity_provider.authorization_request(REDIRECT_URI)
    stand_in.give(request.nonce, **changes)
    return await identity_provider.finish({"state": request.state, "code": "the code"}, request)


async def test_the_stand_in_is_correct_by_default(stand_in: StandIn, client: Client) -> None:
    claims = await signed_in(client(stand_in.issuer), stand_in)
    assert (claims.subject, claims.email) == ("7", "ada@example.com")
    request = await client(stand_in.issuer).authorization_request(REDIRECT_URI)
    assert request.url.startswith(f"{stand_in.issuer}/authorize?tenant=7&response_type=code&")


BAD_REPLIES: dict[str, Reply] = {
    "an error": respond(b"{}", "500 Oops"),
    "a page": respond(b"<html>"),
    "a list": respond(b"[]"),
    "nothing": respond(b""),
    "deep": respond(b"[" * 200_000),
    "no text": respond(b'{"issuer": "\xff"}'),
    "a redirect": respond(b"", "302 Found", "Location: http://169.254.169.254/"),
    "too long": endless,
    "too slow": dripping,
    "compressed": respond(gzip.compress(b" " * 1_000_000), "200 OK", "Content-Encoding: gzip"),
}


@pytest.mark.parametrize("path", [DISCOVERY, "/keys", "/token", "/userinfo"])
@pytest.mark.parametrize("reply", BAD_REPLIES)
async def test_a_result_of_none_leads_to_a_clear_message(
    stand_in: StandIn, client: Client, path: str, reply: str
) -> None:
    stand_in.replies[path] = BAD_REPLIES[reply]
    with capture_logs() as logs, pytest.raises(SignInFailed, match=r"^signing in with Example is not available"):
        await signed_in(client(stand_in.issuer, timeout=0.5), stand_in)
    assert "the code" not in str(logs)
    assert SECRET not in str(logs)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("issuer", "https://id.example"),
        ("issuer", None),
        ("authorization_endpoint", "http://id.example/authorize"),
        ("authorization_endpoint", "javascript:alert(1)"),
        ("token_endpoint", "http://id.example/token"),
        ("token_endpoint", "http://localhost.id.example/token"),
        ("token_endpoint", "http://[::1/token"),
        ("token_endpoint", 7),
        ("jwks_uri", "file:///etc/passwd"),
        ("jwks_uri", ""),
    ],
)
async def test_an_unsafe_discovery_document_is_refused(
    stand_in: StandIn, client: Client, field: str, value: object
) -> None:
    stand_in.metadata[field] = value
    identity_provider = client(stand_in.issuer)
    with capture_logs() as logs, pytest.raises(SignInFailed):
        await identity_provider.authorization_request(REDIRECT_URI)
    assert logs[0]["reason"]
    assert list(stand_in.request_counts) == [DISCOVERY]


@pytest.mark.parametrize("value", ["http://id.example/userinfo", "file:///etc/passwd"])
async def test_an_access_token_is_sent_only_to_safe_urls(stand_in: StandIn, client: Client, value: str) -> None:
    stand_in.metadata["userinfo_endpoint"] = value
    with pytest.raises(SignInFailed):
        await signed_in(client(stand_in.issuer), stand_in)


@pytest.mark.parametrize(
    "response",
    [
        {},
        {"access_token": "at"},
        {"access_token": "at", "id_token": 7},
        {"access_token": "ä", "id_token": "x"},
        {"error": {"deep": ["x"]}},
        {"error": "x" * 5000},
    ],
    ids=str,
)
async def test_invalid_token_responses_are_refused(
    stand_in: StandIn, client: Client, response: dict[str, object]
) -> None:
    identity_provider = client(stand_in.issuer)
    request = await identity_provider.authorization_request(REDIRECT_URI)
    stand_in.documents["/token"] = response
    with capture_logs() as logs, pytest.raises(SignInFailed):
        await identity_provider.finish({"state": request.state, "code": "the code"}, request)
    assert len(str(logs)) < 1000


async def test_the_userinfo_of_another_subject_is_refused(stand_in: StandIn, client: Client) -> None:
    stand_in.documents["/userinfo"] = {"sub": "8", "email": "ceo@example.com", "email_verified": True}
    with pytest.raises(SignInFailed, match="cannot be trusted"):
        await signed_in(client(stand_in.issuer), stand_in)


async def test_userinfo_changes_only_the_requested_claims(stand_in: StandIn, client: Client) -> None:
    stand_in.documents["/userinfo"] |= {"iss": "https://evil.example", "aud": "x", "name": ["x"]}
    claims = await signed_in(client(stand_in.issuer), stand_in)
    assert (claims.issuer, claims.subject, claims.name) == (stand_in.issuer, "7", "")


@pytest.mark.parametrize(
    ("verified", "believed"),
    [(True, True), ("true", True), (False, False), ("false", False), (1, False), (None, False)],
)
async def test_only_email_verified_true_verifies_an_email_address(
    stand_in: StandIn, client: Client, verified: object, believed: bool
) -> None:
    stand_in.documents["/userinfo"] = {"sub": "7", "email": "ada@example.com", "email_verified": verified}
    assert (await signed_in(client(stand_in.issuer), stand_in)).email_verified is believed


async def test_tokens_with_forged_keys_do_not_cause_a_request_each_time(stand_in: StandIn, client: Client) -> None:
    identity_provider = client(stand_in.issuer)
    await signed_in(identity_provider, stand_in)
    attempts = [signed_in(identity_provider, stand_in, kid=f"made up {number}") for number in range(20)]
    results = await asyncio.gather(*attempts, return_exceptions=True)
    assert {type(result) for result in results} == {SignInFailed}
    assert stand_in.request_counts["/keys"] == 1
    assert stand_in.request_counts[DISCOVERY] == 1


async def test_cached_metadata_and_keys_are_used_while_the_provider_is_down(
    stand_in: StandIn, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity_provider = client(stand_in.issuer)
    await signed_in(identity_provider, stand_in)
    stand_in.replies[DISCOVERY] = stand_in.replies["/keys"] = respond(b"", "503 Later")
    monkeypatch.setattr("pressroom.accounts.identity_provider.provider_client.FRESH_SECONDS", 0)
    assert (await signed_in(identity_provider, stand_in)).subject == "7"
    assert stand_in.request_counts[DISCOVERY] > 1


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"issuer": None}, "accounts.identity_provider.issuer: is missing"),
        ({"issuer": "http://id.example"}, "is not an https URL"),
        ({"client_id": ""}, "accounts.identity_provider.client_id: is missing"),
    ],
)
async def test_invalid_settings_are_refused_immediately(client: Client, settings: dict[str, str], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        client(**({"issuer": "https://id.example"} | settings))
