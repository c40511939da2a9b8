"""Browser sign-in and sign-out."""

from __future__ import annotations

from pathlib import Path

import pytest
from pressroom.accounts.records import User
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.people import EMAIL, PASSWORD, BrowserWithoutScreen, add_person

PRIVATE = ["/dashboard", "/dashboard/connections", "/dashboard/account", "/dashboard/connections/c_x"]


@pytest.mark.parametrize("path", PRIVATE)
def test_a_signed_out_visitor_is_sent_to_sign_in_and_back(
    browser: BrowserWithoutScreen, person: User, path: str
) -> None:
    page = browser.get(path)
    assert page.path == "/sign-in"
    after = browser.submit(page, "/sign-in", email=person.email, password=PASSWORD)
    assert after.path == path


def test_the_query_survives_sign_in(browser: BrowserWithoutScreen, person: User) -> None:
    page = browser.get("/dashboard?show=errors&before=7")
    after = browser.submit(page, "/sign-in", email=person.email, password=PASSWORD)
    assert str(after.response.url).endswith("/dashboard?show=errors&before=7")


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example", "/\\evil.example", "/%2f/evil.example"])
def test_sign_in_never_redirects_to_another_site(browser: BrowserWithoutScreen, person: User, target: str) -> None:
    page = browser.get(f"/sign-in?return_to={target}")
    after = browser.submit(page, "/sign-in", email=person.email, password=PASSWORD)
    assert after.path == "/dashboard"
    fields = browser.get("/dashboard").fields("/sign-out")
    browser.post("/sign-out", fields)
    page = browser.get("/sign-in")
    after = browser.submit(page, "/sign-in", email=person.email, password=PASSWORD, return_to=target)
    assert after.path == "/dashboard"


def test_unknown_email_addresses_look_like_wrong_passwords(browser: BrowserWithoutScreen, person: User) -> None:
    pages = []
    for email in (person.email, "nobody@example.org", "no address at all"):
        page = browser.submit(browser.get("/sign-in"), "/sign-in", email=email, password="wrong wrong wrong wrong")
        csrf = page.fields("/sign-in")["csrf"]
        pages.append((page.status, page.html.replace(email, "…").replace(csrf, "…")))
    assert pages[0] == pages[1] == pages[2]
    assert pages[0][0] == 400
    assert "wrong" in pages[0][1]
    assert not browser.session_cookie()


def test_a_disabled_account_looks_like_a_wrong_password_too(host: RunningHost, browser: BrowserWithoutScreen) -> None:
    user = add_person(host, "locked@example.org")
    host.run(host.host.accounts.users.set_disabled(user.id, True))
    page = browser.sign_in("locked@example.org")
    assert page.status == 400
    assert "The e-mail address or the password is wrong." in page.text


def test_a_password_is_never_echoed(browser: BrowserWithoutScreen, person: User) -> None:
    page = browser.submit(browser.get("/sign-in"), "/sign-in", email=person.email, password="wrong-and-secret")
    assert "wrong-and-secret" not in page.html
    assert person.email in page.html


def test_sign_in_redirects_immediately_when_signed_in(signed_in: BrowserWithoutScreen) -> None:
    assert signed_in.get("/sign-in").path == "/dashboard"
    assert signed_in.get("/sign-in?return_to=/dashboard/account").path == "/dashboard/account"
    assert signed_in.get("/sign-up").path == "/dashboard"


def test_the_session_changes_at_sign_in(host: RunningHost, browser: BrowserWithoutScreen, person: User) -> None:
    browser.sign_in(person.email)
    first = browser.session_cookie()
    planted = browser.client.cookies
    assert browser.submit(browser.get("/dashboard"), "/sign-out").path == "/sign-in"
    planted.set("pressroom_session", first, domain="127.0.0.1", path="/")
    assert browser.get("/dashboard").path == "/sign-in"
    browser.sign_in(person.email)
    assert browser.session_cookie() not in ("", first)
    assert host.run(host.host.accounts.sessions.find(first)) is None


def test_a_planted_session_is_not_adopted(browser: BrowserWithoutScreen, person: User) -> None:
    planted = "A" * 43
    browser.client.cookies.set("pressroom_session", planted, domain="127.0.0.1", path="/")
    assert browser.sign_in(person.email).path == "/dashboard"
    tokens = {cookie.value for cookie in browser.client.cookies.jar if cookie.name == "pressroom_session"}
    assert planted not in tokens


