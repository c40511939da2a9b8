"""Open the configured backends, check the schema, and check the keys that all hosts of a database share.

The database stores a fingerprint of each key in use. It is an HMAC under the key itself, truncated to 32 bits: enough
to distinguish two keys, and too little to confirm a guess.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, Protocol

import structlog
from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError

from pressroom.catalog.tool import Catalog
from pressroom.config.models import Settings
from pressroom.errors import BackendError, NotFound, PressroomError
from pressroom.gate import PluginCall, PluginFailed, PluginGate
from pressroom.gate.failures import one_line
from pressroom.host.loaded_app import LoadedApp
from pressroom.plugins.contributions import Contribution
from pressroom.plugins.discovery import HOST_ID
from pressroom.plugins.gated import GatedBackend
from pressroom.sdk import CacheIndex, FileStore, Generator, Limiter, SharedKeys
from pressroom.sdk.shared import BackendKind
from pressroom.storage.database import Migrator, SchemaError, SchemaMismatch, SqlDatabase
from pressroom.storage.database.tables import KeyFingerprintRow
from pressroom.storage.files import MediaTypes
from pressroom.validation.echo import nearest

log = structlog.get_logger()


_CLOSE_SECONDS: Final = 1.0
"""How many seconds a store gets to close when nothing uses it any more, before it is abandoned."""


_METHODS: Final[Mapping[BackendKind, Mapping[str, float]]] = {
    "files": {"write": 60, "read": 60, "stat": 10, "has": 10, "url": 10, "delete": 10, "prune": 3600},
    "cache": {"get": 5, "put": 5, "delete": 5},
    "limits": {"take": 5, "give_back": 5, "peek": 5},
}
"""The timeouts of the methods of a plugin's store, in seconds."""


class OpenableStore(Protocol):
    """A service that must be opened before use, and closed afterwards."""

    async def open(self) -> None:
        """Connect or prepare."""

    async def close(self) -> None:
        """Release all resources."""


async def make_schema_current(compiled: LoadedApp, database: SqlDatabase) -> None:
    """Migrate an embedded database; a database shared by several hosts must already be up to date.

    A plugin whose tables cannot be used is removed. If they are of another version, the host is not ready either:
    behind a load balancer it would deny the existence of tools that other hosts have.

    Raises:
        BackendError: the host's own tables cannot be used, or the database failed.
    """
    migrator = compiled.migrator(database)
    for plugin in migrator.plugins:
        # A plugin that was removed also removed those that depend on it.
        if plugin not in {id_ for id_, _ in compiled.models()}:
            continue
        if plugin == HOST_ID:
            await _make_current(migrator, database, plugin)
            continue
        call, seconds = PluginCall(plugin, "migration"), compiled.settings.server.start_timeout
        upgrade = partial(_make_current, migrator, database, plugin)
        try:
            await compiled.gate.run(call, seconds, upgrade, passes=(PressroomError,), interrupt=True)
        except SchemaError as error:
            if isinstance(error, SchemaMismatch):
                compiled.schema_mismatches[plugin] = (error.current, error.wanted)
            compiled.drop(plugin, error)
        except PluginFailed as failure:
            if failure.reason != "failed":
                failure.hint = "run `pressroom migrate`, which has no time limit, then start again"
            compiled.drop(plugin, failure)


async def _make_current(migrator: Migrator, database: SqlDatabase, plugin: str) -> None:
    if database.embedded:
        previous_state = await migrator.upgrade(plugin)
        if previous_state.behind:
            log.info("tables migrated", plugin=plugin, revision=previous_state.wanted, before=previous_state.current)
        return
    state = await migrator.state(plugin)
    if state.behind:
        current = state.current or "none"
        raise SchemaMismatch(
            f"the tables of {plugin} in {database.name} are not those of this version: they are at revision {current}, "
            f"and it needs {state.wanted}",
            current,
            state.wanted,
            hint="run `pressroom migrate`, then start again",
        )


def backend_names(settings: Settings) -> Mapping[BackendKind, str]:
    """Return the name of each configured backend: `auto` is Redis if it is configured, otherwise memory."""
    shared = "memory" if settings.storage.redis is None else "redis"
    configured: dict[BackendKind, str] = {"cache": settings.cache.backend, "limits": settings.limits.backend}
    return {
        "files": settings.storage.files_backend,
        **{kind: shared if name == "auto" else name for kind, name in configured.items()},
    }


