"""The operator pages: the accounts on the server, and links for setting a password."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from pressroom.accounts.records import User
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.people import EMAIL, HOSTILE, PLANS, BrowserWithoutScreen, Page, add_person

USERS = "/dashboard/users"
PASSWORD = "seven quiet otters climb"
DECOMPOSED = "jo\u0308rg@example.org"
COMPOSED = "j\u00f6rg@example.org"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    config = {
        "builtin_plugins": False,
        "plugins": {"account": {}},
        "plans": PLANS,
        "accounts": {
            "operators": [f" {EMAIL.upper()}".strip(), "root@example.org", DECOMPOSED, "zoe\u0308@example.org"],
            "sign_up": True,
        },
    }
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as running:
        yield running


@pytest.fixture(scope="module")
def operator(host: RunningHost) -> Iterator[BrowserWithoutScreen]:
    person = add_person(host)
    with BrowserWithoutScreen(host) as browser:
        browser.enter(host, person)
        yield browser


@pytest.fixture
def person(host: RunningHost, request: pytest.FixtureRequest) -> User:
    name = "".join(char if char.isascii() and char.isalnum() else "-" for char in request.node.name)[:40]
    return add_person(host, f"{name}@example.net", name=HOSTILE)


def press(operator: BrowserWithoutScreen, user: User, action: str, **typed: str) -> Page:
    path = f"{USERS}/{user.id}"
    fields = operator.get(path).fields(path, action)
    return operator.post(path, fields | {"action": action} | typed)


def test_operators_can_search_all_accounts(operator: BrowserWithoutScreen, person: User) -> None:
    page = operator.get(USERS)
    assert page.one(".account-nav [aria-current]") == "Users"
    assert person.email in page.text
    assert HOSTILE in page.html.replace("&lt;", "<").replace("&gt;", ">").replace("&#34;", '"').replace(
        "&#39;", "'"
    ).replace("&amp;", "&")
    assert not page.tree.css("main img")
    assert operator.get(f"{USERS}?find={person.email}").path == f"{USERS}/{person.id}"
    part = operator.get(f"{USERS}?find={person.email[:4].upper()}")
    assert person.email in part.text
    assert part.tree.css("#f-find")[0].attributes["value"] == person.email[:4].upper()
    missing = operator.get(f"{USERS}?find=x@y.example")
    assert "No account has “x@y.example” in its e-mail address or name." in missing.text
    assert person.email not in missing.text
    assert person.email not in operator.get(f"{USERS}?find=%25").text, "a wildcard of SQL is a character like others"
    assert person.email not in operator.get(f"{USERS}?after=zz").text


def test_the_pages_do_not_exist_for_others(host: RunningHost, person: User) -> None:
    with BrowserWithoutScreen(host) as browser:
        assert browser.get(USERS).path == "/sign-in"
        browser.enter(host, person)
        assert USERS not in browser.get("/dashboard").html
        for path in (USERS, f"{USERS}/{person.id}"):
            assert browser.get(path).status == 404
            assert browser.post(path, {"action": "plan", "plan": "pro"}).status == 404
    assert host.run(host.host.accounts.users.get(person.id)).plan == "free"


def test_the_plan_of_an_account_is_changed(host: RunningHost, operator: BrowserWithoutScreen, person: User) -> None:
    page = press(operator, person, "plan", plan="pro")
    assert "The plan is changed, and applies to new calls." in page.text
    assert host.run(host.host.accounts.users.get(person.id)).plan == "pro"
    refused = press(operator, person, "plan", plan="gold")
    assert (refused.status, "there is no plan" in refused.html.lower()) == (400, True)


def test_an_account_is_disabled_and_enabled(host: RunningHost, operator: BrowserWithoutScreen, person: User) -> None:
    with BrowserWithoutScreen(host) as browser:
        browser.enter(host, person)
        assert "is disabled" in press(operator, person, "disable").text
        assert browser.get("/dashboard").path == "/sign-in"
        assert "The account is enabled again." in press(operator, person, "enable").text
        browser.enter(host, person)
        assert browser.get("/dashboard").status == 200


def test_operators_cannot_lock_themselves_out(host: RunningHost, operator: BrowserWithoutScreen) -> None:
    operator_account = host.run(host.host.accounts.users.by_email(EMAIL))
    assert operator_account is not None
    path = f"{USERS}/{operator_account.id}"
    assert not operator.get(path).tree.css("button[value=disable]")
    fields = operator.get(path).fields(path, "plan")
    assert operator.post(path, fields | {"action": "disable"}).status == 403
    assert not host.run(host.host.accounts.users.get(operator_account.id)).disabled


def test_a_new_account_has_a_link_that_works_once(host: RunningHost, operator: BrowserWithoutScreen) -> None:
    fields = operator.get(USERS).fields(USERS)
    page = operator.post(USERS, fields | {"email": "New@example.net", "name": "", "plan": "pro"})
    assert page.one("h1") == "new@example.net"
    link = page.one("#sign-in-link")
    path = link.removeprefix(host.url)
    with BrowserWithoutScreen(host) as browser:
        form = browser.get(path)
        assert "new@example.net" in form.text
        weak = browser.post("/password", form.fields("/password") | {"password": "short"})
        assert (weak.status, weak.tree.css_first("#f-password-error") is not None) == (400, True)
        overview = browser.post("/password", form.fields("/password") | {"password": PASSWORD})
        assert overview.path == "/dashboard"
        second = browser.get(path)
        assert (second.status, "was already used" in second.text) == (404, True)
        assert browser.post("/password", form.fields("/password") | {"password": PASSWORD}).status in (403, 404)
    with BrowserWithoutScreen(host) as other:
        assert other.sign_in("new@example.net", PASSWORD).path == "/dashboard"
    duplicate = operator.post(USERS, operator.get(USERS).fields(USERS) | {"email": "new@example.net", "plan": "pro"})
    assert (duplicate.status, "new@example.net" in duplicate.one("#f-email-error")) == (400, True)


def test_choosing_a_password_counts_as_signing_in(
    host: RunningHost, operator: BrowserWithoutScreen, person: User
) -> None:
    page = press(operator, person, "link")
    assert "never signed in" in page.text
    link = page.one("#sign-in-link").removeprefix(host.url)
    with BrowserWithoutScreen(host) as browser:
        assert browser.submit(browser.get(link), "/password", password=PASSWORD).path == "/dashboard"
        assert browser.client.cookies.get("pressroom_known"), "guesses made elsewhere cannot lock this browser out"
    assert "signed in just now" in operator.get(f"{USERS}/{person.id}").text


def test_a_link_opened_in_two_browsers_at_once_sets_one_password(
    host: RunningHost, operator: BrowserWithoutScreen, person: User
) -> None:
    link = press(operator, person, "link").one("#sign-in-link").removeprefix(host.url)
    passwords = (PASSWORD, "eight loud herons dive")
    with BrowserWithoutScreen(host) as one, BrowserWithoutScreen(host) as other, ThreadPoolExecutor() as pool:
        pages = [browser.get(link) for browser in (one, other)]
        outcomes = list(
            pool.map(
                lambda browser, page, password: browser.submit(page, "/password", password=password).path,
                (one, other),
                pages,
                passwords,
            )
        )
        assert sorted(outcomes) == ["/dashboard", "/password"]
        refused = outcomes.index("/password")
        assert (one, other)[refused].sign_in(person.email, passwords[refused]).status == 400
        assert (other, one)[refused].get("/dashboard/account").path == "/dashboard/account"


@pytest.mark.parametrize("token", ["", "x", "AAAA.BBBB", "%00", "é" * 300])
def test_an_unknown_link_is_not_found(host: RunningHost, token: str) -> None:
    with BrowserWithoutScreen(host) as browser:
        page = browser.get(f"/password?token={token}")
        assert (page.status, "ask the operator of this server" in page.text) == (404, True)


def test_a_link_is_invalid_once_the_account_is_disabled(
    host: RunningHost, operator: BrowserWithoutScreen, person: User
) -> None:
    link = press(operator, person, "link").one("#sign-in-link").removeprefix(host.url)
    press(operator, person, "disable")
    assert not operator.get(f"{USERS}/{person.id}").tree.css("button[value=link]")
    with BrowserWithoutScreen(host) as browser:
        assert browser.get(link).status == 404


@pytest.mark.parametrize("email", ["Root@Example.org ", COMPOSED, DECOMPOSED])
def test_signing_up_as_an_operator_is_refused(host: RunningHost, email: str) -> None:
    with BrowserWithoutScreen(host) as browser:
        form = browser.get("/sign-up").fields("/sign-up")
        refused = browser.post("/sign-up", form | {"email": email, "name": "", "password": PASSWORD})
        assert (refused.status, "belongs to an operator" in refused.one("#f-email-error").lower()) == (400, True)
    assert host.run(host.host.accounts.users.by_email(email)) is None


def test_an_operator_is_recognised_however_their_accents_are_encoded(host: RunningHost) -> None:
    with BrowserWithoutScreen(host) as browser:
        browser.enter(host, add_person(host, "zo\u00eb@example.org"))
        assert browser.get(USERS).status == 200
