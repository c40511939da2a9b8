"""Permissions of account roles on the dashboard. No other module decides them."""

from __future__ import annotations

from typing import Final

from pressroom.accounts.records import BrowserSession, User, display_name
from pressroom.errors import Forbidden
from pressroom.sdk import AccountRole
from pressroom.sdk.dashboard import ACCOUNT_ROLES

WITHOUT_FORM: Final = frozenset({"GET", "HEAD"})
"""Methods that only show a page."""


def allows(role: AccountRole, minimum: AccountRole) -> bool:
    """Return whether a role includes another one."""
    return ACCOUNT_ROLES.index(role) <= ACCOUNT_ROLES.index(minimum)


def stricter(one: AccountRole, other: AccountRole) -> AccountRole:
    """Return the stricter of two roles."""
    return one if allows(one, other) else other


def role_refusal(session: BrowserSession, minimum: AccountRole) -> Forbidden | None:
    """Return an error that states whom to ask, or `None` if the session has at least the role `minimum`."""
    if allows(session.role, minimum):
        return None
    owner = name_of(session.user)
    if minimum == "owner":
        return Forbidden(
            f"only the owner of this account can do this: ask {owner}. To do it in your own account, switch to it first"
        )
    return Forbidden(f"you can only read in this account: ask {owner} to make you an editor")


def check_role(session: BrowserSession, minimum: AccountRole) -> None:
    """Raise `Forbidden`, stating whom to ask, unless the session has at least the role `minimum`."""
    refusal = role_refusal(session, minimum)
    if refusal is not None:
        raise refusal


def name_of(user: User) -> str:
    """Return how others see a user."""
    return display_name(user.name, user.email)
