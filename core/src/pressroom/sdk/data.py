"""Storage limits, the database, accounts and plans, and keys that hosts share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol, runtime_checkable

from pressroom.sdk.declaration import Access


@dataclass(frozen=True, slots=True)
class StorageKind:
    """A kind of data that a plugin stores for accounts, and that counts against the storage limits of their plans.

    `title` is its name for users, such as `images`, and `advice` tells them how to free space:
    `delete images with delete_media`. `measure` is an async function that takes a session of the database and the
    account's id, and returns how many bytes of this kind the account stores. It runs before many writes of every kind,
    so let it read an index rather than the data. `make_room` is optional. It takes a session, the account's id and a
    number of bytes, and removes dispensable data, such as the trash, until this many bytes are free. It runs before a
    write is refused, in the same transaction.
    """

    name: str
    title: str
    measure: Callable[[Any, str], Awaitable[int]]
    advice: str
    make_room: Callable[[Any, str, int], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True)
class StoredKind:
    """The size of an account's stored data of one kind, in bytes."""

    name: str
    title: str
    size: int


@dataclass(frozen=True, slots=True)
class StorageUsage:
    """The bytes that an account stores, by kind, and the limit of its plan; `None` means no limit."""

    kinds: tuple[StoredKind, ...]
    limit: int | None

    @property
    def used(self) -> int:
        """The total bytes of all kinds."""
        return sum(kind.size for kind in self.kinds)


@runtime_checkable
class Storage(Protocol):
    """Limits the bytes that an account stores. `subject` is that of the caller."""

    async def reserve(self, session: Any, subject: str, size: int) -> None:
        """Refuse a write of `size` bytes if the account does not have enough space.

        Call it first in the transaction that writes. Until that transaction ends, other writes for the account wait, so
        that two writes cannot both take the last space. Far from the limit, small writes do not wait: within ten
        seconds, each process of a server may write up to a 64th of the free space before it measures again.

        Raises:
            QuotaExceeded: there is not enough space; the message states how much each kind takes up, and what to
                delete.
        """

    async def storage(self, subject: str) -> StorageUsage:
        """Return the storage usage of an account."""


@dataclass(frozen=True, slots=True)
class Models:
    """The tables of a plugin and the migrations that create them.

    `metadata` is the `sqlalchemy.MetaData` of the tables; begin their names with the plugin's id. `migrations` is the
    dotted name of a package that contains a folder `versions` with Alembic revisions. Every plugin has its own version
    table, and its revisions run in one transaction. A plugin yields at most one `Models`.
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
        """Open a read-only session on a consistent snapshot of the database.

        Raises `BackendError` on an outage.
        """

    def writing(self) -> AbstractAsyncContextManager[Any]:
        """Open a session in a transaction, which is committed at the end or rolled back.

        Raises `BackendError` on an outage.
        """


@dataclass(frozen=True, slots=True)
class QuotaUse:
    """The usage of a quota class this month. `limit` is `None` if the plan has no limit."""

    quota: str
    used: int
    limit: int | None
    resets_at: datetime


@dataclass(frozen=True, slots=True)
class AccountUsage:
    """An account's plan, the usage of its quotas, and its number of connections.

    `tools` are the tools in its plan, by MCP name, each with the access level that a connection needs for it.
    `hidden_tools` are the other tools of this server, each with the titles of the plans that include it.
    `unavailable_tools` are those that cannot work with the configuration of this server, each with the reason.
    `storage` is the storage usage of the account.
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
    """A call that an account made through MCP, or a change that a member made in the dashboard.

    `code` is `ok` or the code of the error; `duration` is in seconds. `id` increases with time. `tool` is the tool's
    MCP name. `connection_name` is empty for a call without a connection. `website_id` comes from the arguments of the
    call, if it had one. `member` is the person who changed something in the dashboard, with the e-mail address, and
    `tool` is then the path of the page; for a call, `member` is empty.
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
    """Information about accounts for plugins. `subject` is that of the caller."""

    async def usage(self, subject: str, *, plan: str = "") -> AccountUsage:
        """Return the plan of an account, its tools, and its usage.

        `plan` is that of the caller: a subject that exists only in a plugin's authenticator has a plan, but not an
        account. Without `plan`, this raises `NotFound` for such a subject.
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

        `tool`, `code`, `connection`, `website_id` and `since` filter the list; the code `error` means all codes except
        `ok`.
        """


@dataclass(frozen=True, slots=True)
class SharedKeys:
    """Keys with which a plugin encrypts or signs data that is shared with other hosts through the database.

    The database stores a fingerprint of the key in use. If hosts share a database, a host whose keys do not include
    this key does not start, and `pressroom doctor` reports why.

    `name` is the name of the setting, such as `credential_keys`, and `setting` is its full path, such as
    `[plugins.content.config] credential_keys`. `read` returns the keys of this host, at least one: the first is for
    writing, the others only for reading older data. `configured` is true if the operator set them; otherwise, each host
    creates its own. `lost` describes what stops working when a key is replaced, such as `websites have to be connected
    again`. `unreadable` is an optional async function that takes a session of the database, and returns the number of
    rows that no key can decrypt; `rows` is the name of these rows in messages.
    """

    name: str
    setting: str
    read: Callable[[], Sequence[bytes]]
    configured: bool
    lost: str
    unreadable: Callable[[Any], Awaitable[int]] | None = None
    rows: str = "rows"
