"""The first account through a one-time link, and accounts through sign-up."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.people import EMAIL, PASSWORD, BrowserWithoutScreen, Page, add_person


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[RunningHost]:
    """Return a host without any account."""
    with RunningHost(settings_for_test({"accounts": {"sign_up": True}}, tmp_path)) as running:
        yield running


@pytest.fixture
def first(empty: RunningHost) -> Iterator[BrowserWithoutScreen]:
    with BrowserWithoutScreen(empty) as browser:
        yield browser


def link(host: RunningHost) -> str:
    return host.run(host.host.accounts.setup_links.create())


def test_the_link_creates_the_first_account_once(empty: RunningHost, first: BrowserWithoutScreen) -> None:
    token = link(empty)
    page = first.get(f"/setup?token={token}")
    assert page.status == 200
    after = first.submit(page, "/setup", email=EMAIL, name="Ada", password=PASSWORD)
    assert after.path == "/dashboard"
    assert "Your account is ready." in after.text
    assert "Hello, Ada." in after.text
    second = first.get(f"/setup?token={token}")
    assert second.status == 404
    assert "already has an account" in second.text


SETTING = f'[accounts]\noperators = ["{EMAIL}"]'


def setting(page: Page) -> str:
    (section,) = page.tree.css("#operators-setting")
    return str(section.text())


@contextmanager
def new_server(tmp_path: Path, **accounts: Any) -> Iterator[tuple[RunningHost, BrowserWithoutScreen, Page]]:
    """Yield a new host, the browser that created its first account, and the page shown afterwards."""
    settings = settings_for_test({"accounts": accounts}, tmp_path)
    with RunningHost(settings) as running, BrowserWithoutScreen(running) as browser:
        page = browser.get(f"/setup?token={link(running)}")
        yield running, browser, browser.submit(page, "/setup", email=EMAIL, name="Ada", password=PASSWORD)


def test_whoever_sets_up_a_server_learns_how_to_become_its_operator(tmp_path: Path) -> None:
    with new_server(tmp_path) as (host, browser, welcome):
        assert setting(welcome) == SETTING
        assert setting(browser.get("/dashboard/account")) == SETTING
        assert "operators-setting" not in browser.get("/dashboard").html
        add_person(host, "invited@example.org")
        with BrowserWithoutScreen(host) as second:
            second.sign_in("invited@example.org")
            assert "operators-setting" not in second.get("/dashboard/account").html
            assert "operators-setting" not in second.get("/dashboard?done=welcome").html
    with new_server(tmp_path / "again", **tomllib.loads(SETTING)["accounts"]) as (
        _,
        browser,
        welcome,
    ):
        assert browser.get("/dashboard/users").status == 200
        assert "operators-setting" not in welcome.html + browser.get("/dashboard/account").html


@pytest.mark.parametrize(
    "accounts",
    [{"sign_up": True}, {"identity_provider": {"issuer": "https://id.example.com", "client_id": "pressroom"}}],
    ids=["by sign-up", "from an identity provider"],
)
def test_with_open_accounts_nobody_is_invited_to_become_an_operator(tmp_path: Path, accounts: dict[str, Any]) -> None:
    with new_server(tmp_path, **accounts) as (_, browser, welcome):
        assert "Your account is ready." in welcome.text
        assert "operators-setting" not in welcome.html + browser.get("/dashboard/account").html


@pytest.mark.parametrize("path", ["/setup", "/sign-up"])
def test_creating_an_account_counts_as_signing_in(empty: RunningHost, first: BrowserWithoutScreen, path: str) -> None:
    page = first.get(f"{path}?token={link(empty)}")
    first.submit(page, path, email=EMAIL, name="Ada", password=PASSWORD)
    account = empty.run(empty.host.accounts.users.by_email(EMAIL))
    assert account is not None
    assert account.last_sign_in_at is not None


def test_a_form_opened_earlier_creates_no_second_account(empty: RunningHost, first: BrowserWithoutScreen) -> None:
    page = first.get(f"/setup?token={link(empty)}")
    add_person(empty)
    after = first.submit(page, "/setup", email="mallory@example.org", name="", password=PASSWORD)
    assert after.status == 404
    assert not first.session_cookie()
    assert empty.run(empty.host.accounts.users.by_email("mallory@example.org")) is None


def test_a_newer_link_replaces_an_older_one(empty: RunningHost, first: BrowserWithoutScreen) -> None:
    older = link(empty)
    newer = link(empty)
    page = first.get(f"/setup?token={older}")
    assert page.status == 404
    assert "restart the server" in page.text
    assert first.get(f"/setup?token={newer}").status == 200


@pytest.mark.parametrize("token", ["", "x", "%00", "a" * 3000, "%F0%9F%92%A9"])
def test_forged_links_are_refused(first: BrowserWithoutScreen, token: str) -> None:
    assert first.get(f"/setup?token={token}").status == 404


@pytest.mark.parametrize(
    ("email", "password", "field"),
    [("no address", PASSWORD, "email"), (EMAIL, "short", "password"), (EMAIL, "password1234", "password")],
)
def test_errors_are_shown_beside_their_fields_and_the_link_remains_valid(
    empty: RunningHost, first: BrowserWithoutScreen, email: str, password: str, field: str
) -> None:
    page = first.get(f"/setup?token={link(empty)}")
    page = first.submit(page, "/setup", email=email, name="Ada", password=password)
    assert page.status == 400
    assert page.one(f"#f-{field}-error")
    assert page.tree.css_first("#f-name").attributes["value"] == "Ada"  # type: ignore[union-attr]
    assert page.tree.css_first("#f-password").attributes["value"] == ""  # type: ignore[union-attr]
    assert first.submit(page, "/setup", email=EMAIL, name="Ada", password=PASSWORD).path == "/dashboard"


def test_anyone_may_sign_up_if_the_operator_allows_it(first: BrowserWithoutScreen) -> None:
    page = first.get("/sign-in?return_to=/dashboard/account")
    (href,) = [str(link.attributes["href"]) for link in page.tree.css(".below a")]
    page = first.get(href)
    after = first.submit(page, "/sign-up", email=EMAIL, name="", password=PASSWORD)
    assert after.path == "/dashboard/account"
    assert EMAIL in after.text


def test_sign_up_never_redirects_to_another_site(first: BrowserWithoutScreen) -> None:
    page = first.get("/sign-up?return_to=//evil.example")
    after = first.submit(page, "/sign-up", email=EMAIL, name="", password=PASSWORD, return_to="//evil.example")
    assert after.path == "/dashboard"


def test_sign_up_is_missing_unless_the_operator_allows_it(tmp_path: Path) -> None:
    with RunningHost(settings_for_test({}, tmp_path)) as host, BrowserWithoutScreen(host) as browser:
        assert browser.get("/sign-up").status == 404
        assert "/sign-up" not in browser.get("/sign-in").html


def test_sign_ups_per_ip_address_are_limited(tmp_path: Path) -> None:
    config = {"accounts": {"sign_up": True, "sign_in_rate_ip": "2/hour"}}
    with RunningHost(settings_for_test(config, tmp_path)) as host, BrowserWithoutScreen(host) as browser:
        for _ in range(2):
            page = browser.submit(browser.get("/sign-up"), "/sign-up", email="x", password=PASSWORD)
            assert page.status == 400
        page = browser.submit(browser.get("/sign-up"), "/sign-up", email=EMAIL, password=PASSWORD)
        assert page.status == 429
        assert 0 < int(page.response.headers["Retry-After"]) <= 3600
