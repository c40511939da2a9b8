"""Members of other users' accounts, and their scripted browsers."""

from __future__ import annotations

from pressroom.accounts.records import User
from pressroom.testing import RunningHost

from support.people import BrowserWithoutScreen, Page

SWITCH = "/dashboard/switch"


def invite(host: RunningHost, account: User, role: str, note: str = "") -> str:
    """Return the path of a new invitation."""
    _, token = host.run(host.host.accounts.invitations.create(account.id, role, note))
    return f"/dashboard/join/{token}"


def make_member(host: RunningHost, account: User, person: User, role: str) -> None:
    """Make a user a member of an account, or change an existing member's role."""
    accounts = host.host.accounts
    members = {membership.member.id for membership in host.run(accounts.memberships.of_account(account.id))}
    if person.id in members:
        host.run(accounts.memberships.set_role(account.id, person.id, role))
        return
    _, token = host.run(accounts.invitations.create(account.id, role))
    host.run(accounts.invitations.accept(token, person))


def switch(browser: BrowserWithoutScreen, account: User | None = None) -> Page:
    """Switch to another account, or back to the user's own, through the dashboard's switcher."""
    page = browser.get("/dashboard/members")
    return browser.submit(page, SWITCH, account=account.id if account else "")
