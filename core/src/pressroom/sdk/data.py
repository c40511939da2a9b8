"""What plugins keep in the database, what the host tells them about accounts and plans, and keys of all hosts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol, runtime_checkable

from pressroom.sdk.declaration import Access


@dataclass(frozen=True, slots=True)
class StorageKind:
    """A kind of thing that a plugin stores for accounts, and that counts against the bound of their plans.

    `title` is how people call it, as in `images`, and `advice` what they can do to make room: `delete images with
    delete_media`. `measure` is an async function that gets a session of the database and the account's id, and returns
    how many bytes the account has of it. It runs before many writes of every kind: let it read an index, not the
    things. `make_room`, where it is given, gets a session, the account's id and a number of bytes, and removes what
    nobody would miss, such as a trash, until this many are free; it runs before a write is refused, in its transaction.
    """

    name: str
    title: str
    measure: Callable[[Any, str], Awaitable[int]]
    advice: str
    make_room: Callable[[Any, str, int], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True)
class StoredKind:
    """How many bytes an account stores of one kind."""

    name: str
    title: str
    size: int


@dataclass(frozen=True, slots=True)
class StorageUsage:
    """How many bytes an account stores, by kind, and how many its plan includes; `None` means no bound."""

    kinds: tuple[StoredKind, ...]
    limit: int | None

    @property
    def used(self) -> int:
        """The bytes of all kinds together."""
        return sum(one.size for one in self.kinds)


@runtime_checkable
class Storage(Protocol):
    """What bounds the bytes that an account stores. `subject` is that of the caller."""

    async def reserve(self, session: Any, subject: str, size: int) -> None:
        """Refuse a write of `size` bytes for which an account has no room.

        Call it first in the transaction that writes. Until that ends, other writes for the account wait, so that two
        at once do not both take the last room. Far from the bound, small writes need not wait: each process of a server
        may write up to a 64th of what is free before it measures again, within ten seconds.

        Raises:
            QuotaExceeded: there is no room; the message says what takes how much, and what to delete.
        """

    async def storage(self, subject: str) -> StorageUsage:
        """Return what an account stores."""


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


@dataclass(frozen=True, slots=True)
class SharedKeys:
    """Keys with which a plugin encrypts or signs what other hosts on the same database read.

    The database keeps a fingerprint of the key in use. A host whose keys do not include that one does not start on a
    database that hosts share, and `pressroom doctor` says why.

    `name` is that of the setting, as in `credential_keys`, and `setting` says where it is, as in
    `[plugins.content.config] credential_keys`. `read` returns the keys of this host: the first one writes, the others
    read what was written before. `configured` tells whether the operator named them; otherwise each host makes its own.
    `lost` says what no longer works once a key is replaced, as in `websites have to be connected again`. `unreadable`,
    where it is given, is an async function that gets a session of the database, and returns how many rows none of the
    keys can open; `rows` is what people call them.
    """

    name: str
    setting: str
    read: Callable[[], Sequence[bytes]]
    configured: bool
    lost: str
    unreadable: Callable[[Any], Awaitable[int]] | None = None
    rows: str = "rows"
