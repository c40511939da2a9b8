"""What plugins keep in the database, and what the host tells them about accounts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol, runtime_checkable

from pressroom.sdk.storage import StorageUsage
from pressroom.sdk.toolsets import Access


@dataclass(frozen=True, slots=True)
class Models:
    """The tables of a plugin and the migrations that make them.

    `metadata` is the `sqlalchemy.MetaData` of the tables; begin their names with the plugin's id. `migrations` is the
    dotted name of a package with a folder `versions` of Alembic revisions. Every plugin has a version table of its own,
    and its revisions run in one transaction. A plugin yields at most one `Models`.
    """

    metadata: Any
    migrations: str


@runtime_checkable
class Database(Protocol):
    """The server's database. Sessions are `sqlalchemy.ext.asyncio.AsyncSession`.

    Keep transactions short, and await nothing but the database inside one.
    """

    dialect: Literal["sqlite", "postgresql"]

    def reading(self) -> AbstractAsyncContextManager[Any]:
        """Give a session that sees one state of the database and cannot change it.

        Raises `BackendError` on an outage.
        """

    def writing(self) -> AbstractAsyncContextManager[Any]:
        """Give a session whose changes are committed together at the end, or not at all.

        Raises `BackendError` on an outage.
        """


@dataclass(frozen=True, slots=True)
class QuotaUse:
    """How much of a quota class is used in this month. `limit` is `None` where the plan has no bound."""

    quota: str
    used: int
    limit: int | None
    resets_at: datetime


@dataclass(frozen=True, slots=True)
class AccountUsage:
    """An account's plan, what of its quotas is used, and how many connections it has.

    `tools` are the tools that its plan has, by MCP name, each with the access level that a connection needs for it.
    `hidden_tools` are the other ones of this server, each with the titles of the plans that have it.
    `unavailable_tools` cannot work on this server as it is configured, each with the reason. `storage` is what it
    stores.
    """

    plan: str
    plan_title: str
    quotas: tuple[QuotaUse, ...]
    connections: int
    tools: Mapping[str, Access] = field(default_factory=dict)
    hidden_tools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unavailable_tools: Mapping[str, str] = field(default_factory=dict)
    storage: StorageUsage | None = None


@dataclass(frozen=True, slots=True)
class Activity:
    """A call that an account made through MCP, or what a member changed on the dashboard.

    `code` is `ok` or the code of the error; `duration` is in seconds. `id` grows with time. `tool` is the tool's MCP
    name. `connection_name` is empty for a call without one. `website_id` is that of the call's arguments, where it had
    one. `member` is who changed something on the dashboard, with the e-mail address; then `tool` is the path of the
    page. It is empty for a call.
    """

    id: int
    at: datetime
    tool: str
    code: str
    cached: bool
    duration: float
    connection: str
    connection_name: str
    client_ip: str
    request_id: str
    website_id: str = ""
    member: str = ""


@runtime_checkable
class Accounts(Protocol):
    """What plugins may know of accounts. `subject` is that of the caller."""

    async def usage(self, subject: str, *, plan: str = "") -> AccountUsage:
        """Return what an account has and used.

        `plan` is that of the caller: a subject that only an authenticator of a plugin knows has no account, and nothing
        but its plan. Without it this raises `NotFound` for such a subject.
        """

    async def activity(
        self,
        subject: str,
        *,
        limit: int = 50,
        before: int | None = None,
        tool: str = "",
        code: str = "",
        connection: str = "",
        website_id: str = "",
        since: datetime | None = None,
    ) -> Sequence[Activity]:
        """Return an account's calls, newest first: at most `limit` (1 to 200), older than the id `before`.

        `tool`, `code`, `connection`, `website_id` and `since` narrow the list where they are given; the code `error`
        means every one but `ok`.
        """