async def open_backends(compiled: LoadedApp, stack: AsyncExitStack) -> tuple[FileStore, CacheIndex, Limiter]:
    """Open the configured stores, which are closed when `stack` exits.

    Raises:
        ConfigError: no active plugin offers one of them.
        BackendError: one of them cannot be used.
    """
    names = backend_names(compiled.settings)
    return (
        await _open_store(stack, compiled, "files", names["files"], "storage.files"),
        await _open_store(stack, compiled, "cache", names["cache"], "cache.backend"),
        await _open_store(stack, compiled, "limits", names["limits"], "limits.backend"),
    )


async def _open_store(stack: AsyncExitStack, compiled: LoadedApp, kind: BackendKind, name: str, key: str) -> Any:
    call = PluginCall(compiled.backend_owner(kind, name), "backend", f"{kind} {name}")
    store: OpenableStore = compiled.backend(kind, name, key)
    stack.push_async_callback(_closed, store, call, compiled.gate)
    seconds = compiled.settings.server.start_timeout
    try:
        await compiled.gate.run(call, seconds, store.open, passes=(PressroomError,), interrupt=True)
    except PluginFailed as failure:
        if failure.reason == "failed":
            raise BackendError(f"the {kind} backend {name!r} failed: {one_line(failure.cause)}") from failure
        raise BackendError(
            f"the {kind} backend {name!r} did not open within {seconds:g} s",
            hint="see what it waits for, or give it more time with [server] start_timeout",
        ) from failure
    return store if call.plugin == HOST_ID else GatedBackend(store, call, compiled.gate, _METHODS[kind])


async def _closed(store: OpenableStore, call: PluginCall, gate: PluginGate) -> None:
    # An error has no recipient here: a plugin's is counted and logged, and one of the host's is harmless.
    passes = (PressroomError,) if call.plugin == HOST_ID else ()
    with suppress(PluginFailed, *passes):
        await gate.run(call, _CLOSE_SECONDS, store.close, passes=passes, interrupt=True)


def declare_media_types(files: FileStore, catalog: Catalog) -> None:
    """Declare the generators' media types to a file store of the host. Plugins' stores keep the type of each file."""
    media_types = getattr(files, "media_types", None)
    if isinstance(media_types, MediaTypes):
        for tool in catalog.tools.values():
            if isinstance(tool.declaration, Generator):
                media_types.declare(tool.name, tool.declaration.extensions)


_DIGITS: Final = 8
_PURPOSE: Final = "pressroom fingerprint of "


def fingerprint(name: str, key: bytes) -> str:
    """Return the fingerprint that the database stores for a key."""
    return hmac.digest(key, f"{_PURPOSE}{name}".encode(), "sha256").hex()[:_DIGITS]


@dataclass(frozen=True, slots=True)
class KeyState:
    """The keys of one setting, on this host and in the database.

    `own` lists the fingerprints of this host's keys, the one for encryption first. `recorded` is the fingerprint in the
    database, or empty. `unreadable` is the number of rows that none of the keys can decrypt.
    """

    plugin: str
    keys: SharedKeys
    database: SqlDatabase
    own: tuple[str, ...]
    recorded: str
    unreadable: int

    @property
    def differs(self) -> bool:
        """Whether the database is used with a key that this host does not have."""
        return bool(self.recorded) and self.recorded not in self.own

    @property
    def fits(self) -> bool:
        """Whether this host can read what the others wrote, as far as the database shows."""
        return not self.differs and (bool(self.recorded) or not self.unreadable)

    @property
    def problem(self) -> str:
        """A description of the problem, or an empty string."""
        name, database = self.keys.name, self.database.name
        if self.differs:
            return (
                f"{name} does not include the key that {database} is used with "
                f"(fingerprint {self.recorded}, this host has {', '.join(self.own)})"
            )
        if self.unreadable:
            return f"{name} cannot decrypt {self.unreadable} of the {self.keys.rows} in {database}"
        return ""

    @property
    def advice(self) -> str:
        """Advice for the operator about the problem."""
        remark = "" if self.keys.configured else "; it is not set here, so this host generated its own"
        if not self.fits:
            return (
                f"set the same {self.keys.setting} on every host{remark}. To replace the key for good, stop all hosts "
                f"and run `pressroom secrets accept {self.keys.name}`: {self.keys.lost}"
            )
        return f"add the key that encrypted them to {self.keys.setting}; without it, {self.keys.lost}"