def test_a_form_of_another_page_cannot_sign_in_another_account(
    host: RunningHost, browser: BrowserWithoutScreen, person: User
) -> None:
    browser.sign_in(person.email)
    before = browser.session_cookie()
    other = add_person(host, "grace@example.org")
    page = browser.get("/dashboard")
    fields = {"csrf": page.fields("/sign-out")["csrf"], "email": other.email, "password": PASSWORD}
    assert browser.post("/sign-in", fields).status == 403
    assert person.email in browser.get("/dashboard").html
    assert host.run(host.host.accounts.sessions.find(before)) is not None


def test_signing_in_in_a_second_tab_continues_where_that_tab_was(browser: BrowserWithoutScreen, person: User) -> None:
    second_tab = browser.get("/sign-in?return_to=/dashboard/account")
    browser.sign_in(person.email)
    session = browser.session_cookie()
    page = browser.submit(second_tab, "/sign-in", email=person.email.upper(), password=PASSWORD)
    assert page.path == "/dashboard/account"
    assert browser.session_cookie() == session


def test_signing_out_in_a_second_tab_says_that_the_person_is_signed_out(signed_in: BrowserWithoutScreen) -> None:
    second_tab = signed_in.get("/dashboard")
    signed_in.submit(signed_in.get("/dashboard"), "/sign-out")
    page = signed_in.submit(second_tab, "/sign-out")
    assert page.path == "/sign-in"
    assert "You are signed out." in page.text


def test_signing_out_ends_the_session_for_good(host: RunningHost, signed_in: BrowserWithoutScreen) -> None:
    token = signed_in.session_cookie()
    page = signed_in.submit(signed_in.get("/dashboard"), "/sign-out")
    assert "You are signed out." in page.text
    assert not signed_in.session_cookie()
    assert host.run(host.host.accounts.sessions.find(token)) is None


def test_a_link_does_not_sign_out(signed_in: BrowserWithoutScreen) -> None:
    assert signed_in.client.get("/sign-out").status_code == 405
    assert signed_in.get("/dashboard").path == "/dashboard"


def test_a_disabled_account_is_signed_out_immediately(host: RunningHost, browser: BrowserWithoutScreen) -> None:
    user = add_person(host, "soon-locked@example.org")
    browser.sign_in(user.email)
    page = browser.get("/dashboard/connections")
    host.run(host.host.accounts.users.set_disabled(user.id, True))
    after = browser.submit(page, "/dashboard/connections", name="a last key")
    assert after.path == "/sign-in"
    assert host.run(host.host.accounts.connections.list(user.id)) == []


def test_too_many_failures_are_refused_with_a_retry_time(tmp_path: Path) -> None:
    settings = settings_for_test({"accounts": {"sign_in_rate_account": "2/hour"}}, tmp_path)
    with RunningHost(settings) as host, BrowserWithoutScreen(host) as browser:
        add_person(host)
        for email in (EMAIL, "nobody@example.org"):
            for _ in range(2):
                assert browser.sign_in(email, "wrong wrong wrong wrong").status == 400
            page = browser.sign_in(email)
            assert page.status == 429
            assert 0 < int(page.response.headers["Retry-After"]) <= 3600
            assert "try again in" in page.text
            assert page.fields("/sign-in")["csrf"]


def test_no_form_has_a_password_field_if_password_sign_in_is_disabled(tmp_path: Path) -> None:
    settings = settings_for_test({"accounts": {"password_sign_in": False}}, tmp_path)
    with RunningHost(settings) as host, BrowserWithoutScreen(host) as browser:
        page = browser.get("/sign-in")
        assert page.tree.css("input[type=password]") == []
        assert "Sign-in is turned off." in page.text
        for path in ("/setup", "/sign-up"):
            assert browser.get(path).status == 404


def test_a_server_without_an_account_mentions_the_setup_link(tmp_path: Path) -> None:
    with RunningHost(settings_for_test({}, tmp_path)) as host, BrowserWithoutScreen(host) as browser:
        assert "Open the setup link printed in its terminal." in browser.get("/sign-in").html
        host.run(host.host.accounts.users.add("ada@example.org", password=PASSWORD))
        page = browser.get("/sign-in").html
        assert "setup link" not in page
        assert "Forgot your password" in page
