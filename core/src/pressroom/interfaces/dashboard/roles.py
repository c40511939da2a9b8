"""What the roles of an account let people do on the dashboard: the one place that decides it."""

from __future__ import annotations

from typing import Final

from pressroom.accounts.records import BrowserSession, User, shown_name
from pressroom.errors import Forbidden
from pressroom.sdk import AccountRole
from pressroom.sdk.dashboard import ACCOUNT_ROLES

WITHOUT_FORM: Final = frozenset({"GET", "HEAD"})
"""The methods that only show a page."""


def allows(role: AccountRole, least: AccountRole) -> bool:
    """Tell whether a role includes another one."""
    return ACCOUNT_ROLES.index(role) <= ACCOUNT_ROLES.index(least)


def stricter(one: AccountRole, other: AccountRole) -> AccountRole:
    """Return the role of two that fewer people have."""
    return one if allows(one, other) else other


def role_refusal(session: BrowserSession, least: AccountRole) -> Forbidden | None:
    """Return the error, with whom to ask, unless a session may do in its account what takes at least a role."""
    if allows(session.role, least):
        return None
    owner = name_of(session.user)
    if least == "owner":
        return Forbidden(
            f"only the owner of this account can do this: ask {owner}. To do it in your own account, switch to it first"
        )
    return Forbidden(f"you can only read in this account: ask {owner} to make you an editor")


def check_role(session: BrowserSession, least: AccountRole) -> None:
    """Raise `Forbidden`, with whom to ask, unless a session may do in its account what takes at least a role."""
    refusal = role_refusal(session, least)
    if refusal is not None:
        raise refusal


def name_of(user: User) -> str:
    """Return how others see somebody."""
    return shown_name(user.name, user.email)
