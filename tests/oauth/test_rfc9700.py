"""RFC 9700 (Best Current Practice for OAuth 2.0 Security): a test for each section that applies."""

from __future__ import annotations

import base64
import json
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest
from pressroom.testing import RunningHost
from support.oauth import LOOPBACK, Flow, Person, basic, challenge_of, csrf_in, parameters_of

WEB = "https://client.example/callback"


def claims_of(access_token: str) -> dict[str, str]:
    payload = access_token.partition("_oat_")[2].split(".")[1]
    claims: dict[str, str] = json.loads(base64.urlsafe_b64decode(payload + "=="))
    return claims


@pytest.mark.parametrize(
    "uri",
    [
        f"{WEB}/",
        f"{WEB}?next=1",
        f"{WEB}/../other",
        "https://client.example/callback%2e",
        "https://client.example.evil.example/callback",
        "https://client.example@evil.example/callback",
        "https://evil.example/https://client.example/callback",
        "HTTPS://client.example/callback",
        "https://client.example:443/callback",
        "https://client.example/callback\n",
        "//client.example/callback",
    ],
)
def test_rfc9700_2_1_redirect_uri_is_matched_exactly(flow: Flow, uri: str) -> None:
    flow.register(redirect_uris=[WEB])
    response = flow.authorize(redirect_uri=uri)
    assert response.status_code == 400
    assert "location" not in response.headers


def test_rfc9700_2_1_loopback_ports_may_vary(flow: Flow) -> None:
    assert flow.authorize(redirect_uri=LOOPBACK.replace("4711", "59999")).status_code == 200
    assert flow.authorize(redirect_uri=LOOPBACK.replace("127.0.0.1", "localhost")).status_code == 400
    assert flow.authorize(redirect_uri=LOOPBACK.replace("/callback", "/other")).status_code == 400


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge": "too-short"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
    ],
)
def test_rfc9700_2_1_1_pkce_with_s256_is_required(flow: Flow, changes: dict[str, str | None], code: str) -> None:
    flow.connect()
    response = flow.authorize(**changes)
    assert response.status_code == 303
    assert parameters_of(response.headers["location"])["error"] == code


def test_rfc9700_2_1_1_confidential_clients_need_pkce_too(flow: Flow) -> None:
    flow.register(token_endpoint_auth_method="client_secret_basic")
    flow.code()
    response = flow.authorize(code_challenge=None, code_challenge_method=None)
    assert parameters_of(response.headers["location"])["error"] == "invalid_request"


def test_rfc9700_2_1_1_pkce_support_is_published(http: httpx.Client) -> None:
    metadata = http.get("/.well-known/oauth-authorization-server").json()
    assert metadata["code_challenge_methods_supported"] == ["S256"]


@pytest.mark.parametrize("response_type", ["token", "id_token", "code token", "none"])
def test_rfc9700_2_1_2_there_is_no_implicit_grant(flow: Flow, response_type: str) -> None:
    flow.connect()
    response = flow.authorize(response_type=response_type)
    assert parameters_of(response.headers["location"])["error"] == "unsupported_response_type"
    assert not urlsplit(response.headers["location"]).fragment


def test_rfc9700_2_2_2_refresh_tokens_of_public_clients_are_rotated(flow: Flow) -> None:
    tokens = flow.connect()
    new_tokens = flow.refresh(tokens["refresh_token"]).json()
    assert new_tokens["refresh_token"] != tokens["refresh_token"]


def test_rfc9700_2_3_access_tokens_are_for_one_resource_and_scope(host: RunningHost, flow: Flow) -> None:
    claims = claims_of(flow.connect()["access_token"])
    assert claims["aud"] == f"{host.url}/api/mcp"
    assert claims["scope"] == "mcp"


def test_rfc9700_2_4_there_is_no_password_grant(flow: Flow, person: Person) -> None:
    response = flow.token(grant_type="password", username=person.email, password="a password")
    assert (response.status_code, response.json()["error"]) == (400, "unsupported_grant_type")


