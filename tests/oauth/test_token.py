"""`POST /oauth/token` and `POST /oauth/revoke`: client authentication, errors, headers."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import quote_plus

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import KeySet
from pressroom.testing import RunningHost
from selectolax.lexbor import LexborHTMLParser
from support.oauth import LOOPBACK, Flow, basic

FORM = "application/x-www-form-urlencoded"


def error_of(response: httpx.Response, status: int = 400) -> str:
    """Return the error code of an error response, which must have the form of RFC 6749, section 5.2."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["pragma"] == "no-cache"
    assert response.headers["access-control-allow-origin"] == "*"
    document: dict[str, Any] = response.json()
    assert document.keys() == {"error", "error_description"}
    assert all(" " <= character <= "~" and character not in '"\\' for character in document["error_description"])
    return str(document["error"])


def test_the_token_response(flow: Flow) -> None:
    response = flow.exchange(flow.code())
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["pragma"] == "no-cache"
    tokens = response.json()
    assert tokens["access_token"].startswith("prk_oat_")
    assert tokens["refresh_token"].startswith("prk_ort_")
    assert (tokens["token_type"], tokens["expires_in"], tokens["scope"]) == ("Bearer", 3600, "mcp")
    assert flow.call(tokens["access_token"]).status_code == 200


def test_the_published_keys_verify_an_access_token(flow: Flow) -> None:
    token = flow.connect()["access_token"].removeprefix("prk_oat_")
    keys = KeySet.import_key_set(flow.http.get("/oauth/jwks.json").json())
    verified = jwt.decode(token, keys, algorithms=["ES256"])
    assert verified.header["typ"] == "at+jwt"
    assert verified.claims["iss"] == flow.url


@pytest.mark.parametrize("registered", ["client_secret_basic", "client_secret_post"])
@pytest.mark.parametrize("sent", ["basic", "post"])
def test_a_secret_is_accepted_in_the_header_or_the_body(flow: Flow, registered: str, sent: str) -> None:
    secret = flow.register(token_endpoint_auth_method=registered)["client_secret"]
    code = flow.code()
    if sent == "basic":
        response = flow.exchange(code, headers=basic(flow.client_id, secret), client_id=None)
    else:
        response = flow.exchange(code, client_secret=secret)
    assert response.status_code == 200


@pytest.mark.parametrize("headers", [True, False])
def test_a_public_client_without_a_secret_is_accepted(flow: Flow, headers: bool) -> None:
    response = flow.exchange(flow.code(), headers=basic(flow.client_id, "") if headers else None, client_secret="")
    assert response.status_code == 200


def test_basic_credentials_are_percent_decoded(flow: Flow) -> None:
    encoded = "".join(f"%{ord(character):02X}" for character in flow.client_id)
    response = flow.exchange(flow.code(), headers=basic(encoded, quote_plus("")))
    assert response.status_code == 200


@pytest.mark.parametrize(
    "header",
    [
        "Basic",
        "Basic !!!",
        "Basic " + base64.b64encode(b"no colon").decode(),
        "Basic " + base64.b64encode(b":secret").decode(),
        "Basic " + base64.b64encode(b"\xff\xfe:x").decode(),
        "Basic " + base64.b64encode(b"client%FF:x").decode(),
        "Basic " + base64.b64encode(b"client_nobody:x").decode(),
        "Basic " + base64.b64encode(b"\x00:x").decode(),
        "Bearer something",
        "Digest username=x",
    ],
)
def test_failed_basic_authentication_is_a_401_with_a_challenge(flow: Flow, header: str) -> None:
    response = flow.token({"Authorization": header}, grant_type="refresh_token", refresh_token="x", client_id=None)
    assert error_of(response, 401) == "invalid_client"
    assert response.headers["www-authenticate"].startswith("Basic realm=")


