"""Sign-in with a real OpenID Connect provider."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from pressroom.interfaces.dashboard.views import day
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support import oidc_provider
from support.oidc_provider import SECRET, OidcProvider
from support.people import PASSWORD, BrowserWithoutScreen, Page, add_person

BASE = "http://127.0.0.1:9"
CALLBACK = "/sign-in/callback"
ACCOUNT = "/dashboard/account"


@pytest.fixture(scope="module")
def provider() -> Iterator[OidcProvider]:
    with OidcProvider(redirect_uri=BASE + CALLBACK) as running:
        yield running


@pytest.fixture
def host(provider: OidcProvider, tmp_path: Path) -> Iterator[RunningHost]:
    """Return a host whose `base_url` differs from the URL that tests use."""
    settings = {"issuer": provider.issuer, "client_id": "basic", "client_secret": SECRET, "name": "Example ID"}
    config = {"base_url": BASE, "accounts": {"identity_provider": settings}}
    with RunningHost(settings_for_test(config, tmp_path)) as running:
        yield running


@pytest.fixture
def browser(host: RunningHost) -> Iterator[BrowserWithoutScreen]:
    with BrowserWithoutScreen(host, BASE) as fresh:
        yield fresh


def leave(browser: BrowserWithoutScreen, page: Page, **typed: Any) -> str:
    """Submit the sign-in form for the provider and return the redirect target."""
    fields = {**page.fields("/sign-in/provider"), **typed}
    response = browser.client.post("/sign-in/provider", data=fields, headers={"Origin": BASE}, follow_redirects=False)
    assert response.status_code == 303
    return response.headers["Location"]


def at_the_provider(url: str, person: str) -> dict[str, str]:
    return asyncio.run(oidc_provider.sign_in(url, person, BASE + CALLBACK))


def come_back(browser: BrowserWithoutScreen, query: dict[str, str]) -> Page:
    return Page(browser.client.get(CALLBACK, params=query))


def test_a_new_user_gets_an_account_and_continues(browser: BrowserWithoutScreen) -> None:
    page = browser.get("/dashboard/connections")
    assert "Continue with Example ID" in page.text
    url = leave(browser, page)
    assert SECRET not in url
    after = come_back(browser, at_the_provider(url, "ada"))
    assert after.path == "/dashboard/connections"
    assert "ada@example.com" in after.html
    assert "Hello, Ada Lovelace." in browser.get("/dashboard").text


def test_the_pending_sign_in_is_encrypted_and_deleted_afterwards(browser: BrowserWithoutScreen) -> None:
    fields = browser.get("/sign-in").fields("/sign-in/provider")
    headers = {"Origin": BASE}
    response = browser.client.post("/sign-in/provider", data=fields, headers=headers, follow_redirects=False)
    (line,) = [line for line in response.headers.get_list("set-cookie") if line.startswith("pressroom_provider=")]
    assert {"HttpOnly", "SameSite=Lax"} <= set(line.split("; "))
    state = response.headers["Location"].partition("state=")[2].partition("&")[0]
    assert state not in line
    query = at_the_provider(response.headers["Location"], "ada")
    assert come_back(browser, query).path == "/dashboard"
    assert browser.client.cookies.get("pressroom_provider") is None


def test_a_response_is_valid_once(browser: BrowserWithoutScreen) -> None:
    query = at_the_provider(leave(browser, browser.get("/sign-in")), "ada")
    come_back(browser, query)
    browser.submit(browser.get("/dashboard"), "/sign-out")
    page = come_back(browser, query)
    assert page.status == 400
    assert "did not start in this browser" in page.text
    assert browser.get("/dashboard").path == "/sign-in"


def test_a_response_for_another_browser_signs_nobody_in(host: RunningHost, browser: BrowserWithoutScreen) -> None:
    query = at_the_provider(leave(browser, browser.get("/sign-in")), "ada")
    with BrowserWithoutScreen(host, BASE) as victim:
        assert come_back(victim, query).status == 400
        leave(victim, victim.get("/sign-in"))
        page = come_back(victim, query)
        assert page.status == 400
        assert "please sign in again" in page.text
        assert not victim.session_cookie()


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example/", "/\\evil.example"])
def test_sign_in_never_redirects_to_another_site(browser: BrowserWithoutScreen, target: str) -> None:
    query = at_the_provider(leave(browser, browser.get("/sign-in"), return_to=target), "ada")
    assert come_back(browser, query).path == "/dashboard"


def test_an_unverified_email_address_is_refused_with_a_reason(browser: BrowserWithoutScreen) -> None:
    page = come_back(browser, at_the_provider(leave(browser, browser.get("/sign-in")), "eve"))
    assert page.status == 400
    assert "onfirm your e-mail address" in page.text


def test_a_signed_in_account_with_a_password_can_be_connected(host: RunningHost, browser: BrowserWithoutScreen) -> None:
    user = add_person(host, "ada@example.com")
    page = come_back(browser, at_the_provider(leave(browser, browser.get("/sign-in")), "ada"))
    assert "signs in with a password" in page.text
    browser.sign_in(user.email, PASSWORD)
    query = at_the_provider(leave(browser, browser.get("/dashboard/account")), "ada")
    assert "You can now sign in with it." in come_back(browser, query).text
    browser.submit(browser.get("/dashboard"), "/sign-out")
    assert come_back(browser, at_the_provider(leave(browser, browser.get("/sign-in")), "ada")).path == "/dashboard"


def test_a_connected_provider_account_is_shown_and_can_be_disconnected(
    host: RunningHost, browser: BrowserWithoutScreen
) -> None:
    user = add_person(host, "owner@example.com")
    browser.enter(host, user)
    account = browser.get(ACCOUNT)
    assert "as a second way to sign in" in account.text
    assert "disconnect" not in account.text.lower()
    come_back(browser, at_the_provider(leave(browser, account), "ada"))
    with BrowserWithoutScreen(host, BASE) as intruder:
        assert come_back(intruder, at_the_provider(leave(intruder, intruder.get("/sign-in")), "ada")).status == 200
        assert user.email in intruder.get(ACCOUNT).text
        account = browser.get(ACCOUNT)
        assert f"One Example ID account can sign in here, connected on {day(datetime.now(UTC))}." in account.text
        assert "It is disconnected" in browser.submit(account, ACCOUNT, action="disconnect").text
        assert intruder.get(ACCOUNT).path == "/sign-in"
        come_back(intruder, at_the_provider(leave(intruder, intruder.get("/sign-in")), "ada"))
        assert user.email not in intruder.get(ACCOUNT).html
    assert browser.get(ACCOUNT).path == ACCOUNT


def test_the_only_way_to_sign_in_cannot_be_disconnected(host: RunningHost, browser: BrowserWithoutScreen) -> None:
    come_back(browser, at_the_provider(leave(browser, browser.get("/sign-in")), "ada"))
    account = browser.get(ACCOUNT)
    assert "disconnect" not in account.text.lower()
    assert browser.post(ACCOUNT, account.fields(ACCOUNT, "name") | {"action": "disconnect"}).status == 403
    browser.submit(account, "/sign-out")
    assert come_back(browser, at_the_provider(leave(browser, browser.get("/sign-in")), "ada")).path == "/dashboard"


def test_cancelling_at_the_provider_connects_nothing_and_keeps_the_session(
    host: RunningHost, browser: BrowserWithoutScreen, provider: OidcProvider
) -> None:
    browser.enter(host, add_person(host, "owner@example.com"))
    state = parse_qs(urlsplit(leave(browser, browser.get(ACCOUNT))).query)["state"][0]
    page = come_back(browser, {"error": "access_denied", "state": state, "iss": provider.issuer})
    assert (page.status, page.one("h1")) == (400, "Not connected")
    assert "You did not sign in at Example ID, or it refused." in page.text
    assert not page.tree.css("main input"), "a sign-in form would look as if the session had ended"
    assert page.tree.css(f'main a[href="{ACCOUNT}"]')
    assert browser.client.cookies.get("pressroom_provider") is None


def test_connecting_after_the_session_ended_elsewhere_leads_to_the_sign_in_page(
    host: RunningHost, browser: BrowserWithoutScreen
) -> None:
    user = add_person(host, "owner@example.com")
    browser.enter(host, user)
    account = browser.get(ACCOUNT)
    host.run(host.host.accounts.sessions.end_all(user.id))
    target = leave(browser, account)
    assert target == "/sign-in?return_to=%2Fdashboard%2Faccount"
    assert browser.get(target).tree.css("input[type=password]")


def test_connecting_after_signing_out_meanwhile_is_refused(host: RunningHost, browser: BrowserWithoutScreen) -> None:
    browser.enter(host, add_person(host, "ada@example.com"))
    query = at_the_provider(leave(browser, browser.get("/dashboard/account")), "ada")
    browser.submit(browser.get("/dashboard"), "/sign-out")
    page = come_back(browser, query)
    assert page.status == 400
    assert "in the meantime" in page.text


@pytest.mark.parametrize(
    "query", [{}, {"code": "x"}, {"state": "x", "code": "y"}, {"error": "<b>no</b>", "state": "é"}]
)
def test_forged_responses_are_refused(browser: BrowserWithoutScreen, query: dict[str, str]) -> None:
    leave(browser, browser.get("/sign-in"))
    page = come_back(browser, query)
    assert page.status == 400
    assert page.tree.css("main b") == []


def test_a_provider_that_is_down_is_reported(tmp_path: Path) -> None:
    settings = {"issuer": "http://127.0.0.1:1", "client_id": "x", "name": "Example ID"}
    config = settings_for_test({"accounts": {"identity_provider": settings}}, tmp_path)
    with RunningHost(config) as host, BrowserWithoutScreen(host) as browser:
        page = browser.submit(browser.get("/sign-in"), "/sign-in/provider")
        assert page.status == 503
        assert "Example ID is not available right now" in page.text