def test_rfc9700_2_5_confidential_clients_are_authenticated(flow: Flow) -> None:
    registration = flow.register(token_endpoint_auth_method="client_secret_basic")
    code = flow.code()
    assert flow.exchange(code).json()["error"] == "invalid_client"
    wrong = flow.exchange(code, headers=basic(flow.client_id, "wrong"))
    assert (wrong.status_code, wrong.json()["error"]) == (401, "invalid_client")
    right = flow.exchange(code, headers=basic(flow.client_id, registration["client_secret"]))
    assert right.status_code == 200


def test_rfc9700_2_6_metadata_is_published(http: httpx.Client, host: RunningHost) -> None:
    metadata = http.get("/.well-known/oauth-authorization-server").json()
    assert metadata["issuer"] == host.url
    assert all(metadata[name].startswith(host.url) for name in metadata if name.endswith(("_endpoint", "_uri")))


@pytest.mark.parametrize("uri", ["http://client.example/callback", "http://10.0.0.1/callback", "http://0.0.0.0/x"])
def test_rfc9700_2_6_authorization_responses_never_go_over_plain_http(flow: Flow, uri: str) -> None:
    response = flow.registered(redirect_uris=[uri])
    assert (response.status_code, response.json()["error"]) == (400, "invalid_redirect_uri")


@pytest.mark.parametrize("uri", ["https://*.client.example/callback", "https://client.example/*", "cursor://*"])
def test_rfc9700_4_1_3_redirect_uris_cannot_be_patterns(flow: Flow, uri: str) -> None:
    assert flow.registered(redirect_uris=[uri]).json()["error"] == "invalid_redirect_uri"


@pytest.mark.parametrize("fragment", ["#", "#access_token=stolen"])
def test_rfc9700_4_1_3_redirect_uris_have_no_fragment(flow: Flow, fragment: str) -> None:
    assert flow.registered(redirect_uris=[WEB + fragment]).json()["error"] == "invalid_redirect_uri"


def test_rfc9700_4_2_4_the_consent_page_does_not_leak_its_url(flow: Flow) -> None:
    page = flow.authorize()
    assert page.headers["referrer-policy"] == "same-origin"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    response = flow.decide()
    assert response.headers["referrer-policy"] == "same-origin"


def test_rfc9700_4_2_4_reusing_a_code_revokes_its_tokens(flow: Flow) -> None:
    code = flow.code()
    tokens = flow.exchange(code).json()
    assert flow.call(tokens["access_token"]).status_code == 200
    repeated = flow.exchange(code)
    assert (repeated.status_code, repeated.json()["error"]) == (400, "invalid_grant")
    assert flow.call(tokens["access_token"]).status_code == 401
    assert flow.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"


def test_rfc9700_4_3_1_of_two_concurrent_exchanges_one_gets_tokens(flow: Flow) -> None:
    code = flow.code()
    with ThreadPoolExecutor(8) as threads:
        responses = list(threads.map(lambda _: flow.exchange(code), range(8)))
    assert sorted(response.status_code for response in responses) == [200] + [400] * 7


def test_rfc9700_4_3_2_access_tokens_in_urls_are_not_accepted(flow: Flow) -> None:
    token = flow.connect()["access_token"]
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert flow.http.post("/api/mcp", params={"access_token": token}, json=message).status_code == 401


def test_rfc9700_4_4_2_authorization_responses_name_the_issuer(host: RunningHost, flow: Flow) -> None:
    responses = [flow.decide(), flow.decide("deny"), flow.authorize(response_type="token")]
    assert [parameters_of(response.headers["location"])["iss"] for response in responses] == [host.url] * 3
    metadata = flow.http.get("/.well-known/oauth-authorization-server").json()
    assert metadata["authorization_response_iss_parameter_supported"] is True


