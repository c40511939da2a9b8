"""Wrap the functions of plugins' records in the gate, transparently for their callers.

Not covered: hooks called while plugins load (`PluginGate.loading`), lifespans, migrations, routes and tools, which have
their own limits where they are called.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from itertools import islice
from typing import Any, Final, TypeVar

from pressroom.errors import BackendError, CallError, CallTimeout, InternalError, PressroomError, Unavailable
from pressroom.gate import PluginCall, PluginFailed, PluginGate
from pressroom.gate.failures import describe_value
from pressroom.jobs.outcomes import checked_outcome
from pressroom.sdk import (
    AccountRole,
    Authenticator,
    Authorizer,
    Caller,
    CallRecord,
    Check,
    CheckResult,
    Credentials,
    Identity,
    IndexEntries,
    IndexEntry,
    Job,
    LeaseLost,
    LockTaken,
    Observer,
    OverviewSection,
    PublishingTargets,
    RateLimit,
    SharedKeys,
    StorageKind,
    ToolInfo,
    VirtualHosts,
)

T = TypeVar("T")

ACCESS_SECONDS: Final = 10.0
"""Timeout in seconds of an authenticator or an authorizer, per call."""

OBSERVER_SECONDS: Final = 30.0
"""Timeout in seconds of an observer, per call. It runs without delaying the response."""

INDEX_SECONDS: Final = 10.0
"""Timeout in seconds for a plugin to list its entries of the text index."""

HOSTS_SECONDS: Final = 5.0
"""Timeout in seconds for a plugin to list its virtual hosts."""

STORAGE_SECONDS: Final = 20.0
"""Timeout in seconds for a plugin to measure or free an account's storage, which blocks other writers."""

CHECK_SECONDS: Final = 30.0
"""Timeout in seconds of a check of `pressroom doctor`."""

TARGETS_SECONDS: Final = 0.8
"""Timeout in seconds for a plugin to list an account's publishing targets, which delays a page."""

OVERVIEW_SECONDS: Final = 2.0
"""Timeout in seconds for a plugin to render its section of the overview, which delays the page."""

_PAGE_CANCEL_SECONDS: Final = 0.1

MAX_LISTED: Final = 100_000
"""Maximum entries or names read from one plugin; guards against endless generators."""

JOB_CANCEL_SECONDS: Final = 30.0
"""Seconds that a cancelled job has to end."""


