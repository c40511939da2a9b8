"""`/oauth/authorize`: validation, the consent page, and redirects."""

from __future__ import annotations

import html
import secrets
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from pressroom.testing import RunningHost
from selectolax.lexbor import LexborHTMLParser
from support.oauth import LOOPBACK, SESSION_COOKIE, Flow, Person, csrf_in, parameters_of
from support.people import PASSWORD, BrowserWithoutScreen, add_person

Start = Callable[..., RunningHost]


def test_the_page_shows_the_client_and_the_requested_access(flow: Flow, person: Person) -> None:
    flow.register(client_name="My editor", redirect_uris=["https://editor.example/callback"])
    page = flow.authorize(redirect_uri=None)
    assert page.headers["cache-control"] == "no-store"
    assert "My editor" in page.text
    assert "editor.example" in page.text
    assert person.email in page.text
    assert "not verified" in page.text


def test_consent_is_requested_every_time(flow: Flow) -> None:
    flow.connect()
    for _ in range(2):
        page = flow.authorize(prompt="none")
        assert page.status_code == 200
        assert 'value="allow"' in page.text


@pytest.mark.parametrize(
    "name",
    ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}", "&lt;b&gt;", "' onclick='x"],
)
def test_a_client_name_is_escaped(flow: Flow, name: str) -> None:
    flow.register(client_name=name)
    page = flow.authorize().text
    assert str(html.escape(name, quote=False)).replace("&quot;", '"') in page.replace("&#34;", '"').replace(
        "&#39;", "'"
    )
    for tag in ("<script>", "<img"):
        assert tag not in page


def test_a_redirect_is_sent_as_plain_text(flow: Flow) -> None:
    assert flow.decide().headers["content-type"] == "text/plain; charset=utf-8"


def test_a_long_name_is_truncated(flow: Flow) -> None:
    flow.register(client_name="word " * 40)
    page = flow.authorize().text
    assert "word " * 20 not in page
    assert "…" in page


def test_denying_returns_an_error_to_the_client(flow: Flow) -> None:
    response = flow.decide("deny")
    assert response.headers["location"].startswith(f"{LOOPBACK}?")
    parameters = parameters_of(response.headers["location"])
    assert (parameters["error"], parameters["state"]) == ("access_denied", "the state")
    assert "code" not in parameters


@pytest.mark.parametrize("decision", ["", "yes", "Allow"])
def test_an_unknown_decision_is_refused(flow: Flow, decision: str) -> None:
    response = flow.decide(decision)
    assert response.status_code == 400
    assert "location" not in response.headers


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": None}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"response_mode": "form_post"}, "invalid_request"),
        ({"scope": "admin"}, "invalid_scope"),
        ({"scope": "mcp admin"}, "invalid_scope"),
        ({"resource": "https://other.example/api/mcp"}, "invalid_target"),
        ({"code_challenge": "x" * 42}, "invalid_request"),
        ({"code_challenge": "x" * 44}, "invalid_request"),
        ({"code_challenge": "+" * 43}, "invalid_request"),
    ],
)
def test_errors_are_returned_to_the_client_with_state_and_issuer(
    flow: Flow, changes: dict[str, str | None], error: str
) -> None:
    flow.connect()
    response = flow.authorize(**changes)
    assert response.status_code == 303
    assert response.headers["cache-control"] == "no-store"
    parameters = parameters_of(response.headers["location"])
    assert parameters.pop("error_description")
    assert parameters == {"error": error, "state": "the state", "iss": flow.url}


@pytest.mark.parametrize("name", ["response_type", "code_challenge", "scope", "state", "unknown"])
def test_a_repeated_parameter_is_reported_to_the_client(flow: Flow, name: str) -> None:
    flow.connect()
    response = flow.authorize(f"{flow.query()}&{name}=1&{name}=2")
    parameters = parameters_of(response.headers["location"])
    assert parameters["error"] == "invalid_request"
    assert parameters.get("state") == (None if name == "state" else "the state")


@pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
def test_a_repeated_client_id_or_redirect_uri_does_not_redirect(flow: Flow, name: str) -> None:
    response = flow.authorize(f"{flow.query()}&{name}={flow.client_id}")
    assert response.status_code == 400
    assert "location" not in response.headers


@pytest.mark.parametrize(
    "query", ["", "%FF", "client_id=%FF", "client_id=%00", "&&&", "a=1&" * 200, "client_id=" + "x" * 3000]
)
def test_an_unusable_query_gets_a_page(flow: Flow, query: str) -> None:
    response = flow.authorize(query)
    assert response.status_code == 400
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "frame-ancestors 'none'" in response.headers["content-security-policy"]


