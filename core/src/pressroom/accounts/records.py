"""Records that the account services return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from pressroom.sdk import AccountRole
from pressroom.sdk.declaration import Access

ConnectionKind = Literal["api_key", "oauth"]


@dataclass(frozen=True, slots=True)
class User:
    """An account. `has_password` states whether the user can sign in with a password.

    `password_stamp` changes with the password and reveals nothing about it.
    """

    id: str
    email: str
    name: str
    plan: str
    has_password: bool
    disabled: bool
    created_at: datetime
    last_sign_in_at: datetime | None
    password_stamp: bytes = field(default=b"", repr=False)


def display_name(name: str, email: str) -> str:
    """Return how others see a user: with the e-mail address, since names can be chosen freely."""
    return f"{name} ({email})" if name else email


@dataclass(frozen=True, slots=True)
class AccessChoice:
    """The owner's choice for a connection: its access level and the toolsets that it lists.

    If `toolsets` is `None`, the server's default applies.
    """

    access: Access = "full"
    toolsets: frozenset[str] | None = None


PRESELECTED: Final = AccessChoice("drafts")
"""The default choice for an app that a person connects.

The app can do its work, but nothing it creates is published before the person approves it.
"""


@dataclass(frozen=True, slots=True)
class Connection:
    """An API key, or an OAuth client that the user approved.

    `hint` is the last four characters of a key; `client_id` and `redirect_hosts` are set for OAuth clients only.
    `disabled_tools` contains MCP names. `access` is the access level. `toolsets` are the toolsets listed unless a
    request selects others; `None` selects the server's default. `signed_out_at` is when the last approval of an OAuth
    client ended, because the client signed out, or one of its secrets was used twice.
    """

    id: str
    user_id: str
    kind: ConnectionKind
    name: str
    disabled_tools: frozenset[str]
    created_at: datetime
    last_used_at: datetime | None
    last_used_address: str
    revoked_at: datetime | None
    hint: str = ""
    client_id: str = ""
    redirect_hosts: tuple[str, ...] = ()
    access: Access = "full"
    toolsets: frozenset[str] | None = None
    signed_out_at: datetime | None = None

    @property
    def choice(self) -> AccessChoice:
        """The access level and toolsets that the owner chose."""
        return AccessChoice(self.access, self.toolsets)


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """A signed-in browser. `token_hash` identifies it in lists; the token itself is stored only in the cookie.

    `person` signed in. `user` is the account they work in, either their own or someone else's, and `role` is their role
    in it. `is_member` states whether they are a member of any account. `lost` is true if they lost access to the
    account that they chose and are back in their own.
    """

    token_hash: bytes
    person: User
    user: User
    role: AccountRole
    is_member: bool
    lost: bool
    created_at: datetime
    seen_at: datetime
    expires_at: datetime
    client_ip: str
    user_agent: str


@dataclass(frozen=True, slots=True)
class Membership:
    """A person who works in someone else's account."""

    account: User
    member: User
    role: AccountRole
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Invitation:
    """A link that makes one person a member of an account. `note` is the owner's; the link itself is not stored."""

    id: str
    account: User
    role: AccountRole
    note: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """The public description of a plan.

    `quotas` contains every quota class that the plan's tools count against or that the operator limits; `None` means
    unlimited. `tools` maps the MCP names of the plan's tools to the access levels they need. `hidden_tools` maps the
    other tools to the titles of the plans that include them. `unavailable_tools` maps tools that cannot work on this
    server to the reason.
    """

    title: str
    quotas: Mapping[str, int | None]
    tools: Mapping[str, Access]
    hidden_tools: Mapping[str, tuple[str, ...]]
    unavailable_tools: Mapping[str, str] = field(default_factory=dict)