async def key_state(database: SqlDatabase, contribution: Contribution[SharedKeys]) -> KeyState:
    """Compare the keys of this host with the fingerprint in the database.

    Raises `BackendError` if the database fails, and whatever the plugin raises.
    """
    keys = contribution.record
    fingerprints = tuple(dict.fromkeys(fingerprint(keys.name, key) for key in keys.read()))
    async with database.reading() as session:
        statement = select(KeyFingerprintRow.fingerprint).where(KeyFingerprintRow.name == keys.name)
        recorded = await session.scalar(statement) or ""
        unreadable = await keys.unreadable(session) if keys.unreadable is not None else 0
    return KeyState(contribution.plugin, keys, database, fingerprints, recorded, unreadable)


async def check_keys(compiled: LoadedApp, database: SqlDatabase) -> None:
    """Record the keys of this host, or refuse to start if they do not match those of other hosts.

    An embedded database has no other hosts: a new key is recorded, and the log states what is lost.

    Raises:
        BackendError: the keys do not match or cannot be loaded, or the database failed.
    """
    for contribution in compiled.plugins.contributions.of(SharedKeys):
        # A plugin that was removed also removed its contributions.
        if contribution not in compiled.plugins.contributions.of(SharedKeys):
            continue
        try:
            await _check(database, contribution)
        except PluginFailed as failure:
            compiled.drop(contribution.plugin, failure)
        except PressroomError as error:
            if contribution.plugin == HOST_ID or not database.embedded:
                raise
            log.warning("keys cannot be checked", name=contribution.record.name, error=error.message, hint=error.hint)


async def _check(database: SqlDatabase, contribution: Contribution[SharedKeys]) -> None:
    state = await key_state(database, contribution)
    if not state.recorded and (state.fits or database.embedded):
        await _record(state)
        # Another host may have recorded its key at the same time.
        state = await key_state(database, contribution)
    if not state.fits and not database.embedded:
        raise BackendError(state.problem, hint=state.advice)
    if state.problem:
        log.warning("a key does not fit", name=state.keys.name, problem=state.problem, lost=state.keys.lost)
    if state.recorded != state.own[0]:
        await _record(state)


async def accept_keys(compiled: LoadedApp, database: SqlDatabase, name: str) -> KeyState:
    """Replace the key in the database with this host's, and return the state before.

    Raises:
        NotFound: there are no keys of that name.
        BackendError: the database failed.
    """
    by_name = {contribution.record.name: contribution for contribution in compiled.plugins.contributions.of(SharedKeys)}
    if name not in by_name:
        similar = nearest(name, by_name)
        hint = f"did you mean {similar!r}?" if similar else f"known are {', '.join(sorted(by_name))}"
        raise NotFound(f"there are no keys {name!r}", hint=hint)
    state = await key_state(database, by_name[name])
    await _record(state)
    return state


async def key_states(compiled: LoadedApp, database: SqlDatabase) -> Sequence[KeyState]:
    """Return the state of all keys, the host's first."""
    contributions = compiled.plugins.contributions.of(SharedKeys)
    return [await key_state(database, contribution) for contribution in contributions]


async def _record(state: KeyState) -> None:
    """Record the key that this host encrypts with, unless another host was faster."""
    values: dict[str, Any] = {"fingerprint": state.own[0], "recorded_at": datetime.now(UTC)}
    try:
        async with state.database.writing() as session:
            if state.recorded:
                condition = (KeyFingerprintRow.name == state.keys.name, KeyFingerprintRow.fingerprint == state.recorded)
                await session.execute(update(KeyFingerprintRow).where(*condition).values(values))
            else:
                session.add(KeyFingerprintRow(name=state.keys.name, **values))
    except IntegrityError:
        return
