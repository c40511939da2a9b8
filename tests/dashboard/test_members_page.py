"""Inviting people, joining, switching, and what owners and members see of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pressroom.accounts.records import User
from pressroom.sdk import Rate
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.members import SWITCH, invite, make_member, switch
from support.people import HOSTILE, PASSWORD, BrowserWithoutScreen, add_person

MEMBERS, LEAVE = "/dashboard/members", "/dashboard/members/leave"


@pytest.fixture(scope="module")
def bob(host: RunningHost) -> User:
    return add_person(host, "bob@example.org", name=HOSTILE)


@pytest.fixture(autouse=True)
def alone(host: RunningHost, person: User) -> Iterator[None]:
    """Remove all members and invitations from the account after each test."""
    yield
    accounts = host.host.accounts
    for member in host.run(accounts.memberships.of_account(person.id)):
        host.run(accounts.memberships.remove(person.id, member.member.id))
    for invitation in host.run(accounts.invitations.list(person.id)):
        host.run(accounts.invitations.revoke(person.id, invitation.id))


@pytest.fixture
def theirs(host: RunningHost, second: BrowserWithoutScreen, bob: User) -> BrowserWithoutScreen:
    """Return the browser of another person."""
    second.enter(host, bob)
    return second


def test_from_the_invitation_to_leaving(
    host: RunningHost, person: User, bob: User, signed_in: BrowserWithoutScreen, theirs: BrowserWithoutScreen
) -> None:
    invitation_page = signed_in.submit(signed_in.get(MEMBERS), MEMBERS, action="invite", role="reader", note=HOSTILE)
    path = invitation_page.one("#invitation-link").removeprefix(host.url)
    listed = signed_in.get(MEMBERS)
    assert path not in listed.html
    assert HOSTILE in listed.text
    assert HOSTILE not in listed.html

    page = theirs.get(path)
    assert "Ada Lovelace (ada@example.org) invites you to work in their account as a reader" in page.text
    joined = theirs.submit(page, path)
    assert joined.path == "/dashboard"
    assert "You are now a member." in joined.text
    assert [entry.text() for entry in joined.tree.css("nav[aria-label=Dashboard] li")] == ["Overview", "Members"]
    assert "account of Ada Lovelace (ada@example.org)" in joined.text
    assert theirs.get(path).status == 404

    members = signed_in.get(MEMBERS)
    assert bob.email in members.text
    assert "Open invitations" not in members.text
    changed = signed_in.post(MEMBERS, _form(members, "role", bob) | {"role": "editor"})
    assert "The role is changed, effective immediately." in changed.text
    assert "editor" in theirs.get(MEMBERS).one("details.switcher summary")

    after_leaving = theirs.submit(theirs.get(MEMBERS), LEAVE)
    assert "You have left the account" in after_leaving.text
    assert not after_leaving.tree.css("details.switcher")
    assert bob.email not in signed_in.get(MEMBERS).text


def _form(page: Any, action: str, member: User) -> dict[str, str]:
    """Return the hidden fields of the form for one member."""
    for form in page.tree.css("form[method=post]"):
        hidden = {field.attributes["name"]: field.attributes["value"] or "" for field in form.css("input[type=hidden]")}
        if hidden.get("id") == member.id and form.css_first(f"button[value={action}]"):
            return hidden | {"action": action}
    raise AssertionError(f"there is no form to {action}")


def test_the_form_of_one_member_does_not_remove_another(
    host: RunningHost, person: User, bob: User, signed_in: BrowserWithoutScreen
) -> None:
    carol = add_person(host, "carol@example.org")
    for member in (bob, carol):
        make_member(host, person, member, "reader")
    form = _form(signed_in.get(MEMBERS), "remove", carol)
    assert signed_in.post(MEMBERS, form | {"id": bob.id}).status == 403
    assert "The member is removed" in signed_in.post(MEMBERS, form).text
    assert [entry.member for entry in host.run(host.host.accounts.memberships.of_account(person.id))] == [bob]
    assert signed_in.post(MEMBERS, form).status == 404


def test_the_switcher_changes_between_accounts(
    host: RunningHost, person: User, bob: User, theirs: BrowserWithoutScreen
) -> None:
    make_member(host, person, bob, "editor")
    assert "Your own account" in theirs.get("/dashboard").one("details.switcher summary")
    switched = switch(theirs, person)
    assert "Account of ada@example.org" in switched.one("details.switcher summary")
    assert "Latest calls" not in switched.text
    assert "You switched accounts." in switched.text
    returned = switch(theirs)
    assert "You switched accounts." in returned.text
    assert "Latest calls" in returned.text
    # Knowing an account's ID does not grant access to it.
    outsider = add_person(host, "stranger@example.org")
    assert theirs.submit(returned, SWITCH, account=outsider.id).status == 404


def test_problems_of_an_invitation_are_reported_beside_it(signed_in: BrowserWithoutScreen) -> None:
    page = signed_in.get(MEMBERS)
    wrong = signed_in.submit(page, MEMBERS, action="invite", role="reader", note="x" * 101)
    assert (wrong.status, wrong.one("#f-note-error")) == (400, "Must have at most 100 characters.")
    assert signed_in.submit(page, MEMBERS, action="invite", role="owner", note="").status == 400


def test_resubmitting_the_form_creates_no_second_invitation(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen
) -> None:
    page = signed_in.get(MEMBERS)
    assert signed_in.submit(page, MEMBERS, action="invite", role="reader", note="x" * 101).status == 400
    assert signed_in.submit(page, MEMBERS, action="invite", role="reader", note="").status == 200
    repeated = signed_in.submit(page, MEMBERS, action="invite", role="reader", note="")
    assert (repeated.status, "no second invitation was created" in repeated.text) == (409, True)
    assert len(host.run(host.host.accounts.invitations.list(person.id))) == 1


def test_after_too_many_invitations_the_page_says_when_the_next_is_possible(
    host: RunningHost, browser: BrowserWithoutScreen
) -> None:
    account = add_person(host, "many@example.org")
    browser.enter(host, account)
    page = browser.get(MEMBERS)

    async def make_a_hundred() -> None:
        for _ in range(100):
            await host.host.services.limiter.take(Rate(100, 86_400), f"invitations\n{account.id}", 1)

    host.run(make_a_hundred())
    refused = browser.submit(page, MEMBERS, action="invite", role="reader", note="")
    assert refused.status == 429
    assert "try again in 24 hours" in refused.text
    assert 82_800 < int(refused.response.headers["Retry-After"]) <= 86_400


def test_a_person_without_an_account_creates_one_from_the_invitation(
    host: RunningHost, person: User, second: BrowserWithoutScreen
) -> None:
    path = invite(host, person, "editor")
    page = second.get(path)
    assert page.tree.css_first(f'a[href="/sign-in?return_to={path.replace("/", "%2F")}"]')
    weak = second.submit(page, f"{path}/account", email="new@example.org", name="New", password="short")
    assert (weak.status, bool(weak.one("#f-password-error"))) == (400, True)
    joined = second.submit(weak, f"{path}/account", email="new@example.org", name="New", password=PASSWORD)
    assert "account of Ada Lovelace" in joined.text
    assert second.get(path).status == 404


@pytest.mark.parametrize(
    ("accounts", "email", "says"),
    [
        ({"invitations_create_accounts": False}, "", "Ask the operator"),
        ({"operators": ["root@example.org"]}, "Root@Example.org", "belongs to an operator"),
        (
            {"identity_provider": {"allowed_domains": ["example.org"]}},
            "eve@example.net",
            "must be an e-mail address at example.org",
        ),
    ],
)
def test_the_operator_decides_who_may_create_an_account(
    accounts: dict[str, Any], email: str, says: str, tmp_path: Path
) -> None:
    config = {"accounts": accounts, "plugins": {"content": {"enabled": False}}}
    with RunningHost(settings_for_test(config, tmp_path)) as host, BrowserWithoutScreen(host) as anonymous:
        ada = add_person(host)
        path = invite(host, ada, "editor")
        page = anonymous.get(path)
        if email:
            page = anonymous.submit(page, f"{path}/account", email=email, name="", password=PASSWORD)
            assert page.status == 400
            assert host.run(host.host.accounts.users.by_email(email)) is None
        else:
            assert not page.tree.css("input[name=password]")
            assert anonymous.post(f"{path}/account", {}).status in (404, 405)
        assert says.lower() in page.text.lower()


@pytest.fixture(scope="module")
def with_operator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    config = {"accounts": {"operators": ["root@example.org"]}, "plugins": {"content": {"enabled": False}}}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as running:
        yield running


def test_operators_see_memberships(with_operator: RunningHost) -> None:
    root, ada = add_person(with_operator, "root@example.org"), add_person(with_operator)
    bob = add_person(with_operator, "bob@example.org")
    make_member(with_operator, ada, bob, "reader")
    with BrowserWithoutScreen(with_operator) as browser:
        browser.enter(with_operator, root)
        assert "Open to bob@example.org reader" in browser.get(f"/dashboard/users/{ada.id}").text
        assert "Works in the account of ada@example.org reader" in browser.get(f"/dashboard/users/{bob.id}").text