def test_a_client_must_use_a_single_authentication_method(flow: Flow) -> None:
    secret = flow.register(token_endpoint_auth_method="client_secret_post")["client_secret"]
    headers = basic(flow.client_id, secret)
    assert error_of(flow.exchange("x", headers=headers, client_secret=secret)) == "invalid_request"
    assert error_of(flow.exchange("x", headers=headers, client_id="client_other")) == "invalid_request"
    repeated_headers = [("Authorization", headers["Authorization"])] * 2
    form = {"grant_type": "refresh_token", "refresh_token": "x"}
    assert error_of(flow.http.post("/oauth/token", data=form, headers=repeated_headers)) == "invalid_request"


def test_a_public_client_with_a_secret_is_refused(flow: Flow) -> None:
    assert error_of(flow.exchange(flow.code(), client_secret="something"), 401) == "invalid_client"


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"grant_type": None}, "invalid_request"),
        ({"grant_type": ""}, "invalid_request"),
        ({"grant_type": "implicit"}, "unsupported_grant_type"),
        ({"grant_type": "urn:ietf:params:oauth:grant-type:device_code"}, "unsupported_grant_type"),
        ({"code": None}, "invalid_request"),
        ({"code": "unknown"}, "invalid_grant"),
        ({"code": "\x00"}, "invalid_grant"),
        ({"code": "x" * 9000}, "invalid_grant"),
        ({"code_verifier": None}, "invalid_request"),
        ({"code_verifier": "short"}, "invalid_grant"),
        ({"code_verifier": "ä" * 43}, "invalid_grant"),
        ({"redirect_uri": "http://127.0.0.1:1/callback"}, "invalid_grant"),
        ({"resource": "https://other.example/"}, "invalid_target"),
        ({"resource": "not an address"}, "invalid_target"),
    ],
)
def test_invalid_requests_are_refused(flow: Flow, parameters: dict[str, str | None], error: str) -> None:
    valid_form = {"grant_type": "authorization_code", "code": flow.code(), "redirect_uri": LOOPBACK}
    response = flow.token(None, **{**valid_form, "code_verifier": flow.verifier, **parameters})
    assert error_of(response) == error


def test_unknown_clients_are_refused(flow: Flow) -> None:
    for client_id in ("client_nobody", "\x00", "ä", "x" * 600):
        assert error_of(flow.exchange("x", client_id=client_id), 401) == "invalid_client"
    assert error_of(flow.exchange("x", client_id=None), 401) == "invalid_client"


@pytest.mark.parametrize("name", ["grant_type", "code", "client_id", "redirect_uri", "code_verifier", "unknown"])
def test_a_repeated_parameter_is_refused(flow: Flow, name: str) -> None:
    form = {"grant_type": "authorization_code", "code": "x", "client_id": flow.client_id, "code_verifier": "x" * 43}
    pairs = [*form.items(), (name, "one"), (name, "two")]
    body = "&".join(f"{key}={value}" for key, value in pairs)
    response = flow.http.post("/oauth/token", content=body, headers={"Content-Type": FORM})
    assert error_of(response) == "invalid_request"
    assert name in response.json()["error_description"]


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (b'{"grant_type": "refresh_token"}', "application/json"),
        (b"grant_type=refresh_token", "text/plain"),
        (b"grant_type=%FF", FORM),
        (b"\xff=1", FORM),
        (b"", FORM),
        (b"&" * 100, FORM),
        (b"a=1&" * 1000, FORM),
        (b"grant_type=" + b"x" * 70_000, FORM),
    ],
)
@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke"])
def test_an_invalid_form_body_is_refused(http: httpx.Client, path: str, body: bytes, media_type: str) -> None:
    response = http.post(path, content=body, headers={"Content-Type": media_type})
    assert error_of(response) == "invalid_request"


def test_parameters_in_the_query_are_ignored(flow: Flow) -> None:
    query = {"grant_type": "refresh_token", "refresh_token": "x", "client_id": flow.client_id}
    response = flow.http.post("/oauth/token", params=query, headers={"Content-Type": FORM})
    assert error_of(response) == "invalid_request"


@pytest.mark.parametrize("form", ["{}/api/mcp", "{}/api/mcp/", "{}", "{}/"])
def test_the_resource_is_accepted_in_each_of_its_forms(flow: Flow, form: str) -> None:
    resource = form.format(flow.url)
    tokens = flow.exchange(flow.code(resource=resource), resource=resource).json()
    assert flow.call(tokens["access_token"]).status_code == 200
    assert flow.refresh(tokens["refresh_token"], resource=resource).status_code == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke", "/oauth/register"])