def test_rfc9700_4_5_3_an_injected_code_is_refused(flow: Flow) -> None:
    """A stolen code is useless in another session of the same client, which has a different verifier."""
    code = flow.code()
    response = flow.exchange(code, code_verifier="a" * 43)
    assert (response.status_code, response.json()["error"]) == (400, "invalid_grant")


def test_rfc9700_4_5_a_code_is_bound_to_its_client(flow: Flow) -> None:
    code, owner = flow.code(), flow.client_id
    other = flow.register()["client_id"]
    assert flow.exchange(code, client_id=other).json()["error"] == "invalid_grant"
    assert flow.exchange(code, client_id=owner).status_code == 200


def test_rfc9700_4_5_a_code_is_bound_to_its_redirect_uri(flow: Flow) -> None:
    code = flow.code()
    assert flow.exchange(code, redirect_uri=LOOPBACK.replace("4711", "4712")).json()["error"] == "invalid_grant"
    assert flow.exchange(code, redirect_uri=None).json()["error"] == "invalid_grant"
    assert flow.exchange(code).status_code == 200


def test_rfc9700_4_7_1_consent_needs_the_csrf_token_of_the_page(flow: Flow) -> None:
    url = f"/oauth/authorize?{flow.query()}"
    for form in ({"decision": "allow"}, {"decision": "allow", "csrf": "0.0"}):
        response = flow.browser.post(url, data=form)
        assert response.status_code == 403
        assert "location" not in response.headers


def test_rfc9700_4_7_1_consent_from_another_site_is_refused(flow: Flow) -> None:
    form = {"csrf": csrf_in(flow.authorize().text), "decision": "allow"}
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
        assert flow.browser.post(f"/oauth/authorize?{flow.query()}", data=form, headers=headers).status_code == 403


def test_rfc9700_4_7_1_the_consent_token_of_another_account_is_refused(host: RunningHost, flow: Flow) -> None:
    mallory = Person(host)
    csrf = csrf_in(mallory.browser.get(f"/oauth/authorize?{flow.query()}").text)
    response = flow.browser.post(f"/oauth/authorize?{flow.query()}", data={"csrf": csrf, "decision": "allow"})
    mallory.browser.close()
    assert response.status_code == 403


def test_rfc9700_4_7_1_state_is_returned_unchanged(flow: Flow) -> None:
    state = "ä & = ? # % + \"'<>\\ 漢字"
    responses = [flow.decide(state=state), flow.decide("deny", state=state)]
    assert [parameters_of(response.headers["location"])["state"] for response in responses] == [state] * 2


def test_rfc9700_4_8_2_pkce_cannot_be_omitted_at_the_token_endpoint(flow: Flow) -> None:
    code = flow.code()
    assert flow.exchange(code, code_verifier=None).json()["error"] == "invalid_request"
    # A plain comparison would accept the challenge itself.
    assert flow.exchange(code, code_verifier=challenge_of(flow.verifier)).json()["error"] == "invalid_grant"


def test_rfc9700_4_9_1_and_4_10_2_a_token_for_another_resource_is_not_issued(flow: Flow) -> None:
    flow.connect()
    response = flow.authorize(resource="https://other.example/api/mcp")
    assert parameters_of(response.headers["location"])["error"] == "invalid_target"
    assert flow.exchange(flow.code(), resource="https://other.example/").json()["error"] == "invalid_target"


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "client_nobody"},
        {"client_id": None},
        {"client_id": "https://client.example/metadata.json"},
        {"redirect_uri": "https://evil.example/"},
        {"redirect_uri": "javascript:alert(1)"},
    ],
)
def test_rfc9700_4_11_2_a_bad_client_or_redirect_uri_does_not_redirect(
    flow: Flow, changes: dict[str, str | None]
) -> None:
    response = flow.authorize(**changes)
    assert response.status_code == 400
    assert "location" not in response.headers
    assert response.headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("changes", [{"response_type": "bogus"}, {"scope": "admin"}, {"code_challenge": None}])
