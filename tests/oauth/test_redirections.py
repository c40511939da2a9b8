"""Attempts to abuse the server as an open redirector, or to start programs on a user's computer."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from pressroom.errors import InvalidRedirectUri
from pressroom.oauth.metadata import check_redirect_uri
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.oauth import Flow, Person, parameters_of

EVIL = "https://evil.example/cb"
WRONG = [{"response_type": "bogus"}, {"scope": "x"}, {"code_challenge": None}, {"resource": "https://other.example"}]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with RunningHost(settings_for_test({}, tmp_path_factory.mktemp("data"))) as running:
        yield running


@pytest.fixture
def flow(host: RunningHost) -> Iterator[Flow]:
    """Return a client registered by an attacker, and the browser of a person."""
    person = Person(host)
    with httpx.Client(base_url=host.url) as http:
        flow = Flow(host.url, http, person.browser)
        flow.register(redirect_uris=[EVIL])
        yield flow
    person.browser.close()


@pytest.mark.parametrize("changes", WRONG)
def test_the_server_is_not_an_open_redirector(flow: Flow, changes: dict[str, str | None]) -> None:
    query = flow.query(redirect_uri=EVIL, **changes)
    for method in ("GET", "POST"):
        anybody = flow.http.request(method, f"/oauth/authorize?{query}", headers={"Origin": flow.url})
        assert anybody.status_code == 303
        assert anybody.headers["location"].startswith("/sign-in?return_to=")
        signed_in = flow.browser.request(method, f"/oauth/authorize?{query}", headers={"Origin": flow.url})
        assert signed_in.status_code == 400
        assert "location" not in signed_in.headers
        assert "Go back to evil.example" in signed_in.text


def test_a_revoked_client_can_no_longer_redirect(host: RunningHost, flow: Flow) -> None:
    wrong_query = flow.query(redirect_uri=EVIL, scope="x")
    assert flow.decide(redirect_uri=EVIL).status_code == 303
    response = flow.authorize(wrong_query)
    assert parameters_of(response.headers["location"])["error"] == "invalid_scope"
    page = flow.browser.get("/dashboard/connections")
    connection = page.text.partition('href="/dashboard/connections/')[2].partition('"')[0]
    account = host.host.accounts
    session = flow.browser.cookies["pressroom_session"]
    found_session = host.run(account.sessions.find(session))
    assert found_session is not None
    host.run(account.connections.revoke(found_session.user.id, connection))
    assert flow.authorize(wrong_query).status_code == 400


@pytest.mark.parametrize(
    "uri",
    [
        "ms-msdt:/x",
        "ms-msdt://id/PCWDiagnostic",
        "MS-Word://ofe/u",
        "ms-settings:/x",
        "microsoft-edge://evil.example",
        "microsoft.windows.camera://x",
        "search-ms://query=x",
        "search://query",
        "res://ieframe.dll/x",
        "ldap://evil.example/x",
        "hcp://system/x",
        "mk:/@MSITStore",
        "ssh://evil.example/",
        "smb://evil.example/share",
        "telnet://evil.example",
        "itms-services://evil.example",
        "x-apple.systempreferences://x",
        "shell://startup",
        "jnlp://evil.example/x",
        "c://windows/x",
        "c:/windows/x",
        "myapp:/callback",
        "myapp:///callback",
        "myapp:////evil.example",
        "myapp://?x",
    ],
)
def test_a_scheme_of_a_system_program_cannot_be_registered(uri: str) -> None:
    with pytest.raises(InvalidRedirectUri):
        check_redirect_uri(uri)


@pytest.mark.parametrize(
    "uri",
    [
        "cursor://anysphere.cursor-retrieval/oauth/user-mcp/callback",
        "cursor://callback",
        "vscode://vscode.github-authentication/did-authenticate",
        "com.example.app:/oauth2redirect",
        "com.example.app:///oauth2redirect",
        "msauth.com.example.app://auth",
    ],
)
def test_the_schemes_of_apps_are_accepted(uri: str) -> None:
    assert check_redirect_uri(uri) == uri