def test_other_methods_are_refused(http: httpx.Client, path: str, method: str) -> None:
    response = http.request(method, path)
    assert response.status_code == 405
    assert "POST" in response.headers["allow"]


def test_revocation_accepts_either_token_and_returns_an_empty_body(flow: Flow) -> None:
    for kind in ("access_token", "refresh_token"):
        for hint in ("access_token", "refresh_token", "something else"):
            tokens = flow.connect()
            form = {"token": tokens[kind], "token_type_hint": hint, "client_id": flow.client_id}
            response = flow.http.post("/oauth/revoke", data=form)
            assert (response.status_code, response.content) == (200, b"")
            assert flow.call(tokens["access_token"]).status_code == 401
            assert error_of(flow.refresh(tokens["refresh_token"])) == "invalid_grant"


@pytest.mark.parametrize(
    "token", ["unknown", "prk_ort_unknown", "prk_oat_unknown", "\x00", "ä", "prk_oat_" + "x" * 9000]
)
def test_revoking_an_unknown_token_succeeds(flow: Flow, token: str) -> None:
    response = flow.http.post("/oauth/revoke", data={"token": token, "client_id": flow.client_id})
    assert (response.status_code, response.content) == (200, b"")


def test_a_token_can_be_revoked_only_by_its_client(flow: Flow) -> None:
    tokens = flow.connect()
    other = flow.register()["client_id"]
    assert error_of(flow.http.post("/oauth/revoke", data={"token": tokens["refresh_token"]}), 401) == "invalid_client"
    form = {"token": tokens["refresh_token"], "client_id": other}
    assert error_of(flow.http.post("/oauth/revoke", data=form)) == "invalid_grant"
    assert error_of(flow.http.post("/oauth/revoke", data={"client_id": other})) == "invalid_request"
    assert flow.call(tokens["access_token"]).status_code == 200


@pytest.mark.parametrize("by", ["revoking its token", "a token used twice"])
def test_connections_show_whether_a_client_still_has_access(flow: Flow, by: str) -> None:
    tokens = flow.connect()

    def row() -> str:
        page = LexborHTMLParser(flow.browser.get("/dashboard/connections").text)
        (title,) = page.css(".row-title")
        return title.text(separator=" ")

    assert "Signed-in client" in row()
    if by == "revoking its token":
        flow.http.post("/oauth/revoke", data={"client_id": flow.client_id, "token": tokens["refresh_token"]})
    else:
        flow.refresh(tokens["refresh_token"])
        flow.refresh(tokens["refresh_token"])
    assert "Signed-out client" in row()
    page = LexborHTMLParser(flow.browser.get("/dashboard/connections").text)
    connection = flow.browser.get(page.css(".row-title a")[0].attributes["href"] or "")
    assert "It has had no access since" in connection.text
    flow.connect()
    assert "Signed-in client" in row()


def test_database_outages_are_reported_as_temporary(flow: Flow, host: RunningHost) -> None:
    tokens = flow.connect()
    database = host.host.database
    host.run(database.close())
    try:
        for response in (flow.refresh(tokens["refresh_token"]), flow.exchange("x"), flow.registered()):
            assert error_of(response, 503) == "temporarily_unavailable"
            assert int(response.headers["retry-after"]) >= 1
        page = flow.authorize()
        assert page.status_code == 503
        assert "nothing was changed" in page.text
    finally:
        host.run(database.open())
    assert flow.refresh(tokens["refresh_token"]).status_code == 200


def test_a_public_client_need_not_repeat_a_redirect_uri_it_did_not_send(flow: Flow) -> None:
    code = flow.code(redirect_uri=None)
    assert error_of(flow.exchange(code, redirect_uri="http://127.0.0.1:1/callback")) == "invalid_grant"
    assert flow.exchange(code, redirect_uri=None).status_code == 200
    assert flow.exchange(flow.code(redirect_uri=None), redirect_uri=LOOPBACK).status_code == 200
