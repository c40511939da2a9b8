"""People who work in the account of somebody else, and their browsers without a screen."""

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
    """Let a person work in an account, in a role that they may have had before or not."""
    accounts = host.host.accounts
    members = {one.member.id for one in host.run(accounts.memberships.of_account(account.id))}
    if person.id in members:
        host.run(accounts.memberships.set_role(account.id, person.id, role))
        return
    _, token = host.run(accounts.invitations.create(account.id, role))
    host.run(accounts.invitations.accept(token, person))


def switch(browser: BrowserWithoutScreen, account: User | None = None) -> Page:
    """Work in another account, or in the person's own, by the switcher of the dashboard."""
    page = browser.get("/dashboard/members")
    return browser.submit(page, SWITCH, account=account.id if account else "")
