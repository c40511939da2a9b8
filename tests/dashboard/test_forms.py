"""Form protection: tokens, origins and size limits."""

from __future__ import annotations

import pytest
from pressroom.accounts.records import User
from pressroom.testing import RunningHost
from support.people import PASSWORD, BrowserWithoutScreen, Page

NAME = "/dashboard/account"
EVERY_FORM = ["/sign-in", "/sign-up", "/setup", "/sign-out", "/dashboard/connections", "/dashboard/account"]


def rename(browser: BrowserWithoutScreen, name: str, **headers: str) -> Page:
    fields = browser.get(NAME).fields(NAME)
    return browser.post(NAME, {**fields, "action": "name", "name": name}, **headers)


def name_of(host: RunningHost, person: User) -> str:
    return host.run(host.host.accounts.users.get(person.id)).name


def test_a_form_of_our_own_page_is_accepted(host: RunningHost, person: User, signed_in: BrowserWithoutScreen) -> None:
    assert "Your name is saved." in rename(signed_in, "Ada King").text
    assert name_of(host, person) == "Ada King"


@pytest.mark.parametrize("path", EVERY_FORM)
@pytest.mark.parametrize("csrf", [None, "", "x", ".", "0123456789abcdef." + "0" * 64, "é.é"])
def test_a_form_without_its_token_is_refused(signed_in: BrowserWithoutScreen, path: str, csrf: str | None) -> None:
    page = signed_in.post(path, {"other": "x"} if csrf is None else {"csrf": csrf})
    assert page.status == 403
    assert "go back, reload the page and send the form again" in page.text
    assert signed_in.get("/dashboard").path == "/dashboard"


def test_a_token_of_another_session_is_refused(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen, second: BrowserWithoutScreen
) -> None:
    before = name_of(host, person)
    second.sign_in(person.email)
    fields = second.get(NAME).fields(NAME)
    assert signed_in.post(NAME, {**fields, "action": "name", "name": "Mallory"}).status == 403
    assert name_of(host, person) == before


def test_a_token_of_another_anonymous_visitor_is_refused(
    person: User, browser: BrowserWithoutScreen, second: BrowserWithoutScreen
) -> None:
    browser.get("/sign-in")
    fields = second.get("/sign-in").fields("/sign-in")
    page = browser.post("/sign-in", {**fields, "email": person.email, "password": PASSWORD})
    assert page.status == 403
    assert not browser.session_cookie()


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_form_sent_by_another_site_is_refused(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen, headers: dict[str, str]
) -> None:
    before = name_of(host, person)
    page = rename(signed_in, "Mallory", **headers)
    assert page.status == 403
    assert host.url in page.text
    assert name_of(host, person) == before


def test_a_token_without_an_origin_header_is_accepted(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen
) -> None:
    fields = {**signed_in.get(NAME).fields(NAME), "action": "name", "name": "Countess"}
    assert signed_in.client.post(NAME, data=fields).status_code == 200
    assert name_of(host, person) == "Countess"


def test_a_form_from_before_signing_in_in_another_tab_is_explained(browser: BrowserWithoutScreen, person: User) -> None:
    first_tab = browser.get("/sign-in")
    browser.sign_in(person.email)
    page = browser.submit(first_tab, "/sign-in", email="grace@example.org", password=PASSWORD)
    assert page.status == 403
    assert "signed in, signed out or switched to another account in another tab" in page.text
    assert browser.get("/dashboard").path == "/dashboard"


def test_a_form_from_before_signing_in_again_is_explained(signed_in: BrowserWithoutScreen, person: User) -> None:
    first_tab = signed_in.get("/dashboard/connections")
    signed_in.submit(signed_in.get("/dashboard"), "/sign-out")
    signed_in.sign_in(person.email)
    page = signed_in.submit(first_tab, "/dashboard/connections", name="stale")
    assert page.status == 403
    assert "another tab" in page.text


@pytest.mark.parametrize("path", EVERY_FORM)
def test_a_body_that_is_not_a_form_is_refused(signed_in: BrowserWithoutScreen, path: str) -> None:
    response = signed_in.client.post(path, json={"csrf": "x"})
    assert response.status_code == 415


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"name=" + b"a" * 70_000, 413),
        (b"name=%ff%fe", 400),
        (b"name=\xff", 400),
        (b"&".join([b"a=b"] * 1100), 400),
    ],
)
def test_body_size_is_limited(signed_in: BrowserWithoutScreen, body: bytes, status: int) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    response = signed_in.client.post(NAME, content=body, headers=headers)
    assert response.status_code == status
    assert "Traceback" not in response.text


@pytest.mark.parametrize("action", ["", "delete-everything", "é"])
def test_an_unknown_action_changes_nothing(signed_in: BrowserWithoutScreen, action: str) -> None:
    fields = signed_in.get(NAME).fields(NAME)
    page = signed_in.post(NAME, {**fields, "action": action})
    assert page.status == 403
    assert "reload the page" in page.text