@dataclass(frozen=True, slots=True)
class GatedRecords:
    """Wraps the records of one plugin in the gate. `start_seconds` limits functions that run at the server's start."""

    gate: PluginGate
    plugin: str
    start_seconds: float

    def record(self, record: Any) -> Any:
        """Return a copy of a record whose functions pass the gate; other records are returned unchanged."""
        for kind, functions in _FUNCTIONS.items():
            if isinstance(record, kind):
                present = {name: gated for name, gated in functions.items() if getattr(record, name) is not None}
                return replace(
                    record, **{name: partial(getattr(self, gated), record) for name, gated in present.items()}
                )
        return record

    def _call(self, point: str, name: str) -> PluginCall:
        return PluginCall(self.plugin, point, name)

    async def _authenticate(self, record: Authenticator, credentials: Credentials) -> Identity | None:
        call = self._call("authenticator", record.name)
        ask = partial(record.authenticate, credentials)
        identity = await self._check_access(call, ask, "the credential could not be checked")
        if identity is not None and not isinstance(identity, Identity):
            self.gate.note(
                call, "failed", f"{call} returned {describe_value(identity)} instead of an Identity", repeats=True
            )
            raise InternalError(_refusal("the credential could not be checked"))
        return identity

    async def _authorize(self, record: Authorizer, caller: Caller, tool: ToolInfo) -> str | None:
        call = self._call("authorizer", record.name)
        ask = partial(record.authorize, caller, tool)
        reason = await self._check_access(call, ask, "nobody could say whether this call is allowed")
        if reason is not None and not isinstance(reason, str):
            self.gate.note(
                call, "failed", f"{call} returned {describe_value(reason)} instead of a text or None", repeats=True
            )
            raise InternalError(_refusal("nobody could say whether this call is allowed"))
        return reason

    async def _check_access(self, call: PluginCall, ask: Callable[[], Awaitable[Any]], problem: str) -> Any:
        """Ask an authenticator or authorizer. If it fails, the call is refused."""
        try:
            return await self.gate.run(call, ACCESS_SECONDS, ask, passes=(PressroomError,), repeats=True)
        except PluginFailed as failure:
            if failure.reason == "failed":
                raise InternalError(_refusal(problem)) from failure
            raise CallTimeout(f"{problem} in time; try again in a moment") from failure

    def _limit_key(self, record: RateLimit, caller: Caller) -> str:
        with self.gate.calling(self._call("rate limit", record.name), passes=(CallError,)):
            key = record.key(caller)
            if not isinstance(key, str):
                raise TypeError(f"its key must be a text, not {describe_value(key)}")
        return key

    def _observe(self, record: Observer, call_record: CallRecord) -> Awaitable[None] | None:
        call = self._call("observer", record.name)
        if inspect.iscoroutinefunction(record.observe):
            return self.gate.run(call, OBSERVER_SECONDS, partial(record.observe, call_record), repeats=True)
        try:
            with self.gate.traced(call):
                observing = record.observe(call_record)
        except BaseException as error:
            raise self.gate.failed(call, error, repeats=True) from error
        if observing is None:
            self.gate.works(call)
            return None
        return self.gate.run(call, OBSERVER_SECONDS, partial(_itself, observing), repeats=True)

    async def _entries(self, record: IndexEntries) -> Iterable[IndexEntry]:
        call = self._call("index", record.section)
        entries = await self.gate.run(call, INDEX_SECONDS, record.entries, repeats=True)
        return [self._entry(call, entry) for entry in self._listed(call, entries)]

    def _entry(self, call: PluginCall, entry: Any) -> Any:
        if not isinstance(entry, IndexEntry) or entry.read is None:
            return entry
        return replace(entry, read=partial(self.gate.run, call, INDEX_SECONDS, entry.read, repeats=True))

    async def _hosts(self, record: VirtualHosts) -> Iterable[str]:
        call = self._call("virtual hosts", record.name)
        hosts = await self.gate.run(call, HOSTS_SECONDS, record.hosts, repeats=True)
        names = self._listed(call, hosts)
        return [name for name in names if isinstance(name, str)]

    async def _targets(self, record: PublishingTargets, subject: str) -> Iterable[str]:
        call = self._call("publishing targets", record.name)
        ask = partial(record.names, subject)
        targets = await self.gate.run(call, TARGETS_SECONDS, ask, cancel_seconds=_PAGE_CANCEL_SECONDS)
        names = self._listed(call, targets)
        return [name for name in names if isinstance(name, str)]

    async def _section(self, record: OverviewSection, subject: str, *role: AccountRole) -> str:
        call = self._call("overview section", record.name)
        ask = partial(record.html, subject, *role)
        html = await self.gate.run(call, OVERVIEW_SECONDS, ask, cancel_seconds=_PAGE_CANCEL_SECONDS)
        with self.gate.calling(call):
            if not isinstance(html, str):
                raise TypeError(f"its HTML must be a text, not {describe_value(html)}")
        return html

    def _listed(self, call: PluginCall, values: Iterable[Any]) -> list[Any]:
        with self.gate.calling(call):
            return list(islice(values, MAX_LISTED))

    async def _measure(self, record: StorageKind, session: Any, subject: str) -> int:
        call, measure = self._call("storage", record.name), partial(record.measure, session, subject)
        found: Any = await self.gate.run(call, STORAGE_SECONDS, measure, passes=(PressroomError,))
        with self.gate.calling(call):
            if not isinstance(found, int | Decimal):  # PostgreSQL sums 64-bit integers as decimals
                raise TypeError(
                    f"measure must return a number of bytes, 0 if there are no rows, not {describe_value(found)}"
                )
        return int(found)

    async def _make_room(self, record: StorageKind, session: Any, subject: str, size: int) -> None:
        if record.make_room is None:
            return
        call, make_room = self._call("storage", record.name), partial(record.make_room, session, subject, size)
        await self.gate.run(call, STORAGE_SECONDS, make_room, passes=(PressroomError,))

    def _read_keys(self, record: SharedKeys) -> Sequence[bytes]:
        with self.gate.loading(self._call("shared keys", record.name), self.start_seconds):
            keys = tuple(record.read())
            if not keys or not all(isinstance(key, bytes) for key in keys):
                raise TypeError("read must return at least one key, as bytes")  # without what it returned: a secret
        return keys

    async def _unreadable(self, record: SharedKeys, session: Any) -> int:
        if record.unreadable is None:
            return 0
        count = partial(record.unreadable, session)
        call = self._call("shared keys", record.name)
        return await self.gate.run(call, self.start_seconds, count, passes=(PressroomError,), interrupt=True)

    async def _check(self, record: Check) -> CheckResult:
        call = self._call("check", record.name)
        return await self.gate.run(call, CHECK_SECONDS, record.run, passes=(PressroomError,), interrupt=True)

    async def _job(self, record: Job, run: Any) -> Any:
        call = self._call("job", record.kind)

        async def work() -> Any:
            return checked_outcome(await record.run(run))

        # A job that resists cancellation is abandoned: without its lease it cannot write.
        passes = (PressroomError, LeaseLost, LockTaken)
        return await self.gate.run(call, record.timeout, work, passes=passes, cancel_seconds=JOB_CANCEL_SECONDS)