def test_with_several_redirect_uris_one_must_be_given(flow: Flow) -> None:
    flow.register(redirect_uris=[LOOPBACK, "cursor://callback"])
    refused = flow.authorize(redirect_uri=None)
    assert refused.status_code == 400
    # The message uses the parameter name that the client's author knows.
    assert "<p>redirect_uri: is missing" in refused.text
    assert "<p>The redirect URL is not registered" in flow.authorize(redirect_uri="https://example.com/").text
    response = flow.decide(redirect_uri="cursor://callback")
    assert response.headers["location"].startswith("cursor://callback?code=")


def test_a_query_in_the_redirect_uri_is_preserved(flow: Flow) -> None:
    flow.register(redirect_uris=["https://editor.example/callback?kind=mcp"])
    location = flow.decide(redirect_uri="https://editor.example/callback?kind=mcp").headers["location"]
    assert parse_qs(urlsplit(location).query)["kind"] == ["mcp"]


def test_without_a_state_none_is_returned(flow: Flow) -> None:
    assert "state" not in parameters_of(flow.decide(state=None).headers["location"])


def test_signing_in_returns_to_the_authorization_request(flow: Flow) -> None:
    response = flow.http.get(f"/oauth/authorize?{flow.query()}")
    return_to = parse_qs(urlsplit(response.headers["location"]).query)["return_to"][0]
    assert return_to == f"/oauth/authorize?{flow.query()}"


def test_a_session_that_ended_before_the_decision_leads_to_signing_in(
    flow: Flow, host: RunningHost, person: Person
) -> None:
    csrf = csrf_in(flow.authorize().text)
    host.run(host.host.accounts.sessions.end(person.session))
    response = flow.browser.post(f"/oauth/authorize?{flow.query()}", data={"csrf": csrf, "decision": "allow"})
    assert response.status_code == 303
    assert response.headers["location"].startswith("/sign-in?return_to=")


def test_everything_is_checked_again_when_the_decision_arrives(flow: Flow, host: RunningHost) -> None:
    csrf = csrf_in(flow.authorize().text)
    form = {"csrf": csrf, "decision": "allow"}
    changed_query = flow.query(redirect_uri="https://evil.example/")
    assert flow.browser.post(f"/oauth/authorize?{changed_query}", data=form).status_code == 400
    host.run(host.host.authorization_server.clients.revoke(flow.client_id))
    response = flow.browser.post(f"/oauth/authorize?{flow.query()}", data=form)
    assert response.status_code == 400
    assert "location" not in response.headers


def test_the_connection_appears_and_can_be_revoked(flow: Flow, host: RunningHost, person: Person) -> None:
    flow.register(client_name="My editor")
    tokens = flow.connect()
    connections = host.host.accounts.connections
    [connection] = host.run(connections.list(person.id))
    assert (connection.kind, connection.name, connection.client_id) == ("oauth", "My editor", flow.client_id)
    host.run(connections.revoke(person.id, connection.id))
    assert flow.call(tokens["access_token"]).status_code == 401
    assert flow.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"


def test_links_include_the_path_of_the_base_url(start: Start) -> None:
    host = start(base_url="https://press.example/site")
    with httpx.Client(base_url=host.url) as http:
        flow = Flow(host.url, http, http)
        flow.register()
        response = http.get(f"/oauth/authorize?{flow.query()}")
        assert response.headers["location"].startswith("/site/sign-in?return_to=%2Foauth%2Fauthorize")
        user = add_person(host)
        token = host.run(host.host.accounts.sessions.start(user.id))
        http.cookies.set(SESSION_COOKIE, token, domain="127.0.0.1")
        refused = http.get(f"/oauth/authorize?{flow.query(scope='x')}")
        link = LexborHTMLParser(refused.text).css_first('a[rel="noreferrer"]')
        assert link is not None
        assert parameters_of(str(link.attributes["href"]))["iss"] == "https://press.example/site"


def test_signing_in_with_another_account_leads_back_to_the_consent_page(host: RunningHost, flow: Flow) -> None:
    one, other = (add_person(host, f"{secrets.token_hex(6)}@example.org") for _ in range(2))
    with BrowserWithoutScreen(host) as browser:
        browser.enter(host, one)
        signed_out = browser.submit(browser.get(f"/oauth/authorize?{flow.query()}"), "/sign-out")
        assert "You are signed out." in signed_out.text
        consent = browser.submit(signed_out, "/sign-in", email=other.email, password=PASSWORD)
        assert consent.response.url.query.decode() == flow.query()
        assert f"Not {other.email}?" in consent.text