def test_rfc9700_4_11_2_users_are_not_redirected_to_unapproved_clients(
    host: RunningHost, flow: Flow, changes: dict[str, str | None]
) -> None:
    evil = "https://evil.example/cb"
    flow.register(redirect_uris=[evil])
    redirect = flow.http.get(f"/oauth/authorize?{flow.query(redirect_uri=evil, **changes)}")
    assert redirect.headers["location"].startswith("/sign-in?return_to=")
    response = flow.authorize(redirect_uri=evil, **changes)
    assert response.status_code == 400
    assert "location" not in response.headers
    assert "Go back to evil.example" in response.text
    assert f'href="{evil}?error=' in response.text


def test_rfc9700_4_11_2_signing_in_redirects_only_to_this_site(host: RunningHost, flow: Flow) -> None:
    response = flow.http.get(f"/oauth/authorize?{flow.query()}")
    assert response.status_code == 303
    assert response.headers["location"].startswith("/sign-in?return_to=%2Foauth%2Fauthorize%3F")


def test_rfc9700_4_12_the_response_is_a_redirect_that_is_followed_with_get(flow: Flow) -> None:
    assert flow.decide().status_code == 303
    assert flow.decide("deny").status_code == 303


def test_rfc9700_4_13_untrusted_headers_do_not_change_urls(http: httpx.Client, host: RunningHost) -> None:
    forged = {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https", "Forwarded": "host=evil.example"}
    for document in ("oauth-authorization-server", "oauth-protected-resource"):
        response = http.get(f"/.well-known/{document}", headers={**forged, "Host": "evil.example"})
        assert "evil.example" not in response.text
        assert host.url in response.text


def test_rfc9700_4_14_2_reuse_of_a_refresh_token_revokes_its_family(flow: Flow) -> None:
    first = flow.connect()
    second = flow.refresh(first["refresh_token"]).json()
    assert flow.call(second["access_token"]).status_code == 200
    replayed = flow.refresh(first["refresh_token"])
    assert (replayed.status_code, replayed.json()["error"]) == (400, "invalid_grant")
    assert flow.refresh(second["refresh_token"]).json()["error"] == "invalid_grant"
    assert flow.call(second["access_token"]).status_code == 401


def test_rfc9700_4_14_2_a_refresh_token_is_bound_to_its_client(flow: Flow) -> None:
    tokens, owner = flow.connect(), flow.client_id
    other = flow.register()["client_id"]
    assert flow.refresh(tokens["refresh_token"], client_id=other).json()["error"] == "invalid_grant"
    assert flow.refresh(tokens["refresh_token"], client_id=owner).status_code == 200


def test_rfc9700_4_14_2_a_refresh_token_gives_no_more_than_was_approved(flow: Flow) -> None:
    tokens = flow.connect()
    assert flow.refresh(tokens["refresh_token"], scope="mcp admin").json()["error"] == "invalid_scope"
    assert flow.refresh(tokens["refresh_token"], resource="https://other.example/").json()["error"] == "invalid_target"
    assert flow.refresh(tokens["refresh_token"], scope="mcp").status_code == 200


def test_rfc9700_4_15_1_no_client_can_impersonate_a_user(flow: Flow, person: Person) -> None:
    claims = claims_of(flow.connect()["access_token"])
    assert claims["sub"] == person.id
    assert claims["sub"] != claims["client_id"]
    response = flow.token(grant_type="client_credentials")
    assert response.json()["error"] == "unsupported_grant_type"


def test_rfc9700_4_16_the_consent_page_cannot_be_framed(flow: Flow) -> None:
    for page in (flow.authorize(), flow.authorize(client_id="client_nobody")):
        assert page.headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
        assert "form-action" not in page.headers["content-security-policy"]