_FUNCTIONS: Final[Mapping[type[Any], Mapping[str, str]]] = {
    Authenticator: {"authenticate": "_authenticate"},
    Authorizer: {"authorize": "_authorize"},
    RateLimit: {"key": "_limit_key"},
    Observer: {"observe": "_observe"},
    IndexEntries: {"entries": "_entries"},
    VirtualHosts: {"hosts": "_hosts"},
    PublishingTargets: {"names": "_targets"},
    OverviewSection: {"html": "_section"},
    StorageKind: {"measure": "_measure", "make_room": "_make_room"},
    SharedKeys: {"read": "_read_keys", "unreadable": "_unreadable"},
    Check: {"run": "_check"},
    Job: {"run": "_job"},
}
"""The functions of each record type that pass the gate, and the methods of `GatedRecords` that replace them."""


async def _itself(awaitable: Awaitable[T]) -> T:
    return await awaitable


def _refusal(problem: str) -> str:
    return f"{problem}; quote the request ID to the operator"


class GatedBackend:
    """A proxy for a plugin's store whose calls pass the gate and raise `BackendError` on failure.

    `methods` maps the methods of the protocol to their timeouts in seconds. Other attributes, including `__class__` for
    `isinstance`, are those of the store.
    """

    def __init__(self, store: Any, call: PluginCall, gate: PluginGate, methods: Mapping[str, float]) -> None:
        self._store = store
        for name, seconds in methods.items():
            setattr(self, name, partial(self._ask, call, gate, seconds, getattr(store, name)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @property  # type: ignore[misc] # as proxies do: what asks for the class is to get the store's
    def __class__(self) -> type[Any]:
        return type(self._store)

    async def _ask(
        self,
        call: PluginCall,
        gate: PluginGate,
        seconds: float,
        method: Callable[..., Any],
        /,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        try:
            return await gate.run(
                call, seconds, partial(method, *args, **kwargs), passes=(PressroomError,), repeats=True
            )
        except PluginFailed as failure:
            timed_out = failure.reason != "failed"
            raise (Unavailable if timed_out else BackendError)(failure.message) from failure


def class_name(store: object) -> str:
    """Return the name of a store's own class, even behind a `GatedBackend`."""
    return store.__class__.__name__
