"""Permissions of account roles on the dashboard. No other module decides them."""

from __future__ import annotations

from typing import Final

from pressroom.accounts.records import BrowserSession, User, shown_name
from pressroom.errors import Forbidden
from pressroom.sdk import AccountRole
from pressroom.sdk.dashboard import ACCOUNT_ROLES

WITHOUT_FORM: Final = frozenset({"GET", "HEAD"})
"""Methods that only show a page."""


def allows(role: AccountRole, least: AccountRole) -> bool:
    """Return whether a role includes another one."""
    return ACCOUNT_ROLES.index(role) <= ACCOUNT_ROLES.index(least)


def stricter(one: AccountRole, other: AccountRole) -> AccountRole:
    """Return the stricter of two roles."""
    return one if allows(one, other) else other


def role_refusal(session: BrowserSession, least: AccountRole) -> Forbidden | None:
    """Return an error that states whom to ask, or `None` if the session has at least the role `least`."""
    if allows(session.role, least):
        return None
    owner = name_of(session.user)
    if least == "owner":
        return Forbidden(
            f"only the owner of this account can do this: ask {owner}. To do it in your own account, switch to it first"
        )
    return Forbidden(f"you can only read in this account: ask {owner} to make you an editor")


def check_role(session: BrowserSession, least: AccountRole) -> None:
    """Raise `Forbidden`, stating whom to ask, unless the session has at least the role `least`."""
    refusal = role_refusal(session, least)
    if refusal is not None:
        raise refusal


def name_of(user: User) -> str:
    """Return how others see a user."""
    return shown_name(user.name, user.email)
