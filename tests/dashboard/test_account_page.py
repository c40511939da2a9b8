"""Name, password, plan and sessions in the dashboard."""

from __future__ import annotations

import pytest
from pressroom.accounts.records import User
from pressroom.columns import new_id
from pressroom.testing import RunningHost
from support.people import HOSTILE, PASSWORD, BrowserWithoutScreen, add_person

ACCOUNT = "/dashboard/account"
OTHER = "copper meadow signal thirty"


@pytest.fixture
def person(host: RunningHost) -> User:
    """Return an account that only one test uses."""
    return add_person(host, f"{new_id('p').lower()}@example.org")


def sessions(host: RunningHost, person: User) -> int:
    return len(host.run(host.host.accounts.sessions.list(person.id)))


def test_a_password_change_signs_out_other_browsers(
    host: RunningHost, person: User, browser: BrowserWithoutScreen, second: BrowserWithoutScreen
) -> None:
    browser.sign_in(person.email)
    second.enter(host, person)
    before = browser.session_cookie()
    page = browser.submit(browser.get(ACCOUNT), ACCOUNT, action="password", current=PASSWORD, password=OTHER)
    assert "Your password is changed, and all your other browsers are signed out." in page.text
    assert browser.session_cookie() not in ("", before)
    assert second.get(ACCOUNT).path == "/sign-in"
    assert second.sign_in(person.email).status == 400
    assert second.sign_in(person.email, OTHER).path == "/dashboard"


@pytest.mark.parametrize(
    ("current", "password", "field"),
    [("wrong wrong wrong", OTHER, "current"), (PASSWORD, "short", "password"), ("", OTHER, "current")],
)
def test_an_invalid_password_is_explained_beside_its_field(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen, current: str, password: str, field: str
) -> None:
    page = signed_in.submit(signed_in.get(ACCOUNT), ACCOUNT, action="password", current=current, password=password)
    assert page.status == 400
    assert page.one(f"#f-{field}-error")
    assert password not in page.html
    assert host.run(host.host.accounts.users.verify_password(person.email, PASSWORD)) is not None


def test_a_name_is_escaped(signed_in: BrowserWithoutScreen) -> None:
    page = signed_in.submit(signed_in.get(ACCOUNT), ACCOUNT, action="name", name=HOSTILE)
    assert page.tree.css("img[onerror]") == []
    assert f"Hello, {HOSTILE}." in signed_in.get("/dashboard").text


def test_an_overlong_name_is_explained(signed_in: BrowserWithoutScreen) -> None:
    page = signed_in.submit(signed_in.get(ACCOUNT), ACCOUNT, action="name", name="x" * 101)
    assert page.status == 400
    assert "100" in page.one("#f-name-error")


def test_sessions_are_listed_this_browser_first(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen
) -> None:
    agent = f"Mozilla/5.0 (X11; Linux x86_64) Firefox/143.0 {HOSTILE}"
    host.run(host.host.accounts.sessions.start(person.id, client_ip="203.0.113.9", user_agent=agent))
    host.run(host.host.accounts.sessions.start(person.id, user_agent=HOSTILE))
    page = signed_in.get(ACCOUNT)
    rows = page.tree.css(".rows > li")
    assert "this browser" in rows[0].text()
    assert "Firefox on Linux" in page.text
    assert "203.0.113.9" in page.text
    assert page.tree.css("img[onerror]") == []


def test_only_the_latest_sessions_and_the_current_one_are_listed(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen
) -> None:
    for _ in range(25):
        host.run(host.host.accounts.sessions.start(person.id))
    page = signed_in.get(ACCOUNT)
    assert len(page.tree.css(".rows > li")) == 20
    assert "Only the latest are shown" in page.text
    assert "this browser" in page.text


def test_the_other_browsers_are_signed_out(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen, second: BrowserWithoutScreen
) -> None:
    second.enter(host, person)
    page = signed_in.submit(signed_in.get(ACCOUNT), ACCOUNT, action="sign-out-others")
    assert "All your other browsers are signed out." in page.text
    assert second.get(ACCOUNT).path == "/sign-in"
    assert sessions(host, person) == 1


def test_all_browsers_are_signed_out(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen, second: BrowserWithoutScreen
) -> None:
    second.enter(host, person)
    page = signed_in.submit(signed_in.get(ACCOUNT), ACCOUNT, action="sign-out-everywhere")
    assert page.path == "/sign-in"
    assert "signed out in all browsers" in page.text
    assert second.get(ACCOUNT).path == "/sign-in"
    assert sessions(host, person) == 0


def test_the_plan_is_shown_and_a_change_appears_immediately(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen
) -> None:
    assert "Starter" in signed_in.get(ACCOUNT).one("section[aria-labelledby=plan]")
    assert "40 a month" in signed_in.get(ACCOUNT).text
    host.run(host.host.accounts.users.set_plan(person.id, "pro"))
    assert "Professional" in signed_in.get(ACCOUNT).one("section[aria-labelledby=plan]")
    assert "Professional plan" in signed_in.get("/dashboard").text
