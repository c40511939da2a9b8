"""Sign-in with a real provider."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from pressroom.accounts.identity_provider import IdentityClaims, IdentityProvider, SignInRequest
from pressroom.errors import SignInFailed
from structlog.testing import capture_logs
from support.oidc_provider import REDIRECT_URI, SECRET, OidcProvider, cancel, private_keys, sign_in

from .conftest import Client

pytestmark = pytest.mark.services


async def signed_in(identity_provider: IdentityProvider, person: str = "ada") -> IdentityClaims:
    request = await identity_provider.authorization_request(REDIRECT_URI)
    return await identity_provider.finish(await sign_in(request.url, person), request)


async def test_sign_in_returns_the_providers_claims(provider: OidcProvider, client: Client) -> None:
    assert await signed_in(client(provider.issuer)) == IdentityClaims(
        issuer=provider.issuer, subject="ada", email="Ada@Example.com", email_verified=True, name="Ada Lovelace"
    )


async def test_an_unverified_email_address_is_reported_as_such(provider: OidcProvider, client: Client) -> None:
    claims = await signed_in(client(provider.issuer), "eve")
    assert (claims.subject, claims.email, claims.email_verified) == ("eve", "eve@example.com", False)
    nobody = await signed_in(client(provider.issuer), "nemo")
    assert (nobody.subject, nobody.email, nobody.email_verified, nobody.name) == ("nemo", "", False, "")


async def test_the_claims_may_be_in_the_id_token(client: Client) -> None:
    with OidcProvider(claims_in_id_token=True) as provider:
        claims = await signed_in(client(provider.issuer))
    assert (claims.email, claims.email_verified, claims.name) == ("Ada@Example.com", True, "Ada Lovelace")


@pytest.mark.parametrize("client_id", ["public", "PS256", "ES256", "EdDSA", "Ed25519"])
async def test_every_signing_algorithm_and_public_clients_are_supported(
    provider: OidcProvider, client: Client, client_id: str
) -> None:
    secret = None if client_id == "public" else SECRET
    assert (await signed_in(client(provider.issuer, client_id=client_id, client_secret=secret))).subject == "ada"


async def test_a_provider_may_require_the_secret_in_the_body(client: Client) -> None:
    with OidcProvider(auth_methods=["client_secret_post"]) as provider:
        assert (await signed_in(client(provider.issuer, client_id="post"))).subject == "ada"


async def test_a_token_signed_with_the_shared_secret_is_refused(provider: OidcProvider, client: Client) -> None:
    with pytest.raises(SignInFailed, match="cannot be trusted"):
        await signed_in(client(provider.issuer, client_id="HS256"))


async def test_the_request_has_pkce_and_fresh_values(provider: OidcProvider, client: Client) -> None:
    identity_provider = client(provider.issuer, scopes=("email",))
    first, second = [await identity_provider.authorization_request(REDIRECT_URI) for _ in range(2)]
    query = {name: values[0] for name, values in parse_qs(urlsplit(first.url).query).items()}
    assert query["scope"].split() == ["openid", "email"]
    assert (query["response_type"], query["code_challenge_method"]) == ("code", "S256")
    assert (query["state"], query["nonce"]) == (first.state, first.nonce)
    assert first.code_verifier not in first.url
    assert {first.state, first.nonce, first.code_verifier}.isdisjoint({second.state, second.nonce})
    assert not any(secret in repr(first) for secret in (first.state, first.nonce, first.code_verifier))


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"state": "x"}, "did not start in this browser"),
        ({"state": ""}, "did not start in this browser"),
        ({"state": "\udfff"}, "did not start in this browser"),
        ({"iss": "https://evil.example"}, "did not come from Example"),
        ({"iss": ""}, "did not come from Example"),
        ({"code": ""}, "incomplete"),
        ({"code": "x" * 5000}, "cannot be read"),
        ({"code": "x"}, "took too long, or was used already"),
        ({"error": "server_error"}, 'refused the sign-in \\("server_error"\\)'),
    ],
)
async def test_a_tampered_response_is_refused(
    provider: OidcProvider, client: Client, changed: dict[str, str], says: str
) -> None:
    identity_provider = client(provider.issuer)
    request = await identity_provider.authorization_request(REDIRECT_URI)
    query = await sign_in(request.url, "ada")
    with pytest.raises(SignInFailed, match=says):
        await identity_provider.finish(query | changed, request)


@pytest.mark.parametrize("missing", ["state", "iss", "code"])
async def test_an_incomplete_response_is_refused(provider: OidcProvider, client: Client, missing: str) -> None:
    identity_provider = client(provider.issuer)
    request = await identity_provider.authorization_request(REDIRECT_URI)
    query = await sign_in(request.url, "ada")
    del query[missing]
    with pytest.raises(SignInFailed):
        await identity_provider.finish(query, request)


@pytest.mark.parametrize("changed", ["nonce", "code_verifier"])
async def test_a_response_to_another_request_is_refused(provider: OidcProvider, client: Client, changed: str) -> None:
    identity_provider = client(provider.issuer)
    request = await identity_provider.authorization_request(REDIRECT_URI)
    query = await sign_in(request.url, "ada")
    other_request: SignInRequest = replace(request, **{changed: "x" * 43})
    with pytest.raises(SignInFailed):
        await identity_provider.finish(query, other_request)


async def test_a_code_works_once(provider: OidcProvider, client: Client) -> None:
    identity_provider = client(provider.issuer)
    request = await identity_provider.authorization_request(REDIRECT_URI)
    query = await sign_in(request.url, "ada")
    results = await asyncio.gather(
        *(identity_provider.finish(query, request) for _ in range(4)), return_exceptions=True
    )
    assert [type(result) for result in results].count(IdentityClaims) <= 1
    with pytest.raises(SignInFailed, match="used already"):
        await identity_provider.finish(query, request)


async def test_cancelling_is_confirmed(provider: OidcProvider, client: Client) -> None:
    identity_provider = client(provider.issuer)
    request = await identity_provider.authorization_request(REDIRECT_URI)
    with pytest.raises(SignInFailed, match="you did not sign in at Example"):
        await identity_provider.finish(await cancel(request.url), request)


async def test_a_code_expires(client: Client) -> None:
    with OidcProvider() as provider:
        identity_provider = client(provider.issuer)
        request = await identity_provider.authorization_request(REDIRECT_URI)
        query = await sign_in(request.url, "ada")
        provider.set_clock(61)
        with pytest.raises(SignInFailed, match="took too long"):
            await identity_provider.finish(query, request)


@pytest.mark.parametrize(("ahead", "good"), [(45, True), (90, False), (-330, True), (-400, False)])
async def test_a_small_clock_difference_to_the_provider_is_tolerated(client: Client, ahead: int, good: bool) -> None:
    # An ID token is valid for 300 seconds. Beyond that, only the clock-skew allowance keeps it valid.
    with OidcProvider() as provider:
        provider.set_clock(ahead)
        if good:
            assert (await signed_in(client(provider.issuer))).subject == "ada"
        else:
            with pytest.raises(SignInFailed, match="cannot be trusted"):
                await signed_in(client(provider.issuer))


async def test_new_keys_are_loaded_without_a_restart(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with OidcProvider() as provider:
        identity_provider = client(provider.issuer)
        assert (await signed_in(identity_provider)).subject == "ada"
        provider.stop()
        provider.keys = private_keys("second")
        provider.start()
        monkeypatch.setattr("pressroom.accounts.identity_provider.provider_client.AGE_TO_RENEW", 0)
        assert (await signed_in(identity_provider)).subject == "ada"


async def test_a_code_from_before_a_provider_restart_needs_a_new_sign_in(client: Client) -> None:
    with OidcProvider() as provider:
        identity_provider = client(provider.issuer)
        request = await identity_provider.authorization_request(REDIRECT_URI)
        query = await sign_in(request.url, "ada")
        provider.stop()
        provider.start()
        with pytest.raises(SignInFailed, match="please sign in again"):
            await identity_provider.finish(query, request)
        assert (await signed_in(identity_provider)).subject == "ada"


@pytest.mark.parametrize("how", ["down", "frozen"])
async def test_a_provider_that_does_not_respond_is_named(client: Client, how: str) -> None:
    with OidcProvider() as provider:
        identity_provider = client(provider.issuer, timeout=3)
        request = await identity_provider.authorization_request(REDIRECT_URI)
        query = await sign_in(request.url, "ada")
        if how == "down":
            provider.stop()
        else:
            provider.freeze()
        for attempt in (identity_provider.finish(query, request), signed_in(client(provider.issuer, timeout=3))):
            with pytest.raises(SignInFailed, match=r"^signing in with Example is not available"):
                await attempt


async def test_a_dead_provider_delays_one_visitor_not_all(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with OidcProvider() as provider:
        identity_provider = client(provider.issuer, timeout=0.5)
        provider.freeze()
        with capture_logs() as logs:
            attempts = (identity_provider.authorization_request(REDIRECT_URI) for _ in range(50))
            results = await asyncio.gather(*attempts, return_exceptions=True)
        assert {type(result) for result in results} == {SignInFailed}
        assert [entry["reason"] for entry in logs] == ["no response within 0.5 s"]
        provider.stop()
        provider.start()
        monkeypatch.setattr("pressroom.accounts.identity_provider.provider_client.RETRY_SECONDS", 0)
        assert (await identity_provider.authorization_request(REDIRECT_URI)).url.startswith(provider.issuer)


async def test_a_wrong_secret_is_logged_but_not_shown(provider: OidcProvider, client: Client) -> None:
    identity_provider = client(provider.issuer, client_secret="not the secret")
    with capture_logs() as logs, pytest.raises(SignInFailed, match="is not available right now"):
        await signed_in(identity_provider)
    assert "invalid_client" in str(logs)
    assert "not the secret" not in str(logs)


@pytest.mark.parametrize("suffix", ["/", "/realm"])
async def test_an_issuer_that_differs_by_a_slash_is_refused(
    provider: OidcProvider, client: Client, suffix: str
) -> None:
    with capture_logs() as logs, pytest.raises(SignInFailed):
        await client(provider.issuer + suffix).authorization_request(REDIRECT_URI)
    assert logs[0]["log_level"] == "warning"
