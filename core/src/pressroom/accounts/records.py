"""What the account services return."""

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
    """An account. `has_password` tells whether it can sign in with one.

    `password_stamp` is another one after every change of the password, and tells nothing about it.
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


def shown_name(name: str, email: str) -> str:
    """Return how others see somebody: with the e-mail address, since anybody can take any name."""
    return f"{name} ({email})" if name else email


@dataclass(frozen=True, slots=True)
class AccessChoice:
    """What the owner of a connection chose for it: what it may do, and the toolsets that it lists.

    `None` as `toolsets` stands for the server's default.
    """

    access: Access = "full"
    toolsets: frozenset[str] | None = None


PRESELECTED: Final = AccessChoice("drafts")
"""What a person who chooses nothing gives to an app that they connect.

It can do its work, and nothing that it does is seen by others before the person allows that.
"""


@dataclass(frozen=True, slots=True)
class Connection:
    """An API key, or an OAuth client that the person approved.

    `hint` is the last four characters of a key; `client_id` and `redirect_hosts` belong to an OAuth client.
    `disabled_tools` are MCP names. `access` is what it may do, `toolsets` what it lists where a request says nothing
    else; `None` stands for the server's default.
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

    @property
    def choice(self) -> AccessChoice:
        """What its owner chose for it."""
        return AccessChoice(self.access, self.toolsets)


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """A browser that is signed in. `token_hash` identifies it in lists; the token itself is only in the cookie.

    `person` signed in; `user` is the account that they work in, their own or that of somebody else, and `role` what
    they may do there. `is_member` tells whether they are a member of any account, and `lost` that the one they chose is
    no longer open to them, so that they are back in their own.
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
    """A person who works in the account of somebody else."""

    account: User
    member: User
    role: AccountRole
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Invitation:
    """A link that makes one person a member of an account. `note` is the owner's; the link itself is not kept."""

    id: str
    account: User
    role: AccountRole
    note: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """What accounts are told of a plan.

    `quotas` has every class that its tools count against or that the operator bounds; `None` is not a bound. `tools`
    are its tools by MCP name, each with the access level that it needs; `hidden_tools` are the other tools, each with
    the titles of the plans that have it.
    `unavailable_tools` are those that cannot work on this server, each with the reason.
    """

    title: str
    quotas: Mapping[str, int | None]
    tools: Mapping[str, Access]
    hidden_tools: Mapping[str, tuple[str, ...]]
    unavailable_tools: Mapping[str, str] = field(default_factory=dict)
